import type { Connector, ConnectorContext, SeriesInfo } from '../connector.ts'
import { categories, category, providerInfo, rate } from '../connector.ts'
import { ConnectorError, quoted } from '../errors.ts'
import { absent, Failure, malformed } from '../failures.ts'
import { addDays, isDate, periodOfDate } from '../periods.ts'
import type { Json, JsonRecord } from '../read.ts'
import { number, openBody, record, records, required, text } from '../read.ts'

/**
 * The API has no list of companies, so some are listed here; every other company can be requested by its number (CIK).
 */
const COMPANIES: Readonly<Record<string, string>> = {
  320193: 'Apple Inc.',
  789019: 'Microsoft Corporation',
  1018724: 'Amazon.com, Inc.',
  1652044: 'Alphabet Inc.',
  1067983: 'Berkshire Hathaway Inc.',
  19617: 'JPMorgan Chase & Co.',
  34088: 'Exxon Mobil Corporation',
  104169: 'Walmart Inc.',
}

const ID = /^(\d{1,10})\/([a-z][\w-]*)\/(\w+)\/([\w-]+)(?:\/([AQ]))?$/
const SHAPE = 'as 320193/us-gaap/Assets/USD, with /A or /Q behind it for years or quarters'

/**
 * Facts from "companyconcept" and "companyfacts" of EDGAR. Reports repeat figures of earlier reports; the SEC marks the
 * figure that was filed last for a calendar period with a `frame`: `CY2023`, `CY2023Q1`, and `CY2023Q1I` for a day. That
 * may be one of a proxy statement, so the report for the same days is taken. If no fact of a concept has a frame, the periods are told from the days that the facts give, by the same rules.
 */
export const sec: Connector = {
  info: providerInfo({
    slug: 'sec',
    name: 'SEC',
    description:
      'Figures of companies from their reports to the U.S. Securities and Exchange Commission. The key is who asks, as a ' +
      'name and an address for mail, which the SEC wants to be told.',
    homepage: 'https://www.sec.gov/search-filings/edgar-application-programming-interfaces',
    baseUrl: 'https://data.sec.gov/api/xbrl',
    key: 'required',
    keyOfWords: true,
    limits: { windows: [rate(10, 1)] },
  }),
  freshSeconds: 3600,
  /** The SEC refuses programs that don't say who runs them. */
  common: (key = '') => {
    if (!/^[\x20-\x7e]+$/.test(key)) throw new Failure('bad-key')
    return { headers: { 'user-agent': key } }
  },

  async at(path, context) {
    if (path === '') return { categories: () => categories(COMPANIES, false) }
    const [cik = '', taxonomy = '', ...rest] = path.split('/')
    const facts = await factsOf(cik, context)
    if (taxonomy === '') {
      return { categories: () => Object.keys(facts).map((each) => category(`${cik}/${each}`, each)) }
    }
    if (!Object.hasOwn(facts, taxonomy) || rest.length > 0) throw absent()
    return { series: () => facts[taxonomy]! }
  },

  history: ['asOf'],

  async series(id, { asOf }, context) {
    const [, cik, taxonomy, tag, unit, asked] = ID.exec(id) ?? []
    if (cik === undefined || taxonomy === undefined || tag === undefined || unit === undefined)
      throw malformed(SHAPE)
    const path = ['companyconcept', numberOf(cik), taxonomy, `${tag}.json`]
    const concept = record(openBody(await context.send({ path })))
    const units = record(concept['units'])
    // Units such as `USD/shares` contain a slash, which is written as a hyphen in the id.
    const name = Object.keys(units).find((each) => each.replaceAll('/', '-') === unit)
    if (name === undefined) {
      required(concept, 'units')
      throw absent()
    }
    const reported = records(units[name])
    const facts = decided(periodsOf(reported, asOf))
    if (facts.length === 0 && asOf !== undefined) throw new Failure('no-history')
    if (facts.length === 0 && reported.length > 0) {
      const sentence = `SEC has ${quoted(id)}, but not as a series: none of its figures is for a quarter, a year or one moment.`
      throw new ConnectorError('series_not_found', sentence)
    }
    const isQuarterly = asked === undefined ? facts.some(isOfQuarter) : asked === 'Q'
    const rows = facts.filter((row) => isOfQuarter(row) === isQuarterly)
    if (rows.length === 0) throw absent()
    const filed = rows.map(({ fact }) => text(fact['filed']) ?? '').sort()
    return {
      name: `${text(concept['entityName']) ?? cik}: ${text(concept['label']) ?? tag}`,
      frequency: isQuarterly ? 'quarterly' : 'annual',
      unit: name,
      lastUpdated: filed.at(-1) || null,
      source: text(concept['entityName']),
      notes: text(concept['description']),
      rows,
    }
  },
}

interface Row {
  /** `2023` or `2023-Q1`. */
  readonly time: string
  readonly value: Json | undefined
  readonly fact: JsonRecord
  readonly status?: string
}

function rowOf(fact: JsonRecord, time: string | undefined): readonly Row[] {
  return time === undefined ? [] : [{ time, value: fact['val'], fact }]
}

function isOfQuarter({ time }: Row): boolean {
  return time.includes('Q')
}

function periodOfFrame(frame: string): string | undefined {
  const [, year, quarter] = /^CY(\d{4})(?:(Q[1-4])I?)?$/.exec(frame) ?? []
  return quarter === undefined ? year : `${year}-${quarter}`
}

/**
 * The calendar period of a fact by the rules for frames: a year has 365 days and a quarter 91, give or take 30, and the
 * period is the one that contains the middle; a moment belongs to the quarter whose end is nearest.
 */
function periodOfDays({ start, end }: JsonRecord): string | undefined {
  const [first, last] = [text(start), text(end)]
  if (last === null || !isDate(last)) return undefined
  if (first === null) return periodOfDate(addDays(last, -45), 'quarterly').period
  if (!isDate(first)) return undefined
  const days = (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1
  const frequency = FREQUENCIES.find(([, length]) => Math.abs(days - length) <= 30)?.[0]
  return frequency && periodOfDate(addDays(first, Math.floor(days / 2)), frequency).period
}

const FREQUENCIES = [
  ['annual', 365],
  ['quarterly', 91],
] as const

/**
 * The facts that were filed until a day, each with its period: that of the frame of the same days, and where there are no
 * frames, or as of an earlier day, the one that its days give.
 */
function periodsOf(reported: readonly JsonRecord[], asOf: string | undefined): readonly Row[] {
  const days = ({ start, end }: JsonRecord) => `${text(start)} ${text(end)}`
  const framed = new Map(
    reported.flatMap((fact) => {
      const period = periodOfFrame(text(fact['frame']) ?? '')
      return period === undefined ? [] : [[days(fact), period] as const]
    }),
  )
  const isByDays = framed.size === 0 || asOf !== undefined
  return reported
    .filter(({ filed }) => asOf === undefined || (text(filed) ?? '') <= asOf)
    .flatMap((fact) => rowOf(fact, framed.get(days(fact)) ?? (isByDays ? periodOfDays(fact) : undefined)))
}

/** The annual and quarterly reports, also of foreign companies, and their amendments. Others may round what they say. */
const REPORTS = /^(10-KT?|10-QT?|20-F|40-F)(\/A)?$/

/**
 * For each period the row of the report that was filed last; of those filed on one day, the one with a frame, or that
 * ends last. Where
 * there is no report, any other document counts. One that was filed later and says something else is told in the status.
 */
function decided(rows: readonly Row[]): readonly Row[] {
  const isReport = ({ fact }: Row) => REPORTS.test(text(fact['form']) ?? '')
  const order = ({ fact }: Row) =>
    [text(fact['filed']) ?? '', text(fact['frame']) === null ? '0' : '1', text(fact['end']) ?? ''].join(' ')
  const sorted = rows.toSorted((a, b) => (order(a) < order(b) ? -1 : Number(order(a) > order(b))))
  return [...Map.groupBy(sorted, ({ time }) => time).values()].map((all) => {
    const last = all.at(-1)!
    const chosen = all.findLast(isReport) ?? last
    if (number(chosen.value) === number(last.value)) return chosen
    const { form, filed } = last.fact
    const document = text(form) ?? 'a document'
    return { ...chosen, status: `contradicted by ${document} of ${text(filed)}: ${text(last.value)}` }
  })
}

function numberOf(cik: string): string {
  return `CIK${cik.padStart(10, '0')}`
}

async function factsOf(cik: string, context: ConnectorContext) {
  if (!/^\d{1,10}$/.test(cik)) throw absent()
  return context.cached({ path: ['companyfacts', `${numberOf(cik)}.json`] }, (answer) => {
    const body = record(openBody(answer))
    required(body, 'facts')
    const facts = Object.entries(record(body['facts'])).map(
      ([taxonomy, concepts]) => [taxonomy, seriesOf(cik, taxonomy, record(concepts))] as const,
    )
    return Object.fromEntries(facts)
  })
}

function seriesOf(cik: string, taxonomy: string, concepts: JsonRecord): readonly SeriesInfo[] {
  return Object.entries(concepts).flatMap(([tag, concept]) => {
    const { label, units } = record(concept)
    return Object.entries(record(units)).map(([unit, facts]) => {
      const ends = records(facts).flatMap(({ end }) => text(end) ?? [])
      return {
        series_id: `${cik}/${taxonomy}/${tag}/${unit.replaceAll('/', '-')}`,
        name: text(label) ?? tag,
        frequency: null,
        unit,
        start: ends.toSorted()[0] ?? null,
        end: ends.toSorted().at(-1) ?? null,
      }
    })
  })
}
