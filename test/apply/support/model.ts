import { type Aggregate, aggregated, times } from './model-aggregates.ts'
import { type Cell, compare, keyOf, type ModelColumn, type ModelTable } from './sample.ts'

/** One transformation of the model; `print` writes it. */
export type Transformation =
  | { readonly kind: 'filter'; readonly column: string; readonly operator: string; readonly value: Cell }
  | { readonly kind: 'search'; readonly word: string; readonly denied: boolean }
  | { readonly kind: 'compute'; readonly column: string; readonly times: number; readonly name: string }
  | {
      readonly kind: 'orderby'
      readonly keys: readonly { readonly column: string; readonly descending: boolean }[]
    }
  | { readonly kind: 'top' | 'skip'; readonly count: number }
  | {
      readonly kind: 'keep'
      readonly end: 'top' | 'bottom'
      readonly until: 'count' | 'sum' | 'percent'
      readonly amount: number
      readonly column: string
    }
  | { readonly kind: 'aggregate'; readonly aggregates: readonly Aggregate[] }
  | {
      readonly kind: 'groupby'
      /** A list among them is a rollup. */
      readonly keys: readonly (string | readonly string[])[]
      readonly steps: readonly Transformation[]
    }
  | { readonly kind: 'concat'; readonly branches: readonly (readonly Transformation[])[] }

/** A group lost its rows before it was aggregated. The standard gives it a row; we refuse the question. */
export class Emptied extends Error {}

/** The groups within which steps happen: the keys, and the groups that there were at the start. */
interface Within {
  readonly keys: readonly string[]
  readonly groups: number
}

const WHOLE: Within = { keys: [], groups: 1 }

/** The standard's rules, row by row, with nothing of the engine's. @throws Emptied */
export function apply(table: ModelTable, steps: readonly Transformation[], within = WHOLE): ModelTable {
  return steps.reduce((before, step) => transform(before, step, within), table)
}

function transform(table: ModelTable, step: Transformation, within: Within): ModelTable {
  const { columns, rows } = table
  const at = (name: string) => columns.findIndex((column) => column.name === name)
  /** Rows that are kept in their group stay where they are. */
  const eachGroup = (keep: (list: readonly Row[]) => readonly Row[]) => {
    const kept = new Set(split(table, within.keys).flatMap((list) => keep(list)))
    return { columns, rows: rows.filter((row) => kept.has(row)) }
  }
  switch (step.kind) {
    case 'filter': {
      const index = at(step.column)
      return { columns, rows: rows.filter((row) => holds(row[index]!, step.operator, step.value)) }
    }
    case 'search': {
      const texts = columns.flatMap(({ type }, index) => (type === 'string' ? [index] : []))
      const found = (row: Row) =>
        texts.some((index) => row[index] !== null && plain(String(row[index])).includes(plain(step.word)))
      return { columns, rows: rows.filter((row) => found(row) !== step.denied) }
    }
    case 'compute': {
      const index = at(step.column)
      const column = { ...columns[index]!, name: step.name }
      return {
        columns: [...columns, column],
        rows: rows.map((row) => [...row, times(row[index]!, step.times)]),
      }
    }
    case 'orderby': {
      const keys = step.keys.map(({ column, descending }) => ({
        index: at(column),
        sign: descending ? -1 : 1,
      }))
      const order = (a: Row, b: Row) =>
        keys.reduce((found, { index, sign }) => found || sign * compare(a[index]!, b[index]!), 0)
      return { columns, rows: rows.toSorted(order) }
    }
    case 'top':
      return eachGroup((list) => list.slice(0, step.count))
    case 'skip':
      return eachGroup((list) => list.slice(step.count))
    case 'keep':
      return eachGroup((list) => kept(list, at(step.column), columns[at(step.column)]!.scale, step))
    case 'aggregate':
      return summedUp(table, step.aggregates, within)
    case 'groupby':
      return grouped(table, step, within)
    case 'concat':
      return brought(step.branches.map((branch) => apply(table, branch, within)))
  }
}

type Row = readonly Cell[]

/** The rows of each group, the groups in the order of their first rows. Without keys there is one group, always. */
function split({ columns, rows }: ModelTable, keys: readonly string[]): readonly (readonly Row[])[] {
  if (keys.length === 0) return [rows]
  const indexes = keys.map((key) => columns.findIndex(({ name }) => name === key))
  return [...Map.groupBy(rows, (row) => JSON.stringify(indexes.map((index) => keyOf(row[index]!)))).values()]
}

function summedUp(table: ModelTable, aggregates: readonly Aggregate[], { keys, groups }: Within): ModelTable {
  const { columns } = table
  const lists = split(table, keys)
  if (lists.length < groups) throw new Emptied()
  const indexes = keys.map((key) => columns.findIndex(({ name }) => name === key))
  const made = aggregates.map((aggregate) => aggregated(table, aggregate))
  return {
    columns: [...indexes.map((index) => columns[index]!), ...made.map(({ column }) => column)],
    rows: lists.map((list) => [
      ...indexes.map((index) => list[0]![index]!),
      ...made.map(({ of }) => of(list)),
    ]),
  }
}

function grouped(
  table: ModelTable,
  { keys, steps }: Extract<Transformation, { kind: 'groupby' }>,
  within: Within,
): ModelTable {
  const groupings = keys.reduce<readonly (readonly string[])[]>(
    (before, key) =>
      before.flatMap((one) =>
        typeof key === 'string'
          ? [[...one, key]]
          : key.map((_, shorter) => [...one, ...key.slice(0, key.length - shorter)]),
      ),
    [[]],
  )
  const tables = groupings.map((grouping) => {
    const all = [...new Set([...within.keys, ...grouping])]
    const inside = { keys: all, groups: split(table, all).length }
    return steps.length === 0 ? summedUp(table, [], inside) : apply(table, steps, inside)
  })
  return tables.length === 1 ? tables[0]! : brought(tables)
}

/** Rows of one table after the other. A column that one of them lacks is null there. */
function brought(tables: readonly ModelTable[]): ModelTable {
  const names = [...new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)))]
  const columns = names.map((name): ModelColumn => {
    const same = tables.flatMap((table) => table.columns.filter((column) => column.name === name))
    return same.find(({ rough }) => rough) ?? same[0]!
  })
  const rows = tables.flatMap((table) => {
    const places = names.map((name) => table.columns.findIndex((column) => column.name === name))
    return table.rows.map((row) => places.map((place) => (place < 0 ? null : row[place]!)))
  })
  return { columns, rows }
}

function holds(cell: Cell, operator: string, value: Cell): boolean {
  const isNone = (one: Cell) => typeof one === 'number' && Number.isNaN(one)
  if (operator === 'eq' || operator === 'ne') {
    const same =
      cell === null || value === null ? cell === value : !isNone(cell) && compare(cell, value) === 0
    return same === (operator === 'eq')
  }
  if (cell === null || value === null || isNone(cell)) return false
  const order = compare(cell, value)
  return operator === 'gt'
    ? order > 0
    : operator === 'ge'
      ? order >= 0
      : operator === 'lt'
        ? order < 0
        : order <= 0
}

function plain(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

function kept(
  rows: readonly Row[],
  index: number,
  scale: number,
  { end, until, amount }: Extract<Transformation, { kind: 'keep' }>,
): readonly Row[] {
  const sign = end === 'top' ? -1 : 1
  const order = rows
    .map((_, at) => at)
    .sort((a, b) => sign * compare(rows[a]![index]!, rows[b]![index]!) || a - b)
  // Exactly, since a sum may come to nothing.
  const digits = (at: number) => {
    const cell = rows[at]![index]
    return typeof cell === 'object' && cell !== null ? cell.digits : 0n
  }
  const total = order.reduce((sum, at) => sum + digits(at), 0n)
  const wanted = BigInt(amount) * 10n ** BigInt(scale)
  const taken = new Set<number>()
  let sum = 0n
  for (const at of order) {
    const done =
      until === 'count'
        ? taken.size >= amount
        : until === 'sum'
          ? sum >= wanted
          : taken.size > 0 &&
            total !== 0n &&
            (total > 0n ? sum * 100n >= total * BigInt(amount) : sum * 100n <= total * BigInt(amount))
    if (done) break
    taken.add(at)
    sum += digits(at)
  }
  return rows.filter((_, at) => taken.has(at))
}
