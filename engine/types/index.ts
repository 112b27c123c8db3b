export type { Column } from './column.ts'
export {
  type ArrowName,
  COLUMN_TYPES,
  type ColumnType,
  decimalParts,
  edmName,
  entryOf,
  fixedBytes,
  icebergName,
  isColumnType,
  type Layout,
  sqlType,
  TYPE_PATTERN,
  TYPES_IN_WORDS,
  type TypeName,
  typeName,
} from './column-types.ts'
export { FORMATS, type Format } from './formats.ts'
export { quoteIdentifier, quoteLiteral, type Statement } from './sql.ts'
