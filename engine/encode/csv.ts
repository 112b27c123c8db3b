import type { Batch, Vector } from '../arrow/batch.ts'
import { boundOf, fixedCell, KIND, plainText, type Shape, shapeOf, writeBase64 } from './cells.ts'
import type { EncodedColumn, Encoder } from './encoder.ts'

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
  return {
    begin(out) {
      const names = columns.map(({ name }) =>
        name === '' || /["\n\r]/.test(name) || name.includes(String.fromCharCode(separator))
          ? `"${name.replaceAll('"', '""')}"`
          : name,
      )
      out.append(Buffer.from(`${names.join(String.fromCharCode(separator))}\n`))
    },

    batch(batch, _first, out) {
      const cares = Uint8Array.from(batch.vectors, (vector, column) =>
        careFor(vector, shape.kinds[column]!, separator),
      )
      // A separator and perhaps two quotes beside each value; what has quotes in it may double.
      out.reserve(boundOf(batch, shape, 3, (column) => (cares[column] === CARE.doubling ? 2 : 1)))
      out.length = writeRows(out.bytes, out.view, out.length, batch, shape, cares, separator)
    },

    end() {},
  }
}

/** What the texts of a column need: nothing, quotes around some of them, or quotes doubled inside as well. */
const CARE = { none: 0, quotes: 1, doubling: 2 } as const

/** Looks at all texts of a column at once, which is quicker by far than at each. */
function careFor({ bytes, offsets }: Vector, kind: number, separator: number): number {
  if (kind < KIND.string) return CARE.none
  const texts = bytes.subarray(0, offsets.at(-1))
  if (texts.includes(QUOTE)) return CARE.doubling
  return [separator, NEWLINE, RETURN].some((byte) => texts.includes(byte)) ? CARE.quotes : CARE.none
}

function writeRows(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  { rows, vectors }: Batch,
  { kinds, scales }: Shape,
  cares: Uint8Array,
  separator: number,
): number {
  const count = vectors.length
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < count; column++) {
      const vector = vectors[column]!
      const { validity } = vector
      if (validity === undefined || ((validity[row >> 3]! >> (row & 7)) & 1) === 1) {
        const kind = kinds[column]!
        if (kind < KIND.uuid) {
          at = fixedCell(view, at, vector, row, kind, scales[column]!)
        } else {
          const start = vector.offsets[row]!
          const end = vector.offsets[row + 1]!
          if (start === end) {
            bytes[at] = QUOTE
            bytes[at + 1] = QUOTE
            at += 2
          } else if (kind === KIND.binary) {
            at = writeBase64(bytes, at, vector.bytes, start, end)
          } else if (cares[column] === CARE.none || !hasSpecial(vector.view, start, end, separator)) {
            at = plainText(view, at, vector.view, start, end)
          } else {
            bytes[at] = QUOTE
            at =
              cares[column] === CARE.quotes
                ? plainText(view, at + 1, vector.view, start, end)
                : doubled(bytes, at + 1, vector.bytes, start, end)
            bytes[at++] = QUOTE
          }
        }
      }
      bytes[at++] = separator
    }
    bytes[at - 1] = NEWLINE
  }
  return at
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
