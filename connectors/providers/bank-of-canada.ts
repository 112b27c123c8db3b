import type { Category, Connector, ConnectorContext, SeriesInfo, UpstreamAnswer } from '../connector.ts'
import { invalidSeriesId, pathNotFound, seriesNotFound } from '../errors.ts'
import { observed } from '../observations.ts'
import { slice } from '../paging.ts'
import { inferFrequency } from '../periods.ts'
import {
  firstText,
  isRecord,
  type Json,
  type JsonRecord,
  notUnderstood,
  optional,
  record,
  records,
  required,
  text,
} from '../read.ts'
import { openBody, refusedStatus } from '../statuses.ts'

const info = {
  slug: 'bank-of-canada',
  name: 'Bank of Canada',
  description: 'Exchange rates, interest rates and financial statistics of Canada.',
  homepage: 'https://www.bankofcanada.ca/valet/docs',
  tier: 'free',
  baseUrl: 'https://www.bankofcanada.ca/valet',
  key: 'none',
  limits: { windows: [] },
} as const

const ROOT: readonly Category[] = [
  { path: 'groups', name: 'Groups', description: 'Series that belong together', series: false },
  { path: 'series', name: 'All series', description: 'Every series, by name', series: true },
]

/** https://www.bankofcanada.ca/valet/docs. Paths are `groups/FX_RATES_DAILY` and `series`. */
export const bankOfCanada: Connector = {
  info,
  freshSeconds: 1800,

  async browse(path, context) {
    if (path === '') return ROOT
    if (path === 'series') return []
    if (path !== 'groups') {
      groupOf(path)
      return []
    }
    const groups = await catalogue(['lists', 'groups', 'json'], 'groups', path, context)
    return groups.map(({ id, name, description }) => ({
      path: `groups/${id}`,
      name,
      description,
      series: true,
    }))
  },

  async list(path, page, context) {
    if (path === '' || path === 'groups') return { total: 0, series: [] }
    const members =
      path === 'series'
        ? await catalogue(['lists', 'series', 'json'], 'series', path, context)
        : await catalogue(['groups', groupOf(path)], 'groupSeries', path, context)
    return slice(members.map(asSeries), page)
  },

  async catalogue(context) {
    const groups = await catalogue(['lists', 'groups', 'json'], 'groups', 'groups', context)
    const series = await catalogue(['lists', 'series', 'json'], 'series', 'series', context)
    const categories = groups.map(({ id, ...group }) => ({ path: `groups/${id}`, ...group, series: true }))
    return { series: series.map(asSeries), categories }
  },

  async series(id, range, context) {
    if (!/^[\w.-]+$/.test(id)) throw invalidSeriesId(info, id, 'the name of a series, as FXUSDCAD')
    const query = { start_date: range.start, end_date: range.end }
    const answer = await context.send({ path: ['observations', id, 'json'], query })
    const body = bodyOf(answer, () => seriesNotFound(info, id))
    const details = record(body['seriesDetail'])
    const name = Object.hasOwn(details, id) ? id : (Object.keys(details)[0] ?? id)
    const detail = record(details[name])
    const dimension = text(record(detail['dimension'])['key']) ?? 'd'
    const rows = required(body, 'observations').flatMap((row) => asRow(row, name, dimension))
    const isRange = range.start !== undefined || range.end !== undefined
    const frequency =
      frequencyOf(detail) ?? (isRange ? await inferred(rows, id, context) : inferFrequency(datesOf(rows)))
    return {
      series_id: id,
      name: nameOf(id, text(detail['label']), text(detail['description'])),
      frequency,
      unit: unitOf(detail),
      lastUpdated: null,
      notes: text(detail['description']),
      observations: observed(rows, frequency),
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
  asked: string,
  { cached }: ConnectorContext,
): Promise<readonly Entry[]> {
  return cached({ path }, (answer) => {
    const body = bodyOf(answer, () => pathNotFound(info, asked))
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

function asSeries({ id, name, description }: Entry): SeriesInfo {
  return {
    series_id: id,
    name: nameOf(id, name, description),
    frequency: null,
    unit: unitOf({ label: name }),
    start: null,
    end: null,
  }
}

function groupOf(path: string): string {
  const group = /^groups\/([^/]+)$/.exec(path)?.[1]
  if (group === undefined) throw pathNotFound(info, path)
  return group
}

function bodyOf(answer: UpstreamAnswer, notFound: () => Error): JsonRecord {
  const body = record(openBody(answer, info, notFound))
  if (answer.status < 400) return body
  if (/not found|does not exist|invalid series/i.test(text(body['message']) ?? '')) throw notFound()
  throw refusedStatus(answer, info)
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
      const body = bodyOf(answer, () => seriesNotFound(info, id))
      return records(body['observations']).flatMap((row) => asRow(row, id, 'd'))
    }),
  )
  return more === undefined ? null : inferFrequency(datesOf(more))
}

function datesOf(rows: readonly DatedRow[]): readonly string[] {
  return rows.flatMap(({ time }) => time ?? []).sort()
}

interface DatedRow {
  readonly time: string | null
  readonly value: Json | undefined
}

/** `{d: '2024-01-02', FXUSDCAD: {v: '1.33'}}`; the series names the key of its dimension. */
function asRow(row: JsonRecord, series: string, dimension: string): DatedRow[] {
  const cell = row[series]
  if (cell === undefined) return []
  return [{ time: firstText(row, dimension, 'd', 'date'), value: isRecord(cell) ? cell['v'] : cell }]
}
