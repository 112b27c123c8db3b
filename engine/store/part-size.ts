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

/** A part is cut only if it is larger than the limit by this factor, so that no piece is tiny. */
const TOLERANCE = 1.25

/** Rows `from` (inclusive) to `to` (exclusive) of a part. */
export interface Piece {
  readonly from: number
  readonly to: number
}

/** The pieces into which a part is to be cut; a single piece if the part is small enough. */
export function piecesOf(part: { readonly rows: number; readonly bytes: number }, sizes: PartSizes): Piece[] {
  const { rows, bytes } = part
  if (rows <= sizes.rows * TOLERANCE && bytes <= sizes.bytes * TOLERANCE) return [{ from: 0, to: rows }]
  // If rows are wide, the limit of bytes makes the pieces shorter.
  const step = Math.max(1, Math.min(sizes.rows, Math.ceil((rows * sizes.bytes) / bytes)))
  const count = Math.ceil(rows / step)
  return Array.from({ length: count }, (_, index) => ({
    from: index * step,
    to: Math.min((index + 1) * step, rows),
  }))
}
