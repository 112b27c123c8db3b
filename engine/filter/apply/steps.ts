import type { ColumnType } from '../../types/index.ts'

/** A column of a relation: its name for users, its type, and what SQL calls it. */
export interface StepColumn {
  readonly name: string
  readonly type: ColumnType
  readonly sql: string
}

/** A column that a step adds, and the SQL of its value. */
export interface AddedColumn extends StepColumn {
  readonly value: string
}

/**
 * One step of relational algebra, as plain data: relation in, relation out. Everything in it has been checked. SQL in it
 * speaks of the columns of the relation before it, and of parameters by their number.
 *
 * `partition` are columns whose values split the relation into groups, in each of which a step happens on its own.
 */
export type Step =
  | { readonly kind: 'filter'; readonly condition: string }
  /** Adds columns. */
  | { readonly kind: 'compute'; readonly added: readonly AddedColumn[] }
  /** One row for each combination of the keys, in the order of first appearance; without keys one row, always. */
  | { readonly kind: 'group'; readonly keys: readonly string[]; readonly added: readonly AddedColumn[] }
  /** Puts rows in order; equals keep theirs. */
  | { readonly kind: 'order'; readonly by: readonly SortKey[] }
  /** Passes over the first rows and keeps so many of the next. */
  | {
      readonly kind: 'window'
      readonly skip: number
      readonly top: number | undefined
      readonly partition: readonly string[]
    }
  /** Keeps the rows with the largest or smallest values: so many, or until their sum reaches an amount. */
  | {
      readonly kind: 'keep'
      readonly end: 'top' | 'bottom'
      readonly until: KeepUntil
      /** SQL of a number. */
      readonly amount: string
      /** Whether the amount is negative, which a sum then reaches from above. */
      readonly negative: boolean
      readonly value: string
      readonly partition: readonly string[]
    }
  /** The rows of each branch, one branch after the other. */
  | { readonly kind: 'concat'; readonly branches: readonly Branch[]; readonly columns: readonly StepColumn[] }

export type KeepUntil = 'count' | 'sum' | 'percent'

export interface SortKey {
  readonly sql: string
  readonly descending: boolean
}

export interface Branch {
  readonly steps: readonly Step[]
  /** For each column of the concatenation, the SQL of its value. */
  readonly values: readonly string[]
}

/** Steps, and the columns that come out of them. */
export interface Relation {
  readonly steps: readonly Step[]
  readonly columns: readonly StepColumn[]
}

/** What a transformation adds to a relation. */
export interface Transformed extends Relation {
  /** Whether a group may have no rows behind it; as before where not given. */
  readonly mayEmpty?: boolean
}
