import { normaliseParquetColumn } from '../duckdb/normalise.ts'
import { EngineError } from '../errors.ts'
import { type Fields, meaningOf } from '../ingest/parquet/arrow-fields.ts'
import { isInLegacyCalendar } from '../ingest/parquet/spark.ts'
import { chunksOf, elementsOf, FIELD, groupsOf, metasOf, numberOf, pairsOf } from '../parquet/footer.ts'
import { PHYSICAL, type SchemaElement, schemaOf } from '../parquet/schema.ts'
import { partStatistics } from '../parquet/statistics.ts'
import type { Struct } from '../parquet/thrift.ts'
import {
  type ColumnBounds,
  type ColumnType,
  decimalParts,
  entryOf,
  fixedBytes,
  type PartStatistics,
} from '../types/index.ts'

/** A column of a file that others wrote. */
export interface AttachableColumn {
  readonly name: string
  readonly type: ColumnType
  /** As DuckDB calls the type that the file has. */
  readonly duckType: string
}

/** What a part knows of its rows. */
interface Contents {
  readonly rows: number
  readonly rawBytes: number
  readonly statistics: PartStatistics
}

/** The types whose values need no conversion but to a wider type, as DuckDB's `DESCRIBE` prints them. */
const READABLE =
  /^(BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|FLOAT|DOUBLE|VARCHAR|BLOB|DATE|TIME|TIMESTAMP|TIME WITH TIME ZONE|TIMESTAMP WITH TIME ZONE|UUID|DECIMAL\(.*\))$/

/** What DuckDB changes, or reads in another unit than the statistics have. */
const REFUSED: Readonly<Partial<Record<NonNullable<SchemaElement['meaning']>, string>>> = {
  json: 'is JSON, which nothing has checked',
  null: 'has no type',
  interval: 'has intervals',
  int96: 'has timestamps as INT96',
  'time nanos': 'has times in nanoseconds',
  'utc nanos': 'has timestamps in nanoseconds',
  'local nanos': 'has timestamps in nanoseconds',
  'utc millis': 'has timestamps in milliseconds',
  'local millis': 'has timestamps in milliseconds',
}

/** DuckDB gives these to each row of a file. */
const ROW_COLUMNS = /^file_(index|row_number)$/i
/** none, snappy, gzip, brotli, zstd, lz4_raw */
const CODECS: ReadonlySet<number> = new Set([0, 1, 2, 4, 6, 7])
/** The least that a text takes while it is read, also where many rows share it. */
const TEXT_BYTES = 16

const MICROSECONDS = 1_000n
const days = (year: number, month = 0, day = 1) =>
  BigInt(new Date(Date.UTC(2000, month, day)).setUTCFullYear(year)) / 86_400_000n
const moments = (at: bigint) => at * 86_400_000n * MICROSECONDS
const [FIRST, END, GREGORIAN] = [days(1), days(10_000), days(1582, 9, 15)]

/** The least and greatest value of types of which Parquet can hold others, by what OData calls them. */
const RANGES: Readonly<Record<string, readonly [least: bigint, greatest: bigint, gregorian?: bigint]>> = {
  Date: [FIRST, END - 1n, GREGORIAN],
  TimeOfDay: [0n, 86_400_000_000n - 1n],
  DateTimeOffset: [moments(FIRST), moments(END) - 1n, moments(GREGORIAN)],
}

/**
 * The columns of a file, which must be such that all values are read as they would be from one of our own files.
 * @param name of the file, for errors
 * @param described what DuckDB says of the columns
 * @param fields what Arrow's schema says of them
 * @throws EngineError `invalid_file`, naming file, column and reason
 */
export function attachableColumns(
  name: string,
  footer: Struct,
  described: readonly { readonly name: string; readonly duckType: string }[],
  fields: Fields,
): AttachableColumn[] {
  const elements = elementsOf(footer).slice(1)
  const top = schemaOf(footer).filter(({ isColumn }) => isColumn)
  return top.map((column, index) => {
    const { name: duckName, duckType } = described[index]!
    const field = fields.get(column.name)
    const meaning = field && meaningOf(field)
    const reason =
      meaning === undefined
        ? unreadable(column, elements[index]!, duckType)
        : `has ${meaning} as whole numbers, which only Arrow's schema says`
    if (reason !== undefined) throw refused(name, column.name, reason)
    if (duckName !== column.name || ROW_COLUMNS.test(column.name)) {
      throw refused(
        name,
        column.name,
        'has a name that differs from another one only by case, or is reserved',
      )
    }
    return { name: column.name, type: normaliseParquetColumn(duckType, '').type, duckType }
  })
}

function unreadable(column: SchemaElement, element: Struct, duckType: string): string | undefined {
  const { physical, meaning } = column
  const refusal = meaning && REFUSED[meaning]
  if (refusal) return refusal
  const repeated = element.get(FIELD.element.repetition)?.value === 2
  if (physical === undefined || repeated) return 'is nested'
  if (!READABLE.test(duckType)) return `is of type ${duckType}`
  const { type } = normaliseParquetColumn(duckType, '')
  return isStoredAsOurs(type, duckType, physical, element)
    ? undefined
    : `has values of type ${type} in another form than files of Parquetry`
}

/** Statistics are read as those of our own files. */
function isStoredAsOurs(type: ColumnType, duckType: string, physical: number, element: Struct): boolean {
  const digits = decimalParts(type)?.precision
  switch (physical) {
    case PHYSICAL.fixed:
      return element.get(FIELD.element.typeLength)?.value === 16 && (digits ?? 38) > 18
    case PHYSICAL.bytes:
      return digits === undefined
    case PHYSICAL.int64:
      return true
    default:
      return !duckType.startsWith('TIME')
  }
}

/**
 * What the footer of a file says of its rows, as the catalog has it of a part.
 * @throws EngineError `invalid_file`, naming file, column and reason
 */
export function contentsOf(name: string, footer: Struct, columns: readonly AttachableColumn[]): Contents {
  const groups = groupsOf(footer)
  const rows = groups.reduce((sum, group) => sum + numberOf(group, FIELD.group.rows), 0)
  for (const group of groups) refuseChunks(name, group, columns)
  const found = partStatistics(footer, columns)
  const isOld = isInLegacyCalendar(pairsOf(footer))
  const statistics = columns.map((column, index) => {
    const bounds = found[index] ?? null
    const reason = outOfRange(column.type, bounds, { rows, isOld })
    if (reason !== undefined) throw refused(name, column.name, reason)
    return bounds && trusted(bounds, column.type, footer)
  })
  return { rows, statistics, rawBytes: rawBytesOf(groups.map(metasOf), rows, columns) }
}

function refuseChunks(name: string, group: Struct, columns: readonly AttachableColumn[]): void {
  const metas = metasOf(group)
  for (const [index, chunk] of chunksOf(group).entries()) {
    const { name: column, type } = columns[index]!
    const codec = numberOf(metas[index]!, FIELD.meta.codec)
    if (chunk.has(FIELD.chunk.filePath)) throw refused(name, column, 'has its values in another file')
    if (!CODECS.has(codec)) throw refused(name, column, `is compressed with codec ${codec}`)
    // DuckDB 1.5 looks for the text of a binary value in it (duckdb#24994).
    if (type === 'binary' && metas[index]!.has(FIELD.meta.bloomOffset))
      throw refused(name, column, 'is binary and has a Bloom filter, by which DuckDB would lose rows')
  }
}

/** Whether values may be outside of their type: DuckDB doesn't check them, and no row is read here. */
function outOfRange(
  type: ColumnType,
  bounds: ColumnBounds | null,
  { rows, isOld }: { readonly rows: number; readonly isOld: boolean },
): string | undefined {
  const digits = decimalParts(type)?.precision
  const most = 10n ** BigInt(digits ?? 0) - 1n
  const range = digits === undefined ? RANGES[entryOf(type).edm] : ([-most, most] as const)
  if (!range || rows === 0 || bounds?.nulls === rows) return undefined
  const { min = null, max = null } = bounds ?? {}
  if (min === null || max === null)
    return `has no least and greatest value in the footer, so its values of type ${type} may be out of range`
  const [least, greatest, gregorian = least] = range
  if (BigInt(min) < least || BigInt(max) > greatest) return `has values beyond those of ${type}`
  return isOld && BigInt(min) < gregorian
    ? "has days before 15 October 1582 in Spark's former calendar"
    : undefined
}

/** Bounds as our own files have them: of doubles all values, NaN included; of texts whole characters in their order. */
function trusted(bounds: ColumnBounds, type: ColumnType, footer: Struct): ColumnBounds {
  const { edm, layout } = entryOf(type)
  const isText = edm === 'String'
  const isOrdered = footer.has(FIELD.file.columnOrders)
  const isCut = isText && `${bounds.min}${bounds.max}`.includes('\uFFFD')
  const known = layout !== 'double' && edm !== 'Guid' && !isCut && (isOrdered || !isText)
  return known ? bounds : { ...bounds, min: null, max: null }
}

/** The bytes of all values, as far as they are known: a footer counts a text once that many rows have. */
function rawBytesOf(
  groups: readonly (readonly Struct[])[],
  rows: number,
  columns: readonly AttachableColumn[],
): number {
  return columns.reduce((sum, { type }, index) => {
    const fixed = fixedBytes(type)
    if (fixed !== undefined) return sum + fixed * rows
    const unpacked = groups.reduce(
      (all, metas) => all + numberOf(metas[index]!, FIELD.meta.uncompressedSize),
      0,
    )
    return sum + Math.max(unpacked, TEXT_BYTES * rows)
  }, 0)
}

function refused(file: string, column: string, reason: string): EngineError {
  return new EngineError(
    'invalid_file',
    `${file}: column ${JSON.stringify(column)} ${reason}, so the file can't be read as it is. Upload it instead.`,
    { details: { column } },
  )
}

/** @throws EngineError `invalid_file` if the columns of two files differ */
export function requireSame(
  [name, columns]: readonly [string, readonly AttachableColumn[]],
  [first, wanted]: readonly [string, readonly AttachableColumn[]],
): void {
  const shown = (column: AttachableColumn | undefined) =>
    column ? `${JSON.stringify(column.name)} of type ${column.duckType}` : 'nothing'
  for (let index = 0; index < Math.max(columns.length, wanted.length); index++) {
    const [one, other] = [columns[index], wanted[index]]
    if (one?.name === other?.name && one?.duckType === other?.duckType) continue
    throw new EngineError(
      'invalid_file',
      `${name}: column ${index + 1} is ${shown(one)}; in ${first} it is ${shown(other)}. All files must have the same ` +
        'columns in the same order. Attach them as different datasets, or upload them.',
    )
  }
}
