import type { Category, Connector, ConnectorContext, SeriesInfo, UpstreamAnswer } from '../connector.ts'
import {
  ConnectorError,
  invalidSeriesId,
  keyRejected,
  limitReached,
  pathNotFound,
  providerDown,
  seriesNotFound,
} from '../errors.ts'
import { observed } from '../observations.ts'
import { fromPages } from '../paging.ts'
import { frequencyName } from '../periods.ts'
import {
  isRecord,
  type Json,
  type JsonRecord,
  list,
  notUnderstood,
  number,
  parseJson,
  record,
  required,
  text,
} from '../read.ts'

const info = {
  slug: 'nasdaq',
  name: 'Nasdaq Data Link',
  description: 'Time series of Nasdaq Data Link, formerly Quandl.',
  homepage: 'https://data.nasdaq.com',
  tier: 'paid',
  baseUrl: 'https://data.nasdaq.com/api/v3',
  key: 'required',
  limits: {
    windows: [
      { requests: 300, perSeconds: 10 },
      { requests: 2000, perSeconds: 600 },
      { requests: 50_000, perSeconds: 86_400 },
    ],
    concurrency: 1,
  },
} as const

/** The provider has no list of its databases; these are the well-known ones. Others can be browsed by their code. */
const DATABASES: Readonly<Record<string, string>> = {
  BCHAIN: 'Blockchain',
  BOE: 'Bank of England',
  ECB: 'European Central Bank',
  EIA: 'U.S. Energy Information Administration',
  FED: 'U.S. Federal Reserve',
  FRED: 'Federal Reserve Economic Data',
  LBMA: 'London Bullion Market Association',
  ODA: 'IMF cross country macroeconomic statistics',
  OPEC: 'Organization of the Petroleum Exporting Countries',
  UMICH: 'University of Michigan consumer survey',
  USTREASURY: 'U.S. Treasury',
  WIKI: 'Wiki end-of-day stock prices',
}

/** The largest page of datasets. */
const PAGE = 100

/** The column that a dataset is about, where it has several. */
const PREFERRED = ['value', 'settle', 'close', 'adj. close', 'last', 'price', 'rate']

/**
 * https://docs.data.nasdaq.com/docs/in-depth-usage. A path is the code of a database; a series id `FRED/GDP`, or
 * `LBMA/GOLD/USD (PM)` for one column of several.
 */
export const nasdaq: Connector = {
  info,

  async browse(path, context) {
    if (path === '') {
      return Object.entries(DATABASES).map(([code, name]) => asCategory(code, name))
    }
    await database(path, context)
    return []
  },

  async list(path, page, context) {
    if (path === '') return { total: 0, series: [] }
    const code = codeOf(path)
    const fetch = async (number_: number, size: number) => {
      const query = {
        database_code: code,
        page: number_,
        per_page: size,
        sort_by: 'id',
        api_key: context.key,
      }
      const body = bodyOf(await context.send({ path: ['datasets.json'], query }), () =>
        pathNotFound(info, path),
      )
      const total = number(record(body['meta'])['total_count'])
      return { total, series: required(body, 'datasets').map(asSeries) }
    }
    return fromPages(page, fetch, PAGE)
  },

  async series(id, range, context) {
    const [, db, code, column] = /^(\w+)\/([^/]+)(?:\/(.+))?$/.exec(id) ?? []
    if (db === undefined || code === undefined) {
      throw invalidSeriesId(
        info,
        id,
        'database and dataset, and a column where there are several, as FRED/GDP',
      )
    }
    const notFound = () => seriesNotFound(info, id)
    const query = { start_date: range.start, end_date: range.end, api_key: context.key }
    const answer = await context.send({ path: ['datasets', db, `${code}.json`], query })
    const body = bodyOf(answer, notFound)
    const dataset = record(body['dataset'] ?? body['dataset_data'])
    if (!('data' in dataset)) throw notUnderstood('the dataset has no data')
    const { frequency, name } = asSeries(dataset)
    const columns = list(dataset['column_names'] ?? dataset['columns']).map((each) => text(each) ?? '')
    const dates = Math.max(
      0,
      columns.findIndex((each) => /^(date|period|month|quarter|year|day)$/i.test(each)),
    )
    const values = valueColumn(columns, dates, column)
    if (values === undefined) throw notFound()
    const title = columns[values] ?? ''
    return {
      series_id: id,
      name: title === '' || /^value$/i.test(title) ? name : `${name}, ${title}`,
      frequency,
      unit: text(dataset['unit']),
      lastUpdated: text(dataset['refreshed_at']),
      // The provider dates a period by its last day.
      observations: observed(
        list(dataset['data']).map((row) => ({
          time: cell(row, dates, columns),
          value: cell(row, values, columns),
        })),
        frequency,
      ),
    }
  },

  async checkKey(context) {
    await database('FRED', context)
  },
}

async function database(path: string, { key, cached }: ConnectorContext): Promise<JsonRecord> {
  const headers = { accept: 'application/json' }
  const request = { path: ['databases', codeOf(path)], query: { api_key: key }, headers }
  return cached(request, (answer) => bodyOf(answer, () => pathNotFound(info, path)))
}

function codeOf(path: string): string {
  if (!/^\w+$/.test(path)) throw pathNotFound(info, path)
  return path.toUpperCase()
}

/** `{quandl_error: {code: 'QELx04', message}}`: the third letter is the kind. */
function bodyOf(answer: UpstreamAnswer, notFound: () => Error): JsonRecord {
  if (answer.status === 404) throw notFound()
  const body = record(parseJson(answer))
  const error = body['quandl_error']
  const kind = /^QE([A-Z])/.exec(text(record(error)['code']) ?? '')?.[1]
  if (error === undefined && answer.status < 400) return body
  switch (kind) {
    case 'A':
      throw keyRejected(info)
    case 'C':
      throw notFound()
    case 'L':
      throw limitReached(info, 60)
    case 'P':
      throw new ConnectorError('key_rejected', 'The key does not give access to this at Nasdaq Data Link.', {
        provider: info.slug,
      })
    case 'X':
      throw providerDown(info)
    default:
      throw notUnderstood(`status ${answer.status}`)
  }
}

function asCategory(code: string, name: string): Category {
  return { path: code, name, description: '', series: true }
}

function asSeries(dataset: JsonRecord): SeriesInfo {
  const id = [dataset['database_code'], dataset['dataset_code']].flatMap((part) => text(part) ?? []).join('/')
  return {
    series_id: id,
    name: text(dataset['name']) ?? id,
    frequency: frequencyName(text(dataset['frequency'])),
    unit: text(dataset['unit']),
    start: text(dataset['oldest_available_date']),
    end: text(dataset['newest_available_date']),
  }
}

function valueColumn(
  columns: readonly string[],
  dates: number,
  wanted: string | undefined,
): number | undefined {
  const names = columns.map((each) => each.toLowerCase())
  if (wanted !== undefined) {
    const index = names.indexOf(wanted.toLowerCase())
    return index === -1 ? undefined : index
  }
  const preferred = PREFERRED.map((each) => names.indexOf(each)).find((index) => index !== -1)
  return preferred ?? (dates === 0 ? 1 : 0)
}

/** A row is a list in the order of the columns, or an object by their names. */
function cell(row: Json, index: number, columns: readonly string[]): Json | undefined {
  if (Array.isArray(row)) return (row as readonly Json[])[index]
  return isRecord(row) ? row[columns[index] ?? ''] : undefined
}
