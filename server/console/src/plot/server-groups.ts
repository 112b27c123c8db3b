import type { Dataset } from '../../../client/index.ts'
import { filterName } from '../filter/types.ts'
import { toLiteral, toNumber } from '../profile/stats.ts'
import { fetchRows } from '../rows.ts'
import { type Aggregate, hasPlace, isCategory, type PlotChoice } from './choice.ts'
import { type CalendarUnit, calendarUnit, type Drawing, MOST_GROUPS, MOST_LABELS } from './group.ts'

/** Aggregates that the server calculates over all rows. */
const METHODS: Partial<Record<Aggregate, string>> = {
  sum: 'sum',
  mean: 'average',
  min: 'min',
  max: 'max',
  median: 'median',
}
const BINS = 40

// Names of columns that `$apply` creates; datasets must not have columns with these names.
const LOW = 'plot__low'
const HIGH = 'plot__high'
const COUNT = 'plot__count'
const VALUE = 'plot__value'
const KEYS = ['plot__key0', 'plot__key1', 'plot__key2', 'plot__key3'] as const

export function isServerAggregate(aggregate: Aggregate): boolean {
  return METHODS[aggregate] !== undefined
}

/** Lets the server group all matching rows along x and aggregate y for each group. */
export async function serverDrawing(
  dataset: Dataset,
  filter: string,
  choice: PlotChoice,
  signal: AbortSignal,
): Promise<Drawing> {
  const type = dataset.columns.find(({ name }) => name === choice.x)!.type
  const [x, y] = [filterName(choice.x), filterName(choice.y)]
  const rows = [filter && `filter(${filter})`, `filter(${hasPlace(choice, dataset.columns)})`]
    .filter(Boolean)
    .join('/')
  const aggregate = `aggregate(${y} with ${METHODS[choice.aggregate]} as ${VALUE})`
  const ask = (apply: string, options: { orderBy?: string; top: number }) =>
    fetchRows(dataset.id, { apply: `${rows}/${apply}`, ...options, signal })

  if (isCategory(type)) {
    const answer = await ask(`groupby((${x}),${aggregate})`, { orderBy: `${VALUE} desc`, top: MOST_LABELS })
    return {
      points: answer.rows.map(([, value], at) => ({ x: at, y: Number(value) })),
      labels: answer.rows.map(([label]) => label ?? ''),
      grouping:
        answer.rowCount > MOST_LABELS
          ? `the ${MOST_LABELS} highest of ${answer.rowCount} values`
          : 'by value',
    }
  }

  const edges = `aggregate(${x} with min as ${LOW},${x} with max as ${HIGH},${x} with countdistinct as ${COUNT})`
  const [low, high, count] = (await ask(edges, { top: 1 })).rows[0] ?? []
  if (low == null || high == null) return { points: [], labels: undefined, grouping: 'by value' }
  const [from, to] = [toNumber(low, type), toNumber(high, type)]
  const group = groupOf(x, type, from, to, Number(count))
  const grouped = `groupby((${group.keys.join(',')}),${aggregate})`
  const answer = await ask(group.compute ? `${group.compute}/${grouped}` : grouped, { top: 10_000 })
  const points = answer.rows
    .map((cells) => ({ x: group.place(cells), y: Number(cells[group.keys.length]) }))
    .sort((a, b) => a.x - b.x)
  return { points, labels: undefined, grouping: group.grouping }
}

interface Group {
  /** The `compute` that derives the keys from x; '' if x itself is the key. */
  readonly compute: string
  readonly keys: readonly string[]
  readonly grouping: string
  /** The position of a group on the x axis, from the values of its keys. */
  readonly place: (cells: readonly (string | null)[]) => number
}

function groupOf(x: string, type: string, low: number, high: number, distinct: number): Group {
  if (distinct <= MOST_GROUPS) {
    return { compute: '', keys: [x], grouping: 'by value', place: ([value]) => toNumber(value ?? '', type) }
  }
  if (type === 'date' || type.startsWith('timestamp')) return calendarGroup(x, calendarUnit(high - low))
  const width = (high - low) / BINS
  const bin = `floor((${x} sub (${toLiteral(low, 'double')})) divby ${toLiteral(width, 'double')})`
  return {
    compute: `compute(${bin} as ${KEYS[0]})`,
    keys: [KEYS[0]],
    grouping: `${BINS} bins`,
    // The highest value belongs to the last bin, not to another one after it.
    place: ([at]) => low + (Math.min(Number(at), BINS - 1) + 0.5) * width,
  }
}

const UNITS = ['year', 'month', 'day', 'hour'] as const

function calendarGroup(x: string, unit: CalendarUnit): Group {
  const parts = UNITS.slice(0, UNITS.indexOf(unit) + 1)
  return {
    compute: `compute(${parts.map((part, at) => `${part}(${x}) as ${KEYS[at]}`).join(',')})`,
    keys: KEYS.slice(0, parts.length),
    grouping: `by ${unit}`,
    place: ([year, month = '1', day = '1', hour = '0']) =>
      Date.UTC(
        Number(year),
        parts.length > 1 ? Number(month) - 1 : 0,
        parts.length > 2 ? Number(day) : 1,
        parts.length > 3 ? Number(hour) : 0,
      ),
  }
}
