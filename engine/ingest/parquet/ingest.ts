import { stat } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import {
  durationOf,
  NOT_MICROSECONDS,
  normaliseParquetColumn,
  VARIANT_TOO_DEEP,
} from '../../duckdb/normalise.ts'
import { valueText } from '../../duckdb/value-text.ts'
import { EngineError } from '../../errors.ts'
import { contentOf, FIELD, numberOf, pairsOf } from '../../parquet/footer.ts'
import { footerOf } from '../../parquet/parquet-file.ts'
import { readParts } from '../../parquet/read-parts.ts'
import { type SchemaElement, schemaOf } from '../../parquet/schema.ts'
import { readListHead, readStruct, type Struct } from '../../parquet/thrift.ts'
import { MOST_COLUMNS } from '../../types/columns.ts'
import { filledColumns, readMetadata } from '../../types/file-metadata.ts'
import { type Column, type ColumnType, quoteLiteral, sqlType } from '../../types/index.ts'
import { unpacksTooLarge } from '../file.ts'
import { measure, writePart } from '../parts/part.ts'
import { widened } from '../parts/parts.ts'
import type { IngestResult, ReadRequest, UploadOptions } from '../request.ts'
import {
  isLocalTime,
  isTextual,
  type KnownColumns,
  layColumns,
  settledColumns,
  type Target,
  unnamedIn,
} from '../targets.ts'
import { inRange } from '../text/bounds.ts'
import {
  badTime,
  durationsWithin,
  FINEST,
  malformed,
  missingValue,
  outOfRange,
  outOfRangeInside,
  tooFine,
} from '../text/errors.ts'
import { periodReason, periodSql, periodsIn } from '../text/periods.ts'
import { badTimeIn, inZone, zoneError } from '../text/zones.ts'
import { type Fields, fieldsOf, isBool8 } from './arrow-fields.ts'
import {
  aliased,
  badValueFound,
  everyLeaf,
  leafInRange,
  nanosecondsAsNumbers,
  refuseFinerMoments,
  typeWithNanoseconds,
} from './bad-values.ts'
import { comparePages } from './page-checksums.ts'
import { isInLegacyCalendar, refuseJulianDays, sparkInstants } from './spark.ts'
import { refuseEncrypted, refuseUnreadable } from './unreadable.ts'

/** Reads a Parquet file with DuckDB. Types that we don't have become the nearest of ours that loses nothing. */
export async function ingestParquet(
  duck: Duck,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  try {
    const footer = await checkedFooter(duck, request)
    const isCut = request.options?.nanoseconds === 'truncate' && schemaOf(footer).some(isNanoseconds)
    await using copy = isCut ? await nanosecondsAsNumbers(duck, request.file) : undefined
    return await ingest(duck, known, footer, request, copy?.path ?? request.file)
  } catch (error) {
    throw parquetError(await badValueFound(duck, error as Error, request), request)
  }
}

/** @param file the file whose values are read: the uploaded one, or a copy in which nanoseconds are numbers */
async function ingest(
  duck: Duck,
  known: KnownColumns,
  footer: Struct,
  request: ReadRequest,
  file: string,
): Promise<IngestResult> {
  const { target, limits } = request
  // DuckDB's `parquet_metadata` would fail where the footer has moments at the ends of what 64 bits hold.
  const size = contentOf(footer)
  if (size.rawBytes > limits.unpackedBytes) throw unpacksTooLarge(limits.unpackedBytes)
  const pairs = pairsOf(footer)
  const fields = await fieldsOf(pairs, schemaOf(footer))
  const given = await parquetColumns(duck, known, footer, fields, request, file)
  await refuseManyValues(request.file, size.rows * given.length)
  await comparePages(request.file, footer, request.signal)
  const metadata = readMetadata(pairs, new Map([...fields].map(([name, { metadata }]) => [name, metadata])))
  const names = given.map(({ name }) => name)
  const types = given.map(({ type }) => type)
  const targets = filledColumns(layColumns(known, names, types), metadata)
  const columns = settledColumns(targets)
  const selected = targets.map((column, index) => {
    if (column.source === undefined) return `CAST(NULL AS ${sqlType(column.type!)}) AS c${index}`
    const read = withoutEmpty(given[column.source]!, column.type!, request.options)
    return `${converted(read, column.type!, index, request.options)} AS c${index}`
  })
  const select = `SELECT ${selected.join(', ')} FROM ${aliased(file, given.length)}`
  const part = await writePart(duck, select, target, { ...size, columns }, request).catch(
    async (error: unknown) => {
      throw await badValueOf(duck, error, targets, given, { ...request, file })
    },
  )
  const nulls = part.nulls.map((count, index) => (targets[index]!.source === undefined ? 0 : count))
  await refuseNulls(duck, columns, nulls, request)
  const { rawBytes } = await measure(duck, readParts([target]), columns, request)
  // The footer counts a text once that many rows have.
  if (rawBytes > limits.unpackedBytes) throw unpacksTooLarge(limits.unpackedBytes)
  request.onProgress?.({ bytes: size.bytes, rows: part.rows })
  const reasons = targets.map(({ source }) =>
    periodReason(fields.get(names[source ?? -1] ?? '')?.metadata ?? new Map()),
  )
  return { ...part, columns, rawBytes, reasons, metadata: metadata.dataset, unnamed: unnamedIn(targets) }
}

/** A column of the upload, and how it is read. */
interface ParquetColumn {
  readonly name: string
  readonly type: ColumnType
  /** The value as SQL, over `p0`, `p1`, … */
  readonly sql: string
  /** Its values are text that the file's schema declares to be JSON. */
  readonly saysJson: boolean
  /** An SQL condition that is true for values that are no finer than a microsecond. */
  readonly whole?: string | undefined
  /** An SQL condition that is true for nested values in which all values are within the ranges of their types. */
  readonly inside?: string | undefined
}

/**
 * The columns of a file. Their names come from the file's own schema, because DuckDB renames those that differ only by
 * case.
 * @throws EngineError `invalid_upload` for types whose values DuckDB would change silently
 */
async function parquetColumns(
  duck: Duck,
  known: KnownColumns,
  footer: Struct,
  fields: Fields,
  request: ReadRequest,
  file: string,
): Promise<ParquetColumn[]> {
  const schema = schemaOf(footer)
  const top = schema.filter(({ isColumn }) => isColumn)
  const typesIn = async (path: string) =>
    (await duck.run(`DESCRIBE SELECT * FROM ${readParts([path])}`, request)).map(([, type]) => String(type))
  const types = await typesIn(request.file)
  if (types.length !== top.length) throw malformed('The schema of the Parquet file contradicts itself.')
  if (isInLegacyCalendar(pairsOf(footer))) {
    const columns = top.map(({ name }, index) => ({ name, duckType: types[index]! }))
    await refuseJulianDays(duck, columns, request)
  }
  const instants = sparkInstants(pairsOf(footer))
  // A dataset may have such a column from before it was known that its moments have a zone.
  for (const { name, type } of known.columns) if (type === 'timestamp') instants.delete(name)
  const inCopy = file === request.file ? types : await typesIn(file)
  const columns = top.map(({ name, meaning }, index): ParquetColumn => {
    const duckType = typeWithNanoseconds(types[index]!, inCopy[index]!)
    const saysJson = meaning === 'json'
    // A column without any values becomes text, as in every other format.
    if (meaning === 'null') return { name, type: 'string', sql: `CAST(p${index} AS VARCHAR)`, saysJson }
    if (meaning === 'int96' && instants.has(name))
      return { name, type: 'timestamptz', sql: `CAST(p${index} AS TIMESTAMPTZ)`, saysJson }
    if (duckType === 'TIMESTAMP_NS') {
      const whole = `(NOT isfinite(p${index}) OR epoch_ns(p${index}) % 1000 = 0)`
      return { name, type: 'timestamp', sql: `CAST(p${index} AS TIMESTAMP)`, saysJson, whole }
    }
    const field = fields.get(name)
    const period = duckType === 'BIGINT' && field ? periodsIn(field.metadata) : undefined
    if (period) return { name, type: period.type, sql: periodSql(period, `p${index}`), saysJson }
    if (field?.durations === 'within') throw durationsWithin(name)
    if (field?.durations && duckType === 'BIGINT') {
      const isFine = field.durations === 'NANOSECOND' && request.options?.nanoseconds !== 'truncate'
      const whole = isFine ? `p${index} % 1000 = 0` : undefined
      return { name, type: 'string', sql: durationOf(field.durations, `p${index}`), saysJson, whole }
    }
    if (duckType === 'TINYINT' && field && isBool8(field))
      return { name, type: 'boolean', sql: `p${index} <> 0`, saysJson }
    const column = normaliseParquetColumn(duckType, `p${index}`)
    const inside = column.type === 'json' ? everyLeaf(duckType, `p${index}`, leafInRange) : undefined
    return { name, ...column, saysJson, inside }
  })
  await refuseFinerMoments(duck, schema, request)
  return columns
}

function isNanoseconds({ meaning }: SchemaElement): boolean {
  return meaning === 'utc nanos' || meaning === 'local nanos'
}

/** Fields of nested columns count as well, as many as this for each column that a dataset may have. */
const FIELDS_A_COLUMN = 5

/**
 * Reads the footer. Its columns are counted before anything reads all of it: DuckDB takes 20 KB for each. What is no
 * Parquet is left to DuckDB, which says what is wrong with it.
 */
async function checkedFooter(duck: Duck, request: ReadRequest): Promise<Struct> {
  let footer: Uint8Array = new Uint8Array()
  try {
    footer = (await footerOf(request.file)).footer
    const { length, first } = readListHead(footer, FIELD.file.schema)
    const columns = first.has(FIELD.element.children) ? numberOf(first, FIELD.element.children) : 0
    if (columns > MOST_COLUMNS) {
      throw malformed(`The Parquet file has ${columns} columns; a dataset has at most ${MOST_COLUMNS}.`)
    }
    if (length > FIELDS_A_COLUMN * MOST_COLUMNS) {
      throw malformed(
        `The schema of the Parquet file has ${length} fields; the limit is ${FIELDS_A_COLUMN * MOST_COLUMNS}.`,
      )
    }
    const file = readStruct(footer)
    refuseEncrypted(file)
    refuseUnreadable(schemaOf(file), file)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  await duck.run(`SELECT num_rows FROM parquet_file_metadata(${quoteLiteral(request.file)})`, request)
  return readStruct(footer)
}

/** A run of equal values takes a few bytes, however long it is, so a small file could say that it has any number. */
const VALUES = 20_000_000
const VALUES_A_BYTE = 2_000

async function refuseManyValues(path: string, values: number): Promise<void> {
  const { size } = await stat(path)
  const most = VALUES + VALUES_A_BYTE * size
  if (values <= most) return
  throw new EngineError(
    'upload_too_large',
    `The Parquet file holds ${values} values in ${size} bytes; a file of this size may hold ${most}.`,
  )
}

/** The error that our SQL raises for a bad value begins with this; the number of the value's target follows. */
const BAD_VALUE = 'A value is none of its type: column '

/** A column whose empty texts are null where they are to be uuids or JSON, which they are not. */
function withoutEmpty(given: ParquetColumn, type: ColumnType, { empty }: UploadOptions = {}): ParquetColumn {
  if (!isTextual(given.type, type) || empty === 'text') return given
  return { ...given, sql: `nullif(${given.sql}, '')` }
}

/** SQL that converts a column to its target's type, and checks every value for which that is needed. */
function converted(
  given: ParquetColumn,
  type: ColumnType,
  index: number,
  options: UploadOptions = {},
): string {
  const { sql } = given
  const condition = isOfType(given, type)
  if (options.zone !== undefined && isLocalTime(given.type, type)) {
    const { utc, isOnce } = inZone(options, `CAST(${sql} AS TIMESTAMP)`)
    return (
      `CASE WHEN NOT (${condition}) THEN error(${quoteLiteral(`${BAD_VALUE}${index}.`)}) ` +
      `WHEN ${isOnce} THEN CAST(${utc} AS TIMESTAMPTZ) WHEN ${sql} IS NOT NULL THEN ${zoneError(index)} END`
    )
  }
  if (!condition) return widened(given, type, sql)
  const checked = `CASE WHEN ${sql} IS NULL OR ${condition} THEN ${sql} ELSE error(${quoteLiteral(`${BAD_VALUE}${index}.`)}) END`
  return isTextual(given.type, type) ? `CAST(${checked} AS ${sqlType(type)})` : widened(given, type, checked)
}

/** An SQL condition that all values other than null have to meet; undefined where no value has to be checked. */
function isOfType(
  { type: given, sql, saysJson, whole, inside }: ParquetColumn,
  type: ColumnType,
): string | undefined {
  if (saysJson || (type === 'json' && given === 'string')) return `json_valid(${sql})`
  if (isTextual(given, type)) return `TRY_CAST(${sql} AS UUID) IS NOT NULL`
  const conditions = [whole, inside, inRange(given, sql)].filter((condition) => condition !== undefined)
  return conditions.length > 0 ? conditions.join(' AND ') : undefined
}

/** If our SQL raised this error for a bad value, returns one that names the value's row; otherwise the error itself. */
async function badValueOf(
  duck: Duck,
  error: unknown,
  targets: readonly Target[],
  given: readonly ParquetColumn[],
  request: ReadRequest,
): Promise<unknown> {
  const timed = targets[badTimeIn(error)]
  if (timed) {
    const { sql } = given[timed.source!]!
    const { isOnce, fault } = inZone(request.options ?? {}, `CAST(${sql} AS TIMESTAMP)`)
    const [found] = await duck.run(
      `SELECT file_row_number, ${valueText(given[timed.source!]!.type, sql)}, ${fault} FROM ${aliased(request.file, given.length)} ` +
        `WHERE NOT ${isOnce} ORDER BY file_row_number LIMIT 1`,
      request,
    )
    const [row, text, what] = found!
    return badTime(Number(row) + 1, timed.name, String(text), String(what))
  }
  const { message } = error as Error
  const at = message.indexOf(BAD_VALUE)
  if (at < 0) return error
  const { name, type, source } = targets[Number.parseInt(message.slice(at + BAD_VALUE.length), 10)]!
  const column = withoutEmpty(given[source!]!, type!, request.options)
  const [row] = await duck.run(
    `SELECT min(file_row_number), arg_min(${column.whole ?? 'true'}, file_row_number) FROM ` +
      `${aliased(request.file, given.length)} WHERE ${column.sql} IS NOT NULL AND NOT (${isOfType(column, type!)})`,
    request,
  )
  const [first, whole] = row!
  if (column.inside !== undefined) return outOfRangeInside(Number(first) + 1, name)
  return whole ? outOfRange(Number(first) + 1, name, type!) : tooFine(Number(first) + 1, name)
}

async function refuseNulls(
  duck: Duck,
  columns: readonly Column[],
  nulls: readonly number[],
  request: ReadRequest,
): Promise<void> {
  const index = columns.findIndex(({ nullable }, at) => !nullable && nulls[at]! > 0)
  if (index < 0) return
  const part = readParts([request.target])
  const [row] = await duck.run(`SELECT min(file_row_number) FROM ${part} WHERE c${index} IS NULL`, request)
  throw missingValue(Number(row![0]) + 1, columns[index]!.name)
}

/** What DuckDB says about files that it does not read, and what the user is told. */
const KNOWN_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/Invalid decimal encoding/, 'The Parquet file holds a decimal of more digits than its type has.'],
  [/Could not convert Timestamp/, 'The Parquet file holds a timestamp outside of the years 1 to 9999.'],
  [
    /geoparquet/i,
    'The metadata "geo" of the Parquet file is not as GeoParquet 1.0 demands. Write the file anew, or without it.',
  ],
  [
    /too small to be a Parquet file|No magic bytes/i,
    'The file is not a Parquet file, or is cut off: the bytes PAR1 are missing at its end.',
  ],
  [
    new RegExp(VARIANT_TOO_DEEP),
    `The Parquet file holds a ${VARIANT_TOO_DEEP}. Write the column as JSON text.`,
  ],
  [/at least one non-root column/, 'The Parquet file has no columns.'],
  [/encrypt/i, 'The Parquet file is encrypted.'],
]

/** Turns DuckDB's errors about the uploaded file into ones that blame the upload; those about the part stay as is. */
function parquetError(error: unknown, { target }: ReadRequest): unknown {
  if (error instanceof EngineError) {
    return error.code === 'overloaded'
      ? new EngineError(
          'upload_too_large',
          'Reading the Parquet file needs more memory than there is: its row groups are too large.',
          { cause: error },
        )
      : error
  }
  const { message } = error as Error
  if (message.includes(target)) return error
  const fine = message.indexOf(NOT_MICROSECONDS)
  if (fine >= 0) return malformed(`${message.slice(fine).split('\n', 1)[0]}. ${FINEST}`)
  const known = KNOWN_ERRORS.find(([pattern]) => pattern.test(message))
  if (known) return malformed(known[1])
  return new EngineError(
    'invalid_upload',
    'The Parquet file is damaged, or uses an encoding or a compression that is not supported.',
    { cause: error },
  )
}
