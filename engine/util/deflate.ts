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

/** The CRC of zip files (reflected, 0xEDB88320), as polynomials over GF(2) with the highest power in bit 0. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1
  }
  return product >>> 0
}

/** x^(2^k) for k = 0 … 31; the powers repeat after that. */
const POWERS: number[] = [ONE >>> 1]
while (POWERS.length < 32) POWERS.push(multiply(POWERS.at(-1)!, POWERS.at(-1)!))

/** The CRC of two pieces put together, from the CRC of each and the length of the second in bytes. */
export function combineCrc(first: number, second: number, secondLength: number): number {
  // To append n bytes is to multiply by x^(8n) = x^(n * 2^3).
  let shift = ONE
  for (let n = secondLength, k = 3; n > 0; n = Math.floor(n / 2), k++) {
    if (n % 2 === 1) shift = multiply(POWERS[k & 31]!, shift)
  }
  return (multiply(shift, first) ^ second) >>> 0
}
