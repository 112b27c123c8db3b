import { type Batch, isNull, type Vector } from '../duckdb/batch.ts'
import { Output } from './formats/output.ts'
import { fixedCell, type Shape } from './formats/text/cells.ts'
import { KIND } from './formats/text/kinds.ts'

/**
 * Rows as JavaScript values: booleans, numbers for doubles and for integers up to 2^53 (BigInts beyond), Uint8Array
 * for binary, and for all other types the text that csv has. A row is read only when the generator reaches it.
 */
export function* rowValues(
  { rows, vectors }: Batch,
  { kinds, scales }: Shape,
): Generator<unknown[], void, undefined> {
  const out = new Output(128)
  for (let row = 0; row < rows; row++) {
    yield vectors.map((vector, column) =>
      isNull(vector, row) ? null : value(vector, row, kinds[column]!, scales[column]!, out),
    )
  }
}

function value(vector: Vector, row: number, kind: number, scale: number, out: Output): unknown {
  switch (kind) {
    case KIND.boolean:
      return ((vector.bytes[row >> 3]! >> (row & 7)) & 1) === 1
    case KIND.integer: {
      const high = vector.words[2 * row + 1]!
      const low = vector.words[2 * row]! >>> 0
      const near = high * 4_294_967_296 + low
      return Number.isSafeInteger(near) ? near : (BigInt(high) << 32n) | BigInt(low)
    }
    case KIND.double:
      return vector.doubles[row]
    case KIND.binary:
      return vector.bytes.slice(vector.offsets[row], vector.offsets[row + 1])
    case KIND.uuid:
    case KIND.string:
    case KIND.json:
      return Buffer.from(vector.bytes.buffer, vector.bytes.byteOffset).toString(
        'utf8',
        vector.offsets[row],
        vector.offsets[row + 1],
      )
    default:
      return Buffer.from(out.bytes.buffer, 0, fixedCell(out.view, 0, vector, row, kind, scale)).toString(
        'latin1',
      )
  }
}
