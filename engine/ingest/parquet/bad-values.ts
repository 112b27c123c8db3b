import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { type ColumnType, decimalParts, quoteLiteral, sqlType } from '../../types/index.ts'
import type { ReadRequest } from '../request.ts'
import { notUtf8, outOfRange, tooFine } from '../text/errors.ts'
import type { LeafCondition } from './leaves.ts'
import { firstRowsAgainst, isScalar, type Mark } from './marked-copy.ts'
import { readSchema, type SchemaElement } from './schema.ts'

/** Values on which DuckDB's reader fails without saying where they are, and how they are found in a marked copy. */
interface Unreadable {
  /** What DuckDB says. */
  readonly message: string
  /** Whether an element may hold such values, or may be mistaken in the copy for one that does. */
  readonly concerns: (element: SchemaElement) => 'yes' | 'mistaken' | 'no'
  readonly mark: (element: SchemaElement) => Mark | undefined
  readonly isGood: LeafCondition
  readonly error: (row: number, column: string, type: SchemaElement) => EngineError
}

const TEXTS = new Set(['UTF8', 'ENUM', 'JSON'])

function isText({ converted, logical }: SchemaElement): boolean {
  return TEXTS.has(converted) || /^(String|Enum|Json)Type/.test(logical)
}

function isJson({ converted, logical }: SchemaElement): boolean {
  return converted === 'JSON' || logical.startsWith('JsonType')
}

function isMillis({ converted, logical }: SchemaElement): boolean {
  return converted === 'TIMESTAMP_MILLIS' || /^TimestampType.*MILLIS=Milli/.test(logical)
}

const UNREADABLE: readonly Unreadable[] = [
  {
    message: 'Invalid JSON found in Parquet file',
    concerns: (element) => (isJson(element) ? 'yes' : 'no'),
    // In the copy, no other texts are text.
    mark: (element) => (isJson(element) ? 'text' : isText(element) ? 'plain' : undefined),
    isGood: (type, sql) => (isScalar(type, 'VARCHAR') ? `json_valid(${sql})` : undefined),
    error: (row, column) => outOfRange(row, column, 'json'),
  },
  {
    message: 'Invalid string encoding found in Parquet file',
    concerns: (element) => (isText(element) ? 'yes' : element.physical === 'BYTE_ARRAY' ? 'mistaken' : 'no'),
    mark: (element) => (isText(element) ? 'plain' : undefined),
    isGood: (type, sql) =>
      isScalar(type, 'BLOB') ? `(${sql} IS NULL OR TRY(decode(${sql})) IS NOT NULL)` : undefined,
    error: notUtf8,
  },
  {
    message: 'Could not convert Timestamp',
    concerns: (element) => (isMillis(element) ? 'yes' : element.physical === 'INT64' ? 'mistaken' : 'no'),
    mark: (element) => (isMillis(element) ? 'plain' : undefined),
    isGood: (type, sql) =>
      isScalar(type, 'BIGINT') ? `${sql} BETWEEN -62135596800000 AND 253402300799999` : undefined,
    error: (row, column, { logical }) =>
      outOfRange(row, column, logical.includes('isAdjustedToUTC=0') ? 'timestamp' : 'timestamptz'),
  },
]

/**
 * If DuckDB failed on a value that is not what the schema says, returns an error that names its row and column, which
 * DuckDB doesn't; otherwise the error itself.
 */
export async function badValueFound(duck: Duck, error: Error, request: ReadRequest): Promise<Error> {
  const unreadable = UNREADABLE.find(({ message }) => error.message.includes(message))
  if (!unreadable || error instanceof EngineError) return error
  try {
    return (await located(duck, unreadable, request)) ?? error
  } catch (other) {
    return other as Error
  }
}

async function located(
  duck: Duck,
  { concerns, mark, isGood, error }: Unreadable,
  request: ReadRequest,
): Promise<EngineError | undefined> {
  const elements = [...(await readSchema(duck, request))]
  const marks = new Map<number, Mark>()
  for (const [position, element] of elements) {
    const found = mark(element)
    if (found) marks.set(position, found)
  }
  const columns = new Map<number, SchemaElement>()
  for (const [, element] of elements) if (concerns(element) === 'yes') columns.set(element.column, element)
  for (const [, element] of elements) if (concerns(element) === 'mistaken') columns.delete(element.column)
  const firsts = await firstRowsAgainst(duck, marks, [...columns.keys()], [isGood], request)
  const at = firsts.findIndex(([row]) => row !== undefined)
  if (at < 0) return undefined
  const [position, type] = [...columns][at]!
  const { name } = elements.find(([, { column, isColumn }]) => isColumn && column === position)![1]
  return error(firsts[at]![0]!, name, type)
}

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

/**
 * Refuses times and moments that are finer than a microsecond where DuckDB silently cuts off their nanoseconds: times,
 * moments in UTC, and INT96. It keeps those of moments without a zone. So they are checked in a copy of the file whose
 * footer gives these columns other types. INT96 beyond the years of the calendar is refused as well, because DuckDB's own
 * moments overflow there.
 * @throws EngineError `invalid_upload`
 */
export async function refuseFinerMoments(
  duck: Duck,
  elements: ReadonlyMap<number, SchemaElement>,
  request: ReadRequest,
): Promise<void> {
  const truncate = request.options?.nanoseconds === 'truncate'
  const marks = marksOf(elements)
  const looked = [...marks].filter(([, mark]) => mark === 'interval' || (mark === 'moment' && !truncate))
  const columns = new Set(looked.map(([position]) => elements.get(position)!.column))
  if (columns.size === 0) return
  const list = [...columns]
  const conditions = truncate ? [isInRange] : [isInRange, isWhole]
  const firsts = await firstRowsAgainst(duck, marks, list, conditions, request)
  const names = [...elements.values()].filter(({ isColumn }) => isColumn).map(({ name }) => name)
  for (const [at, [beyond, finer]] of firsts.entries()) {
    const name = names[list[at]!]!
    if (beyond !== undefined) throw outOfRange(beyond, name, 'timestamp')
    if (finer !== undefined) throw tooFine(finer, name)
  }
}

/** In the copy, no other elements than those to be looked at are moments in nanoseconds or intervals. */
function marksOf(elements: ReadonlyMap<number, SchemaElement>): Map<number, Mark> {
  const marks = new Map<number, Mark>()
  for (const [position, { physical, converted, logical }] of elements) {
    if (physical === 'INT96') marks.set(position, 'interval')
    else if (converted === 'INTERVAL') marks.set(position, 'plain')
    else if (/^TimestampType\(isAdjustedToUTC=1.*NANOS=Nano/.test(logical)) marks.set(position, 'moment')
    else if (/^TimestampType.*NANOS=Nano/.test(logical)) marks.set(position, 'plain')
    else if (/^TimeType.*NANOS=Nano/.test(logical)) marks.set(position, 'moment')
  }
  return marks
}

const isWhole: LeafCondition = (type, sql) => {
  if (isScalar(type, 'TIMESTAMP_NS')) {
    return `CASE WHEN isfinite(${sql}) THEN epoch_ns(${sql}) % 1000 = 0 ELSE ${sql} IS NULL END`
  }
  if (!isScalar(type, 'INTERVAL')) return undefined
  // The first eight bytes are the nanoseconds of the day; the interval has them as two numbers of 32 bits.
  const months = `CAST(datepart('year', ${sql}) * 12 + datepart('month', ${sql}) AS BIGINT)`
  const low = `(${months} + CASE WHEN ${months} < 0 THEN 4294967296 ELSE 0 END)`
  return `(CAST(datepart('day', ${sql}) AS BIGINT) * 4294967296 + ${low}) % 1000 = 0`
}

/** The Julian days of 0001-01-01 and 9999-12-31. */
const [FIRST_DAY, LAST_DAY] = [1_721_426, 5_373_484]

const isInRange: LeafCondition = (type, sql) => {
  if (!isScalar(type, 'INTERVAL')) return undefined
  // The last four bytes are the Julian day; the interval has them as milliseconds.
  const day = `(datepart('hour', ${sql}) * 3600000 + datepart('minute', ${sql}) * 60000 + datepart('milliseconds', ${sql}))`
  return `${day} BETWEEN ${FIRST_DAY} AND ${LAST_DAY}`
}
