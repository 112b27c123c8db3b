import type { SortKey } from '../filter/index.ts'
import { type ColumnType, quoteLiteral, type Statement, sqlType } from '../types/index.ts'
import { isRanged, type Plan } from './plan.ts'
import { fileRows, whereOf } from './statements.ts'
import { orderTerms } from './steps-sql.ts'

/*
 * DuckDB finds the first tens of thousands of rows of an order quickly. For the rows behind a million others it sorts the whole
 * table. A sample of the first sort key tells between which two values the wanted rows are, give or take some thousand;
 * how many rows come before the first of them is counted; and only the rows between the two are sorted.
 */

/** DuckDB keeps so few rows in a heap, which takes less time than to read the key three times. */
const LEAST_RANK = 40_000
/** Smaller tables are sorted sooner. */
const LEAST_ROWS = 1_000_000
/** Where more of the rows are wanted, most are sorted anyway. */
const MOST_SHARE = 1 / 4
const SAMPLE_ROWS = 20_000
const SAMPLE_BYTES = 32 << 20
/** By how many standard deviations the rank of a row in the sample may be off. */
const DEVIATIONS = 4

/** The first key of an order, and the ranks of the wanted rows. */
export interface Ranks {
  readonly key: SortKey
  readonly type: ColumnType
  /** How many rows come before the wanted ones. */
  readonly skip: number
  readonly top: number
  /** One row of so many is in the sample. */
  readonly step: number
}

/** The ranks of the wanted rows, where it pays to find first between which values of the sort key they are. */
export function ranksOf({ scan, steps, order, window, most = 0, source, rowBytes }: Plan): Ranks | undefined {
  const { skip, top, last } = window
  const [key] = order
  if (!key || scan.kind !== 'slices' || steps.length > 0 || top === undefined || last !== undefined)
    return undefined
  if (skip + top < LEAST_RANK || most < LEAST_ROWS || top > most * MOST_SHARE) return undefined
  // What is calculated may fail on rows that the filter leaves out.
  const column = source.find(({ sql, stored }) => sql === key.sql && stored !== undefined)
  if (!column || scan.slices.some(isRanged)) return undefined
  const sampled = Math.min(SAMPLE_ROWS, SAMPLE_BYTES / Math.max(rowBytes, 1))
  return { key, type: column.type, skip, top, step: Math.ceil(most / sampled) }
}

/** The SQL of a sample of the sort key, as text in the order of the rows. */
export function sampleStatement(plan: Plan, { key, step }: Ranks): Statement {
  const sampled = `file_row_number % ${step} = 0`
  return {
    sql: `SELECT CAST(${key.sql} AS VARCHAR) FROM ${fileRows(plan)}${whereOf(plan, sampled)} ORDER BY ${orderTerms([key])}`,
    parameters: plan.filter?.parameters ?? [],
    columns: [{ name: 'key', type: 'string' }],
  }
}

/** Between which values of the sort key the wanted rows probably are, as conditions in SQL. */
export interface Between {
  readonly condition: string
  /** Which rows come before those that meet the condition; undefined if none do. */
  readonly preceding: string | undefined
  /** Whether all rows to the end of the order meet it. */
  readonly toEnd: boolean
}

/** Between which values the wanted rows probably are, by a sample; undefined if it rules out nothing. */
export function betweenIn(sample: readonly (string | null)[], ranks: Ranks): Between | undefined {
  const { key, type, skip, top, step } = ranks
  const near = (rank: number, sign: 1 | -1) => {
    const expected = rank / step
    return sample[Math.floor(expected + sign * (DEVIATIONS * Math.sqrt(expected) + DEVIATIONS))]
  }
  const compared = (operator: string, value: string | null | undefined) =>
    value == null ? undefined : `${key.sql} ${operator} CAST(${quoteLiteral(value)} AS ${sqlType(type)})`
  const [first, last] = [near(skip, -1), near(skip + top, 1)]
  const [from, to, ahead] = key.descending ? ['<=', '>=', '>'] : ['>=', '<=', '<']
  const bounds = [compared(from, first), compared(to, last)].filter((bound) => bound !== undefined)
  if (bounds.length === 0) return undefined
  // Null is the least value, and no comparison is true for it.
  const orNull = (condition: string, has: boolean) =>
    has ? `(${condition} OR ${key.sql} IS NULL)` : condition
  const preceding = compared(ahead, first)
  return {
    condition: orNull(bounds.join(' AND '), (key.descending ? last : first) == null),
    preceding: preceding && orNull(preceding, !key.descending),
    toEnd: last == null,
  }
}

/** The SQL that counts the rows before those between two values, and those. */
export function rankStatement(plan: Plan, { condition, preceding = 'false' }: Between): Statement {
  return {
    sql: `SELECT count(*) FILTER (WHERE ${preceding}), count(*) FILTER (WHERE ${condition}) FROM ${fileRows(plan)}${whereOf(plan)}`,
    parameters: plan.filter?.parameters ?? [],
    columns: [
      { name: 'preceding', type: 'integer' },
      { name: 'between', type: 'integer' },
    ],
  }
}

/**
 * The plan of the same rows which reads only those between two values.
 * @param counted how many rows come before the first value, and how many are between the two
 * @returns undefined if the wanted rows are not all between them
 */
export function planBetween(
  plan: Plan,
  { skip, top }: Ranks,
  { condition, toEnd }: Between,
  [preceding, between]: readonly [preceding: number, between: number],
): Plan | undefined {
  if (preceding > skip || (!toEnd && preceding + between < skip + top)) return undefined
  const { filter } = plan
  const sql = filter ? `(${filter.sql}) AND ${condition}` : condition
  return {
    ...plan,
    filter: { sql, parameters: filter?.parameters ?? [] },
    window: { skip: skip - preceding, top },
  }
}
