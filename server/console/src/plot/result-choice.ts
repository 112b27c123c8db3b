import type { Column } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { toNumber } from '../profile/stats.ts'
import { isCategory, KINDS, type PlotKind, yColumns } from './choice.ts'
import { type Drawing, MOST_LABELS } from './group.ts'

export const MOST_RESULT_ROWS = 2_000
/** In an address, means all columns before the one that is drawn. */
export const TOGETHER = '*'
/** Up to this many integers, such as months or years, are drawn as bars. */
const MOST_BARS = 40

/** What is drawn of a result. */
export interface ResultChoice {
  /** The column on the x axis, or several whose values together label a bar. */
  readonly x: readonly Column[]
  /** The columns whose values could together label a bar. */
  readonly together: readonly Column[]
  readonly y: Column
  readonly kind: PlotKind
}

/** Reads the choice from an address. What is missing is chosen by the columns. */
export function readResultChoice(
  query: Readonly<Record<string, string>>,
  columns: readonly Column[],
  rows: readonly (readonly Field[])[],
): ResultChoice | undefined {
  const upwards = yColumns(columns)
  const named = (name: string | undefined) => columns.find((column) => column.name === name)
  // The group keys come first, so the first calculated column is not column 0.
  const y =
    upwards.find((column) => column === named(query['y'])) ??
    upwards.find((column) => columns.indexOf(column) > 0) ??
    upwards[0]
  if (!y) return undefined
  const together = columns.slice(0, firstNumber(columns, y))
  const first = columns[0]!
  const values = rows.map(([value]) => value)
  const repeats = new Set(values).size < values.length
  const asked = query['x'] === TOGETHER && together.length > 1 ? together : undefined
  const one = named(query['x'])
  const x = asked ?? (one ? [one] : repeats && together.length > 1 ? together : [first])
  const kind = KINDS.find((known) => known === query['kind']) ?? kindFor(x, rows.length)
  return { x, together, y, kind }
}

/** The number of columns before the first calculated one. */
function firstNumber(columns: readonly Column[], y: Column): number {
  const at = columns.findIndex(
    ({ type }, index) => index > 0 && (type === 'double' || type.startsWith('decimal')),
  )
  return Math.max(1, Math.min(columns.indexOf(y), at < 0 ? columns.length : at))
}

function kindFor(x: readonly Column[], rows: number): PlotKind {
  const type = x.length > 1 ? 'string' : x[0]!.type
  if (isCategory(type)) return 'bar'
  if (type === 'integer' && rows <= MOST_BARS) return 'bar'
  return type === 'double' ? 'points' : 'line'
}

/** Makes a point of each row of a result. Labels keep the order of the rows; other points are sorted by x. */
export function drawResult(
  { x, y }: ResultChoice,
  columns: readonly Column[],
  rows: readonly (readonly Field[])[],
): Drawing {
  const places = x.map((column) => columns.indexOf(column))
  const up = columns.indexOf(y)
  const height = (row: readonly Field[]) => {
    const value = row[up]
    return value == null ? null : finite(toNumber(value, y.type))
  }
  if (x.length > 1 || isCategory(x[0]!.type)) {
    const shown = rows.slice(0, MOST_LABELS)
    return {
      points: shown.map((row, at) => ({ x: at, y: height(row) })),
      labels: shown.map((row) => places.map((place) => labelOf(row[place])).join(' · ')),
      grouping: undefined,
    }
  }
  const points = rows
    .flatMap((row) => {
      const value = row[places[0]!]
      const at = value == null ? null : finite(toNumber(value, x[0]!.type))
      return at === null ? [] : [{ x: at, y: height(row) }]
    })
    .sort((a, b) => a.x - b.x)
  return { points, labels: undefined, grouping: undefined }
}

function labelOf(value: Field | undefined): string {
  if (value == null) return 'no value'
  return value === '' ? 'empty text' : value
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
