import type { Category, Connector, ConnectorContext, Page, SeriesInfo } from '../../connector.ts'
import { categories, category, providerInfo, rate } from '../../connector.ts'
import { absent, malformed, notUnderstood } from '../../failures.ts'
import { fromPages } from '../../paging.ts'
import { frequencyName } from '../../periods.ts'
import { type JsonRecord, list, number, record, required, text } from '../../read.ts'
import { bodyOf, cell, listTable, TABLES, tableSeries } from './tables.ts'

/**
 * Well-known databases that are kept up to date, because the provider has no list of its databases. Others can be
 * browsed by their code; but FRED is out of date there, and ECB, OECD, WIKI, CHRIS and USTREASURY no longer exist.
 */
const DATABASES: Readonly<Record<string, string>> = {
  EOD: 'End-of-day prices of U.S. stocks',
  FSE: 'Frankfurt Stock Exchange',
  MULTPL: 'Ratios of the S&P 500',
  NSE: 'National Stock Exchange of India',
}

const ROOT = [
  category('tables', 'Tables', 'Tables of many series each', false),
  ...categories(DATABASES, true),
]

/** The most datasets that a page may have. */
const PAGE = 100

/** If a dataset has several columns, the first of these is its main one. */
const PREFERRED = ['value', 'settle', 'close', 'adj. close', 'last', 'price', 'rate']

/**
 * https://docs.data.nasdaq.com/docs/in-depth-usage. A path is the code of a database; a series id is `MULTPL/SP500_PE`,
 * or `FSE/BMW_X/Close` for one column of several. For tables see `tables.ts`.
 */
export const nasdaq: Connector = {
  info: providerInfo({
    slug: 'nasdaq',
    name: 'Nasdaq Data Link',
    description: 'Tables and time series of Nasdaq Data Link, formerly Quandl.',
    homepage: 'https://data.nasdaq.com',
    tier: 'paid',
    baseUrl: 'https://data.nasdaq.com/api/v3',
    key: 'required',
    keyPage: 'https://data.nasdaq.com/sign-up',
    limits: {
      windows: [rate(300, 10), rate(2000, 600), rate(50_000, 86_400)],
      concurrency: 1,
    },
  }),

  at(path, context) {
    if (path === '') return { categories: () => ROOT }
    if (path === 'tables') {
      const tables = Object.entries(TABLES)
      return { categories: () => tables.map(([code, { name }]) => category(`tables/${code}`, name)) }
    }
    const table = /^tables\/(\w+\/\w+)$/.exec(path)?.[1]?.toUpperCase()
    if (table !== undefined) return { series: (page) => listTable(table, page, context) }
    if (!/^\w+$/.test(path)) throw absent()
    const code = path.toUpperCase()
    return {
      categories: () => noneBelow(code, context),
      series: (page) => datasets({ database_code: code, sort_by: 'id' }, page, context),
    }
  },

  async search(question, page, context) {
    return { ...(await datasets({ query: question }, page, context)), categories: [] }
  },

  async series(id, range, context) {
    if (id.startsWith('tables/')) return tableSeries(id, range, context)
    const [, db, code, column] = /^(\w+)\/([^/]+)(?:\/(.+))?$/.exec(id) ?? []
    if (db === undefined || code === undefined) {
      throw malformed('database and dataset, and a column where there are several, as FSE/BMW_X/Close')
    }
    const query = { start_date: range.start, end_date: range.end, api_key: context.key }
    const answer = await context.send({ path: ['datasets', db, `${code}.json`], query })
    const body = bodyOf(answer)
    const dataset = record(body['dataset'] ?? body['dataset_data'])
    if (!('data' in dataset)) throw notUnderstood('the dataset has no data')
    const { frequency, name } = asSeries(dataset)
    const columns = list(dataset['column_names'] ?? dataset['columns'] ?? ['Date', 'Value']).map(
      (each) => text(each) ?? '',
    )
    const dates =
      columns.find((each) => /^(date|period|month|quarter|year|day)$/i.test(each)) ?? columns[0] ?? ''
    const title = valueColumn(columns, dates, column)
    if (title === undefined) throw absent()
    return {
      name: title === '' || /^value$/i.test(title) ? name : `${name}, ${title}`,
      frequency,
      unit: unitOf(dataset),
      lastUpdated: text(dataset['refreshed_at']),
      notes: text(dataset['description']),
      // The provider dates a period by its last day.
      rows: list(dataset['data']).map((row) => ({
        time: cell(row, dates, columns),
        value: cell(row, title, columns),
      })),
    }
  },

  async checkKey(context) {
    const query = { code: 'MKPRU', 'qopts.per_page': 1, api_key: context.key }
    const answer = await context.send({ path: ['datatables', 'QDL', 'BCHAIN.json'], query })
    bodyOf(answer)
  },
}

function datasets(query: Readonly<Record<string, string>>, page: Page, { send, key }: ConnectorContext) {
  const fetch = async (number_: number, size: number) => {
    const paged = { ...query, page: number_, per_page: size, api_key: key }
    const body = bodyOf(await send({ path: ['datasets.json'], query: paged }))
    const total = number(record(body['meta'])['total_count'])
    return { total, series: required(body, 'datasets').map(asSeries) }
  }
  return fromPages(page, fetch, PAGE)
}

/** A database has no categories, but whether there is one with this code must be asked. */
async function noneBelow(code: string, { key, cached }: ConnectorContext): Promise<readonly Category[]> {
  const headers = { accept: 'application/json' }
  await cached({ path: ['databases', code], query: { api_key: key }, headers }, bodyOf)
  return []
}

function asSeries(dataset: JsonRecord): SeriesInfo {
  const id = [dataset['database_code'], dataset['dataset_code']].flatMap((part) => text(part) ?? []).join('/')
  return {
    series_id: id,
    name: text(dataset['name']) ?? id,
    frequency: frequencyName(text(dataset['frequency'])),
    unit: unitOf(dataset),
    start: text(dataset['oldest_available_date']),
    end: text(dataset['newest_available_date']),
  }
}

/** The field is nearly always missing, but many descriptions have `Units: Billions of Dollars`. */
function unitOf(dataset: JsonRecord): string | null {
  const described = /\bunits?:\s*([^.;<>\n]+)/i.exec(text(dataset['description']) ?? '')?.[1]
  return text(dataset['unit']) ?? described?.trim() ?? null
}

function valueColumn(
  columns: readonly string[],
  dates: string,
  wanted: string | undefined,
): string | undefined {
  const named = (name: string) => columns.find((each) => each.toLowerCase() === name)
  if (wanted !== undefined) return named(wanted.toLowerCase())
  const preferred = PREFERRED.map(named).find((each) => each !== undefined)
  return preferred ?? columns.find((each) => each !== dates)
}
