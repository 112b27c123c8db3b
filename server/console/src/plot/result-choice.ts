import type { Column } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { toNumber } from '../profile/stats.ts'
import { isCategory, KINDS, type PlotKind, yColumns } from './choice.ts'
import { type Drawing, MOST_LABELS } from './group.ts'

export const MOST_RESULT_ROWS = 2_000
/** Stands in an address for all columns before the one that is drawn. */
export const TOGETHER = '*'
/** Few whole numbers, as months or years, stand beside each other as bars. */
const MOST_BARS = 40

/** What of a result is drawn. */
export interface ResultChoice {
  /** The column along which it is drawn; several of them name a bar together. */
  readonly x: readonly Column[]
  /** The columns that could name a bar together. */
  readonly together: readonly Column[]
  readonly y: Column
  readonly kind: PlotKind
}

/** What an address says; what it leaves open is chosen by what the columns are. */
export function readResultChoice(
  query: Readonly<Record<string, string>>,
  columns: readonly Column[],
  rows: readonly (readonly Field[])[],
): ResultChoice | undefined {
  const upwards = yColumns(columns)
  const named = (name: string | undefined) => columns.find((column) => column.name === name)
  // The columns that groups are made by come first, so what is calculated begins behind the first.
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

/** How many columns lie before the first that was calculated. */
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

/** Each row of a result as a point; names in the order of the rows, all else sorted along x. */
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
