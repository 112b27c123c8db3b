/**
 * The least and the greatest value of a column in a part, as text in the units of the column's type: the digits of an
 * integer, or of a decimal without its point; days or microseconds since 1970 (for a time: since midnight); the
 * shortest text of a double; a text itself. NaN is left out, because no comparison finds it. null means not known.
 */
export interface ColumnBounds {
  readonly min: string | null
  readonly max: string | null
  /** How many values are null. */
  readonly nulls: number
  /** The compressed bytes of the column's pages; undefined if an older program wrote the part. */
  readonly bytes?: number
}

/**
 * The bounds of each column, by its position; null where nothing is known about the column. After the last column come
 * the bounds of the ordinals, if the part has them.
 */
export type PartStatistics = readonly (ColumnBounds | null)[]
