import type { Column } from '../../../client/index.ts'
import { filterLiteral, filterName } from '../filter/types.ts'
import { limiter } from '../limiter.ts'
import { countRows, fetchRows } from '../rows.ts'
import { type Bin, type ColumnStats, type Shape, toLiteral } from './stats.ts'

const background = limiter(2)

/** Both filters at once; either may be empty. */
export function bothFilters(one: string, other: string): string {
  if (one === '') return other
  return other === '' ? one : `(${one}) and (${other})`
}

/** What can be told of a column by questions that move at most one row each. */
export interface ExactStats {
  readonly nulls: number
  readonly min: string | undefined
  readonly max: string | undefined
  /** Known where the values of the sample turn out to be all that there are. */
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

/** How many rows have a value that the sample has not; undefined where the sample has too many to ask. */
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

/** The sample's histogram with every bar counted in the data, by one question for each bar. @throws ParquetryError */
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

/** The rows of a bin. The outer bins are open, so that what the sample missed is counted there. */
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
