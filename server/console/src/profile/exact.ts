import type { Column } from '../../../client/index.ts'
import { filterLiteral, filterName } from '../filter/types.ts'
import { limiter } from '../limiter.ts'
import { countRows, fetchRows } from '../rows.ts'
import { type Bin, type ColumnStats, type Shape, toLiteral } from './stats.ts'

const background = limiter(2)

/** Combines two filters with `and`; either may be empty. */
export function bothFilters(one: string, other: string): string {
  if (one === '') return other
  return other === '' ? one : `(${one}) and (${other})`
}

/** Exact figures about a column, from requests that return at most one row each. */
export interface ExactStats {
  readonly nulls: number
  readonly min: string | undefined
  readonly max: string | undefined
  /** The number of different values; known only if the sample contains all of them. */
  readonly distinct: number | undefined
}

/** @throws ParquetryError */
export async function exactStats(
  datasetId: number,
  filter: string,
  sampled: ColumnStats,
  signal: AbortSignal,
): Promise<ExactStats> {
  const { column } = sampled
  const name = filterName(column.name)
  const ask = <T>(task: () => Promise<T>) =>
    background(() => {
      signal.throwIfAborted()
      return task()
    })
  const edge = async (descending: boolean): Promise<string | undefined> => {
    if (sampled.min === undefined) return undefined
    const query = {
      filter: bothFilters(filter, `${name} ne null`),
      select: [column.name],
      orderBy: [{ column: column.name, descending }],
      top: 1,
      signal,
    }
    const window = await ask(() => fetchRows(datasetId, query))
    return window.rows[0]?.[0] ?? undefined
  }
  const [nulls, min, max, outside] = await Promise.all([
    ask(() => countRows(datasetId, bothFilters(filter, `${name} eq null`), signal)),
    edge(false),
    edge(true),
    ask(() => countOutside(datasetId, filter, sampled, signal)),
  ])
  return { nulls, min, max, distinct: outside === 0 ? sampled.distinct : undefined }
}

/**
 * Counts the rows with a value that isn't in the sample; undefined if the sample has too many different values to list.
 */
async function countOutside(
  datasetId: number,
  filter: string,
  sampled: ColumnStats,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { column, shape } = sampled
  if (shape.kind !== 'values' || shape.others > 0) return undefined
  const name = filterName(column.name)
  const seen = shape.values.map(({ value }) => filterLiteral(value, column.type)).join(',')
  return countRows(datasetId, bothFilters(filter, `${name} ne null and not (${name} in (${seen}))`), signal)
}

/** The histogram of the sample with exact counts, one request per bar. @throws ParquetryError */
export async function exactShape(
  datasetId: number,
  filter: string,
  sampled: ColumnStats,
  signal: AbortSignal,
): Promise<Shape> {
  const count = (part: string) =>
    background(() => {
      signal.throwIfAborted()
      return countRows(datasetId, bothFilters(filter, part), signal)
    })
  const { column, shape } = sampled
  switch (shape.kind) {
    case 'bins': {
      const bins = await Promise.all(
        shape.bins.map(async (bin, at) => {
          const last = at === shape.bins.length - 1
          return { ...bin, count: await count(binFilter(column, bin, at === 0, last)) }
        }),
      )
      return { kind: 'bins', bins }
    }
    case 'values': {
      const present = count(`${filterName(column.name)} ne null`)
      const values = await Promise.all(
        shape.values.map(async ({ value }) => ({ value, count: await count(valueFilter(column, value)) })),
      )
      const shown = values.reduce((sum, value) => sum + value.count, 0)
      return { kind: 'values', values, others: (await present) - shown }
    }
    case 'none':
      return shape
    default:
      return shape satisfies never
  }
}

/**
 * A filter for the rows of a bin. The first and the last bin are open, because the sample may have missed the extremes.
 */
export function binFilter(column: Column, bin: Bin, openStart: boolean, openEnd: boolean): string {
  const name = filterName(column.name)
  const from = openStart ? [] : [`${name} ge ${toLiteral(bin.from, column.type)}`]
  const to = openEnd ? [] : [`${name} lt ${toLiteral(bin.to, column.type)}`]
  const parts = [...from, ...to]
  return parts.length === 0 ? `${name} ne null` : parts.join(' and ')
}

export function valueFilter(column: Column, value: string): string {
  return `${filterName(column.name)} eq ${filterLiteral(value, column.type)}`
}
