import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { Container, Encoder } from './encoder.ts'
import { Output } from './encoder.ts'

/**
 * For json and csv, level 2 takes up to two fifths longer and its output is a fiftieth smaller at most; level 3 takes
 * half as long again as level 2 for another hundredth.
 */
const LEVEL = 1

/** Deflate, without name, time, level and system (RFC 1952, 2.3), so that the same rows give the same bytes. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

/**
 * Compresses the output of an encoder as one gzip member. The threads that encode also deflate their pieces, side by
 * side, and the CRC of the whole is computed from those of the pieces. Repeated text is only found within a piece,
 * which costs little with pieces of a quarter of a megabyte.
 */
export function gzipped(encoder: Encoder): Encoder {
  return {
    coding: 'gzip',
    begin: (out) => encoder.begin(out),
    batch: (batch, first, out) => encoder.batch(batch, first, out),
    end: (rows, out) => encoder.end(rows, out),
    packing: {
      pack(piece) {
        const { bytes, crc, length } = deflate(piece, LEVEL, false)
        return { bytes, note: { crc, length } }
      },
      container: () => new Member(encoder),
    },
  }
}

class Member implements Container {
  readonly #encoder: Encoder
  #crc = 0
  #length = 0

  constructor(encoder: Encoder) {
    this.#encoder = encoder
  }

  begin(out: Output): void {
    out.append(HEADER)
    this.#own((text) => this.#encoder.begin(text), false, out)
  }

  piece(bytes: Uint8Array<ArrayBuffer>, note: unknown): Uint8Array {
    this.#count(note as Pick<Deflated, 'crc' | 'length'>)
    return bytes
  }

  end(rows: number, out: Output): void {
    this.#own((text) => this.#encoder.end(rows, text), true, out)
    const trailer = new DataView(new ArrayBuffer(8))
    trailer.setUint32(0, this.#crc, true)
    // Modulo 2^32 (2.3.1).
    trailer.setUint32(4, this.#length % 2 ** 32, true)
    out.append(new Uint8Array(trailer.buffer))
  }

  /** Compresses the text before or after the rows. */
  #own(write: (text: Output) => void, last: boolean, out: Output): void {
    const text = new Output(1024)
    write(text)
    const part = deflate(text.written(), LEVEL, last)
    this.#count(part)
    out.append(part.bytes)
  }

  #count({ crc, length }: Pick<Deflated, 'crc' | 'length'>): void {
    this.#crc = combineCrc(this.#crc, crc, length)
    this.#length += length
  }
}

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
