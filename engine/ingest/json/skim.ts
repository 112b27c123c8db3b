import { STOP, transitions } from '../csv/bytes.ts'
import { acceptedKinds } from '../text/accepted.ts'
import type { Blanks } from '../text/blanks.ts'
import { type CellWriter, UNIT_SEPARATOR } from '../text/cell-writer.ts'
import { ALL_KINDS, classifier, KIND, RANGED, SAFE_LENGTH } from '../text/text-kinds.ts'
import type { JsonField, JsonLayout } from './fields.ts'

const [SPACE, LF, CR, TAB, QUOTE, COMMA, MINUS, DOT] = [0x20, 0x0a, 0x0d, 0x09, 0x22, 0x2c, 0x2d, 0x2e]
const [ZERO, NINE, COLON, BACKSLASH] = [0x30, 0x39, 0x3a, 0x5c]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const [NULL, TRUE, FALSE] = ['null', 'true', 'false'].map((word) => Buffer.from(word)) as [
  Buffer,
  Buffer,
  Buffer,
]
/** The kinds of JSON numbers that are accepted without a look at their digits. */
const NUMBERS = KIND.integer | KIND.whole | KIND.fraction
/** A number with a point that has more characters than this may be out of its type's range. */
const LONGEST_FRACTION = 300
/** A row that lacks this many adjacent columns, or more, is left to `JsonReader`. */
const MOST_MISSING = 16
/** After so many consecutive rows that it could not read, `JsonSkim` reads no more until the next buffer. */
const PATIENCE = 16
const NO_ROW = -1

let made: { readonly inText: Uint16Array; readonly inNumber: Uint16Array } | undefined

/** The transition tables for texts and for numbers. They are made once, since each takes some milliseconds to make. */
function tables() {
  const [bytes, inNumbers] = [[...Array(0x100).keys()], new Set(Buffer.from('0123456789+-.eE'))]
  made ??= {
    inText: transitions(bytes.filter((byte) => byte < SPACE || byte === QUOTE || byte === BACKSLASH)),
    inNumber: transitions(bytes.filter((byte) => !inNumbers.has(byte))),
  }
  return made
}

/**
 * Reads simple rows, several times as fast as `JsonReader`. A row is simple if its keys are in the order of the
 * columns, no text has an escape, and the kind of each value alone says that the column accepts it. `JsonSkim` stops
 * before any other row, whether that is valid or not. Such a row leaves no trace, except that the kinds of some of its
 * values may have been noted.
 */
export class JsonSkim {
  /** The rows read so far, including those that `JsonReader` read. */
  rows = 0
  readonly #fields: readonly JsonField[]
  readonly #out: CellWriter
  readonly #blanks: Blanks
  /** Whether the values of array rows are in the order of the columns. */
  readonly #inOrder: boolean
  readonly #tables = tables()
  /** All keys with their quotes, joined, and where each of them begins. */
  #keys = new Uint8Array()
  #keyStarts = new Int32Array()
  /** Per column: the kinds accepted without a look at the value; `KIND.null` among them where it may be missing. */
  #certain = new Int32Array()
  /** Per column: the bytes of its value in the row under way; -1 where the row has no value. */
  #widths = new Int32Array()
  /** How many fields the row under way names. */
  #held = 0
  /** Where the cells of the row under way end, so far, in the writer's buffer. */
  #written = 0
  #failures = 0
  /** Whether `#keys`, `#certain` and the like fit the present columns. */
  #current = false

  constructor(fields: readonly JsonField[], { positions }: JsonLayout, out: CellWriter, blanks: Blanks) {
    this.#fields = fields
    this.#out = out
    this.#blanks = blanks
    this.#inOrder = positions?.every((field, index) => field === index) ?? false
  }

  /** To be called when columns have been added, or have turned out to be nested. */
  renew(): void {
    this.#current = false
  }

  #prepare(): void {
    this.#current = true
    const keys = this.#fields.map(({ name }) => Buffer.from(JSON.stringify(name)))
    this.#keys = new Uint8Array(Buffer.concat(keys))
    this.#keyStarts = new Int32Array(keys.length + 1)
    keys.forEach((key, index) => {
      this.#keyStarts[index + 1] = this.#keyStarts[index]! + key.length
    })
    this.#certain = Int32Array.from(this.#fields, ({ type, nullable, nested }) => {
      if (nested) return 0
      const certain = type === undefined ? ALL_KINDS : acceptedKinds(type).certain
      return nullable ? certain | KIND.null : certain & ~KIND.null
    })
    this.#widths = new Int32Array(keys.length)
  }

  /** To be called before each buffer, since its rows may be simple again. */
  begin(): void {
    this.#failures = 0
  }

  /**
   * Reads rows of `buffer[at..end)`, which must be valid UTF-8; `buffer[end]` must be 0. `commas` says that a comma
   * precedes each row. Returns where the last row that it read ends; the first row that it could not read, or the comma
   * before that row, follows there.
   */
  read(buffer: Uint8Array, at: number, end: number, commas: boolean): number {
    if (this.#failures >= PATIENCE) return at
    if (!this.#current) this.#prepare()
    for (let done = at; ; ) {
      let start = behindBlanks(buffer, done)
      if (commas) start = buffer[start] === COMMA ? behindBlanks(buffer, start + 1) : end
      const next = this.#row(buffer, start, end)
      if (next === NO_ROW) {
        this.#failures = done === at ? this.#failures + 1 : 0
        return done
      }
      this.#endRow()
      done = next
    }
  }

  /** Writes the cells of the row at `start` behind those of finished rows. Returns where the row ends, or `NO_ROW`. */
  #row(buffer: Uint8Array, start: number, end: number): number {
    const keyed = buffer[start] === OPEN_OBJECT
    if (!keyed && !(this.#inOrder && buffer[start] === OPEN_ARRAY)) return NO_ROW
    const columns = this.#certain.length
    // No cell is longer than the JSON that it is read from: texts lose their quotes, or keep them if they are empty.
    const target = this.#out.reserve(end - start + columns + 1)
    this.#written = this.#out.length
    this.#held = 0
    let at = behindBlanks(buffer, start + 1)
    for (let field = 0; ; ) {
      if (keyed) {
        const found = this.#fieldAt(buffer, at, field)
        if (found < 0) return NO_ROW
        at = behindBlanks(buffer, at + this.#keyStarts[found + 1]! - this.#keyStarts[found]!)
        if (buffer[at] !== COLON) return NO_ROW
        at = behindBlanks(buffer, at + 1)
        if (!this.#skip(target, field, found)) return NO_ROW
        field = found
      } else if (field >= columns) return NO_ROW
      if (field > 0) target[this.#written++] = UNIT_SEPARATOR
      at = this.#value(buffer, at, field, target)
      if (at === NO_ROW) return NO_ROW
      this.#held++
      field++
      at = behindBlanks(buffer, at)
      if (buffer[at] === COMMA) at = behindBlanks(buffer, at + 1)
      else if (buffer[at] !== (keyed ? CLOSE_OBJECT : CLOSE_ARRAY)) return NO_ROW
      else if (keyed ? this.#skip(target, field, columns) : field === columns) return at + 1
      else return NO_ROW
    }
  }
  /** Leaves the columns from `field` up to `found` empty; false if one of them may not be empty. */
  #skip(target: Uint8Array, field: number, found: number): boolean {
    for (let missing = field; missing < found; missing++) {
      if (!(this.#certain[missing]! & KIND.null)) return false
      if (missing > 0) target[this.#written++] = UNIT_SEPARATOR
      this.#widths[missing] = -1
    }
    return true
  }

  /** The column whose key is at `at`: `field` or one of those behind it; -1 if it is none of these. */
  #fieldAt(buffer: Uint8Array, at: number, field: number): number {
    const keys = this.#keys
    const most = Math.min(field + MOST_MISSING, this.#certain.length)
    for (let candidate = field; candidate < most; candidate++) {
      const end = this.#keyStarts[candidate + 1]!
      let key = this.#keyStarts[candidate]!
      for (let from = at; key < end && keys[key] === buffer[from]; from++) key++
      if (key === end) return candidate
    }
    return -1
  }

  /** Writes the cell of a value and notes the value's kind and width. Returns where the value ends, or `NO_ROW`. */
  #value(buffer: Uint8Array, start: number, field: number, target: Uint8Array): number {
    const byte = buffer[start]!
    const digits = byte === MINUS ? buffer[start + 1]! : byte
    if (byte === QUOTE) return this.#text(buffer, start + 1, field, target)
    if (digits >= ZERO && digits <= NINE) return this.#number(buffer, start, field, target)
    const word = byte === NULL[0] ? NULL : byte === TRUE[0] ? TRUE : FALSE
    const kind = word === NULL ? KIND.null : KIND.boolean
    if (!(kind & this.#certain[field]!)) return NO_ROW
    for (let i = 0; i < word.length; i++) if (buffer[start + i] !== word[i]) return NO_ROW
    if (word === NULL) this.#widths[field] = -1
    else {
      for (let i = 0; i < word.length; i++) target[this.#written++] = word[i]!
      this.#widths[field] = word.length
      this.#fields[field]!.scalars |= kind
    }
    return start + word.length
  }

  #text(buffer: Uint8Array, start: number, field: number, target: Uint8Array): number {
    const { start: initial, stride, kind: kindOf } = classifier()
    const table = this.#tables.inText
    let state = (initial / stride) * 256
    let next = 0
    let at = start
    let to = this.#written
    while ((next = table[state + buffer[at]!]!) !== STOP) {
      state = next
      target[to++] = buffer[at++]!
    }
    const width = at - start
    const kind = kindOf[state >> 8]!
    const doubtful = width > SAFE_LENGTH && kind & RANGED
    if (buffer[at] !== QUOTE || kind & ~this.#certain[field]! || doubtful) return NO_ROW
    if (width === 0) {
      target[to++] = QUOTE
      target[to++] = QUOTE
      this.#out.quotes = true
    }
    this.#written = to
    this.#widths[field] = width
    this.#fields[field]!.texts |= kind
    return at + 1
  }

  #number(buffer: Uint8Array, start: number, field: number, target: Uint8Array): number {
    const { start: initial, stride, kind: kindOf } = classifier()
    const table = this.#tables.inNumber
    let state = (initial / stride) * 256
    let next = 0
    let at = start
    let to = this.#written
    while ((next = table[state + buffer[at]!]!) !== STOP) {
      state = next
      target[to++] = buffer[at++]!
    }
    const width = at - start
    const kind = kindOf[state >> 8]!
    const doubtful = width > (kind === KIND.integer ? SAFE_LENGTH : LONGEST_FRACTION)
    // `1.` is a number in csv, but not in JSON.
    if (kind & ~(this.#certain[field]! & NUMBERS) || doubtful || buffer[at - 1] === DOT) return NO_ROW
    this.#written = to
    this.#widths[field] = width
    this.#fields[field]!.scalars |= kind
    return at
  }

  /** Counts the row that has been read, and makes its cells part of the output. */
  #endRow(): void {
    const { length } = this.#widths
    for (let index = 0; index < length; index++) {
      const width = this.#widths[index]!
      if (width < 0) continue
      const field = this.#fields[index]!
      field.values++
      field.width += width
    }
    this.rows++
    this.#blanks.add(this.rows, length, this.#held)
    this.#out.length = this.#written
    this.#out.endRecord()
  }
}

function behindBlanks(buffer: Uint8Array, at: number): number {
  for (;;) {
    const byte = buffer[at]!
    if (byte > SPACE || (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB)) return at
    at++
  }
}
