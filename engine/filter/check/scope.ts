import type { ColumnType } from '../../types/index.ts'

/** A column that a filter may use. */
export interface FilterColumn {
  readonly name: string
  readonly type: ColumnType
  /** SQL of the column: a physical identifier, quoted where need be. */
  readonly sql: string
  /** The position of the stored column that it is; undefined where its values are calculated. */
  readonly stored?: number | undefined
}

/** The positions of those of the columns that are stored, each once. */
export function readsOf(columns: Iterable<Pick<FilterColumn, 'stored'>>): number[] {
  const positions = Array.from(columns, ({ stored }) => stored)
  return [...new Set(positions.filter((position) => position !== undefined))]
}

/** The information that checking needs besides the tree. */
export interface Scope {
  /** The text of the filter, which messages quote. */
  readonly text: string
  /** What now() returns. */
  readonly now: () => Date
  readonly columns: ReadonlyMap<string, FilterColumn>
}

export function always(moment: Date): () => Date {
  return () => moment
}
