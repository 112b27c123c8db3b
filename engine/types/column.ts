import type { ColumnType } from './column-types.ts'

/** A column as users see it. Names are case-sensitive and may hold any character. */
export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  readonly description: string
}
