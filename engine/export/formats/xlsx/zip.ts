import { combineCrc, type Deflated, deflate, type Output } from '../encoder.ts'

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
  #offset = 0

  /** Begins an entry. Then come its parts, the last of them made with `last`, and then `endEntry`. */
  beginEntry(name: string, out: Output): void {
    const entry: Entry = { name: Buffer.from(name), offset: this.#offset, crc: 0, packed: 0, length: 0 }
    this.#entries.push(entry)
    this.#write(
      out,
      [4, 0x04034b50],
      [2, 20],
      [2, FLAGS],
      [2, DEFLATED],
      [2, 0],
      [2, DATE],
      [4, 0],
      [4, 0],
      [4, 0],
    )
    this.#write(out, [2, entry.name.length], [2, 0], entry.name)
  }

  part({ bytes, crc, length }: Deflated, out: Output): void {
    const entry = this.#entries.at(-1)!
    entry.crc = combineCrc(entry.crc, crc, length)
    entry.packed += bytes.length
    entry.length += length
    this.#write(out, bytes)
  }

  endEntry(out: Output): void {
    const { crc, packed, length } = this.#entries.at(-1)!
    const size = Math.max(packed, length) >= UINT32 ? 8 : 4
    this.#write(out, [4, 0x08074b50], [4, crc], [size, packed], [size, length])
  }

  /** Writes an entry whose whole text is known. */
  file(name: string, text: string, out: Output): void {
    this.beginEntry(name, out)
    this.part(deflate(Buffer.from(text), true), out)
    this.endEntry(out)
  }

  /** Writes the directory; nothing may be written after it. */
  end(out: Output): void {
    const start = this.#offset
    for (const entry of this.#entries) this.#directoryEntry(entry, out)
    const size = this.#offset - start
    const count = this.#entries.length
    if (Math.max(start, size) >= UINT32 || count >= UINT16) {
      const end = this.#offset
      this.#write(out, [4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0], [8, count], [8, count])
      this.#write(out, [8, size], [8, start], [4, 0x07064b50], [4, 0], [8, end], [4, 1])
    }
    const counted = Math.min(count, UINT16)
    this.#write(out, [4, 0x06054b50], [2, 0], [2, 0], [2, counted], [2, counted])
    this.#write(out, [4, Math.min(size, UINT32)], [4, Math.min(start, UINT32)], [2, 0])
  }

  #directoryEntry({ name, offset, crc, packed, length }: Entry, out: Output): void {
    // The extra field holds, in this order, only those values that do not fit into 32 bits.
    const large = [length, packed, offset].filter((value) => value >= UINT32)
    const version = large.length > 0 ? 45 : 20
    const extra = large.length > 0 ? 4 + 8 * large.length : 0
    this.#write(
      out,
      [4, 0x02014b50],
      [2, version],
      [2, version],
      [2, FLAGS],
      [2, DEFLATED],
      [2, 0],
      [2, DATE],
    )
    this.#write(out, [4, crc], [4, Math.min(packed, UINT32)], [4, Math.min(length, UINT32)])
    this.#write(
      out,
      [2, name.length],
      [2, extra],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, Math.min(offset, UINT32)],
      name,
    )
    if (extra > 0) this.#write(out, [2, 1], [2, extra - 4], ...large.map((value): Field => [8, value]))
  }

  /** Writes little-endian numbers of `size` bytes, and bytes as they are. */
  #write(out: Output, ...fields: readonly (Field | Uint8Array)[]): void {
    const before = out.length
    for (const field of fields) {
      if (field instanceof Uint8Array) {
        out.append(field)
        continue
      }
      const [size, value] = field
      out.reserve(size)
      if (size === 2) out.view.setUint16(out.length, value, true)
      else if (size === 4) out.view.setUint32(out.length, value, true)
      else out.view.setBigUint64(out.length, BigInt(value), true)
      out.length += size
    }
    this.#offset += out.length - before
  }
}

type Field = readonly [size: 2 | 4 | 8, value: number]
