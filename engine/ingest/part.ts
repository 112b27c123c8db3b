import { rm } from 'node:fs/promises'
import type { Duck, RunOptions } from '../duckdb/duck.ts'
import { appendOrdinals } from '../parquet/ordinals.ts'
import { type Estimate, rowGroupRows } from '../parquet/row-groups.ts'
import { quoteLiteral } from '../types/index.ts'
import { addBloomFilters } from './bloom-filters.ts'

export interface WrittenPart {
  readonly rows: number
  /** Size of the file. */
  readonly bytes: number
  /** Per column: how many values are null. */
  readonly nulls: readonly number[]
}

/**
 * Writes the rows that `select` returns as a part; its columns are c0, c1, …, and last the
 * ordinals (`engine/parquet/ordinals.ts`). Nothing is left at `target` if it fails.
 * @param estimate what is known of the rows beforehand; row groups are sized by it
 */
export async function writePart(
  duck: Duck,
  select: string,
  target: string,
  estimate: Estimate,
  options: RunOptions,
): Promise<WrittenPart> {
  try {
    // ARCHITECTURE.md says why parts have snappy and pages of version 2. Field ids let other Parquet readers tell which
    // column is which.
    const groupRows = rowGroupRows(estimate)
    const [written] = await duck.run(
      `COPY (${select}) TO ${quoteLiteral(target)} (FORMAT parquet, CODEC 'snappy', PARQUET_VERSION 'V2', ` +
        `ROW_GROUP_SIZE ${groupRows}, FIELD_IDS {${fieldIds(estimate.columns)}}, RETURN_STATS)`,
      options,
    )
    await addBloomFilters(duck, target, groupRows, options)
    const [, rows, , , statistics] = written as [string, bigint, bigint, bigint, DuckMap<DuckMap<string>>]
    return { rows: Number(rows), bytes: await appendOrdinals(target), nulls: nullCounts(statistics) }
  } catch (error) {
    await rm(target, { force: true })
    throw error
  }
}

type DuckMap<Value> = readonly { readonly key: string; readonly value: Value }[]

function nullCounts(statistics: DuckMap<DuckMap<string>>): number[] {
  const nulls: number[] = []
  for (const { key, value } of statistics) {
    nulls[Number(key.slice(2, -1))] = Number(value.find((entry) => entry.key === 'null_count')?.value ?? 0)
  }
  return nulls
}

/** The field ids of the columns: `c0` is field 1, because field ids begin with 1 in Iceberg. */
function fieldIds(columns: number): string {
  return Array.from({ length: columns }, (_, index) => `c${index}: ${index + 1}`).join(', ')
}
