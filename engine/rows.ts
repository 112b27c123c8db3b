import type { RecordBatch, Vector } from 'apache-arrow'
import type { PlanColumn } from './plan/plan.ts'
import { type ColumnType, decimalParts } from './types.ts'

/**
 * Rows of a batch as plain objects. `integer` is a number where that is exact, else a bigint; `decimal`, `date`,
 * `time`, `timestamp`, `timestamptz` and `uuid` are the text that csv has too; `binary` is a Uint8Array; `json` is its
 * text.
 */
export function* plainRows(
  batch: RecordBatch,
  columns: readonly PlanColumn[],
): Generator<Record<string, unknown>, void, undefined> {
  const readers = columns.map((column, index) => cellReader(column.type, batch.getChildAt(index)!))
  for (let row = 0; row < batch.numRows; row++) {
    const object: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) {
      // Not an assignment: a column may be named __proto__.
      Object.defineProperty(object, columns[index]!.name, {
        value: readers[index]!(row),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    yield object
  }
}

function cellReader(type: ColumnType, vector: Vector): (row: number) => unknown {
  const read = valueReader(type, vector)
  return (row) => (vector.isValid(row) ? read(row) : null)
}

function valueReader(type: ColumnType, vector: Vector): (row: number) => unknown {
  // The values as they lie in memory: Arrow's accessors round timestamps to milliseconds.
  const data = vector.data[0]!
  switch (type) {
    case 'integer':
      return (row) => {
        const value: bigint = data.values[row]
        const short = Number(value)
        return Number.isSafeInteger(short) ? short : value
      }
    case 'date':
      return (row) => dateText(data.values[row])
    case 'time':
      return (row) => timeText(data.values[row])
    case 'timestamp':
      return (row) => timestampText(data.values[row])
    case 'timestamptz':
      return (row) => withZone(timestampText(data.values[row]))
    case 'boolean':
    case 'double':
    case 'string':
    case 'uuid':
    case 'json':
    case 'binary':
      return (row) => vector.get(row)
    default: {
      const { scale } = decimalParts(type)!
      const words = data.values as Uint32Array
      return (row) => decimalText(int128(words, row * 4), scale)
    }
  }
}

function int128(words: Uint32Array, at: number): bigint {
  let value = 0n
  for (let word = 3; word >= 0; word--) value = (value << 32n) | BigInt(words[at + word]!)
  return BigInt.asIntN(128, value)
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled)
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const INFINITE_DAYS = 2_147_483_647
const INFINITE_MICROS = 9_223_372_036_854_775_807n

function dateText(days: number): string {
  if (Math.abs(days) === INFINITE_DAYS) return days > 0 ? 'infinity' : '-infinity'
  // Civil calendar from days, by 400-year eras of 146,097 days that begin in March.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${yearText(year)}-${two(month)}-${two(day)}`
}

function yearText(year: number): string {
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}`
}

function timeText(micros: bigint): string {
  const seconds = Number(micros / 1_000_000n)
  const fraction = Number(micros % 1_000_000n)
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return fraction === 0 ? clock : `${clock}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`
}

function timestampText(micros: bigint): string {
  if (micros === INFINITE_MICROS) return 'infinity'
  if (micros === -INFINITE_MICROS) return '-infinity'
  const day = 86_400_000_000n
  const days = (micros - (((micros % day) + day) % day)) / day
  return `${dateText(Number(days))}T${timeText(micros - days * day)}`
}

function withZone(text: string): string {
  return text.endsWith('infinity') ? text : `${text}Z`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
