import { constants } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { type DuckType, parseDuckType } from '../../duckdb/duck-type.ts'
import { AS_NANOSECONDS } from '../../duckdb/normalise.ts'
import { EngineError, storageError } from '../../errors.ts'
import { elementsOf, FIELD, groupsOf, metasOf } from '../../parquet/footer.ts'
import { footerOf, ParquetFile } from '../../parquet/parquet-file.ts'
import { readParts } from '../../parquet/read-parts.ts'
import {
  type Meaning,
  meaningOf,
  NANOS,
  PHYSICAL,
  type SchemaElement,
  schemaOf,
  TIMESTAMP,
} from '../../parquet/schema.ts'
import { i32, nested, readStruct, type Struct, TYPE } from '../../parquet/thrift.ts'
import { quoteLiteral } from '../../types/index.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import type { ReadRequest } from '../request.ts'
import { inRange, RANGES } from '../text/bounds.ts'
import { notUtf8, outOfRange, tooFine } from '../text/errors.ts'

/** Values that DuckDB changes silently or fails on, and how they are found in a copy of the file (`markedCopy`). */
interface Check {
  readonly marks: Marks
  /** What the values mean. The columns with such values are looked at … */
  readonly of: readonly Meaning[]
  /** … unless they have others of this physical type within them, which in the copy could be mistaken for them. */
  readonly mistaken?: number
  readonly rules: readonly Rule[]
}

/** What good values meet, and the error for others. */
type Rule = readonly [
  isGood: LeafCondition,
  error: (row: number, column: string, element: SchemaElement) => EngineError,
]

/** Values on which DuckDB's reader fails without saying where they are, by what it says. */
const UNREADABLE: Readonly<Record<string, Check>> = {
  'Invalid JSON found in Parquet file': {
    // In the copy, no other texts are text.
    marks: { json: 'text', text: 'plain' },
    of: ['json'],
    rules: [
      [
        (type, sql) => (isScalar(type, 'VARCHAR') ? `json_valid(${sql})` : undefined),
        (row, column) => outOfRange(row, column, 'json'),
      ],
    ],
  },
  'Invalid string encoding found in Parquet file': {
    marks: { json: 'plain', text: 'plain' },
    of: ['json', 'text'],
    mistaken: PHYSICAL.bytes,
    rules: [
      [
        (type, sql) =>
          isScalar(type, 'BLOB') ? `TRY(decode(${sql})) IS NOT NULL OR ${sql} IS NULL` : undefined,
        notUtf8,
      ],
    ],
  },
  'Could not convert Timestamp': {
    marks: { 'utc millis': 'plain', 'local millis': 'plain' },
    of: ['utc millis', 'local millis'],
    mistaken: PHYSICAL.int64,
    rules: [
      [
        (type, sql) =>
          isScalar(type, 'BIGINT') ? `${sql} BETWEEN -62135596800000 AND 253402300799999` : undefined,
        (row, column, { meaning }) =>
          outOfRange(row, column, meaning === 'local millis' ? 'timestamp' : 'timestamptz'),
      ],
    ],
  },
}

/**
 * If DuckDB failed on a value that is not what the schema says, returns an error that names its row and column, which
 * DuckDB doesn't; otherwise the error itself.
 */
export async function badValueFound(duck: Duck, error: Error, request: ReadRequest): Promise<Error> {
  const [, check] = Object.entries(UNREADABLE).find(([message]) => error.message.includes(message)) ?? []
  if (!check || error instanceof EngineError) return error
  try {
    const { footer } = await footerOf(request.file)
    await refuse(duck, check, schemaOf(readStruct(footer)), request)
    return error
  } catch (other) {
    return other as Error
  }
}

/**
 * Refuses times and moments that are finer than a microsecond where DuckDB silently cuts off their nanoseconds: times,
 * moments in UTC, and INT96. It keeps those of moments without a zone, so that only nested ones are looked at. INT96
 * beyond the years of the calendar is refused as well, also with `nanoseconds=truncate`, because DuckDB's own moments
 * overflow there.
 * @throws EngineError `invalid_upload`
 */
export function refuseFinerMoments(
  duck: Duck,
  schema: readonly SchemaElement[],
  request: ReadRequest,
): Promise<void> {
  const truncate = request.options?.nanoseconds === 'truncate'
  const marks: Marks = {
    int96: 'interval',
    interval: 'plain',
    'utc nanos': 'moment',
    'local nanos': 'moment',
    'time nanos': 'moment',
  }
  const inYears: Rule = [isInYears, (row, column) => outOfRange(row, column, 'timestamp')]
  const check: Check = truncate
    ? { marks, of: ['int96'], rules: [inYears] }
    : { marks, of: ['int96', 'utc nanos', 'time nanos', 'local nanos'], rules: [inYears, [isWhole, tooFine]] }
  return refuse(duck, check, schema, request)
}

/** @throws EngineError `invalid_upload` for the first value of a column that is not good */
async function refuse(
  duck: Duck,
  { marks, of, mistaken, rules }: Check,
  schema: readonly SchemaElement[],
  request: ReadRequest,
): Promise<void> {
  const isMeant = ({ meaning, isColumn }: SchemaElement) =>
    meaning !== undefined && of.includes(meaning) && !(meaning === 'local nanos' && isColumn)
  const looked = new Map(schema.filter(isMeant).map((element) => [element.column, element]))
  for (const element of schema) {
    if (mistaken !== undefined && element.physical === mistaken && !isMeant(element))
      looked.delete(element.column)
  }
  if (looked.size === 0) return
  await using copy = await markedCopy(duck, request.file, marks)
  const described = await duck.run(`DESCRIBE SELECT * FROM ${readParts([copy.path])}`, request)
  const checks = [...looked].flatMap(([column, element]) =>
    rules.map(([isGood, error]) => {
      const good = everyLeaf(String(described[column]![1]), `p${column}`, isGood)
      const sql = good === undefined ? 'NULL' : `min(file_row_number) FILTER (NOT (${good}))`
      return { sql, column, element, error }
    }),
  )
  const [firsts = []] = await duck.run(
    `SELECT ${checks.map(({ sql }) => sql).join(', ')} FROM ${aliased(copy.path, described.length)}`,
    request,
  )
  const at = firsts.findIndex((first) => first !== null)
  if (at < 0) return
  const { column, element, error } = checks[at]!
  const { name } = schema.find((one) => one.isColumn && one.column === column)!
  throw error(Number(firsts[at]) + 1, name, element)
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

const isInYears: LeafCondition = (type, sql) => {
  if (!isScalar(type, 'INTERVAL')) return undefined
  // The last four bytes are the Julian day; the interval has them as milliseconds.
  const day = `(datepart('hour', ${sql}) * 3600000 + datepart('minute', ${sql}) * 60000 + datepart('milliseconds', ${sql}))`
  return `${day} BETWEEN ${FIRST_DAY} AND ${LAST_DAY}`
}

/** The same for a value within a nested one. */
export const leafInRange: LeafCondition = (type, sql) => {
  if (type.kind === 'decimal') return inRange(`decimal(${type.precision},${type.scale})`, sql)
  if (type.kind === 'enum') return undefined
  return RANGES[type.name === 'TIMESTAMP WITH TIME ZONE' ? 'timestamptz' : type.name.toLowerCase()]?.(sql)
}

/** An SQL condition for one value that is not nested; undefined where every value of its type is good. */
type LeafCondition = (type: LeafType, sql: string) => string | undefined

type LeafType = Extract<DuckType, { kind: 'scalar' | 'decimal' | 'enum' }>

/**
 * An SQL condition that is true if all values within a value, however nested, meet a condition; undefined if none of
 * them has to. It is true for null, and never null itself.
 * @param duckType the type as `DESCRIBE` prints it
 * @param sql an expression of that type
 */
export function everyLeaf(duckType: string, sql: string, condition: LeafCondition): string | undefined {
  return every(parseDuckType(duckType), sql, condition, 0)
}

function every(type: DuckType, sql: string, condition: LeafCondition, depth: number): string | undefined {
  const item = `leaf${depth}`
  const everyItem = (items: string, inner: string | undefined) =>
    inner && `coalesce(len(list_filter(${items}, lambda ${item}: NOT (${inner}))) = 0, true)`
  switch (type.kind) {
    case 'list':
      return everyItem(sql, every(type.of, item, condition, depth + 1))
    case 'struct':
      return all(
        type.fields.map(({ name, type: inner }) =>
          every(inner, `struct_extract(${sql}, ${quoteLiteral(name)})`, condition, depth),
        ),
      )
    case 'map':
      return everyItem(
        `map_entries(${sql})`,
        all([
          every(type.key, `${item}.key`, condition, depth + 1),
          every(type.value, `${item}.value`, condition, depth + 1),
        ]),
      )
    case 'union':
      // Parquet has no unions.
      return undefined
    default: {
      const met = condition(type, sql)
      return met && `coalesce(${met}, true)`
    }
  }
}

function all(conditions: readonly (string | undefined)[]): string | undefined {
  const some = conditions.filter((condition) => condition !== undefined)
  return some.length > 0 ? some.join(' AND ') : undefined
}

/** SQL that reads a file with its columns as p0, p1, …: their own names may differ only by case. */
export function aliased(file: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, index) => `p${index}`)
  return `${readParts([file])} AS t(${names.join(', ')})`
}

function isScalar(type: LeafType, name: string): boolean {
  return type.kind === 'scalar' && type.name === name
}

/**
 * As what an element's values are to be read: moments in nanoseconds without a zone, the twelve bytes of an interval,
 * text, or values without a meaning (whole numbers, bytes).
 */
type Mark = 'moment' | 'interval' | 'text' | 'plain'
type Marks = Readonly<Partial<Record<Meaning, Mark>>>

/**
 * A copy of a Parquet file whose footer says other types of some elements of the schema. DuckDB silently changes values
 * of some types and fails on values of others, so these are looked at as other types.
 */
async function markedCopy(duck: Duck, file: string, marks: Marks): Promise<TemporaryFile> {
  const copy = new TemporaryFile(duck.tempDirectory)
  try {
    await copyFile(file, copy.path, constants.COPYFILE_FICLONE)
    // A copy of a file that may only be read is one, too.
    await chmod(copy.path, 0o600)
    await markElements(copy.path, marks)
    return copy
  } catch (error) {
    await copy[Symbol.asyncDispose]()
    throw storageError(error)
  }
}

/** A copy of a file with timestamps in nanoseconds as numbers: DuckDB's own types have no first and last ones. */
export function nanosecondsAsNumbers(duck: Duck, file: string): Promise<TemporaryFile> {
  return markedCopy(duck, file, { 'utc nanos': 'plain', 'local nanos': 'plain' })
}

const READ_AS_NUMBERS = /TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ_NS|TIMESTAMP_NS|BIGINT/g

/** The type of a column, with `AS_NANOSECONDS` where the copy has numbers. Both types differ in nothing else. */
export function typeWithNanoseconds(duckType: string, inCopy: string): string {
  const names = inCopy.match(READ_AS_NUMBERS)?.values()
  return duckType.replace(READ_AS_NUMBERS, (name) =>
    names!.next().value === name ? name : name + AS_NANOSECONDS,
  )
}

/** The converted types of parquet.thrift that copies have. */
const CONVERTED = { text: 0, interval: 21 } as const
const INTERVAL_BYTES = 12

async function markElements(path: string, marks: Marks): Promise<void> {
  await using file = await ParquetFile.open(path)
  const found = elementsOf(file.footer).map((element) => {
    const meaning = meaningOf(element)
    return { element, mark: meaning && marks[meaning] }
  })
  const leaves = found.filter(({ element }) => element.has(FIELD.element.type))
  for (const { element, mark } of found) if (mark) markElement(element, mark)
  for (const group of groupsOf(file.footer)) {
    for (const [index, meta] of metasOf(group).entries()) {
      const mark = leaves[index]?.mark
      if (!mark) continue
      meta.delete(FIELD.meta.statistics)
      if (mark === 'interval') meta.set(FIELD.meta.type, i32(PHYSICAL.fixed))
    }
  }
  await file.save()
}

function markElement(element: Struct, mark: Mark): void {
  element.delete(FIELD.element.convertedType)
  element.delete(FIELD.element.logicalType)
  if (mark === 'moment') {
    const moment = nested({ 1: { type: TYPE.false, value: false }, 2: nested({ [NANOS]: nested() }) })
    element.set(FIELD.element.logicalType, nested({ [TIMESTAMP]: moment }))
  } else if (mark === 'text') {
    element.set(FIELD.element.convertedType, i32(CONVERTED.text))
  } else if (mark === 'interval') {
    element.set(FIELD.element.type, i32(PHYSICAL.fixed))
    element.set(FIELD.element.typeLength, i32(INTERVAL_BYTES))
    element.set(FIELD.element.convertedType, i32(CONVERTED.interval))
  }
}
