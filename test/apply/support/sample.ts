import type { Random } from '../../filter/support/random.ts'

/** A number as the model has it: digits / 10^scale, exactly; or a double. */
export type Cell = null | string | number | { readonly digits: bigint; readonly scale: number }

export interface ModelColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'decimal' | 'double'
  /** Of decimals. */
  readonly scale: number
  /** Whether two ways to calculate it may round differently, so that nothing may hang on its last digit. */
  readonly rough?: boolean
}

/** A table of the model: rows in order. */
export interface ModelTable {
  readonly columns: readonly ModelColumn[]
  readonly rows: readonly (readonly Cell[])[]
}

export const COLUMNS: readonly ModelColumn[] = [
  { name: 'K', type: 'string', scale: 0 },
  { name: 'J', type: 'string', scale: 0 },
  { name: 'N', type: 'integer', scale: 0 },
  { name: 'P', type: 'decimal', scale: 2 },
  { name: 'D', type: 'double', scale: 0 },
]

const WORDS = ['Ärger', 'arger', 'milk', 'Milk', '', 'crème brûlée', 'b', '😀']

const UNUSUAL = [Number.NaN, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

/** Doubles are small multiples of a half, so that their sums are exact in any order. */
export function randomTable(random: Random, count: number): ModelTable {
  const orNull = (cell: () => Cell): Cell => (random.chance(0.15) ? null : cell())
  const rows = Array.from({ length: count }, () => [
    orNull(() => random.pick(WORDS)),
    orNull(() => random.pick(['x', 'y', 'z'])),
    orNull(() => exact(random.below(9) - 4, 0)),
    orNull(() => exact(random.below(700) - 300, 2)),
    orNull(() => (random.chance(0.15) ? random.pick(UNUSUAL) : (random.below(13) - 6) / 2)),
  ])
  return { columns: COLUMNS, rows }
}

export function exact(digits: number | bigint, scale: number): Cell {
  return { digits: BigInt(digits), scale }
}

/** A cell as text that DuckDB reads, and as it shows values. */
export function textOf(cell: Cell): string | null {
  if (cell === null || typeof cell === 'string') return cell
  if (typeof cell === 'number') return String(cell)
  if (cell.scale === 0) return String(cell.digits)
  const digits = String(cell.digits < 0n ? -cell.digits : cell.digits).padStart(cell.scale + 1, '0')
  return `${cell.digits < 0n ? '-' : ''}${digits.slice(0, -cell.scale)}.${digits.slice(-cell.scale)}`
}

/** Null is least, NaN the largest of numbers, texts go by code points. */
export function compare(a: Cell, b: Cell): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a === 'string' || typeof b === 'string')
    return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
  const [x, y] = [asNumber(a), asNumber(b)]
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y))
  return Number(x > y) - Number(x < y)
}

export function asNumber(cell: Exclude<Cell, null | string>): number {
  return typeof cell === 'number' ? cell : Number(cell.digits) / 10 ** cell.scale
}

/** What tells groups apart: all NaN are one, and the two zeros. */
export function keyOf(cell: Cell): unknown {
  if (cell === null || typeof cell === 'string') return cell
  if (typeof cell !== 'number') return [Number(cell.digits), cell.scale]
  return [String(cell + 0)]
}
