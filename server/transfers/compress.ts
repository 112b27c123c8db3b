import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Coding } from './negotiate.ts'

// At these levels compressing is as fast as encoding. zlib works on libuv's threads, not on this one.
export const GZIP_LEVEL = 4
export const BROTLI_QUALITY = 3
export const ZSTD_LEVEL = 3
const CHUNK = 64 * 1024

/** Bytes as a stream, compressed if a coding is given. When it is destroyed or fails, the source is ended. */
export function bodyStream(source: AsyncIterable<Uint8Array>, coding: Coding | undefined): Readable {
  const plain = Readable.from(source)
  if (coding === undefined) return plain
  // The reader of the result gets the error; the callback is only there because `pipeline` requires one.
  return pipeline(plain, compressor(coding), () => {})
}

function compressor(coding: Coding): Transform {
  switch (coding) {
    case 'gzip':
      return createGzip({ level: GZIP_LEVEL, chunkSize: CHUNK })
    case 'br':
      return createBrotliCompress({
        chunkSize: CHUNK,
        params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
      })
    case 'zstd':
      return createZstdCompress({
        chunkSize: CHUNK,
        params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
      })
    default:
      throw coding satisfies never
  }
}
