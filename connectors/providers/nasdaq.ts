import type {
  Category,
  Connector,
  ConnectorContext,
  Page,
  Row,
  SeriesData,
  SeriesInfo,
  SeriesPage,
  SeriesRange,
  UpstreamAnswer,
} from '../connector.ts'
import { categories, category, distinct, listed, providerInfo, rate } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { fromPages } from '../paging.ts'
import { frequencyName, inferFrequency } from '../periods.ts'
import type { Json, JsonRecord } from '../read.ts'
import { list, number, openBody, record, records, required, text } from '../read.ts'

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

/** A table of the Tables API. The API has no list of its tables. */
interface Table {
  readonly name: string
  /** Columns that distinguish the series. */
  readonly by: readonly string[]
  readonly value: string
}

/** Tables that are kept up to date. Others can be requested by their code. */
const TABLES: Readonly<Record<string, Table>> = {
  'QDL/BCHAIN': { name: 'Blockchain statistics', by: ['code'], value: 'value' },
  'QDL/BITFINEX': { name: 'Bitfinex prices of crypto-currencies', by: ['code'], value: 'last' },
  'QDL/FON': {
    name: 'Futures and options positions (CFTC)',
    by: ['contract_code', 'type'],
    value: 'market_participation',
  },
  'QDL/JODI': {
    name: 'Joint Organisations Data Initiative: oil and gas',
    by: ['energy', 'code', 'country'],
    value: 'value',
  },
  'QDL/LME': {
    name: 'London Metal Exchange stocks',
    by: ['item_code', 'country_code'],
    value: 'closing_stock',
  },
  'QDL/ODA': { name: 'World Economic Outlook of the IMF', by: ['indicator'], value: 'value' },
  'QDL/OPEC': { name: 'OPEC basket price of crude oil', by: [], value: 'value' },
  'WASDE/DATA': {
    name: 'World agricultural supply and demand',
    by: ['code', 'report_month', 'region', 'commodity', 'item', 'year'],
    value: 'value',
  },
  'WB/DATA': { name: 'World Bank indicators', by: ['series_id', 'country_code'], value: 'value' },
  'ZILLOW/DATA': { name: 'Zillow real estate', by: ['indicator_id', 'region_id'], value: 'value' },
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
 * or `FSE/BMW_X/Close` for one column of several. Tables are another API, whose paths and ids begin with `tables/`.
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

  common: (key) => ({ query: { api_key: key } }),

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
    // A period has the date of its last day, so that of the period in which a range ends lies behind it.
    const query = { start_date: range.start, end_date: range.end && `${range.end.slice(0, 4)}-12-31` }
    const answer = await context.send({ path: ['datasets', db, `${code}.json`], query })
    const body = bodyOf(answer)
    const dataset = record(body['dataset'] ?? body['dataset_data'])
    if (dataset['data'] == null) throw notUnderstood('the dataset has no data')
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
      rows: list(dataset['data']).map((row) => ({
        time: cell(row, dates, columns),
        value: cell(row, title, columns),
      })),
    }
  },

  async checkKey(context) {
    const query = { code: 'MKPRU', 'qopts.per_page': 1 }
    bodyOf(await context.send({ path: ['datatables', 'QDL', 'BCHAIN.json'], query }))
  },
}

function datasets(query: Readonly<Record<string, string>>, page: Page, { send }: ConnectorContext) {
  const fetch = async (number_: number, size: number) => {
    const paged = { ...query, page: number_, per_page: size }
    const body = bodyOf(await send({ path: ['datasets.json'], query: paged }))
    const total = number(record(body['meta'])['total_count'])
    return { total, series: required(body, 'datasets').map(asSeries) }
  }
  return fromPages(page, fetch, PAGE)
}

/** A database has no categories, but whether there is one with this code must be asked. */
async function noneBelow(code: string, { cached }: ConnectorContext): Promise<readonly Category[]> {
  const headers = { accept: 'application/json' }
  await cached({ path: ['databases', code], headers }, bodyOf)
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

/** Rows of one page, and also the number of rows in which the series of a table are looked for. */
const TABLE_PAGE = 10_000
const SHAPE = 'a table, a column and which of its rows, as tables/QDL/BCHAIN/value/code=MKPRU'
const DATE = /^(date|per_end_date|calendardate|month|period)$/i

/** https://docs.data.nasdaq.com/docs/tables-1. The series found in the first rows of a table; the provider doesn't say how many there are in all. */
async function listTable(
  code: string,
  { limit, offset }: Page,
  context: ConnectorContext,
): Promise<SeriesPage> {
  const table = TABLES[code]
  if (table === undefined) throw absent()
  const { by, value } = table
  const { columns, rows } =
    by.length === 0
      ? { columns: [], rows: [[]] }
      : await context.cached(tableRequest(code, { 'qopts.columns': by.join(',') }), readTable)
  const all = rows.map((row) => {
    const cells = by.map((column) => text(cell(row, column, columns)) ?? '')
    const conditions = by.map((column, at) => `${column}=${cells[at]}`)
    const series_id = [`tables/${code}/${value}`, ...conditions].join('/')
    return listed({ series_id, name: cells.join(', ') || code })
  })
  const series = distinct(all).toSorted((a, b) => (a.series_id < b.series_id ? -1 : 1))
  return { total: null, series: series.slice(offset, offset + limit) }
}

async function tableSeries(id: string, range: SeriesRange, { send }: ConnectorContext): Promise<SeriesData> {
  const match = /^tables\/(\w+\/\w+)\/(\w+)((?:\/\w+=[^/]*)*)$/.exec(id)
  if (match === null) throw malformed(SHAPE)
  const [, code = '', column = '', conditions = ''] = match
  const filters = Object.fromEntries(
    conditions
      .split('/')
      .slice(1)
      .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  )
  const all: Row[] = []
  const dates = new Set<string>()
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { ...filters, 'qopts.cursor_id': cursor }
    const found = readTable(await send(tableRequest(code.toUpperCase(), query)))
    const date = found.columns.find((each) => DATE.test(each))
    if (date === undefined || !found.columns.includes(column)) throw absent()
    for (const row of found.rows) {
      const time = text(cell(row, date, found.columns))
      if (time === null) continue
      // The other pages are of no use then, and a table may have thousands.
      if (dates.has(time)) throw malformed('followed by as many /column=value as tell one row a day')
      dates.add(time)
      all.push({ time, value: cell(row, column, found.columns) })
    }
    cursor = found.rows.length === 0 ? null : found.next
  }
  if (all.length === 0 && range.start === undefined && range.end === undefined) throw absent()
  return {
    series_id: id,
    name: [TABLES[code.toUpperCase()]?.name ?? code, ...Object.values(filters), column].join(', '),
    frequency: inferFrequency([...dates].sort()),
    rows: all,
  }
}

function tableRequest(code: string, query: Readonly<Record<string, string | undefined>>) {
  return {
    path: ['datatables', ...`${code}.json`.split('/')],
    query: { ...query, 'qopts.per_page': TABLE_PAGE },
  }
}

/** `{datatable: {data: [[…]], columns: [{name, type}]}, meta: {next_cursor_id}}`. */
function readTable(answer: UpstreamAnswer) {
  const body = bodyOf(answer)
  const table = record(body['datatable'])
  if (table['data'] == null) throw notUnderstood('the table has no data')
  return {
    columns: records(table['columns']).map((column) => text(column['name']) ?? ''),
    rows: list(table['data']),
    next: text(record(body['meta'])['next_cursor_id']),
  }
}

/** A cell of a row, which is a list in the order of the columns or an object by their names. */
function cell(row: Json, column: string, columns: readonly string[]): Json | undefined {
  return Array.isArray(row) ? (row as readonly Json[])[columns.indexOf(column)] : record(row)[column]
}

/**
 * The body of a success. A failure is `{quandl_error: {code: 'QELx04', message}}`; the third letter of the code is its
 * kind.
 */
function bodyOf(answer: UpstreamAnswer): JsonRecord {
  return openBody(answer, (json, status) => {
    const body = record(json)
    const error = body['quandl_error']
    const sentence = 'The key does not give access to this at Nasdaq Data Link.'
    switch (/^QE([A-Z])/.exec(text(record(error)['code']) ?? '')?.[1]) {
      case 'A':
        throw new Failure('bad-key')
      case 'C':
        throw absent()
      case 'L':
        throw new Failure('limited')
      case 'P':
        throw new ConnectorError('key_rejected', sentence, { remedy: 'own-key' })
      case 'S':
        throw new Failure('refused')
      case 'X':
        throw new Failure('failing')
    }
    if (error !== undefined && status < 400) throw notUnderstood('an unknown kind of error')
    return body
  })
}
