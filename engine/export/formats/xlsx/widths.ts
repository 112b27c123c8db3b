import { type Batch, isNull, type Vector } from '../../../duckdb/batch.ts'
import { type TypeName, typeName } from '../../../types/index.ts'
import type { EncodedColumn } from '../encoder.ts'
import { Output } from '../output.ts'
import { fixedCell, type Shape } from '../text/cells.ts'
import { KIND } from '../text/kinds.ts'

/** How many rows are measured; fewer in very wide tables. */
const MOST_ROWS = 200
const MOST_CELLS = 40_000
/** In characters of the default font. */
const WIDEST = 60
const NARROWEST = 6
/** Added to the length of a name, for the filter's button and bold letters, and to that of a value, for margins. */
const BESIDE_NAME = 4
const BESIDE_VALUE = 2
/** Bytes of a text that can affect the width. */
const MEASURED = 4 * WIDEST

/** The least width by type: in narrower columns, later values that are not measured might be shown as `####`. */
const LEAST: Partial<Record<TypeName, number>> = {
  integer: 12,
  double: 12,
  decimal: 12,
  date: 12,
  timestamp: 24,
  timestamptz: 25,
  time: 13,
  uuid: 38,
}

/** How wide columns should be to show their names and the rows of a batch, if there is one. */
export function widthsOf(
  columns: readonly EncodedColumn[],
  { kinds, scales }: Shape,
  batch: Batch | undefined,
): number[] {
  const out = new Output(128)
  const rows = Math.min(batch?.rows ?? 0, MOST_ROWS, Math.ceil(MOST_CELLS / columns.length))
  return columns.map(({ name, type }, column) => {
    let width = Math.max(LEAST[typeName(type)] ?? NARROWEST, shownLength(name) + BESIDE_NAME)
    for (let row = 0; row < rows && width < WIDEST; row++) {
      const vector = batch!.vectors[column]!
      if (isNull(vector, row)) continue
      const length = lengthOf(vector, row, kinds[column]!, scales[column]!, out)
      width = Math.max(width, length + BESIDE_VALUE)
    }
    return Math.min(width, WIDEST)
  })
}

function lengthOf(vector: Vector, row: number, kind: number, scale: number, out: Output): number {
  if (kind < KIND.uuid) return fixedCell(out.view, 0, vector, row, kind, scale)
  const start = vector.offsets[row]!
  const length = vector.offsets[row + 1]! - start
  if (kind === KIND.binary) return Math.ceil(length / 3) * 4
  const { buffer, byteOffset } = vector.bytes
  return shownLength(Buffer.from(buffer, byteOffset + start, Math.min(length, MEASURED)).toString())
}

/** East Asian letters and pictographs, which are twice as wide as others. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Extended_Pictographic}/u

/** The width of a text's longest line, in characters. */
function shownLength(text: string): number {
  let longest = 0
  for (const line of text.slice(0, MEASURED).split('\n')) {
    let length = 0
    for (const letter of line) length += WIDE.test(letter) ? 2 : 1
    longest = Math.max(longest, length)
  }
  return longest
}
