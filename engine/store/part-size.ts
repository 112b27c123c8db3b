/**
 * How large parts are. If few rows are wanted, DuckDB binds and scans a file of about a million rows in a third of the
 * time that it needs for a file of six million; if none are wanted, the file's statistics let it skip the whole file.
 * Much smaller files make a scan of everything slower.
 */
export interface PartSizes {
  /** Rows of a part: eight row groups of DuckDB's own size. */
  readonly rows: number
  /** Bytes of a part's file. */
  readonly bytes: number
}

export const PART_SIZES: PartSizes = { rows: 8 * 122_880, bytes: 128 * 2 ** 20 }

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
  // Pieces limited by rows end where row groups end. If rows are wide, the limit of bytes makes the pieces shorter.
  const step = Math.max(1, Math.min(sizes.rows, Math.ceil((rows * sizes.bytes) / bytes)))
  const count = Math.ceil(rows / step)
  return Array.from({ length: count }, (_, index) => ({
    from: index * step,
    to: Math.min((index + 1) * step, rows),
  }))
}
