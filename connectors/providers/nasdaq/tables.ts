import type {
  ConnectorContext,
  Page,
  SeriesData,
  SeriesPage,
  SeriesRange,
  UpstreamAnswer,
} from '../../connector.ts'
import { listed } from '../../connector.ts'
import { ConnectorError } from '../../errors.ts'
import { absent, Failure, malformed, notUnderstood } from '../../failures.ts'
import { inferFrequency } from '../../periods.ts'
import {
  type Json,
  type JsonRecord,
  list,
  openBody,
  record,
  records,
  refusedStatus,
  text,
} from '../../read.ts'

/** A table of the Tables API. The API has no list of its tables. */
interface Table {
  readonly name: string
  /** Columns that distinguish the series. */
  readonly by: readonly string[]
  readonly value: string
}

/** Tables that are kept up to date. Others can be requested by their code. */
export const TABLES: Readonly<Record<string, Table>> = {
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

/** Rows of one page, and also the number of rows in which the series of a table are looked for. */
const PAGE = 10_000
const SHAPE = 'a table, a column and which of its rows, as tables/QDL/BCHAIN/value/code=MKPRU'
const DATE = /^(date|per_end_date|calendardate|month|period)$/i

/** https://docs.data.nasdaq.com/docs/tables-1. The series found in the first rows of a table; the provider doesn't say how many there are in all. */
export async function listTable(
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
      : await context.cached(requestOf(code, { 'qopts.columns': by.join(',') }, context), (answer) =>
          read(bodyOf(answer)),
        )
  const ids = new Set(
    rows.map((row) => {
      const conditions = by.map((column) => `/${column}=${text(cell(row, column, columns)) ?? ''}`)
      return `tables/${code}/${value}${conditions.join('')}`
    }),
  )
  const series = [...ids].sort().map((id) =>
    listed({
      series_id: id,
      name:
        id
          .split('/')
          .slice(4)
          .map((part) => part.replace(/^\w+=/, ''))
          .join(', ') || code,
    }),
  )
  return { total: null, series: series.slice(offset, offset + limit) }
}

export async function tableSeries(
  id: string,
  range: SeriesRange,
  context: ConnectorContext,
): Promise<SeriesData> {
  const match = /^tables\/(\w+\/\w+)\/(\w+)((?:\/\w+=[^/]*)*)$/.exec(id)
  if (match === null) throw malformed(SHAPE)
  const [, code = '', column = '', text_ = ''] = match
  const filters = Object.fromEntries(
    text_
      .split('/')
      .slice(1)
      .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  )
  const all: { time: Json | undefined; value: Json | undefined }[] = []
  const dates = new Set<string | null>()
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { ...filters, 'qopts.cursor_id': cursor }
    const found = read(bodyOf(await context.send(requestOf(code.toUpperCase(), query, context))))
    const date = found.columns.find((each) => DATE.test(each))
    if (date === undefined || !found.columns.includes(column)) throw absent()
    all.push(
      ...found.rows.map((row) => ({
        time: cell(row, date, found.columns),
        value: cell(row, column, found.columns),
      })),
    )
    for (const row of found.rows) {
      const day = text(cell(row, date, found.columns))
      // The other pages are of no use then, and a table may have thousands.
      if (day !== null && dates.has(day))
        throw malformed('followed by as many /column=value as tell one row a day')
      dates.add(day)
    }
    cursor = found.rows.length === 0 ? null : found.next
  }
  if (all.length === 0 && range.start === undefined && range.end === undefined) throw absent()
  const frequency = inferFrequency([...dates].filter((day) => day !== null).sort())
  return {
    series_id: id,
    name: [TABLES[code.toUpperCase()]?.name ?? code, ...Object.values(filters), column].join(', '),
    frequency,
    rows: all,
  }
}

function requestOf(
  code: string,
  query: Readonly<Record<string, string | undefined>>,
  { key }: ConnectorContext,
) {
  return {
    path: ['datatables', ...code.split('/').slice(0, 1), `${code.split('/')[1]}.json`],
    query: { ...query, 'qopts.per_page': PAGE, api_key: key },
  }
}

/** `{datatable: {data: [[…]], columns: [{name, type}]}, meta: {next_cursor_id}}`. */
function read(body: JsonRecord) {
  const table = record(body['datatable'])
  if (!('data' in table)) throw notUnderstood('the table has no data')
  return {
    columns: records(table['columns']).map((column) => text(column['name']) ?? ''),
    rows: list(table['data']),
    next: text(record(body['meta'])['next_cursor_id']),
  }
}

/** A cell of a row, which is a list in the order of the columns or an object by their names. */
export function cell(row: Json, column: string, columns: readonly string[]): Json | undefined {
  return Array.isArray(row) ? (row as readonly Json[])[columns.indexOf(column)] : record(row)[column]
}

/**
 * The body of a success. A failure is `{quandl_error: {code: 'QELx04', message}}`; the third letter of the code is its
 * kind.
 */
export function bodyOf(answer: UpstreamAnswer): JsonRecord {
  const body = record(openBody(answer))
  const error = body['quandl_error']
  const kind = /^QE([A-Z])/.exec(text(record(error)['code']) ?? '')?.[1]
  if (error === undefined && answer.status < 400) return body
  switch (kind) {
    case 'A':
      throw new Failure('bad-key')
    case 'C':
      throw absent()
    case 'L':
      throw new Failure('limited')
    case 'P':
      throw new ConnectorError('key_rejected', 'The key does not give access to this at Nasdaq Data Link.', {
        remedy: 'own-key',
      })
    case 'X':
      throw new Failure('failing')
    default:
      throw answer.status >= 400 ? refusedStatus(answer) : notUnderstood('an unknown kind of error')
  }
}
