import type { Series } from '../connector.ts'

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
      const key = frequency === 'intraday' ? `${date} ${period}` : date
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
      .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
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
