import type { Vector } from '../../duckdb/batch.ts'
import type { EncodedColumn, Encoder } from './encoder.ts'
import { boundOf, plainText, type Shape, shapeOf, textsOf, writeBase64 } from './text/cells.ts'
import { compileRows, fixed, of, write } from './text/compile.ts'
import { KIND } from './text/kinds.ts'

const QUOTE = 0x22
const NEWLINE = 0x0a
const RETURN = 0x0d
const COMMA = 0x2c
const TAB = 0x09

/** RFC 4180 with `\n` and a header line; null is an empty field, the empty string `""`. */
export const csv = (columns: readonly EncodedColumn[]): Encoder => separated(columns, COMMA)

/** The same with tabs, quoted where a field holds one. */
export const tsv = (columns: readonly EncodedColumn[]): Encoder => separated(columns, TAB)

function separated(columns: readonly EncodedColumn[], separator: number): Encoder {
  const shape = shapeOf(columns.map((column) => column.type))
  const last = columns.length - 1
  const writeRows = compileRows({
    cells: columns.map((_, column) => ({
      value: cellCode(shape, column),
      after: `bytes[at++] = ${column === last ? NEWLINE : separator}`,
    })),
    helpers: { field: fieldWriter(separator), writeBase64, plainText },
  })
  return {
    begin(out) {
      const names = columns.map(({ name }) =>
        name === '' || /["\n\r]/.test(name) || name.includes(String.fromCharCode(separator))
          ? `"${name.replaceAll('"', '""')}"`
          : name,
      )
      out.append(Buffer.from(`${names.join(String.fromCharCode(separator))}\n`))
    },

    batch(batch, first, out) {
      const cares = Uint8Array.from(batch.vectors, (vector, column) =>
        careFor(vector, batch.rows, shape.kinds[column]!, separator),
      )
      // A separator and perhaps two quotes beside each value; what has quotes in it may double.
      out.reserve(boundOf(batch, shape, 3, (column) => (cares[column] === CARE.doubling ? 2 : 1)))
      out.length = writeRows(out.bytes, out.view, out.length, batch.vectors, cares, batch.rows, first)
    },

    end() {},
  }
}

function cellCode({ kinds, scales }: Shape, column: number): string {
  const kind = kinds[column]!
  if (kind < KIND.uuid) return fixed(kind, column, scales[column]!)
  const offsets = of('offsets', column)
  const ends = `const start = ${offsets}[row], end = ${offsets}[row + 1]`
  const plain = `plainText(view, at, ${of('text', column)}, start, end)`
  if (kind === KIND.uuid) return `${ends}; at = ${plain}`
  const written =
    kind === KIND.binary
      ? `at = writeBase64(bytes, at, ${of('data', column)}, start, end)`
      : `at = ${of('mark', column)} === ${CARE.none} ? ${plain} : ` +
        `field(bytes, view, at, ${of('vector', column)}, start, end, ${of('mark', column)})`
  return `${ends}; if (start === end) { ${write('""')} } else ${written}`
}

/** What the texts of a column need: nothing, quotes around some of them, or quotes doubled inside as well. */
const CARE = { none: 0, quotes: 1, doubling: 2 } as const

/** Looks at all texts of a column at once, which is quicker by far than at each. */
function careFor(vector: Vector, rows: number, kind: number, separator: number): number {
  if (kind < KIND.string) return CARE.none
  const texts = textsOf(vector, rows)
  if (texts.includes(QUOTE)) return CARE.doubling
  return [separator, NEWLINE, RETURN].some((byte) => texts.includes(byte)) ? CARE.quotes : CARE.none
}

/** Writes a text of a column that has some with quotes. */
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
