import { asNumber, type Cell, compare, exact, keyOf, type ModelColumn, type ModelTable } from './sample.ts'

/** `column mul times with method as name`. */
export interface Aggregate {
  readonly method: string
  /** Undefined for `$count`. */
  readonly column: string | undefined
  readonly times?: number
  readonly name: string
}

/** Methods whose last digits depend on the way of calculating. */
export const ROUGH: readonly string[] = ['median', 'var', 'stdev', 'p0', 'p7', 'p50', 'p95', 'p100']

/** The column that an aggregate makes of a table, and its value for the rows of a group. */
export function aggregated(
  { columns }: ModelTable,
  aggregate: Aggregate,
): { readonly column: ModelColumn; readonly of: (rows: readonly (readonly Cell[])[]) => Cell } {
  const { method, column, times: by = 1 } = aggregate
  const index = columns.findIndex(({ name }) => name === column)
  return {
    column: columnOf(columns[index], aggregate),
    of: (rows) =>
      column === undefined
        ? exact(rows.length, 0)
        : reduced(
            method,
            rows.map((row) => times(row[index]!, by)),
          ),
  }
}

export function columnOf(source: ModelColumn | undefined, { method, name }: Aggregate): ModelColumn {
  if (!source || method === 'countdistinct') return { name, type: 'integer', scale: 0 }
  const rough = source.rough ?? false
  if (ROUGH.includes(method)) return { name, type: 'double', scale: 0, rough: true }
  // The mean of exact numbers is rounded once; whatever is added to it is rounded again.
  if (method === 'average') return { name, type: 'double', scale: 0, rough: true }
  return { ...source, name, rough }
}

export function times(cell: Cell, by: number): Cell {
  if (cell === null || by === 1) return cell
  if (typeof cell === 'string') return null
  return typeof cell === 'number' ? cell * by : exact(cell.digits * BigInt(by), cell.scale)
}

function reduced(method: string, all: readonly Cell[]): Cell {
  if (method === 'first') return all[0] ?? null
  if (method === 'last') return all.at(-1) ?? null
  const cells = all.filter((cell) => cell !== null)
  if (method === 'countdistinct')
    return exact(new Set(cells.map((cell) => JSON.stringify(keyOf(cell)))).size, 0)
  if (cells.length === 0) return null
  if (method === 'min' || method === 'max') {
    const sign = method === 'min' ? 1 : -1
    return cells.filter((cell) => !Number.isNaN(cell)).sort((a, b) => sign * compare(a, b))[0] ?? null
  }
  return ofNumbers(method, cells as readonly Exclude<Cell, null | string>[])
}

function ofNumbers(method: string, cells: readonly Exclude<Cell, null | string>[]): Cell {
  const doubles = cells.map(asNumber)
  if (method === 'sum') {
    const [first] = cells
    if (typeof first === 'number') return total(doubles)
    return exact(
      cells.reduce((sum, cell) => sum + (cell as { digits: bigint }).digits, 0n),
      first!.scale,
    )
  }
  if (method === 'average') return total(doubles) / doubles.length
  if (method === 'median') return quantile(doubles, 0.5)
  if (method === 'var') return variance(doubles)
  if (method === 'stdev') {
    const spread = variance(doubles)
    return spread === null ? null : Math.sqrt(spread)
  }
  return quantile(doubles, Number(method.slice(1)) / 100)
}

/** Between two values in proportion; NaN lies above all numbers. */
function quantile(doubles: readonly number[], share: number): number {
  const sorted = doubles.toSorted(compare)
  const place = share * (sorted.length - 1)
  const low = sorted[Math.floor(place)]!
  const high = sorted[Math.ceil(place)]!
  return low === high || place === Math.floor(place) ? low : between(low, high, place - Math.floor(place))
}

/** Written so that it holds for infinities, too. */
function between(low: number, high: number, share: number): number {
  return low * (1 - share) + high * share
}

/** Of a sample. */
function variance(doubles: readonly number[]): number | null {
  if (doubles.length < 2) return null
  const mean = total(doubles) / doubles.length
  return total(doubles.map((double) => (double - mean) ** 2)) / (doubles.length - 1)
}

function total(doubles: readonly number[]): number {
  return doubles.reduce((sum, double) => sum + double, 0)
}
