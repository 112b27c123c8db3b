import type { ColumnType } from '../../types/index.ts'

export interface FilterColumn {
  readonly name: string
  readonly type: ColumnType
  /** SQL of the column: a physical identifier, quoted where need be. */
  readonly sql: string
}

/** What checking needs to know besides the tree. */
export interface Scope {
  /** The filter, for messages. */
  readonly text: string
  readonly now: Date
  readonly columns: ReadonlyMap<string, FilterColumn>
}
