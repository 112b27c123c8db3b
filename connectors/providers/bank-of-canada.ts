import type { Category, Connector, ConnectorContext, Row, SeriesInfo, UpstreamAnswer } from '../connector.ts'
import { category, listed, providerInfo } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { absent, malformed, notUnderstood } from '../failures.ts'
import { addDays, inferFrequency } from '../periods.ts'
import type { Json, JsonRecord } from '../read.ts'
import { firstText, isRecord, openBody, optional, record, records, required, text } from '../read.ts'

const ROOT: readonly Category[] = [
  category('groups', 'Groups', 'Series that belong together', false),
  category('series', 'All series', 'Every series, by name'),
]

/** https://www.bankofcanada.ca/valet/docs. Paths are `groups/FX_RATES_DAILY` and `series`. */
export const bankOfCanada: Connector = {
  info: providerInfo({
    slug: 'bank-of-canada',
    name: 'Bank of Canada',
    description: 'Exchange rates, interest rates and financial statistics of Canada.',
    homepage: 'https://www.bankofcanada.ca/valet/docs',
    baseUrl: 'https://www.bankofcanada.ca/valet',
  }),
  freshSeconds: 1800,

  at(path, context) {
    if (path === '') return { categories: () => ROOT }
    if (path === 'groups') return { categories: () => groups(context) }
    if (path === 'series') return { series: () => allSeries(context) }
    const group = /^groups\/([^/]+)$/.exec(path)?.[1]
    if (group === undefined) throw absent()
    return {
      series: async () => (await catalogue(['groups', group], 'groupSeries', context)).map(asSeries),
    }
  },

  async catalogue(context) {
    return { categories: await groups(context), series: await allSeries(context) }
  },

  async series(id, range, context) {
    if (!/^[\w.-]+$/.test(id)) throw malformed('the name of a series, as FXUSDCAD')
    // The end must lie after the start, so a range of one day is asked for with the day after it.
    const isDay = range.end !== undefined && range.end === range.start
    const query = { start_date: range.start, end_date: isDay ? addDays(range.end, 1) : range.end }
    const answer = await context.send({ path: ['observations', id, 'json'], query })
    const body = bodyOf(answer)
    const details = record(body['seriesDetail'])
    const name = Object.hasOwn(details, id) ? id : (Object.keys(details)[0] ?? id)
    const detail = record(details[name])
    const dimension = text(record(detail['dimension'])['key']) ?? 'd'
    const rows = required(body, 'observations').flatMap((row) => asRow(row, name, dimension))
    const isRange = range.start !== undefined || range.end !== undefined
    const frequency =
      frequencyOf(detail) ?? (isRange ? await inferred(rows, id, context) : inferFrequency(datesOf(rows)))
    return {
      name: nameOf(id, text(detail['label']), text(detail['description'])),
      frequency,
      unit: unitOf(detail),
      notes: text(detail['description']),
      rows,
    }
  },
}

interface Entry {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** Reads a list, which is either an object by name or a list with a `name` in each entry. */
function catalogue(
  path: readonly string[],
  name: string,
  { cached }: ConnectorContext,
): Promise<readonly Entry[]> {
  return cached({ path }, (answer) => {
    const body = bodyOf(answer)
    const details = record(body['groupDetails'] ?? body['groupDetail'])
    const found = body[name] ?? details[name]
    if (found === undefined) throw notUnderstood(`${name} is missing`)
    return entriesOf(found)
  })
}

function entriesOf(found: Json): readonly Entry[] {
  const entries: readonly (readonly [string, JsonRecord])[] = isRecord(found)
    ? Object.entries(found).map(([id, entry]) => [id, record(entry)])
    : records(found).map((entry) => [firstText(entry, 'name', 'id') ?? '', entry])
  return entries.map(([id, entry]) => ({
    id,
    name: firstText(entry, 'label', 'description') ?? id,
    description: text(entry['description']) ?? '',
  }))
}

async function groups(context: ConnectorContext): Promise<readonly Category[]> {
  const all = await catalogue(['lists', 'groups', 'json'], 'groups', context)
  return all.map(({ id, name, description }) => category(`groups/${id}`, name, description))
}

async function allSeries(context: ConnectorContext): Promise<readonly SeriesInfo[]> {
  return (await catalogue(['lists', 'series', 'json'], 'series', context)).map(asSeries)
}

function asSeries({ id, name, description }: Entry): SeriesInfo {
  return listed({ series_id: id, name: nameOf(id, name, description), unit: unitOf({ label: name }) })
}

function bodyOf(answer: UpstreamAnswer): JsonRecord {
  return openBody(answer, (json, status) => {
    const body = record(json)
    const message = (status >= 400 && text(body['message'])) || ''
    if (/end date must be greater/i.test(message)) {
      const sentence = 'Bank of Canada has no data in this range: it may not begin in the future.'
      throw new ConnectorError('invalid_range', sentence)
    }
    if (/not found|does not exist|invalid series/i.test(message)) throw absent()
    return body
  })
}

/**
 * A label such as `USD/CAD` means the price of the first currency in the second; other labels say nothing about units.
 */
function unitOf(detail: JsonRecord): string | null {
  return (
    firstText(detail, 'unit', 'units') ??
    /^[A-Z]{3}\/([A-Z]{3})$/.exec(text(detail['label']) ?? '')?.[1] ??
    null
  )
}

function frequencyOf(detail: JsonRecord): string | null {
  const words = `${text(detail['frequency']) ?? ''} ${text(detail['description']) ?? ''}`
  return /\b(daily|weekly|monthly|quarterly|annual)\b/i.exec(words)?.[1]?.toLowerCase() ?? null
}

/** The label, unless it is a mere code such as `USD/CAD` or the id itself; then the description. */
function nameOf(id: string, label: string | null, description: string | null): string {
  const isCode = label === null || label === id || /^[A-Z]{3}\/[A-Z]{3}$/.test(label)
  return (isCode ? description || label : label) ?? id
}

/** How many of the latest observations are requested if a range has too few to tell the frequency. */
const RECENT = 12

/**
 * The frequency that the dates suggest. If the range has too few observations for that, the latest ones are requested.
 */
async function inferred(
  rows: readonly DatedRow[],
  id: string,
  context: ConnectorContext,
): Promise<string | null> {
  const found = inferFrequency(datesOf(rows))
  if (found !== null || rows.length > 2) return found
  const request = { path: ['observations', id, 'json'], query: { recent: RECENT } }
  const more = await optional(
    context.cached(request, (answer) => {
      const body = bodyOf(answer)
      return records(body['observations']).flatMap((row) => asRow(row, id, 'd'))
    }),
  )
  return more === undefined ? null : inferFrequency(datesOf(more))
}

function datesOf(rows: readonly DatedRow[]): readonly string[] {
  return rows.flatMap(({ time }) => time ?? []).sort()
}

type DatedRow = Row & { readonly time: string | null }

/** `{d: '2024-01-02', FXUSDCAD: {v: '1.33'}}`; the series names the key of its dimension. */
function asRow(row: JsonRecord, series: string, dimension: string): DatedRow[] {
  const cell = row[series]
  if (cell === undefined) return []
  return [{ time: firstText(row, dimension, 'd', 'date'), value: isRecord(cell) ? cell['v'] : cell }]
}
