import type {
  Connector,
  ConnectorContext,
  Row,
  SeriesInfo,
  SeriesRange,
  UpstreamAnswer,
} from '../connector.ts'
import { categories, category, listed, providerInfo, rate } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { absent, Failure, malformed } from '../failures.ts'
import { slice } from '../paging.ts'
import { addDays, frequencyName, isoDate, parsePeriod } from '../periods.ts'
import type { JsonRecord } from '../read.ts'
import { firstText, isRecord, number, openBody, record, records, text } from '../read.ts'

/** A function of the API. The API has no list of its functions, so they are listed here. */
interface FunctionDefinition {
  readonly group: string
  readonly title: string
  /** In the order in which a series id gives them. */
  readonly parameters: readonly string[]
  /** Parameters as written in a series id, for the list of series. */
  readonly examples: readonly string[]
  /** The frequency, if it doesn't depend on a parameter. */
  readonly frequency?: string | undefined
  /** Whether the function answers with the last 100 points unless asked for all. */
  readonly hasSizes?: boolean
}

interface Call {
  readonly name: string
  readonly definition: FunctionDefinition
  readonly parameters: Readonly<Record<string, string>>
  /** Which of several values at a time is meant; undefined for the usual one. */
  readonly field: string | undefined
}

const SYMBOLS = ['AAPL', 'AMZN', 'BA', 'GOOGL', 'IBM', 'JPM', 'MSFT', 'NVDA']
const PAIRS = ['EUR/USD', 'GBP/USD', 'USD/CHF', 'USD/CNY', 'USD/JPY']
const COINS = ['BTC/EUR', 'BTC/USD', 'ETH/EUR', 'ETH/USD']
const MATURITIES = ['3month', '2year', '5year', '7year', '10year', '30year']

const GROUPS: Readonly<Record<string, string>> = {
  stocks: 'Stocks',
  currencies: 'Exchange rates',
  crypto: 'Crypto-currencies',
  commodities: 'Commodities',
  economy: 'U.S. economic indicators',
  indicators: 'Technical indicators',
}

/** Makes functions of a group that take the same parameters. */
const taking =
  (group: string, parameters: string, examples: readonly string[]) =>
  (title: string, frequency?: string, hasSizes = false): FunctionDefinition => ({
    group,
    title,
    parameters: parameters === '' ? [] : parameters.split('/'),
    examples,
    frequency,
    hasSizes,
  })
const eachSymbol = (rest: string) => SYMBOLS.map((symbol) => `${symbol}/${rest}`)
const stock = taking('stocks', 'symbol', SYMBOLS)
const intraday = taking('stocks', 'symbol/interval', eachSymbol('60min'))
const pair = taking('currencies', 'from_symbol/to_symbol', PAIRS)
const latest = taking('currencies', 'from_currency/to_currency', [...PAIRS, ...COINS])
const coin = taking('crypto', 'symbol/market', COINS)
const ofMarket = (group: string) => taking(group, 'interval', ['daily', 'weekly', 'monthly'])
const fuel = ofMarket('commodities')
const monthly = taking('commodities', 'interval', ['monthly', 'quarterly', 'annual'])
const plain = taking('economy', '', [''])
const yields = taking(
  'economy',
  'interval/maturity',
  MATURITIES.flatMap((maturity) => [`daily/${maturity}`, `monthly/${maturity}`]),
)
const average = taking('indicators', 'symbol/interval/time_period/series_type', eachSymbol('daily/20/close'))
const macd = taking('indicators', 'symbol/interval/series_type', eachSymbol('daily/close'))

const FUNCTIONS: ReadonlyMap<string, FunctionDefinition> = new Map(
  Object.entries({
    TIME_SERIES_INTRADAY: intraday('Intraday prices', 'intraday', true),
    TIME_SERIES_DAILY: stock('Daily prices', 'daily', true),
    TIME_SERIES_DAILY_ADJUSTED: stock('Daily adjusted prices', 'daily', true),
    TIME_SERIES_WEEKLY: stock('Weekly prices', 'weekly'),
    TIME_SERIES_WEEKLY_ADJUSTED: stock('Weekly adjusted prices', 'weekly'),
    TIME_SERIES_MONTHLY: stock('Monthly prices', 'monthly'),
    TIME_SERIES_MONTHLY_ADJUSTED: stock('Monthly adjusted prices', 'monthly'),
    GLOBAL_QUOTE: stock('Latest price', 'daily'),
    FX_DAILY: pair('Daily exchange rates', 'daily', true),
    FX_WEEKLY: pair('Weekly exchange rates', 'weekly'),
    FX_MONTHLY: pair('Monthly exchange rates', 'monthly'),
    CURRENCY_EXCHANGE_RATE: latest('Latest exchange rate', 'intraday'),
    DIGITAL_CURRENCY_DAILY: coin('Daily prices', 'daily'),
    DIGITAL_CURRENCY_WEEKLY: coin('Weekly prices', 'weekly'),
    DIGITAL_CURRENCY_MONTHLY: coin('Monthly prices', 'monthly'),
    WTI: fuel('Crude oil, West Texas Intermediate'),
    BRENT: fuel('Crude oil, Brent'),
    NATURAL_GAS: fuel('Natural gas, Henry Hub'),
    COPPER: monthly('Copper'),
    ALUMINUM: monthly('Aluminum'),
    WHEAT: monthly('Wheat'),
    CORN: monthly('Corn'),
    COTTON: monthly('Cotton'),
    SUGAR: monthly('Sugar'),
    COFFEE: monthly('Coffee'),
    ALL_COMMODITIES: monthly('All commodities'),
    REAL_GDP: taking('economy', 'interval', ['annual', 'quarterly'])('Real gross domestic product'),
    REAL_GDP_PER_CAPITA: plain('Real gross domestic product per capita', 'quarterly'),
    TREASURY_YIELD: yields('Treasury yield'),
    FEDERAL_FUNDS_RATE: ofMarket('economy')('Federal funds rate'),
    CPI: taking('economy', 'interval', ['monthly', 'semiannual'])('Consumer price index'),
    INFLATION: plain('Inflation', 'annual'),
    RETAIL_SALES: plain('Retail sales', 'monthly'),
    DURABLES: plain('Orders of durable goods', 'monthly'),
    UNEMPLOYMENT: plain('Unemployment rate', 'monthly'),
    NONFARM_PAYROLL: plain('Nonfarm payroll', 'monthly'),
    SMA: average('Simple moving average'),
    EMA: average('Exponential moving average'),
    WMA: average('Weighted moving average'),
    RSI: average('Relative strength index'),
    ROC: average('Rate of change'),
    MACD: macd('Moving average convergence and divergence'),
  }),
)

const DAY_SECONDS = 86_400

/** Number of days that the short form of an answer with daily values, 100 points, is certain to cover. */
const COMPACT_DAYS = 130

const SEARCH = 'Series of the stocks whose symbol or name matches what follows in the path, as symbols/boeing'
const ROOT = [...categories(GROUPS, false), category('symbols', 'Search for symbols', SEARCH, false)]

/**
 * https://www.alphavantage.co/documentation. The provider has no catalogue: paths lead to functions
 * (`stocks/TIME_SERIES_DAILY`) and to a search for symbols (`symbols/boeing`). A series id is a function with its
 * parameters, followed by a field if the usual one isn't meant: `TIME_SERIES_DAILY/IBM`,
 * `TIME_SERIES_DAILY/IBM/volume`, `TREASURY_YIELD/monthly/10year`.
 */
export const alphavantage: Connector = {
  info: providerInfo({
    slug: 'alphavantage',
    name: 'Alpha Vantage',
    description:
      'Prices of stocks, currencies, crypto-currencies and commodities, and U.S. economic indicators. Without start, ' +
      'daily prices and those within a day are the last 100.',
    homepage: 'https://www.alphavantage.co/documentation',
    tier: 'shared-key',
    baseUrl: 'https://www.alphavantage.co/query',
    key: 'required',
    keyPage: 'https://www.alphavantage.co/support/#api-key',
    limits: { windows: [rate(1, 1), rate(25, 86_400)] },
  }),
  // The provider allows few requests a day, so they are better spent on other series than on the same one again.
  freshSeconds: 6 * 3600,
  common: (key) => ({ query: { apikey: key } }),

  at(path, context) {
    if (path === '') return { categories: () => ROOT }
    const [group, name, ...rest] = path.split('/')
    if (rest.length > 0) throw absent()
    if (group === 'symbols') return name === undefined ? {} : { series: () => search(name, context) }
    const functions = [...FUNCTIONS].filter(([, each]) => each.group === group)
    if (functions.length === 0) throw absent()
    if (name === undefined) {
      return {
        categories: () =>
          functions.map(([id, { title }]) =>
            category(`${group}/${id}`, title, `Series ids are ${shapeOf(id)}`),
          ),
      }
    }
    const found = functions.find(([id]) => id === name)
    if (found === undefined) throw absent()
    const [, { title, examples, frequency }] = found
    return {
      series: () =>
        examples.map((example) => {
          const words = example.split('/')
          return listed({
            series_id: [name, ...(example === '' ? [] : words)].join('/'),
            name: example === '' ? title : `${title}, ${words.join(' ')}`,
            frequency: frequency ?? words.map(frequencyName).find((each) => each !== null) ?? null,
          })
        }),
    }
  },

  async search(question, page, context) {
    return { ...slice(await search(question, context), page), categories: [] }
  },

  async series(id, range, context) {
    const call = readId(id)
    if (call === undefined) throw FUNCTIONS.has(nameIn(id)) ? malformed(shapeOf(id)) : absent()
    const isCut = call.definition.hasSizes === true && isCovered(call, range)
    const query = {
      function: call.name,
      ...call.parameters,
      ...(call.definition.hasSizes && !isCut && { outputsize: 'full' }),
    }
    const body = bodyOf(await context.send({ path: [], query }))
    const points = pointsOf(body, call.name, call.field)
    if (points === undefined) throw absent()
    const { title, frequency } = call.definition
    const { interval, to_symbol, to_currency, market } = call.parameters
    const words = [title, ...Object.values(call.parameters), ...(points.field ? [points.field] : [])]
    return {
      name: points.name ?? words.join(', '),
      frequency: frequency ?? frequencyName(points.interval) ?? frequencyName(interval),
      unit: points.unit ?? to_symbol ?? to_currency ?? market ?? null,
      lastUpdated: points.lastUpdated?.replace(' ', 'T') ?? null,
      // The last points don't tell when the series begins.
      ...(isCut && { start: null }),
      rows: points.rows,
    }
  },
}

/** The name of the function that a series id begins with. */
function nameIn(id: string): string {
  return (id.split(/[/&]/, 1)[0] ?? '').replace(/^function=/i, '').toUpperCase()
}

/**
 * Reads a series id as a call: the parameters in order, or as `name=value`, separated by `/` or `&`; one more part is a
 * field. undefined if parameters are missing, unknown or too many.
 */
function readId(id: string): Call | undefined {
  const name = nameIn(id)
  const definition = FUNCTIONS.get(name)
  if (definition === undefined) return undefined
  const parameters: Record<string, string> = {}
  let field: string | undefined
  for (const part of id.split(/[/&]/).slice(1)) {
    const [, named, value = part] = /^(\w+)=(.*)$/.exec(part) ?? []
    const parameter = named ?? definition.parameters.find((each) => !(each in parameters))
    if (value === '' || (parameter === undefined && field !== undefined)) return undefined
    if (parameter === undefined || parameter === 'field') field = value
    else if (definition.parameters.includes(parameter)) parameters[parameter] = value
    else return undefined
  }
  const isComplete = definition.parameters.every((each) => each in parameters)
  return isComplete ? { name, definition, parameters, field } : undefined
}

function shapeOf(id: string): string {
  const name = nameIn(id)
  return [name, ...(FUNCTIONS.get(name)?.parameters ?? []).map((each) => `{${each}}`)].join('/')
}

/**
 * Whether the last 100 points are enough for a range. The whole history is asked for only where they are not, because
 * many keys don't include it.
 */
function isCovered({ definition }: Call, { start, end }: SeriesRange): boolean {
  const first = start ?? end
  if (first === undefined) return true
  return definition.frequency === 'daily' && first >= addDays(isoDate(Date.now()), -COMPACT_DAYS)
}

async function search(keywords: string, { send }: ConnectorContext): Promise<readonly SeriesInfo[]> {
  const answer = await send({ path: [], query: { function: 'SYMBOL_SEARCH', keywords } })
  const body = bodyOf(answer, `symbols/${keywords}`)
  return records(body['bestMatches']).flatMap((match) => {
    const fields = Object.fromEntries(
      Object.entries(match).map(([name, value]) => [name.replace(/^\d+\.\s*/, ''), value]),
    )
    const symbol = text(fields['symbol'])
    if (symbol === null) return []
    const series_id = `TIME_SERIES_DAILY/${symbol}`
    const name = text(fields['name']) ?? symbol
    return [listed({ series_id, name, frequency: 'daily', unit: text(fields['currency']) })]
  })
}

/** The body of a success. Failures have status 200, too, and a sentence in one of three fields. */
function bodyOf(answer: UpstreamAnswer, subject?: string): JsonRecord {
  return openBody(answer, (json) => {
    const body = record(json)
    const error = text(body['Error Message'])
    if (error !== null)
      throw /api ?key/i.test(error) ? new Failure('bad-key') : new Failure('no-results', { subject })
    const notice = firstText(body, 'Information', 'Note')
    const hasData = Object.values(body).some((value) => typeof value === 'object' && value !== null)
    if (notice !== null && !hasData) throw noticed(notice)
    return body
  })
}

function noticed(notice: string): Error {
  // This notice is tested first, because it also mentions the daily limit and advertises premium plans.
  if (/per second|spreading out/i.test(notice)) return new Failure('limited', { seconds: 2 })
  if (/premium (endpoint|feature|api function)/i.test(notice)) {
    const sentence = 'The key does not include this function or range at Alpha Vantage.'
    return new ConnectorError('key_rejected', sentence)
  }
  if (/demo/i.test(notice) && /api key/i.test(notice)) return new Failure('bad-key')
  if (/per minute/i.test(notice) && !/per day/i.test(notice)) return new Failure('limited')
  // The provider doesn't say when its day ends, so the next attempt is made after an hour.
  return new Failure('limited', { seconds: DAY_SECONDS / 24 })
}

/** The content of an answer, whichever shape the answer has. */
interface Points {
  readonly name?: string | null
  readonly unit?: string | null
  readonly interval?: string | null
  readonly lastUpdated?: string | null
  /** The field from which the values were taken. */
  readonly field?: string
  readonly rows: readonly Row[]
}

/** The usual fields; the first that an answer has is taken, else the one with the function's own name. */
const PREFERRED = ['adjusted close', 'close', 'price', 'exchange rate']

/**
 * Finds the data of an answer by their shape, not by the name of their field: `data` with date and value, an object by
 * times, or a single quote with its own time. undefined if there are none.
 */
function pointsOf(body: JsonRecord, function_: string, field: string | undefined): Points | undefined {
  if (Array.isArray(body['data'])) return economic(body, records(body['data']))
  const sections = Object.entries(body).filter(([name, value]) => isRecord(value) && !/^meta/i.test(name))
  const meta = plainNames(record(Object.entries(body).find(([name]) => /^meta/i.test(name))?.[1]))
  for (const [, section] of sections) {
    const choose = (values: JsonRecord) => fieldOf(values, function_, field)
    const found = byTime(record(section), meta, choose) ?? quote(plainNames(record(section)), choose)
    if (found !== undefined) return found
  }
  return undefined
}

function economic(body: JsonRecord, rows: readonly JsonRecord[]): Points {
  return {
    name: text(body['name']),
    unit: text(body['unit']),
    interval: text(body['interval']),
    rows: rows.map((row) => ({ time: row['date'], value: row['value'] })),
  }
}

type Choose = (values: JsonRecord) => string | undefined

function byTime(section: JsonRecord, meta: JsonRecord, choose: Choose): Points | undefined {
  const times = Object.entries(section).filter(
    ([time, values]) => isRecord(values) && parsePeriod(time) !== undefined,
  )
  const first = times[0]
  if (first === undefined) return undefined
  const field = choose(plainNames(record(first[1])))
  if (field === undefined) return undefined
  return {
    interval: text(meta['interval']),
    lastUpdated: text(meta['last refreshed']),
    field,
    rows: times.map(([time, values]) => ({ time, value: plainNames(record(values))[field] })),
  }
}

function quote(values: JsonRecord, choose: Choose): Points | undefined {
  const time = text(values['latest trading day'] ?? values['last refreshed'])
  const field = choose(values)
  if (time === null || field === undefined) return undefined
  const value = text(values[field])
  const isPercent = value?.endsWith('%') ?? false
  return {
    unit: isPercent ? 'percent' : null,
    lastUpdated: text(values['last refreshed']),
    field,
    rows: [{ time, value: isPercent ? value!.slice(0, -1) : value }],
  }
}

function fieldOf(values: JsonRecord, function_: string, wanted: string | undefined): string | undefined {
  const names = Object.keys(values)
  if (wanted !== undefined) return names.find((name) => name === wanted.toLowerCase())
  const usual = [...PREFERRED, function_.toLowerCase()].find((name) => names.includes(name))
  return usual ?? names.find((name) => number(values[name]) !== null)
}

/**
 * Renames `4. close` and `1: Symbol` to `close` and `symbol`. Of `4a. close (CNY)` and `4b. close (USD)` it keeps the
 * first, which is in the currency that was asked for.
 */
function plainNames(values: JsonRecord): JsonRecord {
  const plain: Record<string, JsonRecord[string]> = {}
  for (const [name, value] of Object.entries(values)) {
    const short = name.replace(/^\d+[a-z]?[.:]\s*/, '').replace(/\s*\([A-Z]{3,}\)$/, '')
    plain[short.toLowerCase()] ??= value
  }
  return plain
}
