import type { MissingSeries, Series, SeriesBatch, WantedSeries } from './connector.ts'
import { ConnectorError, quoted } from './errors.ts'
import { comparePeriods } from './periods.ts'
import { mapConcurrent } from './pipeline/map-concurrent.ts'

export const SHAPES = ['long', 'wide'] as const
export type Shape = (typeof SHAPES)[number]

export interface SeriesTable {
  readonly columns: readonly { readonly name: string; readonly type: 'date' | 'string' | 'double' }[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

type Named = Series & { readonly provider: string }

const LONG = [
  { name: 'provider', type: 'string' },
  { name: 'series_id', type: 'string' },
  { name: 'date', type: 'date' },
  { name: 'period', type: 'string' },
  { name: 'value', type: 'double' },
  { name: 'status', type: 'string' },
] as const

/**
 * Several series as one table: below each other, or side by side. `qualified` puts the provider before the column
 * names.
 */
export function tableOf(series: readonly Named[], shape: Shape, qualified: boolean): SeriesTable {
  return shape === 'long' ? longTable(series) : wideTable(series, qualified)
}

function longTable(series: readonly Named[]): SeriesTable {
  const rows = series.flatMap(({ provider, series_id, observations }) =>
    observations.map(({ date, period = null, value, status = null }) => [
      provider,
      series_id,
      date,
      period,
      value,
      status,
    ]),
  )
  return { columns: LONG, rows }
}

interface WideRow {
  readonly date: string
  /** The periods of the observations with a value, and of those without; null is that of a day. */
  readonly periods: Set<string | null>
  readonly missing: Set<string | null>
  readonly values: (number | null)[]
}

/**
 * One row for each date, or for each instant of a day. Series of different frequencies share the row of the first day
 * of their periods; the period is given if all series with a value in the row have the same one, or all series at all if
 * none has a value.
 */
function wideTable(series: readonly Named[], qualified: boolean): SeriesTable {
  const rows = new Map<string, WideRow>()
  for (const [index, { observations, frequency }] of series.entries()) {
    for (const { date, period = null, value } of observations) {
      const key = frequency === 'intraday' ? (period ?? date) : date
      const row = rows.get(key) ?? {
        date,
        periods: new Set(),
        missing: new Set(),
        values: series.map(() => null),
      }
      rows.set(key, row)
      const periods = value === null ? row.missing : row.periods
      periods.add(period)
      row.values[index] = value
    }
  }
  const names = series.map(({ provider, series_id }) => (qualified ? `${provider}/${series_id}` : series_id))
  return {
    columns: [
      { name: 'date', type: 'date' },
      { name: 'period', type: 'string' },
      ...names.map((name) => ({ name, type: 'double' as const })),
    ],
    rows: [...rows]
      .sort(([a], [b]) => comparePeriods(a, b))
      .map(([, { date, periods, missing, values }]) => [
        date,
        common(periods.size > 0 ? periods : missing),
        ...values,
      ]),
  }
}

function common(periods: ReadonlySet<string | null>): string | null {
  const [first = null, ...others] = periods
  return others.length === 0 ? first : null
}

/** How many requests of one call may be under way at once; each provider's own limits apply as well. */
const AT_ONCE = 6

/** Fetches all wanted series and returns them in this order. Failures are recorded with their reason. */
export async function inBatches<T extends WantedSeries>(
  wanted: readonly T[],
  fetch: (one: T) => Promise<SeriesBatch['series']>,
): Promise<SeriesBatch> {
  const outcomes = await mapConcurrent(AT_ONCE, wanted, async (one) => {
    try {
      return await fetch(one)
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError) || thrown.code === 'cancelled') throw thrown
      return { provider: one.provider, series_id: one.id, error: thrown } satisfies MissingSeries
    }
  })
  const found = outcomes.flatMap((one) => ('error' in one ? [] : one))
  const missing = outcomes.filter((one) => 'error' in one)
  // Two wildcards may match the same series.
  const series = new Map(found.map((one) => [JSON.stringify([one.provider, one.series_id]), one]))
  const [first] = missing
  if (series.size === 0 && first !== undefined) throw first.error
  return { series: [...series.values()], missing }
}

/**
 * Splits a list such as `GDP,UNRATE`, for one provider. SDMX ids contain commas of their own, always before their only
 * slash (`OECD.SDD,DSD_X@DF_Y,/USA.M`): with `slashed`, a part without a slash continues after the comma. A comma that
 * belongs to an id can be written `%2C`.
 */
export function splitIds(text: string, slashed: boolean): readonly string[] {
  const ids: string[] = []
  let open = ''
  for (const part of text.split(',')) {
    open += part
    if (slashed && !open.includes('/')) {
      open += ','
      continue
    }
    ids.push(open)
    open = ''
  }
  if (open !== '') ids.push(open.replace(/,$/, ''))
  return [...new Set(ids.map(unescaped).filter((id) => id !== ''))]
}

/**
 * Splits a list such as `fred/GDP,ecb/EXR/M.USD.EUR.SP00.A`. A part that doesn't begin with a provider belongs to the
 * id before it.
 */
export function splitQualified(text: string, isProvider: (slug: string) => boolean): readonly WantedSeries[] {
  const ids: string[] = []
  for (const part of text.split(',')) {
    const [slug = '', ...rest] = part.trimStart().split('/')
    if (rest.length > 0 && isProvider(slug)) ids.push(part.trimStart())
    else if (ids.length > 0) ids.push(`${ids.pop()!},${part}`)
    else if (part.trim() !== '') {
      const sentence = `${quoted(part)} must be a provider and a series, like fred/GDP.`
      throw new ConnectorError('invalid_series_id', sentence)
    }
  }
  return [...new Set(ids.map(unescaped))].map((id) => {
    const slash = id.indexOf('/')
    return { provider: id.slice(0, slash).toLowerCase(), id: id.slice(slash + 1) }
  })
}

function unescaped(id: string): string {
  return id.trim().replace(/%2c/gi, ',')
}
