import { badRow, failedAtNotFinite, malformed, NOT_FINITE } from '../text/errors.ts'
import {
  checkedKind,
  classifier,
  hasHalfCharacter,
  needsCheck,
  STOP,
  TEXT_KIND,
  transitions,
} from '../text/text-kinds.ts'

/** The forms of JSON values. */
export const TOKEN = { null: 0, boolean: 1, number: 2, string: 3, escapedString: 4, nested: 5 } as const

/** Is thrown if a value goes on behind the buffer. It is then read again from its beginning, with more bytes there. */
export const INCOMPLETE = Symbol('incomplete')

const DEEPEST = 500
const BYTES = [...Array(0x100).keys()]
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/
const IN_NUMBERS = Buffer.from('0123456789+-.eE')
const [SPACE, TAB, LF, CR] = [0x20, 0x09, 0x0a, 0x0d]
const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Kinds of numbers that are numbers in JSON, too, if they begin with a digit. */
const PLAIN = TEXT_KIND.integer | TEXT_KIND.fraction | TEXT_KIND.grouped

let made: { readonly inString: Uint16Array; readonly inNumber: Uint16Array } | undefined

/** The tables of all readers. They are made once, because a small upload is read in less time. */
function tables() {
  made ??= {
    inString: transitions(BYTES.filter((byte) => byte < 0x20 || byte === QUOTE || byte === BACKSLASH)),
    inNumber: transitions(BYTES.filter((byte) => !IN_NUMBERS.includes(byte))),
  }
  return made
}

/**
 * Reads JSON (RFC 8259) in place: a value is given as a range of the buffer, its token and its kind. Numbers are never
 * turned into JavaScript numbers, so that no digit is lost.
 */
export class JsonReader {
  at = 0
  /** Where the value read last begins; that of a string begins behind its quote, and ends before the other one. */
  from = 0
  to = 0
  token: number = TOKEN.null
  /** The kind of the value read last: for scalars the one that `kindOf` returns, for strings with escapes text. */
  kind = 0
  buffer: Buffer = Buffer.alloc(1)
  #end = 0
  #final = true
  /** Where the buffer begins in the file. */
  #offset = 0
  /** The number of the row under way, for error messages; 0 outside of rows. */
  row = 0
  readonly #inString = tables().inString
  readonly #inNumber = tables().inNumber

  /** Begins to read `buffer[0..end)`; `buffer[end]` is overwritten. */
  begin(buffer: Buffer, end: number, final: boolean, offset: number): void {
    buffer[end] = 0
    this.buffer = buffer
    this.#end = end
    this.#final = final
    this.#offset = offset
    this.at = 0
  }

  /** Skips blanks and returns the byte behind them, without going past it; -1 at the end of the file. */
  peek(): number {
    const buffer = this.buffer
    for (;;) {
      const byte = buffer[this.at]!
      if (byte === SPACE || byte === LF || byte === CR || byte === TAB) this.at++
      else if (byte !== 0 || this.at < this.#end) return byte
      else if (this.#final) return -1
      else throw INCOMPLETE
    }
  }

  /** Skips blanks and goes past the byte behind them, which has to be `byte`. */
  expect(byte: number, what: string): void {
    if (this.peek() !== byte) throw this.unexpected(what)
    this.at++
  }

  /** Reads a value of any kind. */
  value(): void {
    const byte = this.peek()
    if (byte === QUOTE) this.string()
    else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) this.#number()
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#nested()
    else if (byte === 0x6e) this.#word('null', TOKEN.null, TEXT_KIND.null)
    else if (byte === 0x74) this.#word('true', TOKEN.boolean, TEXT_KIND.boolean)
    else if (byte === 0x66) this.#word('false', TOKEN.boolean, TEXT_KIND.boolean)
    else throw this.#notFinite() ?? this.unexpected('a value')
  }

  /** Reads a string; `at` has to be the position of its first quote. */
  string(): void {
    const buffer = this.buffer
    const { start, kind } = classifier()
    const inString = this.#inString
    let at = this.at + 1
    let state = start
    let next = 0
    this.from = at
    this.token = TOKEN.string
    for (;;) {
      while ((next = inString[state + buffer[at]!]!) !== STOP) {
        state = next
        at++
      }
      if (buffer[at] === QUOTE) break
      if (buffer[at] === BACKSLASH && at + 1 < this.#end) {
        this.token = TOKEN.escapedString
        state = 0
        at += 2
        continue
      }
      this.at = at
      if (at + 1 >= this.#end) throw this.#cut('inside of a string')
      throw this.unexpected('no control character inside of a string')
    }
    this.to = at
    this.at = at + 1
    this.kind = this.#checked(kind[state >> 8]!)
  }

  /** The text of a string, by default that of the one read last. */
  text({ token, from, to }: Pick<JsonReader, 'token' | 'from' | 'to'> = this): string {
    if (token === TOKEN.string) return this.buffer.toString('utf8', from, to)
    try {
      const text = JSON.parse(this.buffer.toString('utf8', from - 1, to + 1)) as string
      // Half a surrogate pair can't be written as UTF-8.
      if (text.isWellFormed()) return text
    } catch {}
    throw this.#error('a string has an escape sequence that JSON does not know, or half a character')
  }

  /** To be thrown if the next byte is not the one wanted: an error with the position, or `INCOMPLETE`. */
  unexpected(wanted: string): unknown {
    if (this.at >= this.#end) return this.#cut(`where ${wanted} is due`)
    const character = this.buffer.toString('utf8', this.at, this.at + 4).slice(0, 1)
    return this.#error(`expected ${wanted}, found ${JSON.stringify(character)}`)
  }

  #number(): void {
    const buffer = this.buffer
    const { start, kind } = classifier()
    const inNumber = this.#inNumber
    const from = this.at
    let at = from
    let state = start
    let next = 0
    while ((next = inNumber[state + buffer[at]!]!) !== STOP) {
      state = next
      at++
    }
    if (at >= this.#end && !this.#final) throw INCOMPLETE
    this.from = from
    this.to = at
    this.token = TOKEN.number
    const found = kind[state >> 8]!
    const first = buffer[from] === MINUS ? buffer[from + 1]! : buffer[from]!
    const isPlain = (found & PLAIN) !== 0 && first >= ZERO && first <= NINE
    // In csv, `.5`, `1.` and `+1` are numbers, too.
    if (!isPlain && !NUMBER.test(buffer.toString('latin1', from, at))) {
      const text = JSON.stringify(buffer.toString('utf8', from, Math.min(at, from + 40)))
      throw this.#notFinite() ?? this.#error(`${text} is not a number`)
    }
    this.at = at
    this.kind = this.#checked(found)
  }

  /** The error for NaN and infinities as programs write them; undefined if nothing of the kind comes next. */
  #notFinite(): unknown {
    const word = this.buffer.toString('latin1', this.at, Math.min(this.at + 4, this.#end))
    if (/^-?(?:nan|inf)/i.test(word)) return this.#error(NOT_FINITE)
    return word.length < 4 && !this.#final ? INCOMPLETE : undefined
  }

  #checked(found: number): number {
    if (!needsCheck(found, this.to - this.from)) return found
    return checkedKind(found, this.buffer.toString('latin1', this.from, this.to))
  }

  #word(word: string, token: number, kind: number): void {
    const from = this.at
    const to = from + word.length
    if (to > this.#end && !this.#final) throw INCOMPLETE
    if (this.buffer.toString('latin1', from, Math.min(to, this.#end)) !== word)
      throw this.#notFinite() ?? this.unexpected('a value')
    this.from = from
    this.to = this.at = to
    this.token = token
    this.kind = kind
  }

  /** Finds the end of an array or object by its brackets, and has JSON.parse check whether it is valid. */
  #nested(): void {
    const buffer = this.buffer
    const from = this.at
    let depth = 0
    do {
      const byte = this.peek()
      if (byte === -1) throw this.#cut('inside of a value')
      if (byte === QUOTE) {
        this.string()
        continue
      }
      if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
      if (depth > DEEPEST) throw this.#error(`values are nested more than ${DEEPEST} deep`)
      this.at++
    } while (depth > 0)
    this.from = from
    this.to = this.at
    this.token = TOKEN.nested
    this.kind = TEXT_KIND.text
    const why = whyNotJson(buffer.toString('utf8', from, this.at))
    if (why === undefined) return
    this.at = from
    throw this.#error(`a nested value is not JSON: ${why}`)
  }

  #cut(what: string): unknown {
    return this.#final ? this.#error(`the file ends ${what}`) : INCOMPLETE
  }

  #error(what: string): Error {
    const position = this.#offset + this.at
    const where = `${position}: ${what}.`
    return this.row > 0
      ? badRow(this.row, `, byte ${where}`, { position })
      : malformed(`Byte ${where}`, { position })
  }
}

function whyNotJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return hasHalfCharacter(text) ? 'a string in it has half a character' : undefined
  } catch (error) {
    const { message } = error as Error
    return failedAtNotFinite(message) ? NOT_FINITE : message.replace(/(,| in JSON).*$/s, '')
  }
}
