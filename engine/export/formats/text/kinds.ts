import { type ColumnType, type TypeName, typeName } from '../../../types/index.ts'

/** How a value is written as text. The kinds are ordered so that formats can test for a group with one comparison. */
export const KIND = {
  boolean: 0,
  integer: 1,
  double: 2,
  decimal: 3,
  /** From here on json writes values in quotes. */
  date: 4,
  time: 5,
  timestamp: 6,
  timestamptz: 7,
  /** From here on values have no fixed width. */
  uuid: 8,
  binary: 9,
  string: 10,
  json: 11,
} as const satisfies Record<TypeName, number>

export function kindOf(type: ColumnType): number {
  return KIND[typeName(type)]
}
