import { BOM } from './syntax.ts'

const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22]

/** Where in a record the next byte is. */
const AT = { start: 0, plain: 1, quoted: 2, quote: 3 } as const

/**
 * Finds where the records of csv end that comes in pieces, which may end anywhere, by the rules of `Tokenizer`. It looks
 * at each byte once, however long a record is. What is malformed is found where the record is read.
 */
export class RecordEnds {
  /** How many fields the record has so far. */
  fields = 1
  /** Whether the record so far is an empty line. */
  isBlank = true
  readonly #delimiter: Buffer
  #at: number = AT.start
  /** How many bytes of a delimiter were just read. */
  #matched = 0
  #isOver = false
  /** How many bytes of the byte order mark have come that a text may begin with. */
  #marks = 0

  constructor(delimiter: string) {
    this.#delimiter = Buffer.from(delimiter)
  }

  /** Where the record under way ends, behind its line end; -1 if that is not in `bytes`. Begins another one if it was. */
  find(bytes: Uint8Array, from: number): number {
    if (this.#isOver) this.#begin()
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (this.#marks < BOM.length) {
        const isMark = byte === BOM[this.#marks]
        this.#marks = isMark ? this.#marks + 1 : BOM.length
        if (isMark) continue
      }
      if (byte === LF && this.#at !== AT.quoted) {
        this.#isOver = true
        return at + 1
      }
      if (byte !== CR) this.isBlank = false
      this.#step(byte)
    }
    return -1
  }

  #begin(): void {
    this.#isOver = false
    this.#at = AT.start
    this.#matched = 0
    this.fields = 1
    this.isBlank = true
  }

  #step(byte: number): void {
    if (this.#at === AT.quoted) {
      if (byte === QUOTE) this.#at = AT.quote
    } else if (byte === QUOTE && this.#at !== AT.plain) this.#at = AT.quoted
    else if (this.#endsDelimiter(byte)) {
      this.#at = AT.start
      this.fields++
    } else this.#at = AT.plain
  }

  /** Whether a delimiter ends with this byte. */
  #endsDelimiter(byte: number): boolean {
    const delimiter = this.#delimiter
    if (byte === delimiter[this.#matched]) this.#matched++
    else this.#matched = byte === delimiter[0] ? 1 : 0
    if (this.#matched < delimiter.length) return false
    this.#matched = 0
    return true
  }
}
