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
export const COLUMN_BYTES = 128 << 10

/** What is known of the rows of a part. */
export interface Estimate {
  readonly rows: number
  /** The bytes of all values, uncompressed. */
  readonly rawBytes: number
  readonly columns: number
}

/** How many rows a row group of a part has. */
export function rowGroupRows({ rows, rawBytes, columns }: Estimate): number {
  const width = rows > 0 ? rawBytes / rows : 0
  const wanted =
    Math.floor(Math.max(GROUP_BYTES, columns * COLUMN_BYTES) / Math.max(width, 1) / VECTOR_ROWS) * VECTOR_ROWS
  return Math.min(Math.max(wanted, VECTOR_ROWS), MOST_ROWS)
}
