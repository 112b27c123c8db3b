import type { SqlColumn } from '../check/expression.ts'

/** A column that a step adds, and the SQL of its value. */
export interface AddedColumn extends SqlColumn {
  readonly value: string
}

/**
 * One step of relational algebra, as plain data: it turns one relation into another. Everything in it has been checked.
 * Its SQL refers to columns of the relation before it, and to parameters by their number.
 *
 * `partition` lists columns whose values split the relation into groups. The step is done in each group separately.
 */
export type Step =
  | { readonly kind: 'filter'; readonly condition: string }
  /** Adds columns. */
  | { readonly kind: 'compute'; readonly added: readonly AddedColumn[] }
  /**
   * One row for each combination of the keys, in the order of first appearance. Without keys, always exactly one row. The
   * key of -0 and 0, which are equal, is 0.
   */
  | { readonly kind: 'group'; readonly keys: readonly SqlColumn[]; readonly added: readonly AddedColumn[] }
  /** Sorts the rows. Rows with equal keys stay in their order. */
  | { readonly kind: 'order'; readonly by: readonly SortKey[] }
  /** Drops the first `skip` rows and keeps the next `top` rows, or all of them if `top` is undefined. */
  | {
      readonly kind: 'window'
      readonly skip: number
      readonly top: number | undefined
      readonly partition: readonly string[]
    }
  /** Keeps the rows with the largest or smallest values: a number of rows, or until their sum reaches an amount. */
  | {
      readonly kind: 'keep'
      readonly by: SortKey
      readonly until: KeepUntil
      /** SQL of a number. */
      readonly amount: string
      readonly partition: readonly string[]
    }
  /** The rows of each branch, one branch after the other. */
  | { readonly kind: 'concat'; readonly branches: readonly Branch[]; readonly columns: readonly SqlColumn[] }

export type KeepUntil = 'count' | 'sum' | 'percent'

export interface SortKey {
  readonly sql: string
  readonly descending: boolean
  /** Whether its values are doubles, among which -0 equals 0. */
  readonly double?: boolean
}

export interface Branch {
  readonly steps: readonly Step[]
  /** For each column of the concatenation, the SQL of its value. */
  readonly values: readonly string[]
}

/** Steps, and the columns that come out of them. */
export interface Relation {
  readonly steps: readonly Step[]
  readonly columns: readonly SqlColumn[]
}

/** The steps of a transformation, and the columns that come out of them. */
export interface Transformed extends Relation {
  /**
   * Whether a group may have no rows after the transformation. If not given, the transformation doesn't change that.
   */
  readonly mayEmpty?: boolean
}
