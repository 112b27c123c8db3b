import type { Category, Connector, ConnectorContext, UpstreamAnswer } from '../connector.ts'
import { category, providerInfo, rate } from '../connector.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { allPages } from '../paging.ts'
import { frequencyName, parsePeriod } from '../periods.ts'
import type { JsonRecord } from '../read.ts'
import { firstText, number, openBody, record, records, required, text } from '../read.ts'

/** The most rows that an answer may have. */
const PAGE = 5000

/** The letters at the end of an id of the first version of the API; HL are hours of local time. */
const FREQUENCY = /\.(A|Q|M|W|D|HL?)$/

/** What the EIA writes where there is no value, as the notes below its tables explain. */
const MARKS: Readonly<Record<string, string>> = {
  W: 'missing, withheld',
  NM: 'missing, not meaningful',
  NA: 'missing, not available',
  '-': 'missing, not reported',
  '--': 'missing, not applicable',
}

/**
 * https://www.eia.gov/opendata/documentation.php. Paths follow the routes of the API, such as `petroleum/pri/spt`; a
 * series id is one of the API's first version, such as `PET.RWTC.D`, which the route `seriesid/` takes.
 */
export const eia: Connector = {
  info: providerInfo({
    slug: 'eia',
    name: 'EIA',
    description:
      'Petroleum, gas, electricity, coal and energy prices, by the U.S. Energy Information Administration.',
    homepage: 'https://www.eia.gov/opendata',
    baseUrl: 'https://api.eia.gov/v2',
    key: 'required',
    keyPage: 'https://www.eia.gov/opendata/register.php',
    limits: { windows: [rate(5, 1), rate(9000, 3600)] },
  }),
  freshSeconds: 3600,
  common: (key) => ({ query: { api_key: key } }),

  at(path, context) {
    if (!/^([\w-]+(\/[\w-]+)*)?$/.test(path)) throw absent()
    return { categories: () => routesBelow(path === '' ? [] : path.split('/'), context) }
  },

  async series(id, _range, { send }) {
    if (!/^[A-Za-z0-9_.-]+$/.test(id)) throw malformed('as PET.RWTC.D')
    let response: JsonRecord = {}
    const rows = await allPages(PAGE, async (offset) => {
      const query = { offset: offset || undefined }
      response = responseOf(await send({ path: ['seriesid', id], query }))
      return { rows: required(response, 'data'), total: number(response['total']) }
    })
    const first = rows[0]
    if (first === undefined) throw absent()
    const field = valueField(first)
    const frequency =
      frequencyName(text(response['frequency'])) ??
      frequencyName(FREQUENCY.exec(id)?.[1]?.replace(/HL?/, 'hourly')) ??
      parsePeriod(text(first['period']) ?? '')?.frequency ??
      null
    return {
      name: firstText(first, 'series-description', 'seriesDescription', 'product-name') ?? id,
      frequency,
      unit: firstText(first, 'units', `${field}-units`, 'unit'),
      notes: text(response['description']),
      rows: rows.map((row) => {
        const mark = text(row[field]) ?? ''
        const status = Object.hasOwn(MARKS, mark) ? MARKS[mark] : undefined
        return { time: row['period'], value: status === undefined ? row[field] : null, status }
      }),
    }
  },
}

async function routesBelow(steps: readonly string[], context: ConnectorContext): Promise<Category[]> {
  const response = await context.cached({ path: steps }, responseOf)
  return records(response['routes']).map((route) => {
    const id = text(route['id']) ?? ''
    const description = text(route['description']) ?? ''
    return category([...steps, id].join('/'), text(route['name']) ?? id, description, false)
  })
}

/** `{response: {data: […]}}`; a bad key is 403, and other errors are `{error, code}`. */
function responseOf(answer: UpstreamAnswer): JsonRecord {
  const body = openBody(answer, (json) => {
    const body = record(json)
    const message = JSON.stringify(body['error'] ?? '')
    if (/api_?key/i.test(message)) throw new Failure('bad-key')
    if (/OVER_RATE_LIMIT/.test(message)) throw new Failure('limited', { seconds: 3600 })
    if (/not found|invalid series/i.test(message)) throw absent()
    return body
  })
  if (!('response' in body)) throw notUnderstood('response is missing')
  return record(body['response'])
}

/** `value`, or the one column that has a unit column, such as `generation` with `generation-units`. */
function valueField(row: JsonRecord): string {
  if ('value' in row) return 'value'
  const field = Object.keys(row).find((name) => `${name}-units` in row)
  if (field === undefined) throw notUnderstood('no column has a unit')
  return field
}
