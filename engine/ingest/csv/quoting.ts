import { invalidOption } from '../../errors.ts'
import type { PieceReader } from '../file.ts'
import type { ReadRequest, UploadOptions } from '../request.ts'
import { LONGEST_RECORD, malformed, TOO_LONG } from '../text/errors.ts'
import { BOM } from './syntax.ts'

const [LF, CR, QUOTE, BACKSLASH, N] = [0x0a, 0x0d, 0x22, 0x5c, 0x4e]

/** What PostgreSQL and MySQL write behind a backslash for characters that have no other form. */
const CONTROLS: ReadonlyMap<number, number> = new Map(
  Object.entries({ '0': 0, b: 8, t: 9, n: LF, v: 11, f: 12, r: CR, Z: 26 }).map(([letter, byte]) => [
    letter.charCodeAt(0),
    byte,
  ]),
)

/** Where in a field the next byte is. */
const AT = { start: 0, plain: 1, quoted: 2, quote: 3, tail: 4 } as const

/**
 * Writes csv whose fields are quoted or escaped in other ways as RFC 4180 has it, piece by piece: `quotes='`; `escape=\`, by
 * which quotes within quotes have a backslash, as Spark writes them; `escape=backslash`, by which any character may have
 * one and `\N` is null, as PostgreSQL and MySQL write them; and lines that end with CR.
 */
export class Requoter {
  readonly #quote: number
  readonly #delimiter: number
  readonly #isQuoteEscaped: boolean
  readonly #isAllEscaped: boolean
  readonly #hasReturns: boolean
  #at: number = AT.start
  #isEscaped = false
  #isNull = false
  /** Whether the last byte of the field is a CR that may belong to a line end. */
  #isReturn = false
  /** The field under way, and what follows its closing quote. */
  #field: Buffer = Buffer.alloc(256)
  #length = 0
  #tail = ''
  /** The number of fields that the record has before it. */
  #fields = 0
  #out: Buffer = Buffer.alloc(0)
  #written = 0

  constructor(
    { quotes: quote = '"', escape: escaped }: UploadOptions,
    delimiter: string,
    hasReturns = false,
  ) {
    if (delimiter.length !== 1 || delimiter > '\x7f') {
      throw invalidOption('quotes and escape are for delimiters of ASCII.', 'delimiter')
    }
    this.#quote = quote.charCodeAt(0)
    this.#delimiter = delimiter.charCodeAt(0)
    this.#isAllEscaped = escaped === 'backslash'
    this.#isQuoteEscaped = escaped !== undefined
    this.#hasReturns = hasReturns
  }

  /** The same bytes in RFC 4180, as far as their fields have ended. */
  push(bytes: Uint8Array, final: boolean): Buffer {
    this.#out = Buffer.allocUnsafe(2 * (bytes.length + this.#length) + 16)
    this.#written = 0
    for (const byte of bytes) this.#take(byte)
    if (final && (this.#length > 0 || this.#at !== AT.start || this.#isEscaped || this.#fields > 0)) {
      if (this.#isEscaped) this.#append(BACKSLASH)
      this.#end()
    }
    return this.#out.subarray(0, this.#written)
  }

  #take(byte: number): void {
    if (this.#length + this.#tail.length > LONGEST_RECORD) throw malformed(`A field${TOO_LONG}`)
    const isInside = this.#at === AT.quoted
    if (this.#isEscaped) this.#unescape(byte)
    else if (
      byte === BACKSLASH &&
      (isInside ? this.#isQuoteEscaped : this.#isAllEscaped && this.#at < AT.quote)
    ) {
      this.#isEscaped = true
      if (this.#at === AT.start) this.#at = AT.plain
    } else if (isInside) {
      if (byte === this.#quote) this.#at = AT.quote
      else this.#append(byte)
    } else if (byte === this.#quote && this.#at === AT.start) this.#at = AT.quoted
    else if (byte === this.#quote && this.#at === AT.quote) {
      this.#append(byte)
      this.#at = AT.quoted
    } else if (byte === this.#delimiter) {
      this.#end(true)
      this.#put(byte)
      this.#fields++
    } else if (byte === LF || (byte === CR && this.#hasReturns)) {
      this.#end()
      this.#put(LF)
      this.#fields = 0
    } else if (this.#at >= AT.quote) {
      this.#tail += String.fromCharCode(byte)
      if (byte !== CR) this.#at = AT.tail
    } else {
      this.#append(byte)
      this.#at = AT.plain
      this.#isReturn = byte === CR
    }
  }

  #unescape(byte: number): void {
    this.#isEscaped = false
    if (!this.#isAllEscaped) {
      if (byte !== this.#quote && byte !== BACKSLASH) this.#append(BACKSLASH)
      this.#append(byte)
      return
    }
    this.#isNull = byte === N && this.#length === 0 && this.#at === AT.plain
    this.#append(CONTROLS.get(byte) ?? byte)
  }

  #append(byte: number): void {
    if (this.#length === this.#field.length)
      this.#field = Buffer.concat([this.#field, Buffer.alloc(this.#length)])
    this.#isReturn = false
    this.#field[this.#length++] = byte
  }

  /** Writes the field under way. @param isFollowed whether another one follows: a line of nothing is blank */
  #end(isFollowed = this.#fields > 0): void {
    if (this.#isReturn) this.#length--
    const field = this.#field.subarray(0, this.#length)
    const isQuoted = this.#at >= AT.quoted
    const isNull = this.#isNull && this.#length === 1
    const isEmpty = this.#length === 0 && this.#isAllEscaped && (isFollowed || this.#at !== AT.start)
    if (!isNull && (isQuoted || isEmpty || this.#isSpecial(field))) {
      this.#put(QUOTE)
      for (const byte of field) {
        if (byte === QUOTE) this.#put(QUOTE)
        this.#put(byte)
      }
      // A field that is not closed stays so, which is the error of whoever reads it.
      if (this.#at !== AT.quoted) this.#put(QUOTE)
      for (const byte of Buffer.from(this.#tail.replace(/\r$/, ''), 'latin1')) this.#put(byte)
    } else if (!isNull) for (const byte of field) this.#put(byte)
    this.#at = AT.start
    this.#length = 0
    this.#tail = ''
    this.#isNull = this.#isReturn = false
  }

  #isSpecial(field: Buffer): boolean {
    return field[0] === QUOTE || [this.#delimiter, LF, CR].some((byte) => field.includes(byte))
  }

  #put(byte: number): void {
    if (this.#written === this.#out.length)
      this.#out = Buffer.concat([this.#out, Buffer.alloc(this.#written + 16)])
    this.#out[this.#written++] = byte
  }
}

/** The same text in RFC 4180. */
export function requoted(text: string, options: UploadOptions, delimiter: string): string {
  const requoter = new Requoter(options, delimiter, hasOnlyReturns(text))
  return requoter.push(Buffer.from(text), true).toString()
}

/** Whether lines end with CR alone. */
export function hasOnlyReturns(text: string | Buffer): boolean {
  const at = text.indexOf('\r')
  return at >= 0 && at < text.length - 1 && !text.includes('\n')
}

/** A reader of csv in UTF-8 that is quoted or escaped in other ways, which passes it on in RFC 4180. */
export class Requoting implements PieceReader {
  readonly #reader: PieceReader
  readonly #options: UploadOptions
  readonly #delimiter: string
  /** Whether the last record may be cut off. */
  readonly #isCut: boolean
  /** Null where the file needs none. */
  #requoter: Requoter | null | undefined
  /** What the reader has not used yet. */
  #rest: Uint8Array = new Uint8Array()

  constructor(reader: PieceReader, { options = {}, beginning = false }: ReadRequest, delimiter: string) {
    this.#reader = reader
    this.#options = options
    this.#delimiter = delimiter
    this.#isCut = beginning
  }

  get rows(): number {
    return this.#reader.rows
  }

  take(): Uint8Array {
    return this.#reader.take!()
  }

  feed(buffer: Buffer, end: number, final: boolean): number {
    const isFirst = this.#requoter === undefined
    if (isFirst) this.#requoter = this.#made(buffer.subarray(0, end))
    if (this.#requoter === null) return this.#reader.feed(buffer, end, final)
    const from = isFirst && buffer.indexOf(BOM) === 0 ? BOM.length : 0
    const bytes = this.#requoter!.push(buffer.subarray(from, end), final && !this.#isCut)
    const piece = Buffer.concat([this.#rest, bytes, Buffer.alloc(1)])
    const length = piece.length - 1
    this.#rest = piece.subarray(this.#reader.feed(piece, length, final), length)
    return end
  }

  #made(start: Buffer): Requoter | null {
    const { quotes: quote, escape: escaped } = this.#options
    const hasReturns = hasOnlyReturns(start)
    const isPlain = (quote ?? '"') === '"' && escaped === undefined && !hasReturns
    return isPlain ? null : new Requoter(this.#options, this.#delimiter, hasReturns)
  }
}
