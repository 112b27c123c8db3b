import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Coding } from './negotiate.ts'

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
