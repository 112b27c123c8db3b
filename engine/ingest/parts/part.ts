import { rm } from 'node:fs/promises'
import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import {
  dropFilter,
  FIELD,
  groupsOf,
  metasOf,
  numberOf,
  parquetVersion,
  structOf,
} from '../../parquet/footer.ts'
import { addOrdinals } from '../../parquet/ordinals.ts'
import { ParquetFile } from '../../parquet/parquet-file.ts'
import { readParts } from '../../parquet/read-parts.ts'
import {
  type Content,
  MOST_BYTES_AT_ONCE,
  rowGroupRows,
  rowsAtOnce,
  VECTOR_ROWS,
} from '../../parquet/row-groups.ts'
import { boundsOf, partStatistics } from '../../parquet/statistics.ts'
import { i32, i64, type Struct } from '../../parquet/thrift.ts'
import { type Column, fixedBytes, type PartStatistics, quoteLiteral } from '../../types/index.ts'
import { TemporaryFile } from '../../util/whole-file.ts'

/** A part that was written. */
export interface WrittenPart {
  readonly rows: number
  /** Size of the file. */
  readonly bytes: number
  /** Per column: how many values are null. */
  readonly nulls: readonly number[]
  /** The bounds of its values. */
  readonly statistics: PartStatistics
}

/** What is known of the rows of a part before it is written. */
export interface PlannedPart extends Content {
  readonly columns: readonly Column[]
  /** Those of `select`. */
  readonly parameters?: readonly string[] | undefined
}

/**
 * In a dictionary, DuckDB takes 0 and -0 for one value, so that all of them get the sign of the first
 * (https://github.com/duckdb/duckdb/issues/25781). A part with -0 is therefore written without dictionaries. Few tables
 * have it, so whether there is one is found out while the part is written: this is the error that then ends the writing.
 */
const NEGATIVE_ZERO = 'a double is -0'

/** For each column of texts DuckDB sets memory aside for the largest dictionary, which by default has a MiB. */
const DICTIONARY_BYTES = 2 ** 20
const ALL_DICTIONARIES = 2 ** 29

/**
 * Writes the rows that `select` returns as a part; its columns are c0, c1, …, and last the
 * ordinals (`engine/parquet/ordinals.ts`). Nothing is left at `target` if it fails.
 * @param planned what is known of the rows; row groups are sized by it
 */
export async function writePart(
  duck: Duck,
  select: string,
  target: string,
  planned: PlannedPart,
  options: RunOptions,
): Promise<WrittenPart> {
  const { columns, parameters } = planned
  try {
    // Why parts have snappy and pages of version 2: docs/decisions/0011-format-of-parts.md. Field ids let other Parquet
    // readers tell which column is which.
    const groupRows = rowGroupRows(planned, columns.length)
    const dictionary = Math.min(DICTIONARY_BYTES, Math.ceil(ALL_DICTIONARIES / columns.length))
    const copy = (rows: string, more = '') =>
      duck.run(
        `COPY (${rows}) TO ${quoteLiteral(target)} (FORMAT parquet, CODEC 'snappy', PARQUET_VERSION '${parquetVersion(duck.encoding)}', ` +
          `ROW_GROUP_SIZE ${groupRows}, STRING_DICTIONARY_PAGE_SIZE_LIMIT ${dictionary}, FIELD_IDS {${fieldIds(columns.length)}}${more})`,
        { ...options, parameters },
      )
    await copy(withoutNegativeZeros(select, columns)).catch((error: unknown) => {
      if (!String(error).includes(NEGATIVE_ZERO)) throw error
      return copy(select, ', DICTIONARY_SIZE_LIMIT 0')
    })
    return await finishPart(target, columns, (file) =>
      addBloomFilters(duck, target, file, { columns, groupRows }, options),
    )
  } catch (error) {
    await rm(target, { force: true })
    throw error
  }
}

/** Adds to a file with the rows of a part what DuckDB does not write, and says what the part has. */
export async function finishPart(
  target: string,
  columns: readonly Column[],
  addFilters?: (file: ParquetFile) => Promise<void>,
): Promise<WrittenPart> {
  await using file = await ParquetFile.open(target)
  await addFilters?.(file)
  for (const metas of groupsOf(file.footer).map(metasOf)) {
    for (const [index, { type }] of columns.entries()) if (type === 'binary') dropFilter(metas[index]!)
  }
  addOrdinals(file)
  return {
    rows: numberOf(file.footer, FIELD.file.rows),
    bytes: await file.save(),
    nulls: nullCounts(file.footer, columns.length),
    statistics: partStatistics(file.footer, columns),
  }
}

/** SQL for the same rows, which fails if one of them has a negative zero. */
function withoutNegativeZeros(select: string, columns: readonly Column[]): string {
  const found = columns.flatMap(({ type }, index) =>
    type === 'double' ? [`c${index} = 0 AND signbit(c${index})`] : [],
  )
  if (found.length === 0) return select
  // With an expression for each column instead of one for all, 2,000 columns take DuckDB eight times as long.
  const any = `list_contains([${found.join(', ')}], true)`
  return `SELECT * FROM (${select}) WHERE CASE WHEN ${any} THEN error('${NEGATIVE_ZERO}') ELSE true END`
}

function nullCounts(footer: Struct, columns: number): number[] {
  const groups = groupsOf(footer).map(metasOf)
  const { meta, statistics } = FIELD
  return Array.from({ length: columns }, (_, index) =>
    groups.reduce(
      (sum, metas) => sum + numberOf(structOf(metas[index]!, meta.statistics), statistics.nulls),
      0,
    ),
  )
}

/** The field ids of the columns: `c0` is field 1, because field ids begin with 1 in Iceberg. */
function fieldIds(columns: number): string {
  return Array.from({ length: columns }, (_, index) => `c${index}: ${index + 1}`).join(', ')
}

/** Counts the rows, and the bytes of all values together. */
export async function measure(
  duck: Duck,
  source: string,
  columns: readonly Column[],
  options: RunOptions,
): Promise<{ rows: number; rawBytes: number }> {
  const [row] = await duck.run(`SELECT count(*), ${textBytes(columns)} FROM ${source}`, options)
  const rows = Number(row![0])
  return { rows, rawBytes: fixedRowBytes(columns) * rows + Number(row![1]) }
}

/** The bytes that the values of fixed size of a row take. */
function fixedRowBytes(columns: readonly Column[]): number {
  return columns.reduce((sum, { type }) => sum + (fixedBytes(type) ?? 0), 0)
}

/** SQL for the bytes of all values whose length varies. DuckDB refuses a thousand sums with a plus between each. */
function textBytes(columns: readonly Column[]): string {
  const sums = columns.flatMap(({ type }, index) => {
    if (fixedBytes(type) !== undefined) return []
    return `sum(${type === 'binary' ? 'octet_length' : 'strlen'}(c${index}))`
  })
  return `CAST(list_sum([${['0', ...sums].join(', ')}]) AS DOUBLE)`
}

/**
 * Refuses a part in which the texts of rows that are read at once are so long that whoever reads them would need
 * gigabytes. The more bytes the rows have on average, the fewer are read at once, because the part is then cut into parts
 * of few rows.
 * @throws EngineError `upload_too_large`
 */
export async function refuseLongTexts(
  duck: Duck,
  part: string,
  { columns, rows, rawBytes }: PlannedPart,
  options: RunOptions,
): Promise<void> {
  const texts = rawBytes - fixedRowBytes(columns) * rows
  if (texts <= MOST_BYTES_AT_ONCE || texts * VECTOR_ROWS > MOST_BYTES_AT_ONCE * rows) return
  const atOnce = rowsAtOnce({ rows, rawBytes }, columns.length)
  const [longest] = await duck.run(
    `SELECT CAST(file_row_number // ${atOnce} AS DOUBLE) AS place, ${textBytes(columns)} AS bytes ` +
      `FROM ${readParts([part])} GROUP BY ALL ORDER BY bytes DESC LIMIT 1`,
    options,
  )
  const [place, bytes] = longest as [number, number]
  if (bytes <= MOST_BYTES_AT_ONCE) return
  const first = place * atOnce + 1
  const last = Math.min(rows, first + atOnce - 1)
  throw new EngineError(
    'upload_too_large',
    `The texts of rows ${first} to ${last} have ${bytes} bytes, and those of so many rows are read at once: they may ` +
      `have ${MOST_BYTES_AT_ONCE} bytes. Shorten them, or put the rows with long texts into a dataset of their own.`,
    { details: { row: first, limit: MOST_BYTES_AT_ONCE } },
  )
}

/** How often a filter keeps a row group that doesn't have the value. Half as many would double its size. */
const FALSE_POSITIVES = 0.05
/** A filter must leave out at least this share of the row groups in which the bounds let a value be. */
const LEAST_SHARE = 0.5
/** The most row groups whose bounds are compared with each other. */
const MOST_COMPARED = 50

/**
 * Adds Bloom filters to the columns of a part for which they pay: unsorted integers of many values, such as the number
 * of a customer. Columns of few values have dictionaries, and DuckDB has written their filters already. Filters for
 * texts would take as long as writing the rest of the part.
 * @param file the part, opened
 * @param groupRows the rows of its row groups
 */
async function addBloomFilters(
  duck: Duck,
  part: string,
  file: ParquetFile,
  { columns, groupRows }: { readonly columns: readonly Column[]; readonly groupRows: number },
  options: RunOptions,
): Promise<void> {
  const candidates = unsortedIntegers(file.footer, columns)
  if (candidates.length === 0) return
  const counts = candidates.map((column) => `approx_count_distinct(c${column})`)
  const [distinct] = await duck.run(`SELECT ${counts.join(', ')} FROM ${readParts([part])}`, options)
  // If values lie anywhere, a row group has this share of them.
  const share = (values: number) => 1 - Math.exp(-groupRows / Math.max(values, 1))
  const paying = candidates.filter((_, index) => 1 - share(Number(distinct![index])) >= LEAST_SHARE)
  if (paying.length === 0) return
  await using copy = new TemporaryFile(duck.tempDirectory)
  // DuckDB writes filters only for dictionaries, so it writes these columns once more, with dictionaries.
  await duck.run(
    `COPY (SELECT ${paying.map((column) => `c${column}`).join(', ')} FROM ${readParts([part])}) ` +
      `TO ${quoteLiteral(copy.path)} (FORMAT parquet, CODEC 'uncompressed', ROW_GROUP_SIZE ${groupRows}, ` +
      `DICTIONARY_SIZE_LIMIT ${groupRows}, BLOOM_FILTER_FALSE_POSITIVE_RATIO ${FALSE_POSITIVES})`,
    options,
  )
  await using filtered = await ParquetFile.open(copy.path)
  await copyBloomFilters(filtered, file, paying)
}

/** The columns of integers in which neither bounds nor filters leave out most row groups yet. */
function unsortedIntegers(footer: Struct, columns: readonly Column[]): number[] {
  const groups = groupsOf(footer).map(metasOf)
  if (groups.length < 2) return []
  return columns.flatMap(({ type }, column) => {
    const metas = groups.map((group) => group[column]!)
    const isFiltered = metas.every((meta) => meta.has(FIELD.meta.bloomOffset))
    return type === 'integer' && !isFiltered && areMixed(metas) ? [column] : []
  })
}

/** Whether a value may be, by the bounds of the row groups, in more than half of them. */
function areMixed(metas: readonly Struct[]): boolean {
  const step = Math.ceil(metas.length / MOST_COMPARED)
  const bounds = metas.flatMap((meta, index) => {
    const { min, max } = (index % step === 0 && boundsOf([meta], 'integer')) || {}
    return min && max ? [{ min: BigInt(min), max: BigInt(max) }] : []
  })
  const around = (value: bigint) => bounds.filter(({ min, max }) => min <= value && value <= max).length
  return bounds.reduce((sum, { min }) => sum + around(min), 0) > bounds.length ** 2 / 2
}

/**
 * Gives columns of a file the Bloom filters that columns of another file have. A filter says which values a row group
 * doesn't have, whatever their encoding is.
 * @param from a file with the same rows. If they are in other row groups, its filters are of no use, and `to` stays as
 * it is.
 * @param columns the positions in `to` of the columns of `from`
 */
async function copyBloomFilters(
  from: ParquetFile,
  to: ParquetFile,
  columns: readonly number[],
): Promise<void> {
  const [groups, sourceGroups] = [groupsOf(to.footer), groupsOf(from.footer)]
  if (!sameRows(groups, sourceGroups)) return
  // The filters of a column lie behind each other, because a question asks for those of one column.
  for (const [index, column] of columns.entries()) {
    for (const [number, group] of sourceGroups.entries()) {
      const found = metasOf(group)[index]!
      // A row group of nothing but nulls has no filter.
      if (!found.has(FIELD.meta.bloomLength)) continue
      const length = numberOf(found, FIELD.meta.bloomLength)
      const filter = await from.read(numberOf(found, FIELD.meta.bloomOffset), length)
      const meta = metasOf(groups[number]!)[column]!
      meta.set(FIELD.meta.bloomOffset, i64(to.append(filter)))
      meta.set(FIELD.meta.bloomLength, i32(length))
    }
  }
}

function sameRows(groups: readonly Struct[], others: readonly Struct[]): boolean {
  const rows = (group: Struct) => numberOf(group, FIELD.group.rows)
  return (
    groups.length === others.length && groups.every((group, index) => rows(group) === rows(others[index]!))
  )
}
