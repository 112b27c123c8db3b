import { combineCrc, type Deflated, deflate, type Output } from '../encoder.ts'

type Appending = Pick<Output, 'append'>

interface Part extends Omit<Deflated, 'bytes'> {
  readonly bytes: Uint8Array
}

interface Entry {
  readonly name: Buffer
  readonly offset: number
  crc: number
  packed: number
  length: number
}

const UINT32 = 0xffffffff
const UINT16 = 0xffff
/** The flags that say that sizes follow the data, and that names are UTF-8. */
const FLAGS = 0x0808
const DEFLATED = 8
/** The method of parts that are as they were. */
export const STORED = 0
/** 1980-01-01, the first day in zip. It is always the same, so that the same rows give the same bytes. */
const DATE = 0x0021

/**
 * A zip container, written as a stream: each entry's sizes come after it, and once more in the directory at the end.
 * Entries, offsets and sizes above 4 GiB are in the zip64 form. (PKWARE's APPNOTE 6.3.10, sections 4.3 to 4.5.)
 *
 * We have our own writer because libraries deflate an entry on one thread. Here, several workers deflate the parts of
 * an entry side by side, and the writer receives them already compressed.
 */
export class ZipWriter {
  readonly #entries: Entry[] = []
  readonly #method: number
  #offset = 0

  constructor(method: typeof STORED | typeof DEFLATED = DEFLATED) {
    this.#method = method
  }

  /** Begins an entry. Then come its parts, the last of them made with `last`, and then `endEntry`. */
  beginEntry(name: string, out: Appending): void {
    const entry: Entry = { name: Buffer.from(name), offset: this.#offset, crc: 0, packed: 0, length: 0 }
    this.#entries.push(entry)
    this.#write(out, u32(0x04034b50), u16(20, FLAGS, this.#method, 0, DATE), u32(0, 0, 0))
    this.#write(out, u16(entry.name.length, 0), entry.name)
  }

  part({ bytes, crc, length }: Part, out: Appending): void {
    const entry = this.#entries.at(-1)!
    entry.crc = combineCrc(entry.crc, crc, length)
    entry.packed += bytes.length
    entry.length += length
    this.#write(out, bytes)
  }

  endEntry(out: Appending): void {
    const { crc, packed, length } = this.#entries.at(-1)!
    const size = Math.max(packed, length) >= UINT32 ? u64 : u32
    this.#write(out, u32(0x08074b50, crc), size(packed, length))
  }

  /** Writes an entry whose whole text is known. */
  file(name: string, text: string, out: Appending): void {
    this.beginEntry(name, out)
    this.part(deflate(Buffer.from(text), true), out)
    this.endEntry(out)
  }

  /** Writes the directory; nothing may be written after it. */
  end(out: Appending): void {
    const start = this.#offset
    for (const entry of this.#entries) this.#directoryEntry(entry, out)
    const size = this.#offset - start
    const count = this.#entries.length
    if (Math.max(start, size) >= UINT32 || count >= UINT16) {
      const end = this.#offset
      this.#write(out, u32(0x06064b50), u64(44), u16(45, 45), u32(0, 0), u64(count, count, size, start))
      this.#write(out, u32(0x07064b50, 0), u64(end), u32(1))
    }
    const counted = Math.min(count, UINT16)
    this.#write(out, u32(0x06054b50), u16(0, 0, counted, counted))
    this.#write(out, u32(Math.min(size, UINT32), Math.min(start, UINT32)), u16(0))
  }

  #directoryEntry({ name, offset, crc, packed, length }: Entry, out: Appending): void {
    // The extra field holds, in this order, only those values that do not fit into 32 bits.
    const large = [length, packed, offset].filter((value) => value >= UINT32)
    const version = large.length > 0 ? 45 : 20
    const extra = large.length > 0 ? 4 + 8 * large.length : 0
    this.#write(out, u32(0x02014b50), u16(version, version, FLAGS, this.#method, 0, DATE))
    this.#write(out, u32(crc, Math.min(packed, UINT32), Math.min(length, UINT32)))
    this.#write(out, u16(name.length, extra, 0, 0, 0), u32(0, Math.min(offset, UINT32)), name)
    if (extra > 0) this.#write(out, u16(1, extra - 4), u64(...large))
  }

  #write(out: Appending, ...fields: readonly Uint8Array[]): void {
    for (const field of fields) {
      out.append(field)
      this.#offset += field.length
    }
  }
}

/** Numbers of two, four and eight bytes, the lowest byte first. */
function u16(...numbers: number[]): Uint8Array {
  return new Uint8Array(Uint16Array.from(numbers).buffer)
}

function u32(...numbers: number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(numbers).buffer)
}

function u64(...numbers: number[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(numbers, BigInt).buffer)
}
