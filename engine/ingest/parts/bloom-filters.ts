import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { copyBloomFilters } from '../../parquet/bloom-filters.ts'
import { elementsOf, FIELD, groupsOf, metasOf } from '../../parquet/footer.ts'
import { ParquetFile } from '../../parquet/parquet-file.ts'
import type { Struct } from '../../parquet/thrift.ts'
import { quoteLiteral } from '../../types/index.ts'
import { TemporaryFile } from '../../util/whole-file.ts'

/** `INT_64` of parquet.thrift's ConvertedType. */
const CONVERTED_INT64 = 18

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
export async function addBloomFilters(
  duck: Duck,
  part: string,
  file: ParquetFile,
  groupRows: number,
  options: RunOptions,
): Promise<void> {
  const columns = await paying(duck, part, file, groupRows, options)
  if (columns.length === 0) return
  await using copy = new TemporaryFile(duck.tempDirectory)
  // DuckDB writes filters only for dictionaries, so it writes these columns once more, with dictionaries.
  await duck.run(
    `COPY (SELECT ${columns.map((column) => `c${column}`).join(', ')} FROM read_parquet(${quoteLiteral(part)})) ` +
      `TO ${quoteLiteral(copy.path)} (FORMAT parquet, CODEC 'uncompressed', ROW_GROUP_SIZE ${groupRows}, ` +
      `DICTIONARY_SIZE_LIMIT ${groupRows}, BLOOM_FILTER_FALSE_POSITIVE_RATIO ${FALSE_POSITIVES})`,
    options,
  )
  await using filtered = await ParquetFile.open(copy.path)
  await copyBloomFilters(filtered, file, columns)
}

async function paying(
  duck: Duck,
  part: string,
  file: ParquetFile,
  groupRows: number,
  options: RunOptions,
): Promise<number[]> {
  const candidates = withoutOtherMeans(file.footer)
  if (candidates.length === 0) return []
  const counts = candidates.map((column) => `approx_count_distinct(c${column})`)
  const [distinct] = await duck.run(
    `SELECT ${counts.join(', ')} FROM read_parquet(${quoteLiteral(part)})`,
    options,
  )
  // If values lie anywhere, a row group has this share of them.
  const share = (values: number) => 1 - Math.exp(-groupRows / Math.max(values, 1))
  return candidates.filter((_, index) => 1 - share(Number(distinct![index])) >= LEAST_SHARE)
}

/** The columns of integers in which neither bounds nor filters leave out most row groups yet. */
function withoutOtherMeans(footer: Struct): number[] {
  const [, ...elements] = elementsOf(footer)
  const groups = groupsOf(footer).map(metasOf)
  if (groups.length < 2) return []
  return elements.flatMap((element, column) => {
    const metas = groups.map((group) => group[column]!)
    const isFiltered = metas.every((meta) => meta.has(FIELD.meta.bloomOffset))
    const isNumber = element.get(FIELD.element.convertedType)?.value === CONVERTED_INT64
    return isNumber && !isFiltered && areMixed(metas) ? [column] : []
  })
}

/** Whether a value may be, by the bounds of the row groups, in more than half of them. */
function areMixed(metas: readonly Struct[]): boolean {
  const step = Math.ceil(metas.length / MOST_COMPARED)
  const bounds = metas.flatMap((meta, index) => (index % step === 0 ? (boundsOf(meta) ?? []) : []))
  const around = (value: bigint) => bounds.filter(({ min, max }) => min <= value && value <= max).length
  return bounds.reduce((sum, { min }) => sum + around(min), 0) > bounds.length ** 2 / 2
}

function boundsOf(meta: Struct): { readonly min: bigint; readonly max: bigint } | undefined {
  const statistics = meta.get(FIELD.meta.statistics)?.value as Struct | undefined
  const [min, max] = [FIELD.statistics.min, FIELD.statistics.max].map((id) => {
    const bytes = statistics?.get(id)?.value as Uint8Array | undefined
    return bytes && Buffer.from(bytes).readBigInt64LE()
  })
  return min === undefined || max === undefined ? undefined : { min, max }
}
