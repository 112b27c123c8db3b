import { type Batch, isNull, type Vector } from '../arrow/batch.ts'
import { base64, copyBytes, fixedCell, KIND, MAX_CELL, shapeOf } from './cells.ts'
import type { EncodedColumn, Encoder } from './encoder.ts'
import { embedJson } from './jsontext.ts'
import { type Literal, literal, type Output, writeLiteral } from './output.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NULL = literal('null')

/** An array of objects, one on each line. */
export const json = (columns: readonly EncodedColumn[]): Encoder => {
  const row = rowWriter(columns)
  return {
    begin: (out) => out.append(Buffer.from('[')),
    batch({ rows, vectors }, first, out) {
      for (let i = 0; i < rows; i++) row(vectors, i, out, first + i > 0 ? SEPARATOR : NOTHING, NOTHING)
    },
    end: (_rows, out) => out.append(Buffer.from(']\n')),
  }
}

/** An object on each line, nothing around them. */
export const ndjson = (columns: readonly EncodedColumn[]): Encoder => {
  const row = rowWriter(columns)
  return {
    begin() {},
    batch({ rows, vectors }, _first, out) {
      for (let i = 0; i < rows; i++) row(vectors, i, out, NOTHING, LINE)
    },
    end() {},
  }
}

const NOTHING = literal('')
const SEPARATOR = literal(',\n')
const LINE = literal('\n')

type RowWriter = (
  vectors: Batch['vectors'],
  row: number,
  out: Output,
  before: Literal,
  after: Literal,
) => void

/**
 * Writes a row as an object. Numbers are exact: integers and decimals with all their digits, doubles in their shortest
 * form; `NaN`, `INF` and `-INF` are strings. Values of json columns are embedded.
 */
function rowWriter(columns: readonly EncodedColumn[]): RowWriter {
  const { kinds, scales } = shapeOf(columns.map((column) => column.type))
  const count = columns.length
  const keys = columns.map(({ name }, index) => literal(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`))
  const spare = keys.reduce((sum, key) => sum + key.length + 4, 0) + count * MAX_CELL + 16

  const cell = (out: Output, vector: Vector, row: number, kind: number): void => {
    const start = vector.offsets[row]!
    const end = vector.offsets[row + 1]!
    if (kind === KIND.json) {
      embedJson(out, vector.bytes, start, end, spare)
      return
    }
    out.reserve(end - start + 2 + spare)
    out.bytes[out.length++] = QUOTE
    if (kind === KIND.uuid) copyBytes(out, vector.view, start, end)
    else if (kind === KIND.binary) base64(out, vector.bytes, start, end, spare)
    else if (!copyUnlessSpecial(out, vector.view, start, end))
      escapeText(out, vector.bytes, start, end, spare)
    out.bytes[out.length++] = QUOTE
  }

  return (vectors, row, out, before, after) => {
    out.reserve(spare)
    out.length = writeLiteral(out.view, out.length, before)
    for (let column = 0; column < count; column++) {
      const { view } = out
      let at = writeLiteral(view, out.length, keys[column]!)
      const vector = vectors[column]!
      const kind = kinds[column]!
      if (isNull(vector, row)) {
        at = writeLiteral(view, at, NULL)
      } else if (kind >= KIND.uuid) {
        out.length = at
        cell(out, vector, row, kind)
        continue
      } else if (kind >= KIND.date || (kind === KIND.double && !Number.isFinite(vector.doubles[row]!))) {
        view.setUint8(at, QUOTE)
        at = fixedCell(view, at + 1, vector, row, kind, scales[column]!)
        view.setUint8(at++, QUOTE)
      } else {
        at = fixedCell(view, at, vector, row, kind, scales[column]!)
      }
      out.length = at
    }
    out.bytes[out.length++] = 0x7d
    out.length = writeLiteral(out.view, out.length, after)
  }
}

/** Copies a text four bytes at a time; where it needs escapes, nothing was written and this is false. */
function copyUnlessSpecial(out: Output, from: DataView, start: number, end: number): boolean {
  const { view, length } = out
  let found = 0
  let at = length
  let i = start
  for (; i + 4 <= end; i += 4, at += 4) {
    const word = from.getInt32(i, true)
    view.setInt32(at, word, true)
    const quotes = word ^ 0x22222222
    const backslashes = word ^ 0x5c5c5c5c
    // Subtracting 1, or 32 from a control character, sets the top bit of a byte.
    found |=
      ((quotes - 0x01010101) & ~quotes) |
      ((backslashes - 0x01010101) & ~backslashes) |
      ((word - 0x20202020) & ~word)
  }
  if ((found & 0x80808080) !== 0) return false
  for (; i < end; i++, at++) {
    const byte = from.getUint8(i)
    if (byte === QUOTE || byte === BACKSLASH || byte < 0x20) return false
    view.setUint8(at, byte)
  }
  out.length = at
  return true
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

function escapeText(out: Output, from: Uint8Array, start: number, end: number, spare: number): void {
  // The longest form of a byte is \u001f.
  out.reserve(6 * (end - start) + spare)
  const { bytes } = out
  let at = out.length
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
  out.length = at
}
