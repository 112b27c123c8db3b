import type { Column, Dataset } from '../../../client/index.ts'
import { filterName } from '../filter/types.ts'
import { bothFilters, fetchRows, type RowsOf, wherePart } from '../rows.ts'
import { AGGREGATES, axisName, hasPlace, isCategory, isTemporal, type PlotChoice, ROWS } from './choice.ts'
import { type Cell, labelOf, MOST_LABELS, niceStep, numberOf, toNumber } from './draw.ts'

/** With at most this many values on the x axis, each is a group. */
const MOST_GROUPS = 366
const MOST_BINS = 40
const MOST_ROWS = 20_000
const DAY = 86_400_000

// Names of columns that `$apply` creates; datasets must not have columns with these names.
const LOW = 'plot__low'
const HIGH = 'plot__high'
const COUNT = 'plot__count'
const VALUE = 'plot__value'
const KEYS = ['plot__key0', 'plot__key1', 'plot__key2', 'plot__key3'] as const

export interface Grouped {
  readonly cells: readonly Cell[]
  /** How rows were grouped: 'by value', 'by month', 'in bins of 50'. */
  readonly grouping: string
  /** The width of a bin. */
  readonly bin?: number | undefined
}

/** Lets the server group all rows along x, and by the values of another column, and calculate y for each group. */
export async function groupedCells(
  dataset: Dataset,
  rows: RowsOf,
  { x, ys, by, aggregate }: PlotChoice,
  signal: AbortSignal,
): Promise<Grouped> {
  const ask = async (y: Column, apply: string, options: { orderBy?: string; top: number }) => {
    const own = { ...rows, filter: bothFilters(rows.filter, hasPlace(y === ROWS ? [x] : [x, y])) }
    const query = { apply: `${wherePart(own)}/${apply}`, version: rows.version, ...options, signal }
    return (await fetchRows(dataset.id, query)).rows
  }
  const group = isCategory(x.type) ? BY_VALUE(x) : await groupOf(x, (apply) => ask(ROWS, apply, { top: 1 }))
  if (!group) return { cells: [], grouping: 'by value' }
  const keys = [...group.keys, ...by.map(({ name }) => filterName(name))]
  const cells = await Promise.all(
    ys.map(async (y): Promise<Cell[]> => {
      const value = y === ROWS ? `$count` : `${filterName(y.name)} with ${AGGREGATES[aggregate].method}`
      const grouped = `groupby((${keys.join(',')}),aggregate(${value} as ${VALUE}))`
      const found = await ask(y, group.compute ? `${group.compute}/${grouped}` : grouped, {
        top: isCategory(x.type) && by.length === 0 ? MOST_LABELS + 1 : MOST_ROWS,
        ...(isCategory(x.type) && { orderBy: `${VALUE} desc` }),
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
  readonly grouping: string
  readonly bin?: number
  /** The position of a group on the x axis, from the values of its keys. */
  readonly place: (cells: readonly (string | null)[]) => number | string
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
  ask: (apply: string) => Promise<readonly (readonly (string | null)[])[]>,
): Promise<Group | undefined> {
  const [x, { type }] = [filterName(column.name), column]
  const [edges] = await ask(
    `aggregate(${x} with min as ${LOW},${x} with max as ${HIGH},${x} with countdistinct as ${COUNT})`,
  )
  const [low, high, count] = edges ?? []
  if (low == null || high == null) return undefined
  if (Number(count) <= MOST_GROUPS) return BY_VALUE(column)
  const span = toNumber(high, type) - toNumber(low, type)
  if (isTemporal(type)) return byCalendar(x, span)
  const bin = niceStep(span / MOST_BINS)
  return {
    compute: `compute(floor(${x} divby ${bin}) as ${KEYS[0]})`,
    keys: [KEYS[0]],
    grouping: `in bins of ${bin}`,
    bin,
    place: ([at]) => (Number(at) + 0.5) * bin,
  }
}

const UNITS = ['year', 'month', 'day', 'hour'] as const

/** The finest calendar unit that leaves a readable number of groups in a time span, given in milliseconds. */
function calendarUnit(span: number): (typeof UNITS)[number] {
  if (span <= 15 * DAY) return 'hour'
  if (span <= MOST_GROUPS * DAY) return 'day'
  return span <= 30 * 365 * DAY ? 'month' : 'year'
}

function byCalendar(x: string, span: number): Group {
  const unit = calendarUnit(span)
  const parts = UNITS.slice(0, UNITS.indexOf(unit) + 1)
  return {
    compute: `compute(${parts.map((part, at) => `${part}(${x}) as ${KEYS[at]}`).join(',')})`,
    keys: KEYS.slice(0, parts.length),
    grouping: `by ${unit}`,
    place: (cells) => {
      const [year, month = 1, day = 1, hour = 0] = cells.slice(0, parts.length).map(Number)
      return Date.UTC(year!, month - 1, day, hour)
    },
  }
}
