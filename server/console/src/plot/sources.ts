import type { Column, Dataset } from '../../../client/index.ts'
import { fetchRows } from '../api.ts'
import type { Field, RowWindow } from '../csv.ts'
import type { CountedDataset } from '../dataset/exploration.ts'
import { filterName, isOrdered } from '../filter/syntax.ts'
import { formatCount, plural } from '../format.ts'
import type { Address } from '../router.ts'
import type { RowSource } from '../table/windows.ts'
import { bothFilters, type RowsOf, type View, whereOf, wherePart } from '../view/view.ts'
import {
  AGGREGATES,
  axisName,
  hasPosition,
  isTemporal,
  type PlotChoice,
  ROWS,
  readChoice,
  readResultChoice,
} from './choice.ts'
import {
  type Cell,
  cellsOf,
  type Drawing,
  drawingOf,
  MOST_LABELS,
  niceStep,
  numberOf,
  placeOf,
  seriesLabel,
} from './draw.ts'

const MOST_RESULT_ROWS = 2_000

/** What is drawn, and a sentence that says from which rows. */
export interface Drawn {
  readonly choice: PlotChoice
  readonly drawing: Drawing
  readonly source: string
  readonly bin?: number | undefined
}

/** Draws what the address chooses; null if there is nothing to draw. */
export type Draw = (
  query: Address['query'],
  signal: AbortSignal,
  onProgress: (share: number) => void,
) => Promise<Drawn | null>

export async function drawResult(
  query: Address['query'],
  { columns, fetch }: RowSource,
  signal: AbortSignal,
): Promise<Drawn | null> {
  const answer = await fetch({ skip: 0, top: MOST_RESULT_ROWS, signal })
  const choice = readResultChoice(query, columns, answer.rows)
  if (!choice) return null
  const all = answer.rows.length === answer.rowCount
  const source = all
    ? `All ${plural(answer.rowCount, 'row')} of the result.`
    : `The first ${plural(answer.rows.length, 'row')} of the ${formatCount(answer.rowCount)} in the result, in the order of the table.`
  return { choice, drawing: drawingOf(cellsOf(choice, columns, answer.rows)), source }
}

/** Draws the rows themselves, or what the server calculates of them. */
export async function drawRows(
  dataset: CountedDataset,
  view: View,
  query: Address['query'],
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<Drawn | null> {
  const choice = readChoice(query, view.columns)
  if (!choice) return null
  const { x, ys, by, aggregate } = choice
  const narrowed = view.filter !== '' || view.search !== ''
  if (aggregate !== 'none' || ys[0] === ROWS) {
    const { cells, grouping, bin } = await groupedCells(dataset, view, choice, signal)
    const rows = narrowed ? 'all rows that match' : `all ${plural(dataset.rowCount, 'row')}`
    const how = ys[0] === ROWS ? grouping : `${aggregate} ${grouping}`
    const source = `${ys[0] === ROWS ? 'Counted' : 'Calculated'} over ${rows}, ${how}.`
    return { choice, drawing: drawingOf(cells), source, bin }
  }
  const columns = [...new Set([x, ...ys, ...by])]
  const select = columns.map(({ name }) => name)
  const sample = await fetchSample(dataset.id, view, select, choice.size, signal, onProgress)
  const source =
    sample.rows.length >= sample.rowCount
      ? `From all ${plural(sample.rowCount, 'row')}${narrowed ? ' that match' : ''}.`
      : `From a sample of ${formatCount(sample.rows.length)} of ${plural(sample.rowCount, 'row')}, in stretches at equal distances.`
  const cells = cellsOf(choice, columns, sample.rows).filter(({ y }) => y !== null)
  return { choice, drawing: drawingOf(cells), source }
}

const STRIPES = 20

/**
 * Fetches all rows if they are at most `size`, else stripes of rows at equal distances. The first rows alone would not
 * be representative, because most tables grow in the order of time.
 */
async function fetchSample(
  datasetId: number,
  of: RowsOf,
  select: readonly string[],
  size: number,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<RowWindow> {
  const stripe = Math.floor(size / STRIPES)
  const ask = (skip: number, top: number) =>
    fetchRows(datasetId, { ...whereOf(of), select, skip, top, signal })
  const first = await ask(0, stripe)
  const { rowCount } = first
  const rows = [...first.rows]
  if (rowCount <= size) {
    if (rowCount > stripe) rows.push(...(await ask(stripe, rowCount - stripe)).rows)
    return { ...first, rows }
  }
  for (let at = 1; at < STRIPES; at += 1) {
    const skip = Math.floor(((rowCount - stripe) * at) / (STRIPES - 1))
    rows.push(...(await ask(skip, stripe)).rows)
    onProgress((at + 1) / STRIPES)
  }
  return { ...first, rows }
}

/** With at most this many values on the x axis, each is a group. */
const MOST_GROUPS = 366
const MOST_BINS = 40
const MOST_ROWS = 20_000
const DAY = 86_400_000

/** A column that `$apply` creates; datasets must not have columns with these names. */
const own = (name: string) => `plot__${name}`

/** Lets the server group all rows along x, and by the values of another column, and calculate y for each group. */
async function groupedCells(
  dataset: Dataset,
  rows: RowsOf,
  { x, ys, by, aggregate }: PlotChoice,
  signal: AbortSignal,
) {
  const ask = async (y: Column, apply: string, options: { orderBy?: string; top: number }) => {
    const placed = { ...rows, filter: bothFilters(rows.filter, hasPosition(y === ROWS ? [x] : [x, y])) }
    const query = { apply: `${wherePart(placed)}/${apply}`, version: rows.version, ...options, signal }
    return (await fetchRows(dataset.id, query)).rows
  }
  const group = isOrdered(x.type) ? await groupOf(x, (apply) => ask(ROWS, apply, { top: 1 })) : BY_VALUE(x)
  if (!group) return { cells: [], grouping: 'by value', bin: undefined }
  const keys = [...group.keys, ...by.map(({ name }) => filterName(name))]
  const cells = await Promise.all(
    ys.map(async (y): Promise<Cell[]> => {
      const value = y === ROWS ? `$count` : `${filterName(y.name)} with ${AGGREGATES[aggregate].method}`
      const grouped = `groupby((${keys.join(',')}),aggregate(${value} as ${own('value')}))`
      const found = await ask(y, group.compute ? `${group.compute}/${grouped}` : grouped, {
        top: !isOrdered(x.type) && by.length === 0 ? MOST_LABELS + 1 : MOST_ROWS,
        ...(!isOrdered(x.type) && { orderBy: `${own('value')} desc` }),
      })
      return found.map((row) => ({
        x: group.position(row),
        series: by.length > 0 ? seriesLabel(row[group.keys.length]) : axisName(y),
        y: numberOf(row.at(-1), 'double'),
      }))
    }),
  )
  return { cells: cells.flat(), grouping: group.grouping, bin: group.bin }
}

interface Group {
  /** The `compute` that derives the keys from x; '' if x itself is the key. */
  readonly compute: string
  readonly keys: readonly string[]
  /** How rows were grouped: 'by value', 'by month', 'in bins of 50'. */
  readonly grouping: string
  readonly bin?: number
  /** The position of a group on the x axis, from the values of its keys. */
  readonly position: (cells: readonly Field[]) => number | string
}

const BY_VALUE = ({ name, type }: Column): Group => ({
  compute: '',
  keys: [filterName(name)],
  grouping: 'by value',
  position: ([value]) => placeOf(value, type) ?? Number.NaN,
})

/** Groups by value if there are few values; else by the finest calendar unit, or by bins, that leaves few groups. */
async function groupOf(
  column: Column,
  ask: (apply: string) => Promise<RowWindow['rows']>,
): Promise<Group | undefined> {
  const [x, { type }] = [filterName(column.name), column]
  const figures = ['min', 'max', 'countdistinct'].map((method) => `${x} with ${method} as ${own(method)}`)
  const [[low, high, count] = []] = await ask(`aggregate(${figures.join(',')})`)
  if (low == null || high == null) return undefined
  if (Number(count) <= MOST_GROUPS) return BY_VALUE(column)
  const span = numberOf(high, type)! - numberOf(low, type)!
  if (isTemporal(type)) return byCalendar(x, span)
  if (span === Infinity) throw new Error(`The values of ${column.name} are too far apart for bins.`)
  const bin = niceStep(span / MOST_BINS)
  return {
    compute: `compute(floor(${x} divby ${bin}) as ${own('bin')})`,
    keys: [own('bin')],
    grouping: `in bins of ${bin}`,
    bin,
    position: ([at]) => (Number(at) + 0.5) * bin,
  }
}

/** The calendar units, and the longest time span in milliseconds in which each leaves a readable number of groups. */
const UNITS = [
  ['year', Number.POSITIVE_INFINITY],
  ['month', 30 * 365 * DAY],
  ['day', MOST_GROUPS * DAY],
  ['hour', 15 * DAY],
] as const

function byCalendar(x: string, span: number): Group {
  const parts = UNITS.filter(([, longest]) => span <= longest).map(([unit]) => unit)
  return {
    compute: `compute(${parts.map((part) => `${part}(${x}) as ${own(part)}`).join(',')})`,
    keys: parts.map(own),
    grouping: `by ${parts.at(-1)}`,
    position: (cells) => {
      const [year, month = 1, day = 1, hour = 0] = cells.slice(0, parts.length).map(Number)
      return Date.UTC(year!, month - 1, day, hour)
    },
  }
}
