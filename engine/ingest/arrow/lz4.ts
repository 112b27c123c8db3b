/** LZ4 frames (lz4_Frame_format.md 1.6.4 and lz4_Block_format.md), which Node's zlib does not have. */

const MAGIC = 0x184d2204
const [INDEPENDENT, HAS_BLOCK_CHECKSUMS, HAS_SIZE] = [0x20, 0x10, 0x08]
const [HAS_CHECKSUM, HAS_DICTIONARY] = [0x04, 0x01]
const STORED = 0x80000000
const LEAST_MATCH = 4

/**
 * Unpacks one frame, and verifies the checksums that it has. Most writers of Arrow leave out all but that of the header.
 * @throws RangeError if the data are damaged, or unpack to more than `most` bytes
 */
export function unpackLz4(frame: Uint8Array, most: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  if (view.getUint32(0, true) !== MAGIC) throw new RangeError('This is not an LZ4 frame.')
  const flags = view.getUint8(4)
  if (flags >> 6 !== 1 || flags & HAS_DICTIONARY) throw new RangeError('An LZ4 frame is of an unknown kind.')
  // The header goes on with flags, the block size, the size of all data if there is one, and a checksum of these.
  let at = 6 + (flags & HAS_SIZE ? 8 : 0) + 1
  verify(view.getUint8(at - 1), (xxhash32(frame.subarray(4, at - 1)) >>> 8) & 0xff)
  const size = flags & HAS_SIZE ? Number(view.getBigUint64(6, true)) : 4 * frame.length
  if (size > most && flags & HAS_SIZE) throw new RangeError('An LZ4 frame is too large.')
  const out = new Growing(Math.min(size, most), most)
  for (;;) {
    const head = view.getUint32(at, true)
    at += 4
    if (head === 0) {
      if (flags & HAS_CHECKSUM) verify(view.getUint32(at, true), xxhash32(out.taken()))
      return out.taken()
    }
    const length = head & ~STORED
    const block = frame.subarray(at, at + length)
    if (block.length < length) throw new RangeError('An LZ4 block is cut off.')
    if (head & STORED) out.append(block, 0, length)
    else unpackBlock(block, out, flags & INDEPENDENT ? out.length : 0)
    at += length
    if (flags & HAS_BLOCK_CHECKSUMS) {
      verify(view.getUint32(at, true), xxhash32(block))
      at += 4
    }
  }
}

function verify(checksum: number, found: number): void {
  if (checksum !== found) throw new RangeError('An LZ4 frame does not match its checksum.')
}

/** Unpacks one block. @param first the first position in `out` that matches may reach back to */
function unpackBlock(block: Uint8Array, out: Growing, first: number): void {
  const end = block.length
  let at = 0
  const byte = () => {
    if (at >= end) throw new RangeError('An LZ4 block is cut off.')
    return block[at++]!
  }
  const longer = (length: number) => {
    for (let more = 255; more === 255; ) {
      more = byte()
      length += more
    }
    return length
  }
  for (;;) {
    const token = byte()
    const literals = token >> 4 === 15 ? longer(15) : token >> 4
    if (at + literals > end) throw new RangeError('An LZ4 block is cut off.')
    out.append(block, at, literals)
    at += literals
    if (at === end) return
    const back = byte() | (byte() << 8)
    const match = (token & 15) === 15 ? longer(15) : token & 15
    if (back === 0 || out.length - back < first)
      throw new RangeError('An LZ4 block points before its beginning.')
    out.repeat(back, match + LEAST_MATCH)
  }
}

/** A buffer that grows up to a bound. */
class Growing {
  length = 0
  #bytes: Uint8Array
  readonly #most: number

  constructor(expected: number, most: number) {
    this.#bytes = new Uint8Array(expected)
    this.#most = most
  }

  append(from: Uint8Array, at: number, length: number): void {
    this.#reserve(length)
    if (length < 16) for (let i = 0; i < length; i++) this.#bytes[this.length + i] = from[at + i]!
    else this.#bytes.set(from.subarray(at, at + length), this.length)
    this.length += length
  }

  /** Appends `length` bytes from `back` bytes before the end. If `length` is more than `back`, the bytes repeat. */
  repeat(back: number, length: number): void {
    this.#reserve(length)
    const bytes = this.#bytes
    const to = this.length
    if (back >= length && length > 32) bytes.copyWithin(to, to - back, to - back + length)
    else for (let i = 0; i < length; i++) bytes[to + i] = bytes[to + i - back]!
    this.length += length
  }

  taken(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  #reserve(more: number): void {
    const needed = this.length + more
    if (needed <= this.#bytes.length) return
    if (needed > this.#most) throw new RangeError('An LZ4 frame is too large.')
    const larger = new Uint8Array(Math.min(Math.max(needed, 2 * this.#bytes.length), this.#most))
    larger.set(this.taken())
    this.#bytes = larger
  }
}

/** xxHash32 of XXH (xxhash_spec.md 0.1.1), with the seed 0, as LZ4 frames use it. */

const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1]

/** The hash as an unsigned integer. */
export function xxhash32(bytes: Uint8Array): number {
  const { length } = bytes
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  let at = 0
  let hash = P5
  if (length >= 16) {
    let [a, b, c, d] = [P1 + P2, P2, 0, -P1]
    for (; at + 16 <= length; at += 16) {
      a = round(a, view.getUint32(at, true))
      b = round(b, view.getUint32(at + 4, true))
      c = round(c, view.getUint32(at + 8, true))
      d = round(d, view.getUint32(at + 12, true))
    }
    hash = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)
  }
  hash = (hash + length) | 0
  for (; at + 4 <= length; at += 4) {
    hash = Math.imul(rotated((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4)
  }
  for (; at < length; at++) hash = Math.imul(rotated((hash + Math.imul(bytes[at]!, P5)) | 0, 11), P1)
  hash = Math.imul(hash ^ (hash >>> 15), P2)
  hash = Math.imul(hash ^ (hash >>> 13), P3)
  return (hash ^ (hash >>> 16)) >>> 0
}

function round(sum: number, lane: number): number {
  return Math.imul(rotated((sum + Math.imul(lane, P2)) | 0, 13), P1)
}

function rotated(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by))
}
