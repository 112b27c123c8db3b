import type { Row, SeriesData, SeriesRange } from '../connector.ts'
import { invalid } from '../errors.ts'
import { malformed } from '../failures.ts'
import { text } from '../read.ts'
import { isExact, parseSeriesId } from './ids.ts'
import { fetchMany } from './series/series.ts'
import type { Editions, Session } from './session.ts'

/** The values that each period had, by the editions of a series; `id` leaves their dimension open. */
export async function editionsOf(
  session: Session,
  { flow, dimension }: Editions,
  id: string,
  range: SeriesRange,
): Promise<SeriesData> {
  const { service } = session
  const parsed = parseSeriesId(id)
  if (parsed && parsed.flow.id !== flow) {
    const sentence = `${service.name} has vintages only in the dataflow ${flow}, whose ids leave ${dimension} open.`
    throw invalid(sentence, service.slug)
  }
  if (!parsed || isExact(parsed.key)) throw malformed(`a key that leaves ${dimension} open and nothing else`)
  const all = await fetchMany(session, id, { start: range.start, end: range.end })
  const editions = all.map((series) => ({ series, month: editionOf(series, dimension) }))
  if (editions.some(({ month }) => month === undefined) || differ(all, dimension))
    throw malformed(`a key that leaves ${dimension} open and nothing else`)
  editions.sort((a, b) => (a.month! < b.month! ? -1 : 1))
  const { vintages } = range
  const wanted = typeof vintages === 'number' ? editions.slice(-vintages) : editions
  const rows = valuesOf(wanted.map(({ series, month }) => ({ rows: series.rows, from: month! })))
  const { series } = editions.at(-1)!
  const edition = series.dimensions?.find((one) => one.id === dimension)
  return {
    ...series,
    series_id: id,
    name: series.name.replace(`, ${edition?.label ?? edition?.code}`, ''),
    dimensions: series.dimensions?.filter((one) => one.id !== dimension) ?? null,
    rows: rows.flatMap((values) => (vintages === 'first' ? values.slice(0, 1) : values)),
  }
}

/** The first day of the month of an edition, ISO. */
function editionOf({ dimensions }: SeriesData, dimension: string): string | undefined {
  const code = dimensions?.find(({ id }) => id === dimension)?.code ?? ''
  const [, year, month] = /^(\d{4})-?(0[1-9]|1[0-2])$/.exec(code) ?? []
  return year === undefined ? undefined : `${year}-${month}-01`
}

/** Whether series differ in more than a dimension. */
function differ(all: readonly SeriesData[], dimension: string): boolean {
  const keys = all.map(({ dimensions = [] }) =>
    (dimensions ?? []).flatMap(({ id, code }) => (id === dimension ? [] : `${id}=${code}`)).join(),
  )
  return new Set(keys).size > 1
}

type Known = Row & { readonly known: NonNullable<Row['known']> }

/** For each period its values, each from the first edition that has it to the one that has another value or none. */
function valuesOf(editions: readonly { readonly rows: readonly Row[]; readonly from: string }[]): Known[][] {
  const periods = new Map<string, Known[]>()
  for (const { rows, from } of editions) {
    const now = new Map(rows.map((row) => [text(row.time) ?? '', row]))
    for (const [time, values] of periods) {
      const last = values.at(-1)!
      const row = now.get(time)
      const isSame = row !== undefined && text(row.value) === text(last.value) && row.status === last.status
      if (last.known.to !== null) continue
      if (isSame) now.delete(time)
      else values[values.length - 1] = { ...last, known: { ...last.known, to: from } }
    }
    for (const [time, row] of now) {
      const values = periods.get(time) ?? []
      values.push({ ...row, known: { from, to: null } })
      periods.set(time, values)
    }
  }
  return [...periods.values()]
}
