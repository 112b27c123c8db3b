import type {
  Category,
  Connector,
  ConnectorContext,
  Page,
  SeriesInfo,
  SeriesPage,
  UpstreamAnswer,
} from '../connector.ts'
import { category, listed, providerInfo } from '../connector.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { statusOfCode } from '../observations.ts'
import { allPages, fromPages } from '../paging.ts'
import { parsePeriod } from '../periods.ts'
import type { JsonRecord } from '../read.ts'
import { firstText, list, number, openBody, optional, record, records, text } from '../read.ts'

/** The database in which the provider looks for an indicator if none is named: World Development Indicators. */
const DEFAULT_DATABASE = '2'

/** The database of an indicator, if it has to be named. */
function databaseOf(indicator: JsonRecord): string | undefined {
  const id = text(record(indicator['source'])['id'])
  return id === null || id === DEFAULT_DATABASE ? undefined : id
}

/** More rows than any list of the provider has, except the list of all indicators. */
const ALL = 20_000

/** The country for which indicators are listed below a topic or source: the whole world. */
const WORLD = { id: 'WLD', name: 'World' }

const ROOT: readonly Category[] = [
  category('topic', 'Topics', 'Indicators by topic', false),
  category('source', 'Sources', 'Indicators by database', false),
  category('indicator', 'All indicators', 'Every indicator, for the world'),
]

/**
 * https://datahelpdesk.worldbank.org/knowledgebase/articles/889392. The paths `topic/3` and `source/2` contain the
 * indicators for the world, and `topic/3/NY.GDP.MKTP.CD` contains that indicator for each country.
 */
export const worldbank: Connector = {
  info: providerInfo({
    slug: 'worldbank',
    name: 'World Bank',
    description: "The World Bank's indicators of development, by country and year.",
    homepage: 'https://data.worldbank.org',
    baseUrl: 'https://api.worldbank.org/v2',
  }),
  freshSeconds: 6 * 3600,
  common: () => ({ query: { format: 'json' } }),

  at(path, context) {
    if (path === '') return { categories: () => ROOT }
    if (path === 'indicator') return { series: (page) => indicators([path], page, context) }
    const [, kind, id, indicator] = /^(topic|source)(?:\/(\d+)(?:\/([^/]+))?)?$/.exec(path) ?? []
    if (kind === undefined) throw absent()
    if (indicator !== undefined) return { series: () => byCountry(indicator, context) }
    const below = id === undefined ? [kind] : [kind, id, 'indicator']
    return {
      categories: () => catalogue(context, below, (rows) => rows.map((row) => asCategory(path, row))),
      ...(id !== undefined && { series: (page: Page) => indicators(below, page, context) }),
    }
  },

  /** All indicators: the provider has no search, but they fit into two answers. */
  async catalogue(context) {
    const { rows } = await whole(['indicator'], context)
    return { series: rows.map((row) => asSeries(row, WORLD)), categories: [] }
  },

  async series(id, _range, context) {
    const [, country, indicator] = /^([A-Za-z0-9]{2,3})\/([^/;]+)$/.exec(id) ?? []
    if (country === undefined || indicator === undefined || country.toLowerCase() === 'all') {
      throw malformed('a country and an indicator, as US/NY.GDP.MKTP.CD')
    }
    const about = (await optional(catalogue(context, ['indicator', indicator], (all) => all[0]))) ?? {}
    const path = ['country', country, 'indicator', indicator]
    const { rows, lastUpdated } = await whole(path, context, databaseOf(about))
    const first = rows[0]
    if (first === undefined) throw absent()
    const named = [text(record(first['country'])['id']), text(first['countryiso3code'])].filter(Boolean)
    if (named.length > 0 && !named.includes(country.toUpperCase())) {
      throw absent(`The answer is about ${named.join(', ')}.`)
    }
    const title = labelOf(first['indicator'])
    const place = labelOf(first['country'])
    return {
      name: [title ?? indicator, place ?? country].join(', '),
      frequency: parsePeriod(text(first['date']) ?? '')?.frequency ?? null,
      unit: unitOf(first, title),
      lastUpdated,
      source: text(about['sourceOrganization']),
      notes: text(about['sourceNote']),
      rows: rows.map((row) => ({
        time: row['date'],
        value: row['value'],
        status: statusOfCode(text(row['obs_status'])),
      })),
    }
  },
}

function indicators(path: readonly string[], page: Page, { send }: ConnectorContext): Promise<SeriesPage> {
  return fromPages(page, async (number, size) => {
    const { total, rows } = read(await send({ path, query: { page: number, per_page: size } }))
    return { total, series: rows.map((row) => asSeries(row, WORLD)) }
  })
}

async function byCountry(indicator: string, context: ConnectorContext): Promise<readonly SeriesInfo[]> {
  const countries = await catalogue(context, ['country'], (rows) =>
    rows.map((row) => ({
      id: firstText(row, 'id', 'iso2Code') ?? '',
      name: firstText(row, 'name', 'value') ?? '',
    })),
  )
  const found = await catalogue(context, ['indicator', indicator], (rows) => rows[0])
  if (found === undefined) throw absent()
  return countries.map((country) => asSeries(found, country))
}

async function whole(path: readonly string[], { send }: ConnectorContext, source?: string) {
  let lastUpdated: string | null = null
  const rows = await allPages(ALL, async (offset) => {
    const page = offset / ALL + 1
    const found = read(await send({ path, query: { page, per_page: ALL, source } }))
    lastUpdated = found.lastUpdated
    // If the provider sent another page than the one requested, there are no more.
    return found.page === page ? { rows: found.rows, total: found.pages * ALL } : { rows: [], total: 0 }
  })
  return { rows, lastUpdated }
}

function catalogue<T>(
  context: ConnectorContext,
  path: readonly string[],
  map: (rows: readonly JsonRecord[]) => T,
): Promise<T> {
  return context.cached({ path, query: { per_page: ALL } }, (answer) => map(read(answer).rows))
}

/** `[{page, pages, total, …}, rows]`; errors are `[{message: […]}]`, with a status of 200. */
function read(answer: UpstreamAnswer) {
  const { body, head } = openBody(answer, (json) => {
    const body = list(json)
    const head = record(body.find((part) => !Array.isArray(part)))
    const [error] = records(head['message'])
    if (error !== undefined) throw failure(error)
    return { body, head }
  })
  const rows = body.find((part) => Array.isArray(part))
  // If nothing was found, the rows are `null`.
  if (rows === undefined && head['total'] === undefined) throw notUnderstood('rows are missing')
  return {
    rows: records(rows),
    page: number(head['page']) ?? 1,
    total: number(head['total']),
    pages: number(head['pages']) ?? 1,
    lastUpdated: text(head['lastupdated']),
  }
}

/** https://datahelpdesk.worldbank.org/knowledgebase/articles/898620 lists the ids of errors. */
function failure(error: JsonRecord): Error {
  switch (text(error['id'])) {
    case '120':
    case '175':
      return absent()
    case '105':
    case '110':
    case '111':
      return new Failure('failing')
    default:
      return notUnderstood(`error ${text(error['id']) ?? 'without an id'}`)
  }
}

function asCategory(parent: string, row: JsonRecord): Category {
  const id = text(row['id']) ?? ''
  const description = firstText(row, 'sourceNote', 'description') ?? ''
  return category(`${parent}/${id}`, firstText(row, 'value', 'name') ?? id, description)
}

function asSeries(indicator: JsonRecord, place: { id: string; name: string }): SeriesInfo {
  const id = text(indicator['id']) ?? ''
  const name = text(indicator['name']) ?? id
  return listed({
    series_id: `${place.id}/${id}`,
    name: `${name}, ${place.name}`,
    unit: unitOf(indicator, name),
  })
}

/** Words that a unit contains, unlike `modeled ILO estimate`, `Class` or `TFEC`. */
const UNIT_WORDS =
  /%|\$|\bLCU\b|\bper\b|=|\b(number|units?|values?|years?|months?|weeks?|days?|hours?|minutes|people|persons|births|deaths|tons?|tonnes|kt|Mt|CO2e|scale|kg|km|sq\. ?km|hectares|mm|m3|meters|kWh|TJ|MJ|index|points|ratio|score|percent|percentage|thousands?|millions?|billions?|euros?|dollars?|currency)\b/i
/** `$1.90 a day` is not a unit but the poverty line that an indicator is about. */
const POVERTY_LINE = /^\$[\d.-]+ a day$/

/**
 * The unit. Its field is nearly always empty, but by convention the provider writes it in one of the parentheses of the
 * name.
 */
function unitOf(row: JsonRecord, name: string | null): string | null {
  const given = text(row['unit'])
  if (given !== null) return given
  const parentheses = [...(name ?? '').matchAll(/\(([^()]+)\)/g)].map((match) => match[1]!.trim())
  const isUnit = (each: string) =>
    UNIT_WORDS.test(each) && !POVERTY_LINE.test(each) && !/\bestimate\b/i.test(each)
  return parentheses.findLast(isUnit) ?? null
}

function labelOf(value: JsonRecord[string] | undefined): string | null {
  return text(value) ?? firstText(record(value), 'value', 'name')
}
