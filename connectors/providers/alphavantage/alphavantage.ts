import type { Connector, ConnectorContext, SeriesInfo, SeriesRange, UpstreamAnswer } from '../../connector.ts'
import { category, listed, providerInfo, rate } from '../../connector.ts'
import { ConnectorError } from '../../errors.ts'
import { absent, Failure, malformed } from '../../failures.ts'
import { slice } from '../../paging.ts'
import { addDays, frequencyName, isoDate } from '../../periods.ts'
import { type JsonRecord, openBody, record, records, refusedStatus, text } from '../../read.ts'
import { type Points, pointsOf } from './answers.ts'
import { type Call, functionNamed, groups, readId } from './functions.ts'

const DAY_SECONDS = 86_400

/** Number of days that the short form of an answer, with 100 points, is certain to cover. */
const COMPACT_DAYS = 130

const SEARCH = 'Series of the stocks whose symbol or name matches what follows in the path, as symbols/boeing'
const ROOT = [
  ...groups.map(({ path, name }) => category(path, name, '', false)),
  category('symbols', 'Search for symbols', SEARCH, false),
]

/**
 * https://www.alphavantage.co/documentation. The provider has no catalogue: paths lead to functions
 * (`stocks/TIME_SERIES_DAILY`) and to a search for symbols (`symbols/boeing`). A series id is a function with its
 * parameters, followed by a field if the usual one isn't meant: `TIME_SERIES_DAILY/IBM`,
 * `TIME_SERIES_DAILY/IBM/volume`, `TREASURY_YIELD/monthly/10year`.
 */
export const alphavantage: Connector = {
  info: providerInfo({
    slug: 'alphavantage',
    name: 'Alpha Vantage',
    description:
      'Prices of stocks, currencies, crypto-currencies and commodities, and U.S. economic indicators.',
    homepage: 'https://www.alphavantage.co/documentation',
    tier: 'shared-key',
    baseUrl: 'https://www.alphavantage.co/query',
    key: 'required',
    keyPage: 'https://www.alphavantage.co/support/#api-key',
    limits: { windows: [rate(1, 1), rate(25, 86_400)] },
  }),
  // The provider allows few requests a day, so they are better spent on other series than on the same one again.
  freshSeconds: 6 * 3600,

  at(path, context) {
    if (path === '') return { categories: () => ROOT }
    const [group, name] = path.split('/')
    if (group === 'symbols') return name === undefined ? {} : { series: () => search(name, context) }
    const found = groups.find((each) => each.path === group)
    if (found === undefined) throw absent()
    if (name === undefined) {
      return {
        categories: () =>
          Object.entries(found.functions).map(([id, { title, parameters }]) => {
            const shape = [id, ...parameters.map((each) => `{${each}}`)].join('/')
            return category(`${group}/${id}`, title, `Series ids are ${shape}`)
          }),
      }
    }
    if (!Object.hasOwn(found.functions, name)) throw absent()
    const { title, examples, frequency } = found.functions[name]!
    return {
      series: () =>
        examples.map((example) => {
          const words = example.split('/')
          return listed({
            series_id: [name, ...(example === '' ? [] : words)].join('/'),
            name: example === '' ? title : `${title}, ${words.join(' ')}`,
            frequency: frequency ?? words.map(frequencyName).find((each) => each !== null) ?? null,
          })
        }),
    }
  },

  async search(question, page, context) {
    return { ...slice(await search(question, context), page), categories: [] }
  },

  async series(id, range, context) {
    const call = readId(id)
    if (call === undefined) throw functionNamed(id) === undefined ? absent() : malformed(shapeOf(id))
    const query = { function: call.name, ...call.parameters, ...sizeOf(call, range), apikey: context.key }
    const body = bodyOf(await context.send({ path: [], query }))
    const points: Points | undefined = pointsOf(body, call.name, call.field)
    if (points === undefined) throw absent()
    const declared =
      call.definition.frequency ??
      frequencyName(points.interval) ??
      frequencyName(call.parameters['interval'])
    const words = [
      call.definition.title,
      ...Object.values(call.parameters),
      ...(points.field === undefined ? [] : [points.field]),
    ]
    return {
      name: points.name ?? words.join(', '),
      frequency: declared,
      unit:
        points.unit ??
        call.parameters['to_symbol'] ??
        call.parameters['to_currency'] ??
        call.parameters['market'] ??
        null,
      lastUpdated: points.lastUpdated?.replace(' ', 'T') ?? null,
      rows: points.rows,
    }
  },
}

function shapeOf(id: string): string {
  const [name = ''] = id.split(/[/&]/)
  return [name.toUpperCase(), ...(functionNamed(id)?.parameters ?? []).map((each) => `{${each}}`)].join('/')
}

/**
 * Asks for the whole history instead of the last 100 points only if the range needs it, because many keys don't include
 * it.
 */
function sizeOf({ definition }: Call, { start }: SeriesRange): { outputsize?: string } {
  const isOld = start !== undefined && start < addDays(isoDate(Date.now()), -COMPACT_DAYS)
  return definition.hasSizes && isOld ? { outputsize: 'full' } : {}
}

async function search(keywords: string, { send, key }: ConnectorContext): Promise<readonly SeriesInfo[]> {
  const answer = await send({ path: [], query: { function: 'SYMBOL_SEARCH', keywords, apikey: key } })
  const body = bodyOf(answer, `symbols/${keywords}`)
  return records(body['bestMatches']).flatMap((match) => {
    const fields = Object.fromEntries(
      Object.entries(match).map(([name, value]) => [name.replace(/^\d+\.\s*/, ''), value]),
    )
    const symbol = text(fields['symbol'])
    if (symbol === null) return []
    const series_id = `TIME_SERIES_DAILY/${symbol}`
    const name = text(fields['name']) ?? symbol
    return [listed({ series_id, name, frequency: 'daily', unit: text(fields['currency']) })]
  })
}

/** The body of a success. Failures have status 200, too, and a sentence in one of three fields. */
function bodyOf(answer: UpstreamAnswer, subject?: string): JsonRecord {
  const body = record(openBody(answer))
  const error = text(body['Error Message'])
  if (error !== null)
    throw /api ?key/i.test(error) ? new Failure('bad-key') : new Failure('no-results', { subject })
  const notice = text(body['Information']) ?? text(body['Note'])
  const hasData = Object.values(body).some((value) => typeof value === 'object' && value !== null)
  if (notice !== null && !hasData) throw noticed(notice)
  if (answer.status >= 400) throw refusedStatus(answer)
  return body
}

function noticed(notice: string): Error {
  // This notice is tested first, because it also mentions the daily limit and advertises premium plans.
  if (/per second|spreading out/i.test(notice)) return new Failure('limited', { seconds: 2 })
  if (/premium (endpoint|feature|api function)/i.test(notice)) {
    const sentence = 'The key does not include this function or range at Alpha Vantage.'
    return new ConnectorError('key_rejected', sentence)
  }
  if (/demo/i.test(notice) && /api key/i.test(notice)) return new Failure('bad-key')
  if (/per minute/i.test(notice) && !/per day/i.test(notice)) return new Failure('limited')
  // The provider doesn't say when its day ends, so the next attempt is made after an hour.
  return new Failure('limited', { seconds: DAY_SECONDS / 24 })
}
