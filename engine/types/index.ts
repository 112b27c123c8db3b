export type { Column } from './column-types.ts'
export {
  type ArrowName,
  COLUMN_TYPES,
  type ColumnType,
  decimalParts,
  edmName,
  entryOf,
  FORMATS,
  type Format,
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
export { quoteIdentifier, quoteLiteral, type Statement } from './sql.ts'
