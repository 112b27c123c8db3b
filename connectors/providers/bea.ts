import { utcText } from '../calendars/calendar.ts'
import type {
  Calendar,
  Category,
  Connector,
  ConnectorContext,
  Release,
  SeriesInfo,
  UpstreamAnswer,
} from '../connector.ts'
import { categories, category, distinct, listed, providerInfo, rate } from '../connector.ts'
import { absent, Failure, malformed } from '../failures.ts'
import { missingReason } from '../observations.ts'
import { frequencyName } from '../periods.ts'
import type { JsonRecord } from '../read.ts'
import {
  firstText,
  list,
  number,
  openBody,
  POWERS,
  record,
  records,
  required,
  text,
  timesTenTo,
} from '../read.ts'

/** The datasets whose tables have lines with a code of their own; each of these lines is a series. */
const DATASETS: Readonly<Record<string, string>> = {
  NIPA: 'National income and product accounts',
  NIUnderlyingDetail: 'National accounts, underlying detail',
  FixedAssets: 'Fixed assets',
}

/** The releases that change the tables of a dataset. Those of fixed assets are not announced. */
const RELEASES: Readonly<Record<string, readonly string[]>> = {
  NIPA: ['Gross Domestic Product', 'Personal Income and Outlays'],
  NIUnderlyingDetail: ['Gross Domestic Product', 'Personal Income and Outlays'],
}

/** https://apps.bea.gov/API/signup/release_dates.json: for each release its times. */
const calendar: Calendar = {
  announced: (_days, context) => announced(context),
  async of(id, _days, context) {
    const names = RELEASES[ID.exec(id)?.[1] ?? ''] ?? []
    return (await announced(context)).filter(({ name }) => names.includes(name))
  },
}

function announced({ cached }: ConnectorContext): Promise<readonly Release[]> {
  return cached({ root: '../../API/signup', path: ['release_dates.json'] }, (answer) =>
    Object.entries(openBody(answer, record)).flatMap(([name, entry]) => {
      const { release_dates: times, to_be_rescheduled: postponed } = record(entry)
      const isPostponed = new Set(list(postponed).map(text))
      return list(times).flatMap((each) => {
        const instant = Date.parse(text(each) ?? '')
        if (Number.isNaN(instant) || isPostponed.has(text(each))) return []
        const time = utcText(instant)
        return [{ name, date: time.slice(0, 10), time, period: null }]
      })
    }),
  )
}

const ID = /^(\w+)\/(\w+)\/([\w-]+)\/([AQM])$/

/** https://apps.bea.gov/api/_pdf/bea_web_service_api_user_guide.pdf. A series id is dataset, table, code, frequency. */
export const bea: Connector = {
  info: providerInfo({
    slug: 'bea',
    name: 'BEA',
    description:
      'National accounts and fixed assets of the United States, by the Bureau of Economic Analysis.',
    homepage: 'https://apps.bea.gov/API/docs',
    baseUrl: 'https://apps.bea.gov/api/data',
    key: 'required',
    keyPage: 'https://apps.bea.gov/API/signup',
    // A key that causes 30 errors in a minute is blocked for an hour, so the limit here is below the published one.
    limits: { windows: [rate(90, 60)] },
  }),
  freshSeconds: 3600,
  calendar,
  common: (key) => ({ query: { UserID: key, ResultFormat: 'JSON' } }),

  at(path, context) {
    if (path === '') return { categories: () => categories(DATASETS, false) }
    const [dataset = '', table, ...rest] = path.split('/')
    if (!Object.hasOwn(DATASETS, dataset) || rest.length > 0) throw absent()
    if (table === undefined) return { categories: () => tablesOf(dataset, context) }
    const request = dataOf(dataset, table, 'A,Q,M')
    return {
      series: () =>
        context.cached(request, (answer) =>
          distinct(required(resultsOf(answer), 'Data').map((row) => described(dataset, row))),
        ),
    }
  },

  async series(id, _range, context) {
    const [, dataset = '', table = '', code = '', letter = ''] = ID.exec(id) ?? []
    if (!Object.hasOwn(DATASETS, dataset)) throw malformed('as NIPA/T10101/A191RL/Q')
    const results = resultsOf(await context.send(dataOf(dataset, table, letter)))
    const lines = required(results, 'Data').filter((row) => text(row['SeriesCode']) === code)
    const [first] = lines
    if (first === undefined) throw absent()
    // A table may contain a series twice, for example again as a memorandum at its end.
    const rows = lines.filter((row) => text(row['LineNumber']) === text(first['LineNumber']))
    const note = records(results['Notes']).find((one) => text(one['NoteRef']) === table)
    const { name, frequency, unit } = described(dataset, first)
    return {
      name,
      frequency,
      unit,
      lastUpdated: text(results['UTCProductionTime']),
      notes: note === undefined ? null : text(note['NoteText']),
      rows: rows.map((row) => {
        // The value of a suppressed figure may be 0, and only the note beside it says so.
        const status = missingReason(text(row['DataValue'])) ?? missingReason(text(row['NoteRef']))
        return {
          time: row['TimePeriod'],
          // In the unit of the first row.
          value: status === undefined ? timesTenTo(powerOf(row) - powerOf(first), row['DataValue']) : null,
          status,
        }
      }),
    }
  },

  async checkKey(context) {
    resultsOf(await context.send({ path: [], query: { method: 'GetDatasetList' } }))
  },
}

function tablesOf(dataset: string, context: ConnectorContext): Promise<readonly Category[]> {
  const query = { method: 'GetParameterValues', DatasetName: dataset, ParameterName: 'TableName' }
  return context.cached({ path: [], query }, (answer) =>
    required(resultsOf(answer), 'ParamValue').map((row) => {
      const table = firstText(row, 'TableName', 'Key') ?? ''
      return category(`${dataset}/${table}`, firstText(row, 'Description', 'Desc') ?? table)
    }),
  )
}

function dataOf(dataset: string, table: string, frequency: string) {
  const query = { method: 'GetData', DatasetName: dataset, TableName: table, Year: 'ALL' }
  // Fixed assets are only annual, and their requests have no such parameter.
  return { path: [], query: dataset === 'FixedAssets' ? query : { ...query, Frequency: frequency } }
}

function described(dataset: string, row: JsonRecord): SeriesInfo {
  const letter = /^\d{4}([QM])/.exec(text(row['TimePeriod']) ?? '')?.[1] ?? 'A'
  const code = text(row['SeriesCode']) ?? ''
  return listed({
    series_id: `${dataset}/${text(row['TableName'])}/${code}/${letter}`,
    name: text(row['LineDescription']) ?? code,
    frequency: frequencyName(letter),
    unit: unitOf(row),
  })
}

/** `Level` means that the values are of the metric itself; `UNIT_MULT` is the power of ten in which they are given. */
function unitOf(row: JsonRecord): string | null {
  const calculated = text(row['CL_UNIT'])
  const unit = calculated === 'Level' ? (text(row['METRIC_NAME']) ?? calculated) : calculated
  const multiple = POWERS[String(powerOf(row))]
  return unit === null || multiple === undefined ? unit : `${unit}, ${multiple}`
}

function powerOf(row: JsonRecord): number {
  return number(row['UNIT_MULT']) ?? 0
}

/** Errors come with status 200: `{BEAAPI: {Error}}` or `{BEAAPI: {Results: {Error}}}`. */
function resultsOf(answer: UpstreamAnswer): JsonRecord {
  return openBody(answer, (body) => {
    const api = record(record(body)['BEAAPI'])
    const results = record([api['Results']].flat()[0])
    const error = record(results['Error'] ?? api['Error'])
    const message = text(error['APIErrorDescription']) ?? ''
    if (/rate limit|too many|exceeded/i.test(message)) throw new Failure('limited', { seconds: 3600 })
    if (/user ?id/i.test(message)) throw new Failure('bad-key')
    if (Object.keys(error).length > 0) throw absent()
    return results
  })
}
