import {
  type Connector,
  type ConnectorContext,
  type Limit,
  type Page,
  providerInfo,
  type SeriesData,
  type SeriesInfo,
  type SeriesPage,
} from '../connector.ts'
import { absent, Failure, malformed, notUnderstood } from '../failures.ts'
import { parsePeriod } from '../periods.ts'
import { record, text } from '../read.ts'
import { open, type PxApi } from './api.ts'
import { type Cube, periodsOf, readCube, type Table } from './cube.ts'
import { parseKey, partsOf, type Selection, sizeOf } from './key.ts'

/** An office that publishes its tables with PxWeb. */
export interface Office {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly homepage: string
  readonly baseUrl: string
  readonly windows: readonly Limit[]
  /** The most cells of one answer. */
  readonly cells: number
  readonly api: PxApi
  /** A series, for the error message. */
  readonly example: string
}

/** The most cells of all answers for one id with wildcards. */
const MOST_CELLS = 1_000_000

/** A series id is a table and a code of each of its variables except time: `05810/0.999B.Personer`. */
export function pxwebConnector(office: Office): Connector {
  const { slug, name, description, homepage, baseUrl, windows, api } = office
  return {
    info: providerInfo({ slug, name, description, homepage, baseUrl, limits: { windows } }),
    freshSeconds: 3600,
    async at(path, context) {
      const node = await api.at(path, context)
      if (!('table' in node)) return node
      return { series: (page) => listed(node.id, timed(node.table), page) }
    },
    catalogue: async (context) => ({ series: [], categories: await api.catalogue(context) }),
    async series(id, _range, context) {
      const wanted = await wantedBy(office, id, context)
      if (sizeOf(wanted.selection) !== 1)
        throw malformed(
          `one code of each variable, as ${office.example}; an id with wildcards stands for several series`,
        )
      const [series] = await seriesOf(office, wanted, context)
      return { ...series!, series_id: id }
    },
    async many(id, _range, context) {
      const found = await seriesOf(office, await wantedBy(office, id, context), context)
      // Not every combination of codes has values.
      const filled = found.filter(({ rows }) => rows.some(({ value }) => text(value) !== null))
      if (filled.length === 0) throw absent()
      return filled
    },
  }
}

function idOf(path: string, codes: readonly string[]): string {
  return codes.length === 0 ? path : `${path}/${codes.join('.')}`
}

/** @throws Failure if the table has no time, or only periods such as `2005-2009` */
function timed(table: Table): Table {
  const isRead = periodsOf(table.times).some((period) => parsePeriod(period) !== undefined)
  if (!isRead) throw new Failure('no-time')
  return table
}

interface Wanted {
  readonly path: string
  readonly table: Table
  readonly selection: Selection
}

async function wantedBy({ api, example }: Office, id: string, context: ConnectorContext): Promise<Wanted> {
  const [path, key] = api.split(id) ?? []
  if (path === undefined || key === undefined)
    throw malformed(`a table and a code of each of its variables except time, as ${example}`)
  const table = timed(await api.table(path, context))
  const selection = parseKey(key, table.variables)
  if (selection !== undefined) return { path, table, selection }
  const names = table.variables.map(({ id: code, name }) => name ?? code).join(', ')
  throw malformed(`the table and a code of each of these variables, with points between them: ${names}`)
}

async function seriesOf(
  { api, cells }: Office,
  { path, table, selection }: Wanted,
  { send }: ConnectorContext,
): Promise<readonly SeriesData[]> {
  // A few periods may have been added since the metadata were read.
  const times = sizeOf(table.times.map(({ codes }, at) => (at === 0 ? [...codes, ''] : codes)))
  if (sizeOf(selection) * times > MOST_CELLS) throw new Failure('too-many-cells')
  const all: SeriesData[] = []
  for (const part of partsOf(selection, Math.max(1, Math.floor(cells / times)))) {
    const describe = describer(path, table, readCube(open(await send(api.data(path, table, part)))))
    for (const codes of combinations(part)) all.push(describe(codes))
  }
  return all
}

/** Each combination of one code of each variable; that of the last one changes first. */
function* combinations([codes, ...others]: Selection): Generator<readonly string[]> {
  if (codes === undefined) return yield []
  for (const code of codes) for (const rest of combinations(others)) yield [code, ...rest]
}

/** Gives the series of a combination of codes in an answer. */
function describer(path: string, table: Table, cube: Cube): (codes: readonly string[]) => SeriesData {
  const { about, units, adjustments } = cube
  const variables = table.variables.map((each) => ({
    ...each,
    labelOf: new Map(each.codes.map((code, at) => [code, each.labels[at]])),
    in: axisOf(cube, each.id),
  }))
  const times = table.times.map(({ id }) => axisOf(cube, id))
  const periods = periodsOf(times)
  const frequency = frequencyOf(periods)
  const steps = times.reduce<readonly number[]>(
    (cells, { codes, stride }) => cells.flatMap((cell) => codes.map((_, at) => cell + at * stride)),
    [0],
  )
  return (codes) => {
    const dimensions = variables.map(({ id, name, labelOf }, at) => {
      const code = codes[at]!
      return { id, name, code, label: labelOf.get(code) ?? null }
    })
    const first = variables.reduce((cell, { in: axis }, at) => cell + axis.at(codes[at]!) * axis.stride, 0)
    const measured = codes.find((code) => units[code] !== undefined) ?? ''
    return {
      series_id: idOf(path, codes),
      name: nameOf(
        table,
        dimensions.map(({ label, code }) => label ?? code),
      ),
      frequency,
      unit: text(record(units[measured])['base']),
      seasonalAdjustment: ADJUSTMENTS[text(adjustments[measured]) ?? ''] ?? null,
      dimensions,
      ...about,
      rows: steps.map((step, at) => ({
        time: periods[at],
        value: cube.valueAt(first + step) ?? null,
        status: statusOf(text(cube.statusAt(first + step))),
      })),
    }
  }
}

/** A variable of an answer: how far apart the cells of two neighbouring codes are, and the positions of its codes. */
function axisOf({ order }: Cube, id: string) {
  const found = order.findIndex((each) => each.id === id)
  if (found < 0) throw notUnderstood('the answer has other variables than those asked for')
  const variable = order[found]!
  const positions = new Map(variable.codes.map((code, at) => [code, at]))
  const stride = sizeOf(order.slice(found + 1).map(({ codes }) => codes))
  const at = (code: string) => {
    const position = positions.get(code)
    if (position === undefined) throw notUnderstood('the answer has other codes than those asked for')
    return position
  }
  return { ...variable, stride, at }
}

const ADJUSTMENTS: Readonly<Record<string, string>> = {
  SesOnly: 'Seasonally adjusted',
  WorkOnly: 'Calendar adjusted',
  WorkAndSes: 'Seasonally and calendar adjusted',
}

/** Points and dashes only say that there is no number. */
function statusOf(status: string | null): string | undefined {
  return status === null || /^[.:-]*$/.test(status) ? undefined : status
}

function frequencyOf(periods: readonly string[]): string | null {
  const found = new Set(periods.flatMap((period) => parsePeriod(period)?.frequency ?? []))
  return found.size === 1 ? [...found][0]! : null
}

function nameOf({ title }: Table, labels: readonly string[]): string {
  return [title, labels.join('; ')].filter((part) => part !== '').join(': ')
}

/** A page of all combinations of codes, in the order of the table. */
function listed(path: string, { variables, times }: Table, { limit, offset }: Page): SeriesPage {
  const total = sizeOf(variables.map(({ codes }) => codes))
  const periods = periodsOf(times)
  const dates = periods.flatMap((period) => parsePeriod(period)?.date ?? []).sort()
  const series = Array.from(
    { length: Math.max(0, Math.min(limit, total - offset)) },
    (_, index): SeriesInfo => {
      let rest = offset + index
      const places = variables.toReversed().map(({ codes }) => {
        const place = rest % codes.length
        rest = Math.floor(rest / codes.length)
        return place
      })
      const chosen = variables.map((variable, at) => ({
        variable,
        place: places[variables.length - 1 - at]!,
      }))
      return {
        series_id: idOf(
          path,
          chosen.map(({ variable, place }) => variable.codes[place]!),
        ),
        name: chosen
          .map(({ variable, place }) => variable.labels[place] ?? variable.codes[place]!)
          .join('; '),
        frequency: frequencyOf(periods),
        unit: null,
        start: dates[0] ?? null,
        end: dates.at(-1) ?? null,
      }
    },
  )
  return { total, series }
}
