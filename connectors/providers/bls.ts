import { blsCalendar } from '../calendars/bls.ts'
import type {
  Category,
  Connector,
  ConnectorContext,
  Row,
  SeriesInfo,
  SeriesRange,
  UpstreamAnswer,
} from '../connector.ts'
import { category, listed, providerInfo, rate } from '../connector.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { parsePeriod } from '../periods.ts'
import type { JsonRecord } from '../read.ts'
import { firstText, list, openBody, record, records, text } from '../read.ts'

/** No series begins earlier, and each span of years costs one of the few requests of a day. */
const FIRST_YEAR = 1900

/** Years that one query may span. */
const YEARS = { keyless: 10, keyed: 20 }

/** Shortest first: rows of a longer period among those of a shorter one are averages, such as half years among months. */
const FREQUENCIES = ['weekly', 'monthly', 'quarterly', 'semiannual', 'annual']

/**
 * How long nothing is asked after the provider says that the day's quota is used up: it doesn't say when the day ends.
 */
const QUOTA_PAUSE_SECONDS = 3600

/** https://www.bls.gov/developers/. A path is the abbreviation of a survey, such as `CU`. */
export const bls: Connector = {
  info: providerInfo({
    slug: 'bls',
    name: 'BLS',
    description:
      'Prices, employment, pay and productivity by the U.S. Bureau of Labor Statistics. Without start, a series comes ' +
      'with its last 10 years (20 with a key): each further span of that length costs a request.',
    homepage: 'https://www.bls.gov/data',
    // Version 2 also takes requests without a key, and has surveys that version 1 lacks (JOLTS).
    baseUrl: 'https://api.bls.gov/publicAPI/v2',
    key: 'optional',
    keyPage: 'https://data.bls.gov/registrationEngine',
    limits: {
      windows: [rate(25, 86_400)],
      withKey: [rate(50, 10), rate(500, 86_400)],
    },
  }),
  freshSeconds: 6 * 3600,
  calendar: blsCalendar,

  at(path, context) {
    if (path === '') return { categories: () => surveys(context) }
    if (!/^\w{2}$/.test(path)) throw absent()
    return { series: () => popular(context, path.toUpperCase()) }
  },

  async catalogue(context) {
    return { series: await popular(context), categories: await surveys(context) }
  },

  async series(id, range, context) {
    if (!/^[\w#-]+$/.test(id)) throw malformed('letters and digits, as CUUR0000SA0')
    const rows = new Map<string, Point>()
    let catalog: JsonRecord = {}
    const asked = spans(range, context.key === undefined ? YEARS.keyless : YEARS.keyed)
    for (const years of asked) {
      const answer = await query(id, years, context)
      catalog = { ...record(answer['catalog']), ...catalog }
      if (answer['data'] === null) throw notUnderstood('the data are null')
      const points = list(answer['data']).map(record).flatMap(asPoint)
      // The spans go back in time, so an empty one means that the series begins later: older spans are not requested.
      if (points.length === 0 && rows.size > 0) break
      for (const point of points) rows.set(point.time, point)
    }
    const found = [...rows.values()]
    const frequency = FREQUENCIES.find((one) => found.some((point) => point.frequency === one)) ?? null
    const points = found.filter((point) => point.frequency === frequency)
    // Without start only the latest years are requested, and the series may begin earlier.
    const first = points.map(({ time }) => Number(time.slice(0, 4))).sort((a, b) => a - b)[0]
    const isCut = range.start === undefined && first === asked.at(-1)?.first
    return {
      name: firstText(catalog, 'series_title') ?? id,
      frequency,
      unit: unitOf(text(catalog['measure_data_type'])),
      seasonalAdjustment: text(catalog['seasonality']),
      source: text(catalog['survey_name']),
      ...(isCut ? { start: null } : {}),
      rows: points,
    }
  },

  async checkKey(context) {
    const year = new Date().getUTCFullYear()
    await query('CUUR0000SA0', { first: year - 1, last: year }, context)
  },
}

function surveys({ cached, key }: ConnectorContext): Promise<Category[]> {
  return cached({ path: ['surveys'], query: { registrationkey: key } }, (answer) =>
    resultsOf(answer, 'survey').found.map((survey) => {
      const id = text(survey['survey_abbreviation']) ?? ''
      return category(id, text(survey['survey_name']) ?? id)
    }),
  )
}

/** The series of a survey, or of all, that are asked for most. */
function popular({ cached, key }: ConnectorContext, survey?: string): Promise<SeriesInfo[]> {
  const request = { path: ['timeseries', 'popular'], query: { survey, registrationkey: key } }
  return cached(request, (answer) => {
    const ids = resultsOf(answer, 'series').found.flatMap((series) => idOf(series) ?? [])
    return ids.map((id) => listed({ series_id: id, name: id }))
  })
}

function idOf(series: JsonRecord): string | null {
  return firstText(series, 'seriesID', 'seriesId', 'id')
}

interface Years {
  readonly first: number
  readonly last: number
}

/** Splits the years of a range into spans that one query may ask for, newest first. */
function spans({ start, end }: SeriesRange, longest: number): Years[] {
  const now = new Date().getUTCFullYear()
  const to = Math.min(end === undefined ? now : Number(end.slice(0, 4)), now)
  const from =
    start === undefined ? to - longest + 1 : Math.min(Math.max(Number(start.slice(0, 4)), FIRST_YEAR), to)
  const all: Years[] = []
  for (let last = to; last >= from; last -= longest) {
    all.push({ first: Math.max(from, last - longest + 1), last })
  }
  return all
}

async function query(id: string, years: Years, { key, send }: ConnectorContext): Promise<JsonRecord> {
  const answer = await send({
    method: 'POST',
    // The address must end with a slash.
    path: ['timeseries', 'data', ''],
    json: {
      seriesid: [id],
      startyear: String(years.first),
      endyear: String(years.last),
      ...(key === undefined ? {} : { registrationkey: key, catalog: true }),
    },
  })
  const { found: series, message } = resultsOf(answer, 'series')
  const found = series.find((each) => idOf(each) === id) ?? series[0]
  if (found === undefined || (saysUnknown(message) && list(found['data']).length === 0)) throw absent()
  return found
}

/**
 * A list in `Results`, which is an object or a list of objects, and what the answer says about it. Failures have status
 * 200 and are recognised by `status`, unless the answer has data as well, as with `REQUEST_PARTIALLY_PROCESSED`.
 */
function resultsOf(answer: UpstreamAnswer, name: string) {
  return openBody(answer, (json, status) => {
    const body = record(json)
    const found = list(body['Results']).flatMap((results) => records(record(results)[name]))
    const messages = [body['message']].flat().flatMap((each) => text(each) ?? [])
    const message = messages.join(' ')
    const said = text(body['status']) ?? ''
    const hasData = found.some((each) => list(each['data']).length > 0)
    const isSuccess = said === 'REQUEST_SUCCEEDED' || (hasData && status < 400)
    if (!isSuccess && (said !== '' || status < 400)) throw failure(said, message)
    return { found, message }
  })
}

function saysUnknown(message: string): boolean {
  return /series does not exist|invalid series/i.test(message)
}

function failure(status: string, message: string): Error {
  // The quota is tested first, because the sentence about it mentions the key too.
  if (/threshold|quota|too many|exceeded|number of requests/i.test(message)) {
    return new Failure('limited', { seconds: QUOTA_PAUSE_SECONDS })
  }
  if (/key/i.test(message) && /invalid|not valid|unknown|expired/i.test(message))
    return new Failure('bad-key')
  if (saysUnknown(message)) return absent()
  if (status === 'REQUEST_NOT_PROCESSED' || /OVER_CAPACITY/.test(status)) return new Failure('failing')
  return notUnderstood('a status that is not known')
}

type Point = Row & { readonly time: string; readonly frequency: string }

/** One observation; none for `M13`, `Q05` and `S03`, which are averages of the year and not periods. */
function asPoint(row: JsonRecord): Point[] {
  const code = text(row['period']) ?? ''
  const read = /^[AMQSW]\d\d$/.test(code) ? parsePeriod(`${text(row['year'])}-${code}`) : undefined
  if (read === undefined) return []
  // `-` stands for a value that isn't available; its footnote says why.
  const status = records(row['footnotes']).flatMap(
    (note) => FOOTNOTES[text(note['code']) ?? ''] ?? text(note['text']) ?? [],
  )
  return [
    {
      time: read.period ?? read.date,
      value: row['value'],
      frequency: read.frequency,
      ...(status.length === 0 ? {} : { status: status.join(', ') }),
    },
  ]
}

/** https://www.bls.gov/help/def/footnotes.htm. Other codes differ between surveys, but their texts are the same. */
const FOOTNOTES: Readonly<Record<string, string>> = { P: 'provisional', R: 'revised', C: 'corrected' }

/** The field describes the item ("All employees, thousands"); only its last part may be a unit. */
function unitOf(measure: string | null): string | null {
  const unit =
    /(?:^|,\s*|\bin )((?:thousands|millions|billions)(?: of [\w ]+)?|percent(?: or rate)?|(?:u\.s\. )?dollars|hours)\s*$/i
  return unit.exec(measure ?? '')?.[1]?.toLowerCase() ?? null
}
