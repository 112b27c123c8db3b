import type { Part } from '../catalog/records.ts'
import { VECTOR_ROWS } from '../parquet/row-groups.ts'

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

/**
 * The most bytes of a part's uncompressed values if its rows are wide. DuckDB reads up to 2,048 rows of a file at once,
 * and each of them with its own copy of a text, even if the file has the text once: 7 KB of Parquet can hold 2,048 rows
 * of a megabyte. Parts with fewer rows than that keep the memory of an export small.
 */
const MOST_WIDE_BYTES = 32 << 20
/**
 * The same for each column, if there are many: every column of a file takes time, however few rows there are. 2,048
 * numbers, or texts of up to 16 bytes, take no more.
 */
const MOST_COLUMN_BYTES = 32 << 10
/** If a filter leaves fewer rows than this of those read at once, DuckDB gathers them until it has 2,048. */
const LEAST_ROWS = 64
/** Rows may be so wide that fewer than `LEAST_ROWS` have this many bytes; then a part has fewer. */
const MOST_BYTES_AT_ONCE = 512 << 20

/** What a part holds. */
export type PartContent = Pick<Part, 'rows' | 'bytes' | 'rawBytes'>

/** The most bytes of values of a part with so many columns, if its rows are wide. */
export function mostWideBytes(columns: number): number {
  return Math.max(MOST_WIDE_BYTES, columns * MOST_COLUMN_BYTES)
}

/** Whether 2,048 rows like these would take more than a part of wide rows may. */
export function isWide({ rows, rawBytes }: Omit<PartContent, 'bytes'>, columns: number): boolean {
  return rawBytes * VECTOR_ROWS > mostWideBytes(columns) * rows
}

/** The pieces into which a part with so many columns is to be cut; a single piece if the part is small enough. */
export function piecesOf(part: PartContent, columns: number, sizes: PartSizes): Piece[] {
  const { rows, bytes, rawBytes } = part
  const mostRaw = isWide(part, columns)
    ? Math.min(Math.max(mostWideBytes(columns), (LEAST_ROWS * rawBytes) / rows), MOST_BYTES_AT_ONCE)
    : Number.POSITIVE_INFINITY
  const fits = rows <= sizes.rows * TOLERANCE && bytes <= sizes.bytes * TOLERANCE
  if (fits && rawBytes <= mostRaw * TOLERANCE) return [{ from: 0, to: rows }]
  // If rows are wide, the limits of bytes make the pieces shorter.
  const most = Math.min(Math.ceil((rows * sizes.bytes) / bytes), Math.ceil((rows * mostRaw) / rawBytes))
  const step = Math.max(1, Math.min(sizes.rows, most))
  const count = Math.ceil(rows / step)
  return Array.from({ length: count }, (_, index) => ({
    from: index * step,
    to: Math.min((index + 1) * step, rows),
  }))
}
