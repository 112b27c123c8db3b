import { type ColumnType, decimalParts, quoteLiteral, sqlType } from '../../types/index.ts'
import type { LeafCondition } from './leaves.ts'

/**
 * An SQL condition that is true if an expression that is not null is within the range of its type; undefined for types
 * whose values DuckDB never reads out of range. DuckDB does not check the values in a Parquet file: a time of day or a
 * decimal may be any number, and a date may be outside the years 1 to 9999, or be DuckDB's own `infinity`.
 */
export function inRange(type: ColumnType, sql: string): string | undefined {
  const parts = decimalParts(type)
  if (!parts) return RANGES[type]?.(sql)
  const { precision, scale } = parts
  const digits = '9'.repeat(precision)
  const most = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  const bound = (text: string) => `CAST(${quoteLiteral(text)} AS ${sqlType(type)})`
  return `${sql} BETWEEN ${bound(`-${most}`)} AND ${bound(most)}`
}

const RANGES: Readonly<Record<string, (x: string) => string>> = {
  // Compared as a number, because DuckDB reads memory out of bounds when it turns a time out of range into text.
  time: (x) => `epoch_us(${x}) BETWEEN 0 AND ${86_400_000_000 - 1}`,
  date: (x) => `${x} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'`,
  timestamp: (x) => `${x} BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'`,
  timestamptz: (x) =>
    `${x} BETWEEN TIMESTAMPTZ '0001-01-01 00:00:00+00' AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'`,
}

/** The same for a value within a nested one. */
export const leafInRange: LeafCondition = (type, sql) => {
  if (type.kind === 'decimal') return inRange(`decimal(${type.precision},${type.scale})`, sql)
  if (type.kind === 'enum') return undefined
  return inRange(LEAF_TYPES[type.name] ?? 'string', sql)
}

const LEAF_TYPES: Readonly<Record<string, ColumnType>> = {
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
}
