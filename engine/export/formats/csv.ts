import type { Vector } from '../../duckdb/batch.ts'
import type { EncodedColumn, EncodeOptions, Encoder } from './encoder.ts'
import { beginsFormula, type Dialect, isFormula, literal, separatorOf, writeLiteral } from './encoder.ts'
import {
  boundOf,
  compileRows,
  fixed,
  KIND,
  of,
  plainText,
  type Shape,
  shapeOf,
  textsOf,
  write,
  writeBase64,
} from './text/cells.ts'

const QUOTE = 0x22
const NEWLINE = 0x0a
const RETURN = 0x0d
const COMMA = 0x2c
const POINT = 0x2e
const APOSTROPHE = 0x27
const BYTE_ORDER_MARK = '\ufeff'

/**
 * RFC 4180 with `\n` and a header line; null is an empty field, the empty string `""`. Where there is one column, null is
 * `""`, too: most programs skip empty lines.
 */
export const csv = (columns: readonly EncodedColumn[], { dialect = {} }: EncodeOptions): Encoder =>
  separated(columns, separatorOf('csv', dialect.delimiter), dialect)

/** Like csv, with tabs between the fields; a field that contains a tab is quoted. */
export const tsv = (columns: readonly EncodedColumn[], { dialect = {} }: EncodeOptions): Encoder =>
  separated(columns, separatorOf('tsv', dialect.delimiter), dialect)

function separated(columns: readonly EncodedColumn[], between: string, dialect: Dialect): Encoder {
  const shape = shapeOf(columns.map((column) => column.type))
  const last = columns.length - 1
  const separator = between.charCodeAt(0)
  const missing = literal(dialect.null ?? (last === 0 ? '""' : ''))
  const writeRows = compileRows(() => ({
    cells: columns.map((_, column) => ({
      value: cellCode(shape, column, dialect),
      missing: missing.length === 0 ? '' : 'at = writeLiteral(view, at, missing)',
      after: `bytes[at++] = ${column === last ? NEWLINE : separator}`,
    })),
    helpers: {
      field: fieldWriter(separator),
      writeBase64,
      plainText,
      writeLiteral,
      missing,
      beginsFormula,
      escaped,
      withComma,
      apart: makeQuoter(dialect.null ?? ''),
    },
  }))
  return {
    begin(out) {
      const names = columns.map(({ name }) => headerField(name, between, dialect))
      out.append(Buffer.from(`${dialect.bom ? BYTE_ORDER_MARK : ''}${names.join(between)}\n`))
    },

    batch(batch, first, out) {
      const cares = Uint8Array.from(batch.vectors, (vector, column) =>
        careFor(vector, batch.rows, shape.kinds[column]!, separator),
      )
      // Besides its value, a cell may have a separator, two quotes and an apostrophe. A value with quotes may become
      // twice as long.
      const around = 4 + missing.length
      out.reserve(boundOf(batch, shape, around, (column) => (cares[column] === CARE.doubling ? 2 : 1)))
      out.length = writeRows(out.bytes, out.view, out.length, batch.vectors, cares, batch.rows, first)
    },

    end() {},
  }
}

function headerField(name: string, between: string, dialect: Dialect): string {
  const calculated = dialect.formulas === 'escape' && isFormula(name)
  const text = calculated ? `'${name}` : name
  // Without quotes, a byte order mark at the beginning of the file would not be part of the name.
  const needsQuotes =
    text === '' || calculated || text === dialect.null || /["\n\r\ufeff]/.test(text) || text.includes(between)
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text
}

function cellCode(shape: Shape, column: number, dialect: Dialect): string {
  const kind = shape.kinds[column]!
  const plain =
    kind < KIND.uuid ? fixed(kind, column, shape.scales[column]!) : textCode(kind, column, dialect)
  const comma = dialect.decimal === ',' && (kind === KIND.double || kind === KIND.decimal)
  if (!comma && !dialect.null) return plain
  return (
    `const begin = at; ${plain};` +
    (comma ? 'withComma(bytes, begin, at);' : '') +
    (dialect.null ? 'at = apart(bytes, begin, at);' : '')
  )
}

function textCode(kind: number, column: number, dialect: Dialect): string {
  const offsets = of('offsets', column)
  const ends = `const start = ${offsets}[row], end = ${offsets}[row + 1]`
  const plain = `plainText(view, at, ${of('text', column)}, start, end)`
  if (kind === KIND.uuid) return `${ends}; at = ${plain}`
  const written =
    kind === KIND.binary
      ? `at = writeBase64(bytes, at, ${of('data', column)}, start, end)`
      : `at = ${of('mark', column)} === ${CARE.none} ? ${plain} : ` +
        `field(bytes, view, at, ${of('vector', column)}, start, end, ${of('mark', column)})`
  // JSON needs no escape: only negative numbers begin with a sign that formulas begin with, and they are harmless.
  const formula =
    dialect.formulas === 'escape' && kind === KIND.string
      ? `if (beginsFormula(${of('data', column)}, start, end)) at = escaped(bytes, at, ${of('data', column)}, start, end); else `
      : ''
  return `${ends}; if (start === end) { ${write('""')} } else ${formula}${written}`
}

/** What the texts of a column need: nothing, quotes around some texts, or also doubled quotes inside them. */
const CARE = { none: 0, quotes: 1, doubling: 2 } as const

/** Searches all texts of a column at once, which is much quicker than searching each. */
function careFor(vector: Vector, rows: number, kind: number, separator: number): number {
  if (kind < KIND.string) return CARE.none
  const texts = textsOf(vector, rows)
  if (texts.includes(QUOTE)) return CARE.doubling
  return [separator, NEWLINE, RETURN].some((byte) => texts.includes(byte)) ? CARE.quotes : CARE.none
}

/** Makes the function that writes texts of a column in which some texts need quotes. */
function fieldWriter(separator: number) {
  return (
    bytes: Uint8Array,
    view: DataView,
    at: number,
    vector: Vector,
    start: number,
    end: number,
    care: number,
  ): number => {
    if (!hasSpecial(vector.view, start, end, separator)) return plainText(view, at, vector.view, start, end)
    bytes[at++] = QUOTE
    at =
      care === CARE.quotes
        ? plainText(view, at, vector.view, start, end)
        : doubled(bytes, at, vector.bytes, start, end)
    bytes[at] = QUOTE
    return at + 1
  }
}

/** Whether a text needs quotes; looks at four bytes at a time. */
function hasSpecial(text: DataView, start: number, end: number, separator: number): boolean {
  const separators = separator * 0x01010101
  let found = 0
  let i = start
  // In `word ^ pattern` the wanted byte is zero, and subtracting one from it sets its top bit.
  for (; i + 4 <= end; i += 4) {
    const word = text.getInt32(i, true)
    const quotes = word ^ 0x22222222
    const newlines = word ^ 0x0a0a0a0a
    const returns = word ^ 0x0d0d0d0d
    const others = word ^ separators
    found |=
      ((quotes - 0x01010101) & ~quotes) |
      ((newlines - 0x01010101) & ~newlines) |
      ((returns - 0x01010101) & ~returns) |
      ((others - 0x01010101) & ~others)
  }
  if ((found & 0x80808080) !== 0) return true
  for (; i < end; i++) {
    const byte = text.getUint8(i)
    if (byte === QUOTE || byte === separator || byte === NEWLINE || byte === RETURN) return true
  }
  return false
}

function doubled(bytes: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    if (byte === QUOTE) bytes[at++] = QUOTE
    bytes[at++] = byte
  }
  return at
}

/** Writes a text that spreadsheets would take for a formula: in quotes, after an apostrophe that makes it a text. */
function escaped(bytes: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  bytes[at++] = QUOTE
  bytes[at++] = APOSTROPHE
  at = doubled(bytes, at, from, start, end)
  bytes[at] = QUOTE
  return at + 1
}

/** Replaces the point by a comma in a number that has been written. */
function withComma(bytes: Uint8Array, begin: number, end: number): void {
  for (let at = begin; at < end; at++) {
    if (bytes[at] === POINT) bytes[at] = COMMA
  }
}

/** Makes the function that puts a written value in quotes if it looks like null, so that they can be told apart. */
function makeQuoter(missing: string) {
  const text = Buffer.from(missing)
  return (bytes: Uint8Array, begin: number, end: number): number => {
    if (end - begin !== text.length) return end
    for (let i = 0; i < text.length; i++) if (bytes[begin + i] !== text[i]) return end
    bytes.copyWithin(begin + 1, begin, end)
    bytes[begin] = QUOTE
    bytes[end + 1] = QUOTE
    return end + 2
  }
}
