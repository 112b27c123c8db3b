import type { Connector, SeriesInfo, UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import { categories, distinct, listed, providerInfo } from '../connector.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { parsePeriod } from '../periods.ts'
import { type Json, type JsonRecord, list, openBody, text } from '../read.ts'

const PROGRAMS: Readonly<Record<string, string>> = {
  advm3: 'Advance report on durable goods',
  bfs: 'Business formation statistics',
  ftd: 'U.S. international trade in goods and services',
  ftdadv: 'Advance U.S. international trade in goods',
  hv: 'Housing vacancies and homeownership',
  m3: "Manufacturers' shipments, inventories and orders",
  marts: 'Advance monthly retail trade',
  mhs: 'Manufactured homes survey',
  mhs2: 'Manufactured housing survey, since 2014',
  mrts: 'Monthly retail trade and food services',
  mrtsadv: 'Advance monthly retail trade and food services',
  mtis: 'Manufacturing and trade inventories and sales',
  mwts: 'Monthly wholesale trade',
  qfr: 'Quarterly financial report',
  qss: 'Quarterly services survey',
  qtax: 'Quarterly summary of state and local tax revenue',
  resconst: 'New residential construction',
  ressales: 'New home sales',
  vip: 'Construction spending',
}

const COLUMNS = 'cell_value,data_type_code,time_slot_id,error_data,category_code,seasonally_adj'
/** In these programs the names of columns are in capitals, and there is no `TIME_SLOT_ID`. */
const CAPITALS: Readonly<Record<string, string>> = {
  qtax: 'CELL_VALUE,DATA_TYPE_CODE,ERROR_DATA,CATEGORY_CODE,SEASONALLY_ADJ',
}
const ID = /^(\w+)\/(\w+)\.(\w+)\.(yes|no)$/
/** Lists contain the series that have values since this month. */
const LISTED_SINCE = '2024-01'

/**
 * The economic indicators (EITS) for the United States as a whole. A series id is program, category, type of data and
 * whether it is seasonally adjusted: `resconst/APERMITS.TOTAL.yes`. The API doesn't explain its codes and units.
 */
export const census: Connector = {
  info: providerInfo({
    slug: 'census',
    name: 'Census Bureau',
    description:
      'Economic indicators of the U.S. Census Bureau: construction, trade, housing, manufacturing.',
    homepage: 'https://www.census.gov/data/developers/data-sets/economic-indicators.html',
    baseUrl: 'https://api.census.gov/data',
    key: 'required',
    keyPage: 'https://api.census.gov/data/key_signup.html',
    // No limit is published for requests with a key.
  }),
  freshSeconds: 3600,
  common: (key) => ({ query: { for: 'us:*', key } }),

  at(path, context) {
    if (path === '') return { categories: () => categories(PROGRAMS, true) }
    if (!Object.hasOwn(PROGRAMS, path)) throw absent()
    const request = requestOf(path, { time: `from ${LISTED_SINCE}` })
    return {
      series: () =>
        context.cached(request, (answer) => distinct(rowsOf(answer).map((row) => described(path, row)))),
    }
  },

  async series(id, range, context) {
    const [, program = '', category, type, adjusted] = ID.exec(id) ?? []
    if (!Object.hasOwn(PROGRAMS, program)) throw malformed('as resconst/APERMITS.TOTAL.yes')
    const time = `from ${range.start?.slice(0, 4) ?? '1940'}`
    const only = { category_code: category, data_type_code: type, seasonally_adj: adjusted }
    const request = requestOf(program, { time }, only)
    const rows = rowsOf(await context.send(request))
    if (rows.length === 0) throw absent()
    const { name, frequency } = described(program, rows[0]!)
    return {
      name,
      frequency,
      seasonalAdjustment: adjusted === 'yes' ? 'Seasonally adjusted' : 'Not seasonally adjusted',
      rows: rows.map((row) => ({ time: row['time'], value: row['cell_value'] })),
    }
  },

  async checkKey(context) {
    rowsOf(await context.send(requestOf('resconst', { time: LISTED_SINCE })))
  },
}

function requestOf(
  program: string,
  query: NonNullable<UpstreamRequest['query']>,
  only: Readonly<Record<string, string | undefined>> = {},
) {
  const capitals = CAPITALS[program]
  const named = Object.entries(only).map(([name, code]) => [capitals ? name.toUpperCase() : name, code])
  return {
    path: ['timeseries', 'eits', program],
    query: { get: capitals ?? COLUMNS, ...query, ...Object.fromEntries(named) },
  }
}

function described(program: string, row: JsonRecord): SeriesInfo {
  const category = text(row['category_code']) ?? ''
  const type = text(row['data_type_code']) ?? ''
  const adjusted = text(row['seasonally_adj']) ?? 'no'
  const how = adjusted === 'yes' ? 'seasonally adjusted' : 'not seasonally adjusted'
  return listed({
    series_id: `${program}/${category}.${type}.${adjusted}`,
    name: `${PROGRAMS[program]}: ${category}, ${type}, ${how}`,
    frequency: parsePeriod(text(row['time']) ?? '')?.frequency ?? null,
  })
}

/**
 * The rows of an answer: a list of lists, the first of which contains the names of the columns, in capitals in some
 * programs. Nothing found is 204; a
 * bad key is answered with a web page.
 */
function rowsOf(answer: UpstreamAnswer): readonly JsonRecord[] {
  if (answer.status === 204) throw absent()
  if (/<title>[^<]*(invalid|missing) key/i.test(answer.text)) throw new Failure('bad-key')
  // A query that the service refuses is answered in plain text.
  if (answer.status === 400 && /^error:/.test(answer.text)) throw absent()
  const body = openBody(answer)
  const [names, ...rows] = Array.isArray(body) ? (body as readonly Json[]) : []
  if (!Array.isArray(names)) throw notUnderstood('the first row, of names, is missing')
  const all = rows.map(
    (row): JsonRecord =>
      Object.fromEntries(names.map((name, at) => [String(name).toLowerCase(), list(row)[at] ?? null])),
  )
  // Rows with sampling errors are mixed with the rows of values.
  return all.filter((row) => row['error_data'] !== 'yes')
}
