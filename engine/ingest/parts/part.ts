import { rm } from 'node:fs/promises'
import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { FIELD, groupsOf, metasOf, numberOf, parquetVersion, structOf } from '../../parquet/footer.ts'
import { addOrdinals } from '../../parquet/ordinals.ts'
import { ParquetFile } from '../../parquet/parquet-file.ts'
import { type Content, rowGroupRows } from '../../parquet/row-groups.ts'
import { partStatistics } from '../../parquet/statistics.ts'
import type { Struct } from '../../parquet/thrift.ts'
import { type Column, type PartStatistics, quoteLiteral } from '../../types/index.ts'
import { addBloomFilters } from './bloom-filters.ts'

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
    // ARCHITECTURE.md says why parts have snappy and pages of version 2, unless older readers are to read them. Field
    // ids let other Parquet readers tell which column is which.
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
      addBloomFilters(duck, target, file, groupRows, options),
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
