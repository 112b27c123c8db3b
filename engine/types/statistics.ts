/**
 * What a part's values lie between, as text in the units of the column's type: an integer's digits, a decimal's without
 * its point, days or microseconds since 1970 (of a time: since midnight), the shortest text of a double, a text itself.
 * NaN is not in it, for no comparison finds one. null: not known.
 */
export interface ColumnBounds {
  readonly min: string | null
  readonly max: string | null
  /** How many values are null. */
  readonly nulls: number
}

/** By the position of the column; null where nothing is known of it. */
export type PartStatistics = readonly (ColumnBounds | null)[]
