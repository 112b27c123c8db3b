import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Coding } from './negotiate.ts'

// Levels at which compressing keeps up with encoding; zlib works on libuv's threads, not on this one.
export const GZIP_LEVEL = 4
export const BROTLI_QUALITY = 3
export const ZSTD_LEVEL = 3
const CHUNK = 64 * 1024

/** Bytes as a stream, compressed where a coding is given. Destroying it, or its failing, ends the source. */
export function bodyStream(source: AsyncIterable<Uint8Array>, coding: Coding | undefined): Readable {
  const plain = Readable.from(source)
  if (coding === undefined) return plain
  // The error reaches whoever reads the result; the callback is there because pipeline wants one.
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
