/**
 * How large parts are. A file of about a million rows is bound and scanned in a third of the time that a file of six
 * takes when few of its rows are wanted, and its statistics leave it out when none are; much smaller ones make a scan of
 * everything slower.
 */
export interface PartSizes {
  /** Rows of a part: eight row groups of DuckDB's own size. */
  readonly rows: number
  /** Bytes of a part's file. */
  readonly bytes: number
}

export const PART_SIZES: PartSizes = { rows: 8 * 122_880, bytes: 128 * 2 ** 20 }

/** A part may be by so much larger before it is cut, so that no piece of it is tiny. */
const TOLERANCE = 1.25

/** Rows `from` (inclusive) to `to` (exclusive) of a part. */
export interface Piece {
  readonly from: number
  readonly to: number
}

/** Where a part is to be cut; one piece, all of it, where it is small enough. */
export function piecesOf(part: { readonly rows: number; readonly bytes: number }, sizes: PartSizes): Piece[] {
  const { rows, bytes } = part
  if (rows <= sizes.rows * TOLERANCE && bytes <= sizes.bytes * TOLERANCE) return [{ from: 0, to: rows }]
  // Pieces by rows are cut where row groups end. Those by bytes are narrower, since rows are wide.
  const step = Math.max(1, Math.min(sizes.rows, Math.ceil((rows * sizes.bytes) / bytes)))
  const count = Math.ceil(rows / step)
  return Array.from({ length: count }, (_, index) => ({
    from: index * step,
    to: Math.min((index + 1) * step, rows),
  }))
}
