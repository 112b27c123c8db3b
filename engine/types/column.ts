import type { ColumnType } from './column-types.ts'

/** A column as users see it. Names are case-sensitive and may hold any character. */
export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  readonly description: string
  /** What people call it, where its name is short. */
  readonly title?: string
  /** The unit of its values: `EUR`, `km/h`. */
  readonly unit?: string
}
