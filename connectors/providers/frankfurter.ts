import type { Connector, ConnectorContext, UpstreamAnswer } from '../connector.ts'
import { invalidSeriesId, pathNotFound, seriesNotFound } from '../errors.ts'
import { observed } from '../observations.ts'
import { slice } from '../paging.ts'
import { inferFrequency } from '../periods.ts'
import {
  isRecord,
  type Json,
  type JsonRecord,
  notUnderstood,
  number,
  parseJson,
  record,
  text,
} from '../read.ts'

const info = {
  slug: 'frankfurter',
  name: 'Frankfurter',
  description:
    'Daily reference exchange rates of the European Central Bank, between any two of its currencies.',
  homepage: 'https://frankfurter.dev',
  tier: 'free',
  baseUrl: 'https://api.frankfurter.dev',
  key: 'none',
  limits: { windows: [] },
} as const

/** The first day of the European Central Bank's reference rates. */
const FIRST_DAY = '1999-01-04'

/** https://frankfurter.dev. A path is a base currency, as `EUR`; a series id a pair, as `EUR/USD`. */
export const frankfurter: Connector = {
  info,
  freshSeconds: 3600,

  async browse(path, context) {
    const all = await currencies(context)
    if (path === '') {
      return all.map(([code, name]) => ({
        path: code,
        name,
        description: `Rates of 1 ${code}`,
        series: true,
      }))
    }
    currencyAt(path, all)
    return []
  },

  async list(path, page, context) {
    if (path === '') return { total: 0, series: [] }
    const all = await currencies(context)
    const base = currencyAt(path, all)
    const series = all
      .filter(([code]) => code !== base)
      .map(([code, name]) => ({
        series_id: `${base}/${code}`,
        name: titleOf(base, name),
        frequency: 'daily',
        unit: code,
        start: FIRST_DAY,
        end: null,
      }))
    return slice(series, page)
  },

  async series(id, { start = FIRST_DAY, end = '' }, context) {
    const [, base, symbol] = /^([A-Za-z]{3})\/([A-Za-z]{3})$/.exec(id.toUpperCase()) ?? []
    if (base === undefined || symbol === undefined || base === symbol) {
      throw invalidSeriesId(info, id, 'two currencies, as EUR/USD')
    }
    const query = { base, symbols: symbol }
    const answer = await context.send({ path: ['v1', `${start}..${end}`], query })
    const body = bodyOf(answer, () => seriesNotFound(info, id))
    const rows = rowsOf(body, symbol)
    const names = new Map(await currencies(context))
    // A long range is answered with one rate a week.
    const frequency = inferFrequency(rows.map(({ time }) => time).sort()) ?? 'daily'
    return {
      series_id: `${base}/${symbol}`,
      name: titleOf(base, names.get(symbol) ?? symbol),
      frequency,
      unit: symbol,
      lastUpdated: null,
      observations: observed(rows, frequency),
    }
  },
}

function currencies(context: ConnectorContext): Promise<readonly (readonly [code: string, name: string])[]> {
  return context.cached({ path: ['v1', 'currencies'] }, (answer) => {
    const missing = () => notUnderstood('the list of currencies is missing')
    const entries = Object.entries(bodyOf(answer, missing)).filter(([code]) => /^[A-Z]{3}$/.test(code))
    if (entries.length === 0) throw missing()
    return entries.map(([code, name]) => [code, text(name) ?? code])
  })
}

function currencyAt(path: string, all: readonly (readonly [string, string])[]): string {
  const code = path.toUpperCase()
  if (!all.some(([each]) => each === code)) throw pathNotFound(info, path)
  return code
}

function titleOf(base: string, name: string): string {
  return `${name} for 1 ${base}`
}

/** Errors are `{message}`: 404 for a currency or a day that is not known, 422 for a pair that makes no sense. */
function bodyOf(answer: UpstreamAnswer, notFound: () => Error): JsonRecord {
  if (answer.status === 404 || answer.status === 422) throw notFound()
  const body = parseJson(answer)
  if (answer.status >= 400 || !isRecord(body)) throw notUnderstood(`status ${answer.status}`)
  if (Object.keys(body).length <= 2 && /not found/i.test(text(body['message']) ?? '')) throw notFound()
  return body
}

/** `rates` by day for a range, or those of the one day in `date`; `amount` is how much of the base they buy. */
function rowsOf(body: JsonRecord, symbol: string): { time: string; value: number | null }[] {
  const rates = body['rates']
  if (!isRecord(rates)) throw notUnderstood('rates are missing')
  const amount = number(body['amount']) ?? 1
  const day = text(body['date'])
  const isOneDay = day !== null && Object.values(rates).every((rate) => !isRecord(rate))
  const days: readonly (readonly [string, Json])[] = isOneDay ? [[day, rates]] : Object.entries(rates)
  return days.flatMap(([time, each]) => {
    const rate = record(each)[symbol]
    if (rate === undefined) return []
    const value = number(rate)
    return [{ time, value: value === null || amount === 1 ? value : value / amount }]
  })
}
