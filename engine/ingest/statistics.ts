import type { Duck, RunOptions } from '../duckdb/duck.ts'
import { ORDINAL } from '../parquet/ordinals.ts'
import { type Column, type ColumnType, quoteLiteral, sqlType } from '../types/index.ts'
import type { ColumnBounds, PartStatistics } from '../types/statistics.ts'

/** Bounds that are longer texts are cut off: they would help less than they cost, since the catalog is read often. */
const MOST_CHARACTERS = 64
/** Tables with more columns than this get no statistics, because these might take more space than the rows. */
const MOST_COLUMNS = 1_000

/** What is known of a part's columns, from the statistics in its footer; no rows are read. */
export async function partStatistics(
  duck: Duck,
  part: string,
  columns: readonly Column[],
  options: RunOptions,
): Promise<PartStatistics> {
  const stored = columns.map(({ type }, index) => ({ name: `c${index}`, type }))
  stored.push({ name: ORDINAL, type: 'integer' })
  const found = new Map<string, ColumnBounds>()
  const described = columns.length > MOST_COLUMNS ? stored.slice(-1) : stored
  for (const type of new Set(described.map((column) => column.type))) {
    const units = unitsOf(type)
    const names = described.filter((column) => column.type === type).map(({ name }) => quoteLiteral(name))
    const bound = (value: string) => `TRY_CAST(${value} AS ${sqlType(type)})`
    // A row group of nothing but nulls has no bounds and needs none. If any other row group lacks bounds, those of the
    // whole column are unknown.
    const rows = await duck.run(
      `SELECT path_in_schema, CAST(sum(stats_null_count) AS BIGINT),
         bool_and(stats_null_count = num_values OR ${bound('stats_min_value')} IS NOT NULL AND ${bound('stats_max_value')} IS NOT NULL),
         CAST(${units(`min(${bound('stats_min_value')})`)} AS VARCHAR),
         CAST(${units(`max(${bound('stats_max_value')})`)} AS VARCHAR),
         CAST(sum(total_compressed_size) AS BIGINT)
       FROM parquet_metadata(${quoteLiteral(part)}) WHERE path_in_schema IN (${names.join(', ')}) GROUP BY ALL`,
      options,
    )
    for (const [name, nulls, known, min, max, bytes] of rows) {
      if (nulls === null) continue
      const texts = known ? { min: text(min), max: text(max) } : { min: null, max: null }
      found.set(String(name), { ...shortened(type, texts), nulls: Number(nulls), bytes: Number(bytes) })
    }
  }
  return stored.map(({ name }) => found.get(name) ?? null)
}

function text(value: unknown): string | null {
  return value === null ? null : String(value)
}

/**
 * Shortens long bounds. The beginning of a text sorts no later than the text, so it can stand for a minimum that is too
 * long. It can't stand for a maximum: one that is too long becomes unknown.
 */
function shortened(type: ColumnType, { min, max }: { min: string | null; max: string | null }) {
  if (type === 'double' || type === 'uuid' || min === null || max === null) return { min, max }
  const decimals = type.startsWith('decimal')
  if (decimals) return { min: min.replace('.', ''), max: max.replace('.', '') }
  const cut = min.length <= MOST_CHARACTERS ? min : [...min.slice(0, MOST_CHARACTERS)].slice(0, -1).join('')
  return { min: cut, max: max.length <= MOST_CHARACTERS ? max : null }
}

/** SQL for a value in the units of the statistics; null for types whose values are never compared. */
function unitsOf(type: ColumnType): (value: string) => string {
  switch (type) {
    case 'binary':
      return () => 'NULL'
    case 'date':
      return (value) => `(${value} - DATE '1970-01-01')`
    case 'time':
      return (value) => `date_diff('microsecond', TIME '00:00:00', ${value})`
    case 'timestamp':
    case 'timestamptz':
      return (value) => `epoch_us(${value})`
    default:
      return (value) => value
  }
}
