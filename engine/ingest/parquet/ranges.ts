import { type ColumnType, decimalParts, quoteLiteral, sqlType } from '../../types/index.ts'

/**
 * A condition that holds for the values of a type, over an expression of that type that is not null; undefined where
 * every value that DuckDB gives is one. What a file says of its values, DuckDB believes: times of a day and decimals
 * may be any number, and dates reach beyond the years 1 to 9999 up to an `infinity` of its own.
 */
export function inRange(type: ColumnType, sql: string): string | undefined {
  switch (type) {
    case 'time':
      // As a number: text of a time out of range reads memory that isn't there.
      return `epoch_us(${sql}) BETWEEN 0 AND ${86_400_000_000 - 1}`
    case 'date':
      return `${sql} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'`
    case 'timestamp':
      return `${sql} BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'`
    case 'timestamptz':
      return `${sql} BETWEEN TIMESTAMPTZ '0001-01-01 00:00:00+00' AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'`
    case 'boolean':
    case 'integer':
    case 'double':
    case 'string':
    case 'uuid':
    case 'binary':
    case 'json':
      return undefined
    default: {
      const { precision, scale } = decimalParts(type)!
      const digits = '9'.repeat(precision)
      const most = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
      const bound = (text: string) => `CAST(${quoteLiteral(text)} AS ${sqlType(type)})`
      return `${sql} BETWEEN ${bound(`-${most}`)} AND ${bound(most)}`
    }
  }
}
