import type { Connector, ConnectorContext, Observation, SeriesRange, UpstreamAnswer } from '../connector.ts'
import {
  invalidSeriesId,
  keyRejected,
  limitReached,
  pathNotFound,
  providerDown,
  seriesNotFound,
} from '../errors.ts'
import { slice } from '../paging.ts'
import { type Period, parsePeriod } from '../periods.ts'
import {
  firstText,
  type Json,
  type JsonRecord,
  list,
  notUnderstood,
  number,
  parseJson,
  record,
  records,
  text,
} from '../read.ts'

const info = {
  slug: 'bls',
  name: 'BLS',
  description:
    'Prices, employment, pay and productivity by the U.S. Bureau of Labor Statistics. Without start, a series comes ' +
    'with its last 10 years (20 with a key): each further span of that length costs a request.',
  homepage: 'https://www.bls.gov/data',
  tier: 'free',
  baseUrl: 'https://api.bls.gov/publicAPI/v2',
  keylessBaseUrl: 'https://api.bls.gov/publicAPI/v1',
  key: 'optional',
  limits: {
    windows: [{ requests: 25, perSeconds: 86_400 }],
    withKey: [{ requests: 500, perSeconds: 86_400 }],
  },
} as const

/** Years that one query may span. */
const YEARS = { keyless: 10, keyed: 20 }

/** How long nothing is asked once the provider says that the day's quota is spent: it doesn't say when that ends. */
const QUOTA_PAUSE_SECONDS = 3600

/** https://www.bls.gov/developers/. A path is the abbreviation of a survey, as `CU`. */
export const bls: Connector = {
  info,
  freshSeconds: 6 * 3600,

  async browse(path, context) {
    if (path !== '') {
      surveyOf(path)
      return []
    }
    const query = { registrationkey: context.key }
    return context.cached({ path: ['surveys'], query }, (answer) =>
      resultsOf(answer, 'survey').map((survey) => {
        const id = text(survey['survey_abbreviation']) ?? ''
        return { path: id, name: text(survey['survey_name']) ?? id, description: '', series: true }
      }),
    )
  },

  async list(path, page, context) {
    if (path === '') return { total: 0, series: [] }
    const query = { survey: surveyOf(path), registrationkey: context.key }
    const ids = await context.cached({ path: ['timeseries', 'popular'], query }, (answer) =>
      resultsOf(answer, 'series').flatMap((series) => firstText(series, 'seriesID', 'seriesId', 'id') ?? []),
    )
    const unknown = { frequency: null, unit: null, start: null, end: null }
    return slice(
      ids.map((id) => ({ series_id: id, name: id, ...unknown })),
      page,
    )
  },

  async series(id, range, context) {
    if (!/^[\w#-]+$/.test(id)) throw invalidSeriesId(info, id, 'letters and digits, as CUUR0000SA0')
    const observations = new Map<string, Observation & { frequency: string }>()
    let catalog: JsonRecord = {}
    for (const years of spans(range, context.key === undefined ? YEARS.keyless : YEARS.keyed)) {
      const found = await query(id, years, context)
      catalog = { ...record(found['catalog']), ...catalog }
      const rows = list(found['data']).map(record).flatMap(asObservation)
      // The first years of a series lie behind us: no need to spend requests on older ones.
      if (rows.length === 0 && observations.size > 0) break
      for (const row of rows) observations.set(row.period ?? row.date, row)
    }
    return {
      series_id: id,
      name: firstText(catalog, 'series_title') ?? id,
      frequency: observations.values().next().value?.frequency ?? null,
      unit: firstText(catalog, 'measure_data_type'),
      lastUpdated: null,
      observations: [...observations.values()].map(({ frequency: _, ...observation }) => observation),
    }
  },

  async checkKey(context) {
    const year = new Date().getUTCFullYear()
    await query('CUUR0000SA0', { first: year - 1, last: year }, context)
  },
}

interface Years {
  readonly first: number
  readonly last: number
}

/** The years of a range in spans of what one query may ask for, newest first. */
function spans({ start, end }: SeriesRange, longest: number): Years[] {
  const now = new Date().getUTCFullYear()
  const to = Math.min(end === undefined ? now : Number(end.slice(0, 4)), now)
  const from = start === undefined ? to - longest + 1 : Math.min(Number(start.slice(0, 4)), to)
  const all: Years[] = []
  for (let last = to; last >= from; last -= longest) {
    all.push({ first: Math.max(from, last - longest + 1), last })
  }
  return all
}

async function query(id: string, years: Years, { key, send }: ConnectorContext): Promise<JsonRecord> {
  const answer = await send({
    method: 'POST',
    // The slash at the end is part of the address.
    path: ['timeseries', 'data', ''],
    json: {
      seriesid: [id],
      startyear: String(years.first),
      endyear: String(years.last),
      ...(key === undefined ? {} : { registrationkey: key, catalog: true }),
    },
    keyless: key === undefined,
  })
  const series = resultsOf(answer, 'series')
  const found = series.find((each) => firstText(each, 'seriesID', 'seriesId', 'id') === id) ?? series[0]
  const isUnknown = messagesOf(record(parseJson(answer))).some((message) =>
    /series does not exist|invalid series/i.test(message),
  )
  if (found === undefined || (isUnknown && list(found['data']).length === 0)) throw seriesNotFound(info, id)
  return found
}

function surveyOf(path: string): string {
  if (!/^\w{2}$/.test(path)) throw pathNotFound(info, path)
  return path.toUpperCase()
}

/** A list in `Results`, which is an object, or a list of objects. Failures have a status of 200: `status` tells. */
function resultsOf(answer: UpstreamAnswer, name: string): readonly JsonRecord[] {
  const body = record(parseJson(answer))
  const status = text(body['status']) ?? ''
  if (status !== 'REQUEST_SUCCEEDED') throw failure(status, messagesOf(body).join(' '), answer.status)
  return list(body['Results']).flatMap((results) => records(record(results)[name]))
}

function messagesOf(body: JsonRecord): readonly string[] {
  const message: Json | undefined = body['message']
  const all = Array.isArray(message) ? (message as readonly Json[]) : [message]
  return all.flatMap((each) => text(each) ?? [])
}

function failure(status: string, message: string, httpStatus: number): Error {
  // Comes first: the sentence about the quota mentions the key too.
  if (/threshold|quota|too many/i.test(message)) return limitReached(info, QUOTA_PAUSE_SECONDS)
  if (/key/i.test(message) && /invalid|not valid|unknown|expired/i.test(message)) return keyRejected(info)
  if (status === 'REQUEST_NOT_PROCESSED') return providerDown(info)
  return notUnderstood(`a status that is not known (HTTP ${httpStatus})`)
}

/** `M13`, `Q05` and `S03` are averages of the year, not periods. */
function asObservation(row: JsonRecord): (Observation & { frequency: string })[] {
  const read = periodOf(text(row['year']) ?? '', text(row['period']) ?? '')
  if (read === undefined) return []
  const { date, period, frequency } = read
  return [{ date, ...(period === undefined ? {} : { period }), frequency, value: number(row['value']) }]
}

function periodOf(year: string, code: string): Period | undefined {
  return /^[AMQSW]\d\d$/.test(code) ? parsePeriod(`${year}-${code}`) : undefined
}
