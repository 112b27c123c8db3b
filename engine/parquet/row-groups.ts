/** DuckDB's default number of rows in a row group. Parts have no larger ones. */
const MOST_ROWS = 122_880
/** DuckDB scans and writes in vectors of this many rows. */
export const VECTOR_ROWS = 2_048
/**
 * A row group holds up to `GROUP_BYTES` of values, or `COLUMN_BYTES` for each column if that is more. Each thread of an
 * export has a whole row group in memory, even while its client hardly reads anything. Tables of long texts therefore
 * get small groups, which are scanned as fast as large ones. Tables of many columns get larger groups, since otherwise a
 * group would hold too little of each column to compress well.
 */
const GROUP_BYTES = 4 << 20
const COLUMN_BYTES = 128 << 10

/** What a part holds: its rows, and the bytes of their uncompressed values. */
export interface Content {
  readonly rows: number
  readonly rawBytes: number
}

/** How many rows a row group of a part with so many columns has. */
export function rowGroupRows({ rows, rawBytes }: Content, columns: number): number {
  const width = rows > 0 ? rawBytes / rows : 0
  const target =
    Math.floor(Math.max(GROUP_BYTES, columns * COLUMN_BYTES) / Math.max(width, 1) / VECTOR_ROWS) * VECTOR_ROWS
  return Math.min(Math.max(target, VECTOR_ROWS), MOST_ROWS)
}

/**
 * The most bytes of a part's uncompressed values if its rows are wide. DuckDB reads up to 2,048 rows of a file at once,
 * and each of them with its own copy of a text, even if the file has the text once: 7 KB of Parquet can hold 2,048 rows
 * of a megabyte. Parts with fewer rows than that keep the memory of an export small.
 */
const MOST_WIDE_BYTES = 32 << 20
/** If a filter leaves fewer rows than this of those read at once, DuckDB gathers them until it has 2,048. */
const LEAST_ROWS = 64
/** Rows may be so wide that fewer than `LEAST_ROWS` have this many bytes; then a part has fewer. */
export const MOST_BYTES_AT_ONCE = 512 << 20

/**
 * The most bytes of values of a part with so many columns, if its rows are wide. Many columns of numbers or short texts
 * are no reason to cut a part: every column of a file takes time, however few rows there are.
 */
export function mostWideBytes(columns: number): number {
  return Math.min(Math.max(MOST_WIDE_BYTES, columns * COLUMN_BYTES), MOST_BYTES_AT_ONCE)
}

/** Whether 2,048 rows like these would take more than a part of wide rows may. */
export function isWide({ rows, rawBytes }: Content, columns: number): boolean {
  return rawBytes * VECTOR_ROWS > mostWideBytes(columns) * rows
}

/** The most bytes of values of a part of rows like these; without a limit if they are not wide. */
export function mostRawBytes(content: Content, columns: number): number {
  if (!isWide(content, columns)) return Number.POSITIVE_INFINITY
  const { rows, rawBytes } = content
  return Math.min(Math.max(mostWideBytes(columns), (LEAST_ROWS * rawBytes) / rows), MOST_BYTES_AT_ONCE)
}

/** How many rows like these are read at once: parts of wide rows have fewer than DuckDB would read. */
export function rowsAtOnce(content: Content, columns: number): number {
  const { rows, rawBytes } = content
  return Math.min(VECTOR_ROWS, Math.ceil((rows * mostRawBytes(content, columns)) / rawBytes))
}
