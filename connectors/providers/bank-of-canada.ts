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
  parseJson,
  record,
  records,
  required,
  text,
} from '../read.ts'

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

  async series(id, range, context) {
    if (!/^[\w.-]+$/.test(id)) throw invalidSeriesId(info, id, 'the name of a series, as FXUSDCAD')
    const query = { start_date: range.start, end_date: range.end }
    const answer = await context.send({ path: ['observations', id, 'json'], query })
    const body = bodyOf(answer, () => seriesNotFound(info, id))
    const details = record(body['seriesDetail'])
    const name = id in details ? id : (Object.keys(details)[0] ?? id)
    const detail = record(details[name])
    const dimension = text(record(detail['dimension'])['key']) ?? 'd'
    const rows = required(body, 'observations').flatMap((row) => asRow(row, name, dimension))
    const frequency = frequencyOf(detail) ?? inferFrequency(rows.flatMap(({ time }) => time ?? []).sort())
    return {
      series_id: id,
      name: firstText(detail, 'description', 'label') ?? id,
      frequency,
      unit: unitOf(detail),
      lastUpdated: null,
      observations: observed(rows, frequency),
    }
  },
}

interface Entry {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** Lists are objects by name, or lists with a `name` in each entry. */
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
    name: description === '' ? name : description,
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
  if (answer.status === 404) throw notFound()
  const body = record(parseJson(answer))
  if (answer.status < 400) return body
  if (/not found|does not exist|invalid series/i.test(text(body['message']) ?? '')) throw notFound()
  throw notUnderstood(`status ${answer.status}`)
}

/** `USD/CAD` is the price of the one in the other; other labels say nothing about units. */
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

/** `{d: '2024-01-02', FXUSDCAD: {v: '1.33'}}`; the series says under which key its dimension stands. */
function asRow(
  row: JsonRecord,
  series: string,
  dimension: string,
): { time: string | null; value: Json | undefined }[] {
  const cell = row[series]
  if (cell === undefined) return []
  return [{ time: firstText(row, dimension, 'd', 'date'), value: isRecord(cell) ? cell['v'] : cell }]
}
