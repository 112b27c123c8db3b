import type { Category, Connector, ConnectorContext, SeriesInfo, UpstreamAnswer } from '../connector.ts'
import { category, listed, providerInfo } from '../connector.ts'
import { absent, malformed, notUnderstood } from '../failures.ts'
import { inferFrequency, isoDate } from '../periods.ts'
import { isRecord, type Json, number, openBody, record, records, text } from '../read.ts'

/** The first day with reference rates of the European Central Bank; the blended rates of some currencies are older. */
const FIRST_DAY = '1999-01-04'

/** The second version of the service: rates blended from those of many central banks, for far more currencies. */
const BLENDED = 'v2'

/**
 * https://frankfurter.dev. A path is a base currency, such as `EUR`; a series id is a pair, such as `EUR/USD`. Ids and
 * paths that begin with `v2` have the blended rates: `v2/EUR` and `v2/EUR/USD`.
 */
export const frankfurter: Connector = {
  info: providerInfo({
    slug: 'frankfurter',
    name: 'Frankfurter',
    description:
      'Daily reference exchange rates of the European Central Bank, between any two of its currencies.',
    homepage: 'https://frankfurter.dev',
    baseUrl: 'https://api.frankfurter.dev',
  }),
  freshSeconds: 3600,

  async at(path, context) {
    const [, blended, rest = ''] = /^(v2)(?:\/(.*))?$/i.exec(path) ?? []
    const version = blended === undefined ? 'v1' : BLENDED
    const base = (blended === undefined ? path : rest).toUpperCase()
    if (base === '') return { categories: () => bases(version, context) }
    const all = await currencies(version, context)
    if (!all.some(([code]) => code === base)) throw absent()
    return { series: () => pairs(version, base, all) }
  },

  async catalogue(context) {
    const all = await currencies('v1', context)
    const series = all.flatMap(([base]) => pairs('v1', base, all))
    return { series, categories: await bases('v1', context) }
  },

  async series(id, { start, end }, context) {
    const [, blended, base, symbol] = /^(V2\/)?([A-Z]{3})\/([A-Z]{3})$/.exec(id.toUpperCase()) ?? []
    if (base === undefined || symbol === undefined || base === symbol) {
      throw malformed('two currencies, as EUR/USD, or v2/EUR/USD for the blended rate')
    }
    const isBlended = blended !== undefined
    const version = isBlended ? BLENDED : 'v1'
    const from = start ?? (isBlended ? firstDay(await currencies(version, context), base, symbol) : FIRST_DAY)
    const request = isBlended
      ? { path: ['v2', 'rates'], query: { from, to: end, base, quotes: symbol } }
      : { path: ['v1', `${from}..${end ?? ''}`], query: { base, symbols: symbol } }
    // To a range before the first rate or after today the service says the same as to a currency that it doesn't have.
    const today = isoDate(Date.now())
    const isOutside = from > today || (end !== undefined && from > end)
    const rows = isOutside ? [] : rowsOf(bodyOf(await context.send(request)), symbol, version)
    const all = await currencies(version, context)
    const names = new Map(all.map(([code, name]) => [code, name]))
    if (isOutside && !(names.has(base) && names.has(symbol))) throw absent()
    // For a long range the service sends one rate a week.
    const frequency = inferFrequency(rows.map(({ time }) => time).sort()) ?? 'daily'
    return {
      series_id: `${prefixOf(version)}${base}/${symbol}`,
      name: titleOf(base, names.get(symbol) ?? symbol),
      frequency,
      unit: symbol,
      rows,
    }
  },
}

type Version = 'v1' | 'v2'
type Currency = readonly [code: string, name: string, start: string | null]

/** `{EUR: 'Euro'}` in version 1, `[{iso_code, name, start_date}]` in version 2. */
function currencies(version: Version, context: ConnectorContext): Promise<readonly Currency[]> {
  return context.cached({ path: [version, 'currencies'] }, (answer) => {
    const missing = notUnderstood('the list of currencies is missing')
    if (answer.status === 404) throw missing
    const body = bodyOf(answer)
    const entries: readonly Currency[] = isRecord(body)
      ? Object.entries(body).map(([code, name]) => [code, text(name) ?? code, FIRST_DAY])
      : records(body).map((each) => {
          const code = text(each['iso_code']) ?? ''
          return [code, text(each['name']) ?? code, text(each['start_date'])]
        })
    const known = entries.filter(([code]) => /^[A-Z]{3}$/.test(code))
    if (known.length === 0) throw missing
    return known
  })
}

/** The first day on which both currencies have a rate. Without a start, version 2 sends only the latest rate. */
function firstDay(all: readonly Currency[], ...codes: readonly string[]): string {
  const starts = all.flatMap(([code, , start]) => (codes.includes(code) && start !== null ? [start] : []))
  return starts.length === codes.length ? starts.sort().at(-1)! : FIRST_DAY
}

async function bases(version: Version, context: ConnectorContext): Promise<readonly Category[]> {
  const all = (await currencies(version, context)).map(([code, name]) =>
    category(`${prefixOf(version)}${code}`, name, `Rates of 1 ${code}`),
  )
  if (version === BLENDED) return all
  const description = 'Rates of more currencies, blended from those of many central banks'
  return [...all, category(BLENDED, 'Blended rates', description, false)]
}

/** The rates of a currency in all others. */
function pairs(version: Version, base: string, all: readonly Currency[]): readonly SeriesInfo[] {
  const others = all.filter(([code]) => code !== base)
  return others.map(([code, name, start]) => {
    const series_id = `${prefixOf(version)}${base}/${code}`
    return listed({ series_id, name: titleOf(base, name), frequency: 'daily', unit: code, start })
  })
}

function prefixOf(version: Version): string {
  return version === BLENDED ? `${BLENDED}/` : ''
}

function titleOf(base: string, name: string): string {
  return `${name} for 1 ${base}`
}

/** Errors are `{message}`: 404 for an unknown currency or day, 422 for a pair that makes no sense. */
function bodyOf(answer: UpstreamAnswer): Json {
  if (answer.status === 422) throw absent()
  const body = openBody(answer)
  if (typeof body !== 'object' || body === null) throw notUnderstood('the body is no object')
  if (!isRecord(body)) return body
  if (Object.keys(body).length <= 2 && /not found/i.test(text(body['message']) ?? '')) throw absent()
  return body
}

/**
 * In version 1 `rates` by day for a range, or those of the one day in `date`; `amount` is the amount of the base
 * currency that they are for. In version 2 a list of `{date, base, quote, rate}`.
 */
function rowsOf(body: Json, symbol: string, version: Version): { time: string; value: Json | undefined }[] {
  if (version === BLENDED) {
    if (!Array.isArray(body)) throw notUnderstood('the rates are no list')
    const own = records(body).filter((row) => text(row['quote']) === symbol)
    return own.map((row) => ({ time: text(row['date']) ?? '', value: row['rate'] }))
  }
  if (!isRecord(body)) throw notUnderstood('the body is no object')
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
    return [{ time, value: value === null || amount === 1 ? rate : value / amount }]
  })
}
