import type { ColumnType } from '../../types/index.ts'

/** A column that a filter may use. */
export interface FilterColumn {
  readonly name: string
  readonly type: ColumnType
  /** SQL of the column: a physical identifier, quoted where need be. */
  readonly sql: string
}

/** The information that checking needs besides the tree. */
export interface Scope {
  /** The text of the filter, which messages quote. */
  readonly text: string
  readonly now: Date
  readonly columns: ReadonlyMap<string, FilterColumn>
}
