import { constants, crc32, deflateRawSync } from 'node:zlib'

/** Some bytes, compressed on their own: such parts, one after another, are one deflate stream (RFC 1951). */
export interface Deflated {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** CRC and length of the bytes before compression. */
  readonly crc: number
  readonly length: number
}

/** @param last whether this ends the stream; all others end at a whole byte */
export function deflate(bytes: Uint8Array, level: number, last: boolean): Deflated {
  const { Z_FINISH, Z_SYNC_FLUSH } = constants
  const packed = deflateRawSync(bytes, { level, finishFlush: last ? Z_FINISH : Z_SYNC_FLUSH })
  return { bytes: packed as Uint8Array<ArrayBuffer>, crc: crc32(bytes), length: bytes.length }
}
