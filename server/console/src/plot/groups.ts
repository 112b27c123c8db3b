import type { Column, Dataset } from '../../../client/index.ts'
import type { Field, RowWindow } from '../csv.ts'
import { filterName } from '../filter/types.ts'
import { bothFilters, fetchRows, type RowsOf, wherePart } from '../rows.ts'
import { AGGREGATES, axisName, hasPlace, isCategory, isTemporal, type PlotChoice, ROWS } from './choice.ts'
import { type Cell, labelOf, MOST_LABELS, niceStep, numberOf, toNumber } from './draw.ts'

/** With at most this many values on the x axis, each is a group. */
const MOST_GROUPS = 366
const MOST_BINS = 40
const MOST_ROWS = 20_000
const DAY = 86_400_000

/** A column that `$apply` creates; datasets must not have columns with these names. */
const own = (name: string) => `plot__${name}`

/** Lets the server group all rows along x, and by the values of another column, and calculate y for each group. */
export async function groupedCells(
  dataset: Dataset,
  rows: RowsOf,
  { x, ys, by, aggregate }: PlotChoice,
  signal: AbortSignal,
) {
  const ask = async (y: Column, apply: string, options: { orderBy?: string; top: number }) => {
    const placed = { ...rows, filter: bothFilters(rows.filter, hasPlace(y === ROWS ? [x] : [x, y])) }
    const query = { apply: `${wherePart(placed)}/${apply}`, version: rows.version, ...options, signal }
    return (await fetchRows(dataset.id, query)).rows
  }
  const group = isCategory(x.type) ? BY_VALUE(x) : await groupOf(x, (apply) => ask(ROWS, apply, { top: 1 }))
  if (!group) return { cells: [], grouping: 'by value', bin: undefined }
  const keys = [...group.keys, ...by.map(({ name }) => filterName(name))]
  const cells = await Promise.all(
    ys.map(async (y): Promise<Cell[]> => {
      const value = y === ROWS ? `$count` : `${filterName(y.name)} with ${AGGREGATES[aggregate].method}`
      const grouped = `groupby((${keys.join(',')}),aggregate(${value} as ${own('value')}))`
      const found = await ask(y, group.compute ? `${group.compute}/${grouped}` : grouped, {
        top: isCategory(x.type) && by.length === 0 ? MOST_LABELS + 1 : MOST_ROWS,
        ...(isCategory(x.type) && { orderBy: `${own('value')} desc` }),
      })
      return found.map((row) => ({
        x: group.place(row),
        series: by.length > 0 ? labelOf(row[group.keys.length]) : axisName(y),
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
  /** The width of a bin. */
  readonly bin?: number
  /** The position of a group on the x axis, from the values of its keys. */
  readonly place: (cells: readonly Field[]) => number | string
}

const BY_VALUE = ({ name, type }: Column): Group => ({
  compute: '',
  keys: [filterName(name)],
  grouping: 'by value',
  place: ([value]) => (isCategory(type) ? labelOf(value) : toNumber(value ?? '', type)),
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
  const span = toNumber(high, type) - toNumber(low, type)
  if (isTemporal(type)) return byCalendar(x, span)
  const bin = niceStep(span / MOST_BINS)
  return {
    compute: `compute(floor(${x} divby ${bin}) as ${own('bin')})`,
    keys: [own('bin')],
    grouping: `in bins of ${bin}`,
    bin,
    place: ([at]) => (Number(at) + 0.5) * bin,
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
    place: (cells) => {
      const [year, month = 1, day = 1, hour = 0] = cells.slice(0, parts.length).map(Number)
      return Date.UTC(year!, month - 1, day, hour)
    },
  }
}
