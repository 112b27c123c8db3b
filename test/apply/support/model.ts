import { asNumber, type Cell, compare, exact, type ModelColumn, type ModelTable } from './sample.ts'

/** One transformation of the model; `text` prints it. */
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
  | { readonly kind: 'group'; readonly keys: readonly string[]; readonly aggregates: readonly Aggregate[] }
  | { readonly kind: 'concat'; readonly branches: readonly (readonly Transformation[])[] }

export interface Aggregate {
  readonly method: string
  /** Undefined for `$count`. */
  readonly column: string | undefined
  readonly name: string
}

/** The standard's rules, row by row, with nothing of the engine's. */
export function apply(table: ModelTable, steps: readonly Transformation[]): ModelTable {
  return steps.reduce(transform, table)
}

function transform(table: ModelTable, step: Transformation): ModelTable {
  const { columns, rows } = table
  const at = (name: string) => columns.findIndex((column) => column.name === name)
  switch (step.kind) {
    case 'filter': {
      const index = at(step.column)
      return { columns, rows: rows.filter((row) => holds(row[index]!, step.operator, step.value)) }
    }
    case 'search': {
      const texts = columns.flatMap(({ type }, index) => (type === 'string' ? [index] : []))
      const found = (row: readonly Cell[]) =>
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
      const order = (a: readonly Cell[], b: readonly Cell[]) =>
        keys.reduce((found, { index, sign }) => found || sign * compare(a[index]!, b[index]!), 0)
      return { columns, rows: rows.toSorted(order) }
    }
    case 'top':
      return { columns, rows: rows.slice(0, step.count) }
    case 'skip':
      return { columns, rows: rows.slice(step.count) }
    case 'keep':
      return { columns, rows: kept(rows, at(step.column), step) }
    case 'group':
      return grouped(table, step)
    case 'concat':
      return { columns, rows: step.branches.flatMap((branch) => apply(table, branch).rows) }
  }
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

function times(cell: Cell, by: number): Cell {
  if (cell === null || typeof cell === 'string') return null
  return typeof cell === 'number' ? cell * by : exact(cell.digits * BigInt(by), cell.scale)
}

function kept(
  rows: readonly (readonly Cell[])[],
  index: number,
  { end, until, amount }: Extract<Transformation, { kind: 'keep' }>,
): readonly (readonly Cell[])[] {
  const sign = end === 'top' ? -1 : 1
  const order = rows
    .map((_, at) => at)
    .sort((a, b) => sign * compare(rows[a]![index]!, rows[b]![index]!) || a - b)
  const number = (at: number) => {
    const cell = rows[at]![index]!
    return cell === null || typeof cell === 'string' ? 0 : asNumber(cell)
  }
  const total = order.reduce((sum, at) => sum + number(at), 0)
  const taken = new Set<number>()
  let sum = 0
  for (const at of order) {
    const done =
      until === 'count'
        ? taken.size >= amount
        : until === 'sum'
          ? amount >= 0
            ? sum >= amount
            : sum <= amount
          : taken.size > 0 &&
            total !== 0 &&
            (total > 0 ? sum * 100 >= total * amount : sum * 100 <= total * amount)
    if (done) break
    taken.add(at)
    sum += number(at)
  }
  return rows.filter((_, at) => taken.has(at))
}

function grouped(
  { columns, rows }: ModelTable,
  { keys, aggregates }: Extract<Transformation, { kind: 'group' }>,
): ModelTable {
  const indexes = keys.map((key) => columns.findIndex(({ name }) => name === key))
  const groups = Map.groupBy(rows, (row) => JSON.stringify(indexes.map((index) => keyOf(row[index]!))))
  const lists = keys.length === 0 ? [rows] : [...groups.values()]
  const added = aggregates.map(({ name, method, column }): ModelColumn => {
    const source = columns.find((one) => one.name === column)
    if (column === undefined || method === 'countdistinct') return { name, type: 'integer', scale: 0 }
    if (method === 'average') return { name, type: 'double', scale: 0 }
    return { ...source!, name }
  })
  return {
    columns: [...indexes.map((index) => columns[index]!), ...added],
    rows: lists.map((list) => [
      ...indexes.map((index) => list[0]![index]!),
      ...aggregates.map(({ method, column }) => {
        const index = columns.findIndex(({ name }) => name === column)
        return column === undefined
          ? exact(list.length, 0)
          : aggregated(
              method,
              list.map((row) => row[index]!),
            )
      }),
    ]),
  }
}

function keyOf(cell: Cell): unknown {
  if (cell === null || typeof cell === 'string') return cell
  return typeof cell === 'number'
    ? Number.isNaN(cell)
      ? ['NaN']
      : [cell + 0]
    : [Number(cell.digits), cell.scale]
}

function aggregated(method: string, all: readonly Cell[]): Cell {
  if (method === 'first') return all[0] ?? null
  if (method === 'last') return all.at(-1) ?? null
  const cells = all.filter((cell) => cell !== null)
  if (method === 'countdistinct')
    return exact(new Set(cells.map((cell) => JSON.stringify(keyOf(cell)))).size, 0)
  if (cells.length === 0) return null
  if (method === 'min') return cells.reduce((a, b) => (compare(b, a) < 0 ? b : a))
  if (method === 'max') return cells.reduce((a, b) => (compare(b, a) > 0 ? b : a))
  const numbers = cells as readonly Exclude<Cell, null | string>[]
  if (typeof numbers[0] === 'number') {
    const sum = numbers.reduce<number>((total, cell) => total + asNumber(cell), 0)
    return method === 'average' ? sum / numbers.length : sum
  }
  const digits = numbers.reduce((total, cell) => total + (cell as { digits: bigint }).digits, 0n)
  const { scale } = numbers[0] as { scale: number }
  return method === 'average' ? Number(digits) / 10 ** scale / numbers.length : exact(digits, scale)
}
