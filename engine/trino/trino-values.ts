import { Arena, type Batch } from '../duckdb/batch.ts'
import { type LaidValue, vectorOf } from '../duckdb/values.ts'
import { daysOf } from '../filter/syntax/calendar.ts'
import { type ColumnType, decimalParts, entryOf, typeName } from '../types/index.ts'

/** How many rows a batch has: as many as DuckDB puts into a chunk. */
const BATCH_ROWS = 2048

const MICROS_PER_DAY = 86_400_000_000n

/**
 * Rows as Trino writes them in JSON, as batches.
 * @throws TypeError where a value is not one of its column's type
 */
export function batchesOf(rows: readonly (readonly unknown[])[], types: readonly ColumnType[]): Batch[] {
  const batches: Batch[] = []
  for (let from = 0; from < rows.length; from += BATCH_ROWS) {
    const some = rows.slice(from, from + BATCH_ROWS)
    if (some.some((row) => row.length !== types.length)) throw new TypeError('a row has other columns')
    const arena = new Arena('kept')
    arena.begin()
    const vectors = types.map((type, column) => {
      const read = readerOf(type)
      const values = some.map((row) => (row[column] === null ? null : read(row[column])))
      return vectorOf(values, entryOf(type).layout, arena)
    })
    batches.push({ rows: some.length, vectors })
  }
  return batches
}

function readerOf(type: ColumnType): (value: unknown) => LaidValue {
  const name = typeName(type)
  switch (name) {
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : wrong(value, type))
    case 'integer':
      return (value) => digits(value, /^-?\d{1,19}$/, type)
    case 'double':
      return (value) => {
        const number = typeof value === 'string' && NOT_FINITE.has(value) ? Number(value) : value
        return typeof number === 'number' ? number : wrong(value, type)
      }
    case 'decimal': {
      const { scale } = decimalParts(type)!
      // Trino writes all digits of the scale, so that without the point they are the number in its smallest unit.
      const form = new RegExp(scale === 0 ? '^-?\\d+$' : `^-?\\d*\\.\\d{${scale}}$`)
      return (value) => digits(value, form, type)
    }
    case 'string':
    case 'json':
    case 'uuid':
      return (value) => (typeof value === 'string' ? Buffer.from(value) : wrong(value, type))
    case 'binary':
      return (value) => (typeof value === 'string' ? Buffer.from(value, 'base64') : wrong(value, type))
    case 'date':
      return (value) => days(matched(value, DATE, type))
    case 'time':
      return (value) => micros(matched(value, TIME, type))
    case 'timestamp':
    case 'timestamptz':
      return (value) => {
        const [, date, time, zone] = matched(value, name === 'timestamp' ? TIMESTAMP : INSTANT, type)
        const [day, clock] = [matched(date, DATE, type), matched(time, TIME, type)]
        return zone === undefined || zone === 'UTC'
          ? BigInt(days(day)) * MICROS_PER_DAY + micros(clock)
          : wrong(value, type)
      }
    default:
      return name satisfies never
  }
}

const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity'])
/** Years have four digits, or more and a sign. */
const DATE = /^([+-]?\d{4,})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d):(\d\d)\.(\d{6})$/
const TIMESTAMP = /^(\S+) (\S+)$/
const INSTANT = /^(\S+) (\S+) (\S+)$/

function digits(value: unknown, form: RegExp, type: ColumnType): bigint {
  return BigInt(matched(value, form, type)[0].replace('.', ''))
}

function days([, year, month, day]: RegExpExecArray): number {
  return daysOf(Number(year), Number(month), Number(day))
}

function micros([, hour, minute, second, fraction]: RegExpExecArray): bigint {
  return BigInt(((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000_000 + Number(fraction))
}

function matched(value: unknown, form: RegExp, type: ColumnType): RegExpExecArray {
  return (typeof value === 'string' ? form.exec(value) : null) ?? wrong(value, type)
}

function wrong(value: unknown, type: ColumnType): never {
  throw new TypeError(`${JSON.stringify(value)} is no ${type}`)
}
