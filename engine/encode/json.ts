import type { Batch, Vector } from '../arrow/batch.ts'
import {
  boundOf,
  fixedCell,
  hasControls,
  KIND,
  plainText,
  type Shape,
  shapeOf,
  writeBase64,
} from './cells.ts'
import type { EncodedColumn, Encoder } from './encoder.ts'
import { embedJson } from './jsontext.ts'
import { type Literal, literal, type Output, writeLiteral } from './output.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NULL = literal('null')
const NOTHING = literal('')
const COMMA = literal(',\n')
const LINE_END = literal('}\n')
const ROW_END = literal('}')

/**
 * An array of objects, one on each line. Numbers are exact: integers and decimals with all their digits, doubles in
 * their shortest form; `NaN`, `INF` and `-INF` are strings. Values of json columns are embedded.
 */
export const json = (columns: readonly EncodedColumn[]): Encoder => {
  const rows = rowsWriter(columns)
  return {
    begin: (out) => out.append(Buffer.from('[')),
    batch: (batch, first, out) => rows(batch, out, first === 0 ? NOTHING : COMMA, COMMA, ROW_END),
    end: (_rows, out) => out.append(Buffer.from(']\n')),
  }
}

/** An object on each line, written as in json, nothing around them. */
export const ndjson = (columns: readonly EncodedColumn[]): Encoder => {
  const rows = rowsWriter(columns)
  return {
    begin() {},
    batch: (batch, _first, out) => rows(batch, out, NOTHING, NOTHING, LINE_END),
    end() {},
  }
}

function rowsWriter(columns: readonly EncodedColumn[]) {
  const shape = shapeOf(columns.map((column) => column.type))
  const keys = columns.map(({ name }, index) => literal(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`))
  // Beside a value: its key, quotes or `null`, and its share of what stands between rows.
  const around = Math.max(...keys.map((key) => key.length)) + 12
  return (batch: Batch, out: Output, first: Literal, between: Literal, end: Literal): void => {
    const factors = Uint8Array.from(batch.vectors, (vector, column) => growth(vector, shape.kinds[column]!))
    out.reserve(boundOf(batch, shape, around, (column) => factors[column]!))
    let at = out.length
    for (let row = 0; row < batch.rows; row++) {
      at = writeLiteral(out.view, at, row === 0 ? first : between)
      at = writeRow(out.bytes, out.view, at, batch.vectors, row, keys, shape, factors)
      at = writeLiteral(out.view, at, end)
    }
    out.length = at
  }
}

/** How many bytes a byte of a column's texts may become: 1 where none needs an escape, 6 for `\u001f`. */
function growth({ bytes, offsets }: Vector, kind: number): number {
  if (kind < KIND.string) return 1
  if (kind === KIND.json) return 2
  const texts = bytes.subarray(0, offsets.at(-1))
  if (hasControls(texts)) return 6
  return texts.includes(QUOTE) || texts.includes(BACKSLASH) ? 2 : 1
}

function writeRow(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  vectors: readonly Vector[],
  row: number,
  keys: readonly Literal[],
  { kinds, scales }: Shape,
  factors: Uint8Array,
): number {
  for (let column = 0; column < vectors.length; column++) {
    const vector = vectors[column]!
    const { validity } = vector
    at = writeLiteral(view, at, keys[column]!)
    if (validity !== undefined && ((validity[row >> 3]! >> (row & 7)) & 1) === 0) {
      at = writeLiteral(view, at, NULL)
      continue
    }
    const kind = kinds[column]!
    if (kind < KIND.date) {
      if (kind !== KIND.double || Number.isFinite(vector.doubles[row]!)) {
        at = fixedCell(view, at, vector, row, kind, scales[column]!)
        continue
      }
    } else if (kind === KIND.json) {
      at = embedJson(bytes, at, vector.bytes, vector.offsets[row]!, vector.offsets[row + 1]!)
      continue
    }
    bytes[at] = QUOTE
    if (kind < KIND.uuid) at = fixedCell(view, at + 1, vector, row, kind, scales[column]!)
    else {
      const start = vector.offsets[row]!
      const end = vector.offsets[row + 1]!
      if (kind === KIND.binary) at = writeBase64(bytes, at + 1, vector.bytes, start, end)
      else if (factors[column] === 1) at = plainText(view, at + 1, vector.view, start, end)
      else at = escaped(bytes, at + 1, vector.bytes, start, end)
    }
    bytes[at++] = QUOTE
  }
  return at
}

/** What follows the backslash of a short escape; 0 where there is none. */
const SHORT = new Uint8Array(128)
for (const [byte, letter] of Object.entries({
  8: 'b',
  9: 't',
  10: 'n',
  12: 'f',
  13: 'r',
  34: '"',
  92: '\\',
})) {
  SHORT[Number(byte)] = letter.charCodeAt(0)
}
const HEX = Buffer.from('0123456789abcdef')

function escaped(bytes: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) {
      bytes[at++] = byte
      continue
    }
    bytes[at++] = BACKSLASH
    const short = SHORT[byte]!
    if (short !== 0) {
      bytes[at++] = short
      continue
    }
    bytes[at++] = 0x75
    bytes[at++] = 0x30
    bytes[at++] = 0x30
    bytes[at++] = HEX[byte >> 4]!
    bytes[at++] = HEX[byte & 15]!
  }
  return at
}
