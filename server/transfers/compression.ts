import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import type { Format } from '../../engine/index.ts'
import { type Coding, chooseCoding, FORMAT_FACTS } from './formats.ts'

/** How a body is compressed. Ranges are of the bytes before compression. */
export function codingFor({ headers }: FastifyRequest, format: Format): Coding | undefined {
  if (headers.range !== undefined) return undefined
  return FORMAT_FACTS[format].compressible ? chooseCoding(headers['accept-encoding']) : undefined
}

// At these levels compressing is as fast as encoding. zlib works on libuv's threads, not on this one.
const chunkSize = 64 * 1024
const COMPRESSORS: Readonly<Record<Coding, () => Transform>> = {
  gzip: () => createGzip({ level: 4, chunkSize }),
  br: () => createBrotliCompress({ chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  zstd: () => createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
}

/** Bytes as a stream, compressed if a coding is given. When it is destroyed or fails, the source is ended. */
export function bodyStream(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  coding: Coding | undefined,
): Readable {
  const plain = Readable.from(source)
  if (coding === undefined) return plain
  // The reader of the result gets the error; the callback is only there because `pipeline` requires one.
  return pipeline(plain, COMPRESSORS[coding](), () => {})
}
