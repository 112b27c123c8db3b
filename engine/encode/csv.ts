import { type Batch, isNull, type Vector } from '../arrow/batch.ts'
import { base64, copyBytes, fixedCell, KIND, MAX_CELL, shapeOf } from './cells.ts'
import type { EncodedColumn, Encoder } from './encoder.ts'
import type { Output } from './output.ts'

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
  const { kinds, scales } = shapeOf(columns.map((column) => column.type))
  const count = columns.length
  // Reserved for the cells of a row that have a fixed width, and all separators; texts reserve it anew behind them.
  const spare = count * MAX_CELL + 8

  const text = (out: Output, from: DataView, bytes: Uint8Array, start: number, end: number): void => {
    out.reserve(2 * (end - start) + 2 + spare)
    if (start === end) {
      out.bytes[out.length++] = QUOTE
      out.bytes[out.length++] = QUOTE
    } else if (!copyUnlessSpecial(out, from, start, end, separator)) {
      quote(out, bytes, start, end)
    }
  }

  const cell = (out: Output, vector: Vector, row: number, kind: number): void => {
    const start = vector.offsets[row]!
    const end = vector.offsets[row + 1]!
    switch (kind) {
      case KIND.uuid:
        out.reserve(end - start + spare)
        copyBytes(out, vector.view, start, end)
        break
      case KIND.binary:
        if (start === end) text(out, vector.view, vector.bytes, start, end)
        else base64(out, vector.bytes, start, end, spare)
        break
      default:
        text(out, vector.view, vector.bytes, start, end)
    }
  }

  return {
    begin(out) {
      for (const [index, { name }] of columns.entries()) {
        if (index > 0) out.append(Uint8Array.of(separator))
        const padded = Buffer.from(`${name}\0\0\0\0`)
        text(out, new DataView(padded.buffer, padded.byteOffset, padded.length), padded, 0, padded.length - 4)
      }
      out.append(Uint8Array.of(NEWLINE))
    },

    batch({ rows, vectors }: Batch, _first, out) {
      for (let row = 0; row < rows; row++) {
        out.reserve(spare)
        for (let column = 0; column < count; column++) {
          if (column > 0) out.bytes[out.length++] = separator
          const vector = vectors[column]!
          if (isNull(vector, row)) continue
          const kind = kinds[column]!
          if (kind < KIND.uuid) {
            out.length = fixedCell(out.view, out.length, vector, row, kind, scales[column]!)
          } else {
            cell(out, vector, row, kind)
          }
        }
        out.bytes[out.length++] = NEWLINE
      }
    },

    end() {},
  }
}

/**
 * Copies a text four bytes at a time and looks meanwhile for a byte that makes quotes necessary. Where there is one,
 * nothing was written and this is false.
 */
function copyUnlessSpecial(
  out: Output,
  from: DataView,
  start: number,
  end: number,
  separator: number,
): boolean {
  const { view, length } = out
  const separators = separator * 0x01010101
  let found = 0
  let at = length
  let i = start
  // In `word ^ pattern` the wanted byte is zero; subtracting 1 from each byte then sets its top bit.
  for (; i + 4 <= end; i += 4, at += 4) {
    const word = from.getInt32(i, true)
    view.setInt32(at, word, true)
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
  if ((found & 0x80808080) !== 0) return false
  for (; i < end; i++, at++) {
    const byte = from.getUint8(i)
    if (byte === QUOTE || byte === NEWLINE || byte === RETURN || byte === separator) return false
    view.setUint8(at, byte)
  }
  out.length = at
  return true
}

function quote(out: Output, from: Uint8Array, start: number, end: number): void {
  const { bytes } = out
  let at = out.length
  bytes[at++] = QUOTE
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    if (byte === QUOTE) bytes[at++] = QUOTE
    bytes[at++] = byte
  }
  bytes[at++] = QUOTE
  out.length = at
}
