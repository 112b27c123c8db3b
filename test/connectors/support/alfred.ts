import type { Hit, Reply, Routes } from './upstream.ts'

/** A value of a series, from a day to the last one on which it was given. */
export interface Vintage {
  readonly date: string
  readonly value: string
  readonly realtime_start: string
  readonly realtime_end: string
}

const FIRST = '1776-07-04'
const LAST = '9999-12-31'

/** FRED with its archive, in the shapes of its documentation: a request has at most 2,000 vintage dates. */
export function alfred(values: readonly Vintage[], frequency = 'Quarterly'): Routes {
  const dates = [...new Set(values.map(({ realtime_start }) => realtime_start))].sort()
  const page = (rows: readonly unknown[], { query }: Hit, most: number) => {
    const offset = Number(query.get('offset') ?? 0)
    const limit = Math.min(Number(query.get('limit') ?? most), most)
    return { count: rows.length, offset, limit, rows: rows.slice(offset, offset + limit) }
  }
  const refused = (message: string): Reply => ({
    status: 400,
    body: { error_code: 400, error_message: `Bad Request.  ${message}` },
  })
  return {
    '/fred/series': {
      body: {
        seriess: [
          {
            id: 'GDP',
            title: 'Gross Product',
            frequency,
            units: 'Billions',
            observation_start: values[0]?.date,
          },
        ],
      },
    },
    '/fred/series/vintagedates': (hit) => {
      if (dates.length === 0) {
        return refused('The series does not exist in ALFRED but may exist in FRED.')
      }
      const { rows, ...head } = page(dates, hit, 10_000)
      return { body: { realtime_start: FIRST, realtime_end: LAST, ...head, vintage_dates: rows } }
    },
    '/fred/series/observations': (hit) => {
      const from = hit.query.get('realtime_start') ?? LAST
      const to = hit.query.get('realtime_end') ?? LAST
      const within = dates.filter((date) => date >= from && date <= to)
      if (within.length > 2000) {
        return refused(
          `There are ${within.length} vintage dates in the specified real-time period: ${from} to ${to}. This exceeds ` +
            'the maximum number of vintage dates allowed for this file type (2000).',
        )
      }
      const start = hit.query.get('observation_start') ?? FIRST
      const found = values.filter((one) => one.realtime_start <= to && one.realtime_end >= from)
      const cut = found.map((one) => ({
        ...one,
        realtime_start: one.realtime_start < from ? from : one.realtime_start,
        realtime_end: one.realtime_end > to ? to : one.realtime_end,
      }))
      const { rows, ...head } = page(
        cut.filter(({ date }) => date >= start).sort((a, b) => (a.date < b.date ? -1 : 1)),
        hit,
        100_000,
      )
      return { body: { ...head, observations: rows } }
    },
  }
}

/** Three vintages of a quarterly series, the second of which revises the first period. */
export const REVISED: readonly Vintage[] = [
  { date: '2024-01-01', value: '100', realtime_start: '2024-04-25', realtime_end: '2024-05-29' },
  { date: '2024-01-01', value: '101.5', realtime_start: '2024-05-30', realtime_end: LAST },
  { date: '2024-04-01', value: '.', realtime_start: '2024-05-30', realtime_end: '2024-07-24' },
  { date: '2024-04-01', value: '103', realtime_start: '2024-07-25', realtime_end: LAST },
]
