import type {
  Calendar,
  Category,
  Connector,
  ConnectorContext,
  Days,
  Page,
  Release,
  Row,
  SeriesInfo,
  SeriesPage,
  SeriesRange,
  UpstreamAnswer,
} from '../connector.ts'
import { category, providerInfo, rate } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { allPages } from '../paging.ts'
import { addDays, frequencyName } from '../periods.ts'
import type { JsonRecord } from '../read.ts'
import { firstText, list, number, openBody, record, required, text } from '../read.ts'

/** The most observations that a page may have. */
const PAGE = 100_000
/** The most dates of a page, of all releases and of one. */
const DATES = { all: 1000, one: 10_000 }

/**
 * Days without a time: https://fred.stlouisfed.org/docs/api/fred/releases_dates.html, and release_dates.html for one
 * release. Those to come are said to have no data yet.
 */
const calendar: Calendar = {
  announced: (days, context) =>
    releaseDates(['releases', 'dates'], { order_by: 'release_date' }, days, context),
  async of(id, days, context) {
    const release = await releaseOf(id, context)
    if (release === null) return []
    const dates = await releaseDates(['release', 'dates'], { release_id: release.id }, days, context)
    return dates.map((each) => ({ ...each, name: release.name }))
  },
}

type Query = Readonly<Record<string, string | number | undefined>>

/** https://fred.stlouisfed.org/docs/api/fred/. A path is the id of a category. */
export const fred: Connector = {
  info: providerInfo({
    slug: 'fred',
    name: 'FRED',
    description:
      'Economic data of the Federal Reserve Bank of St. Louis and more than a hundred other sources.',
    homepage: 'https://fred.stlouisfed.org',
    baseUrl: 'https://api.stlouisfed.org/fred',
    key: 'required',
    keyPage: 'https://fred.stlouisfed.org/docs/api/api_key.html',
    limits: { windows: [rate(2, 1), rate(120, 60)] },
  }),
  history: ['asOf', 'vintages'],
  calendar,
  common: (key) => ({ query: { api_key: key, file_type: 'json' } }),

  at(path, context) {
    if (!/^\d*$/.test(path)) throw absent()
    const query = { category_id: path || '0' }
    const children = { path: ['category', 'children'], query }
    return {
      categories: () =>
        context.cached(children, (answer) => required(bodyOf(answer), 'categories').map(asCategory)),
      series: (page) =>
        seriesPage(['category', 'series'], { ...query, order_by: 'series_id' }, page, context),
    }
  },

  async search(question, page, context) {
    const found = await seriesPage(['series', 'search'], { search_text: question }, page, context)
    return { ...found, categories: [] }
  },

  async series(id, range, context) {
    if (!/^[\w.-]+$/.test(id)) throw malformed('letters, digits, and _ . -, as GNPCA')
    // https://fred.stlouisfed.org/docs/api/fred/realtime_period.html
    const vintage = { realtime_start: range.asOf, realtime_end: range.asOf }
    const request = { path: ['series'], query: { series_id: id, ...vintage } }
    const found = await context.cached(request, (answer) => required(bodyOf(answer), 'seriess')[0])
    if (found === undefined) throw absent()
    const { name, frequency, unit } = asSeries(found)
    const dates = { observation_start: range.start, observation_end: range.end }
    const query = { series_id: id, ...dates }
    const rows =
      range.vintages === undefined
        ? (await observations({ ...query, ...vintage }, context)).map(asRow)
        : await vintageRows(query, range.vintages, context)
    // `2013-07-31 09:26:16-05`, which ISO 8601 writes with a `T` and a complete offset.
    const updated = text(found['last_updated'])
      ?.replace(' ', 'T')
      .replace(/([+-]\d\d)$/, '$1:00')
    return {
      name,
      frequency,
      unit,
      lastUpdated: updated ?? null,
      seasonalAdjustment: firstText(found, 'seasonal_adjustment', 'seasonal_adjustment_short'),
      notes: text(found['notes']),
      start: text(found['observation_start']),
      end: text(found['observation_end']),
      rows,
    }
  },

  /** https://fred.stlouisfed.org/docs/api/fred/series_release.html, and release_sources.html. */
  async source(id, context) {
    const release = await releaseOf(id, context)
    if (release === null) return null
    const ofRelease = { path: ['release', 'sources'], query: { release_id: release.id } }
    const names = await context.cached(ofRelease, (answer) =>
      required(bodyOf(answer), 'sources').flatMap((source) => text(source['name']) ?? []),
    )
    return names.length === 0 ? null : names.join('; ')
  },

  async checkKey(context) {
    bodyOf(await context.send({ path: ['category', 'children'], query: { category_id: 0 } }))
  },
}

/** The release with which a series is published; null if there is none. */
function releaseOf(id: string, { cached }: ConnectorContext): Promise<{ id: string; name: string } | null> {
  return cached({ path: ['series', 'release'], query: { series_id: id } }, (answer) => {
    const [release] = required(bodyOf(answer), 'releases')
    const number = text(release?.['id'])
    return number === null ? null : { id: number, name: text(release?.['name']) ?? number }
  })
}

async function releaseDates(
  path: readonly string[],
  query: Query,
  { from, to }: Days,
  { send }: ConnectorContext,
): Promise<Release[]> {
  const limit = path[0] === 'release' ? DATES.one : DATES.all
  const days = { realtime_start: from, realtime_end: to, include_release_dates_with_no_data: 'true' }
  const rows = await allPages(limit, async (offset) => {
    const body = bodyOf(await send({ path, query: { ...query, ...days, sort_order: 'asc', limit, offset } }))
    return { rows: required(body, 'release_dates'), total: number(body['count']) }
  })
  return rows.flatMap((row) => {
    const date = text(row['date'])
    const name = firstText(row, 'release_name', 'release_id') ?? ''
    return date === null ? [] : [{ name, date, time: null, period: null }]
  })
}

const asRow = (row: JsonRecord): Row => ({ time: row['date'], value: row['value'] })

function observations(query: Query, context: ConnectorContext): Promise<JsonRecord[]> {
  return allPages(PAGE, async (offset) => {
    const path = ['series', 'observations']
    const body = bodyOf(await context.send({ path, query: { ...query, limit: PAGE, offset } }))
    return { rows: required(body, 'observations'), total: number(body['count']) }
  })
}

/** The most vintage dates of a request for observations, and of a page of vintage dates. */
const VINTAGES = 2000
const VINTAGE_PAGE = 10_000
/** How FRED writes that a value is current. */
const FOREVER = '9999-12-31'

/**
 * The values that each period had, each with its days: https://fred.stlouisfed.org/docs/api/fred/series_vintagedates.html
 * and, with output_type=1, series_observations.html. As many requests as it takes, each for a real-time period with no
 * more vintage dates than FRED allows.
 */
async function vintageRows(
  query: Query,
  wanted: NonNullable<SeriesRange['vintages']>,
  context: ConnectorContext,
): Promise<Row[]> {
  const all = await allPages(VINTAGE_PAGE, async (offset) => {
    const page = { series_id: query['series_id'], limit: VINTAGE_PAGE, offset }
    const body = bodyOf(await context.send({ path: ['series', 'vintagedates'], query: page }))
    const rows = list(body['vintage_dates']).flatMap((date) => text(date) ?? [])
    if (rows.length === 0) throw notUnderstood('no vintage dates')
    return { rows, total: number(body['count']) }
  })
  const dates = typeof wanted === 'number' ? all.slice(-wanted) : all
  const found: { row: JsonRecord; from: string; to: string | null }[] = []
  for (let at = 0; at < dates.length; at += VINTAGES) {
    const next = dates[at + VINTAGES]
    const end = next === undefined ? FOREVER : addDays(next, -1)
    const period = { realtime_start: dates[at], realtime_end: end, output_type: 1 }
    for (const row of await observations({ ...query, ...period }, context)) {
      const last = text(row['realtime_end']) ?? FOREVER
      const to = last === FOREVER ? null : addDays(last, 1)
      found.push({ row, from: text(row['realtime_start']) ?? dates[at]!, to })
    }
  }
  return joined(found, wanted === 'first')
}

/** The values of each period in the order of time. What two requests cut apart is one value again. */
function joined(
  found: readonly { readonly row: JsonRecord; readonly from: string; readonly to: string | null }[],
  isFirst: boolean,
): Row[] {
  const rows: Row[] = []
  for (const each of Map.groupBy(found, ({ row }) => text(row['date'])).values()) {
    const values: (Row & { readonly known: NonNullable<Row['known']> })[] = []
    for (const { row, from, to } of each.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
      const before = values.at(-1)
      const isCut = before?.known.to === from && text(before.value) === text(row['value'])
      if (isCut) values[values.length - 1] = { ...before, known: { ...before.known, to } }
      else values.push({ ...asRow(row), known: { from, to } })
    }
    rows.push(...(isFirst ? values.slice(0, 1) : values))
  }
  return rows
}

async function seriesPage(
  path: readonly string[],
  query: Query,
  { limit, offset }: Page,
  { send }: ConnectorContext,
): Promise<SeriesPage> {
  const body = bodyOf(await send({ path, query: { ...query, limit: Math.max(1, limit), offset } }))
  return { total: number(body['count']), series: required(body, 'seriess').slice(0, limit).map(asSeries) }
}

/**
 * The body of a success. Errors are recognised by `error_code`, because a bad key and an unknown id both have status
 * 400.
 */
function bodyOf(answer: UpstreamAnswer): JsonRecord {
  return openBody(answer, (json, status) => {
    const body = record(json)
    const code = number(body['error_code']) ?? status
    if (code >= 400) refuse(code, text(body['error_message']) ?? '')
    if (code >= 400 && status < 400) throw notUnderstood(`error_code ${code}`)
    return body
  })
}

function refuse(code: number, message: string): void {
  if (/does not exist in ALFRED/i.test(message)) {
    const sentence =
      'FRED keeps no version of the series as it was on that day. Ask for a later asOf, or leave out asOf or vintages.'
    throw new ConnectorError('series_not_found', sentence)
  }
  if (/\b(observation|realtime)_(start|end)\b/.test(message)) {
    const sentence = 'FRED has no such dates: its observations and versions begin on 1776-07-04.'
    throw new ConnectorError('invalid_range', sentence)
  }
  if (/api[_ ]key/i.test(message)) throw new Failure('bad-key')
  if (code === 404 || /does not exist|not found/i.test(message)) throw absent()
  if (code === 429) throw new Failure('limited')
  if (code === 423 || code >= 500) throw new Failure('failing')
}

function asCategory(given: JsonRecord): Category {
  const path = text(given['id']) ?? ''
  // FRED doesn't say which categories have series; all but the root may.
  return category(path, text(given['name']) ?? path, text(given['notes']) ?? '')
}

function asSeries(series: JsonRecord): SeriesInfo {
  const id = text(series['id']) ?? ''
  return {
    series_id: id,
    name: text(series['title']) ?? id,
    frequency: frequencyName(firstText(series, 'frequency', 'frequency_short')),
    unit: firstText(series, 'units', 'units_short'),
    start: text(series['observation_start']),
    end: text(series['observation_end']),
  }
}
