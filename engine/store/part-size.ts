import type { Part } from '../catalog/records.ts'
import { mostRawBytes } from '../parquet/row-groups.ts'

/**
 * How large parts are. For each row group that DuckDB leaves out of a scan, it makes a reader of every column, so a
 * point read takes less time in a file of half a million rows than in one of a million, and a third in one of six
 * million. Much smaller files make a scan of everything slower.
 */
export interface PartSizes {
  /** Rows of a part. */
  readonly rows: number
  /** Bytes of a part's file. */
  readonly bytes: number
}

export const PART_SIZES: PartSizes = { rows: 491_520, bytes: 128 * 2 ** 20 }

/** A part, or the last piece of one, is cut only if it is larger than the limit by this factor, so that no piece is tiny. */
const TOLERANCE = 1.25

/** Rows `from` (inclusive) to `to` (exclusive) of a part. */
export interface Piece {
  readonly from: number
  readonly to: number
}

/** What a part holds. */
export type PartContent = Pick<Part, 'rows' | 'bytes' | 'rawBytes'>

/** The pieces into which a part with so many columns is to be cut; a single piece if the part is small enough. */
export function piecesOf(part: PartContent, columns: number, sizes: PartSizes): Piece[] {
  const { rows, bytes, rawBytes } = part
  const mostRaw = mostRawBytes(part, columns)
  const fits = rows <= sizes.rows * TOLERANCE && bytes <= sizes.bytes * TOLERANCE
  if (fits && rawBytes <= mostRaw * TOLERANCE) return [{ from: 0, to: rows }]
  // If rows are wide, the limits of bytes make the pieces shorter.
  const most = Math.min(Math.ceil((rows * sizes.bytes) / bytes), Math.ceil((rows * mostRaw) / rawBytes))
  const step = Math.max(1, Math.min(sizes.rows, most))
  const count = Math.ceil(rows / step - (TOLERANCE - 1))
  return Array.from({ length: count }, (_, index) => ({
    from: index * step,
    to: index === count - 1 ? rows : (index + 1) * step,
  }))
}
