import { MOST_COLUMNS } from '../../types/columns.ts'
import { LATE_QUOTE, LONE_RETURN } from '../text/errors.ts'
import { checkedKind, classifier, isDoubtful, STOP, TEXT_KIND, transitions } from '../text/text-kinds.ts'

const [TAB, LF, CR, SPACE, QUOTE] = [0x09, 0x0a, 0x0d, 0x20, 0x22]

const NOT_CLOSED = 'a quoted field is not closed'
const TEXT_AFTER_QUOTE = (field: number): string =>
  `there is text after the closing quote of field ${field}; a quote inside a quoted field is doubled`

export interface Field {
  /** The text of the field without its quotes. */
  readonly text: string
  readonly quoted: boolean
}

/** Fields past these are counted, but not kept: no table has so many columns. */
const MOST_FIELDS = MOST_COLUMNS + 2

/** The transition tables for fields without quotes, by the first byte of the delimiter. */
const plainTables = new Map<number, Uint16Array>()
let quotedTable: Uint16Array | undefined

/**
 * Reads csv in UTF-8, record by record and byte by byte (RFC 4180), and classifies the fields on the way. The rules of
 * quoting are here, and in `RecordEnds` for streams: headers, samples, the check of plain csv and the rewriting of other dialects read
 * records with it.
 *
 * It is lenient in one point: quotes within a field that doesn't begin with a quote are plain characters.
 */
export class Tokenizer {
  /** How many fields the last record has. */
  count = 0
  /** Per field: where its text begins, without an opening quote. Not kept for fields past `MOST_COLUMNS`. */
  starts = new Int32Array(64)
  /** Per field: where its text ends, without a closing quote. */
  ends = new Int32Array(64)
  /** Per field: the kind of its text, a `TEXT_KIND`. */
  kinds = new Int32Array(64)
  /** Per field: 1 if it is in quotes. */
  quoted = new Uint8Array(64)
  /** Where the last record ends, before its line end. */
  end = 0
  newline: 'lf' | 'crlf' | 'none' = 'none'
  /** Whether any field so far was in quotes. */
  quotes = false
  /** Whether any field so far has a line end in quotes. */
  quotedNewlines = false
  readonly #delimiter: Buffer
  readonly #lead: number
  readonly #malformed: (what: string, field: number) => Error
  readonly #start: number
  readonly #kindOf: Int32Array
  readonly #plain: Uint16Array
  readonly #quoted: Uint16Array

  /**
   * @param delimiter one character
   * @param malformed makes the error for what is wrong with a field, which is counted from 1
   */
  constructor(delimiter: string, malformed: (what: string, field: number) => Error) {
    this.#delimiter = Buffer.from(delimiter)
    this.#lead = this.#delimiter[0]!
    this.#malformed = malformed
    const { start, kind } = classifier()
    this.#start = start
    this.#kindOf = kind
    this.#plain = plainTables.get(this.#lead) ?? transitions([this.#lead, LF, CR, QUOTE])
    this.#quoted = quotedTable ??= transitions([LF, CR, QUOTE])
    plainTables.set(this.#lead, this.#plain)
  }

  /** Whether the last record is an empty line. */
  get isBlank(): boolean {
    return this.count === 1 && this.kinds[0] === TEXT_KIND.null
  }

  /**
   * Reads the record that begins at `from`. Returns where the next one begins, or `from` if `buffer[0..end)` does not
   * hold all of this one. `buffer[end]` must exist and is overwritten.
   * @param final whether the csv ends at `end`
   */
  read(buffer: Buffer, from: number, end: number, final: boolean): number {
    this.count = 0
    if (from >= end) return from
    // A byte at which the inner loops stop, so that they need not compare positions.
    buffer[end] = CR
    for (let at = from; ; at += this.#delimiter.length) {
      at = this.#readPlain(buffer, at, end)
      if (at < 0) return -at
      at = this.#readField(buffer, at, end, final)
      if (at < 0) return from
      const byte = buffer[at]
      if (at < end && byte !== LF && byte !== CR) continue
      this.end = at
      this.newline = at >= end ? 'none' : byte === LF ? 'lf' : 'crlf'
      return at >= end ? end : byte === LF ? at + 1 : at + 2
    }
  }

  /** The text of a field of the last record, which was read from `buffer`. */
  text(buffer: Buffer, field: number): string {
    const text = buffer.toString('utf8', this.starts[field], this.ends[field])
    return this.quoted[field] ? text.replaceAll('""', '"') : text
  }

  /** All fields of the last record. */
  fields(buffer: Buffer): Field[] {
    return Array.from({ length: Math.min(this.count, MOST_FIELDS) }, (_, at) => ({
      text: this.text(buffer, at),
      quoted: this.quoted[at] === 1,
    }))
  }

  /**
   * Reads fields without quotes, as long as a delimiter of one byte or a line feed follows. This is for speed: `#readField`
   * reads them in the same way. Returns where the first field begins that is left; where the line feed ends the record,
   * the position after it, negated.
   */
  #readPlain(buffer: Buffer, from: number, end: number): number {
    const { starts, ends, kinds, quoted } = this
    const [table, kindOf, start, lead, room] = [
      this.#plain,
      this.#kindOf,
      this.#start,
      this.#delimiter.length === 1 ? this.#lead : LF,
      starts.length,
    ]
    let count = this.count
    for (let at = from; ; ) {
      let state = start
      let to = at
      let next = 0
      while ((next = table[state + buffer[to]!]!) > STOP) {
        state = next
        to++
      }
      if (next === 0) {
        // The field is text, whatever follows.
        state = 0
        do to++
        while (table[buffer[to]!] === 0)
      }
      const found = kindOf[state >> 8]!
      const byte = buffer[to]
      const isEasy = to < end && (byte === lead || byte === LF) && !isDoubtful(found, to - at)
      if (!isEasy || count === room) {
        this.count = count
        return at
      }
      starts[count] = at
      ends[count] = to
      quoted[count] = 0
      kinds[count++] = at === to ? TEXT_KIND.null : found
      at = to + 1
      if (byte !== LF) continue
      this.count = count
      this.end = to
      this.newline = 'lf'
      return -at
    }
  }

  /** Reads a field. Returns where its delimiter or line end is; -1 if the buffer does not hold all of that. */
  #readField(buffer: Buffer, from: number, end: number, final: boolean): number {
    const quoted = buffer[from] === QUOTE
    const start = quoted ? from + 1 : from
    const table = quoted ? this.#quoted : this.#plain
    let state = this.#start
    let at = start
    for (;;) {
      let next = 0
      while ((next = table[state + buffer[at]!]!) !== STOP) {
        state = next
        at++
      }
      if (at >= end) break
      const byte = buffer[at]
      if (quoted) {
        if (byte !== QUOTE) this.quotedNewlines = true
        else if (at + 1 === end || buffer[at + 1] !== QUOTE) break
        else at++
      } else if (byte === QUOTE) this.#refuseLateQuote(buffer, from, at)
      else if (byte !== this.#lead || this.#isDelimiter(buffer, at, end)) break
      else if (!final && this.#isCut(at, end)) return -1
      state = 0
      at++
    }
    if (at >= end && !final) return -1
    if (at >= end && quoted) throw this.#malformed(NOT_CLOSED, this.count + 1)
    const after = quoted ? at + 1 : at
    const isEasy = !quoted && at < end && buffer[at] !== CR
    if (!isEasy && !this.#isEnding(buffer, after, end, final, quoted)) return -1
    if (quoted) this.quotes = true
    this.#add(buffer, start, at, quoted, this.#kindOf[state >> 8]!)
    return after
  }

  /** Whether the byte after a field ends it; false if more bytes must show that. */
  #isEnding(buffer: Buffer, at: number, end: number, final: boolean, quoted: boolean): boolean {
    if (at >= end) return final
    const byte = buffer[at]
    if (byte === LF) return true
    if (byte === CR) {
      if (at + 1 < end && buffer[at + 1] === LF) return true
      if (at + 1 >= end && !final) return false
      throw this.#malformed(LONE_RETURN, this.count + 1)
    }
    if (!quoted || this.#isDelimiter(buffer, at, end)) return true
    if (!final && byte === this.#lead && this.#isCut(at, end)) return false
    throw this.#malformed(TEXT_AFTER_QUOTE(this.count + 1), this.count + 1)
  }

  #isDelimiter(buffer: Buffer, at: number, end: number): boolean {
    const { length } = this.#delimiter
    if (buffer[at] !== this.#lead) return false
    return length === 1 || (at + length <= end && this.#delimiter.equals(buffer.subarray(at, at + length)))
  }

  /** Whether a delimiter of several bytes may go on after the buffer. */
  #isCut(at: number, end: number): boolean {
    return at + this.#delimiter.length > end
  }

  #add(buffer: Buffer, from: number, to: number, quoted: boolean, found: number): void {
    const at = this.count++
    const { starts } = this
    if (at >= starts.length) {
      this.#addPast(buffer, from, to, quoted, found)
      return
    }
    starts[at] = from
    this.ends[at] = to
    this.quoted[at] = quoted ? 1 : 0
    this.kinds[at] =
      from === to && !quoted
        ? TEXT_KIND.null
        : isDoubtful(found, to - from)
          ? checkedKind(found, buffer.toString('latin1', from, to))
          : found
  }

  /** Adds a field for which there is no room yet. */
  #addPast(buffer: Buffer, from: number, to: number, quoted: boolean, found: number): void {
    if (this.count > MOST_FIELDS) return
    this.count--
    this.#grow()
    this.#add(buffer, from, to, quoted, found)
  }

  #grow(): void {
    const larger = <T extends Int32Array | Uint8Array>(old: T, made: T): T => {
      made.set(old)
      return made
    }
    const length = 2 * this.starts.length
    this.starts = larger(this.starts, new Int32Array(length))
    this.ends = larger(this.ends, new Int32Array(length))
    this.kinds = larger(this.kinds, new Int32Array(length))
    this.quoted = larger(this.quoted, new Uint8Array(length))
  }

  /** Rejects fields such as the second of `a, "b"`: DuckDB would drop the blank and read quotes, others would not. */
  #refuseLateQuote(buffer: Buffer, from: number, at: number): void {
    for (let i = from; i < at; i++) if (buffer[i] !== SPACE && buffer[i] !== TAB) return
    throw this.#malformed(LATE_QUOTE, this.count + 1)
  }
}
