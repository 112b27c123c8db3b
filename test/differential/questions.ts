import fc from 'fast-check'
import type { Query, QueryOptions } from '../../engine/index.ts'
import { evaluate } from '../filter/support/evaluate.ts'
import { isDecimal, type Model, type Row, type Value } from '../filter/support/model.ts'
import { print } from '../filter/support/print.ts'
import { Random } from '../filter/support/random.ts'
import { conditions } from './conditions.ts'
import { COLUMNS, type ModelRows, type TableColumn } from './tables.ts'

/** A question, and its answer by a model that knows neither SQL nor statistics. */
export interface Question {
  readonly options: QueryOptions
  /** Undefined where the question may fail. */
  readonly wanted: (table: ModelRows) => unknown
  readonly found: (query: Query) => Promise<unknown>
}

/** Something to sort by: its text, and its value in a row. */
interface Key {
  readonly text: string
  readonly of: (row: Row) => Value
}

const column = (name: string): Key => ({ text: name, of: (row) => row[name]! })

const CALCULATED: readonly Key[] = [
  { text: 'length(s)', of: ({ s }) => (s === null ? null : BigInt([...(s as string)].length)) },
  { text: 'year(day)', of: (row) => calculated('year', 'day', row) },
  { text: 'date(at)', of: (row) => calculated('date', 'at', row) },
  { text: '-d', of: ({ d }) => (d === null ? null : -(d as number)) },
  { text: '-j', of: ({ j }) => (j === null ? null : -(j as bigint)) },
  { text: "cast(i,'Edm.Int32')", of: ({ i }) => within(i!, -(2n ** 31n), 2n ** 31n - 1n) },
  { text: "cast(i,'Edm.Byte')", of: ({ i }) => within(i!, 0n, 255n) },
  { text: "cast(j,'Edm.Double')", of: ({ j }) => (j === null ? null : Number(j)) },
  { text: 'case(true:i)', of: ({ i }) => i! },
  { text: 'case(j gt 0:j)', of: ({ j }) => (j !== null && (j as bigint) > 0n ? j! : null) },
  { text: 'j mod 2 eq 0', of: ({ j }) => j !== null && (j as bigint) % 2n === 0n },
]

function calculated(name: string, of: string, row: Row): Value {
  const { type } = COLUMNS.find((one) => one.name === of)!
  const argument: Model = { kind: 'column', type, name: of }
  return evaluate({ kind: 'apply', name, type: 'integer', args: [argument] }, row).value!
}

function within(value: Value, low: bigint, high: bigint): Value {
  return value !== null && (value as bigint) >= low && (value as bigint) <= high ? value : null
}

interface Order {
  readonly key: Key
  readonly descending: boolean
}

const columns: fc.Arbitrary<TableColumn> = fc.constantFrom(...COLUMNS)
const keys: fc.Arbitrary<Key> = fc.oneof(
  { weight: 2, arbitrary: columns.map(({ name }) => column(name)) },
  { weight: 1, arbitrary: fc.constantFrom(...CALCULATED) },
)
const orders = (least: number): fc.Arbitrary<readonly Order[]> =>
  fc.array(fc.record({ key: keys, descending: fc.boolean() }), { minLength: least, maxLength: 3 })

const number = fc.oneof(fc.nat(10), fc.nat(9_000))
const windows: fc.Arbitrary<{ readonly skip?: number; readonly top?: number; readonly last?: number }> =
  fc.oneof(
    fc.record({ top: number }),
    fc.record({ skip: number, top: number }),
    fc.record({ skip: number }),
    fc.record({ last: number }),
  )
const filters = fc.option(conditions(), { nil: undefined })

/** Rows of a table: filtered, sorted and cut. */
export function sortedRows(
  least: number,
  filter: fc.Arbitrary<Model | undefined> = filters,
): fc.Arbitrary<Question> {
  return fc.tuple(filter, orders(least), windows).map(([condition, order, window]) => ({
    options: {
      ...(condition && { filter: textOf(condition) }),
      ...(order.length > 0 && {
        orderBy: order.map(({ key, descending }) => `${key.text}${descending ? ' desc' : ''}`).join(','),
      }),
      ...window,
      select: ['n'],
    },
    wanted: (table) => {
      const rows = passing(table, condition)
      return rows && cut(sorted(table, rows, order), window)
    },
    found: numbersOf,
  }))
}

/** How many rows a filter keeps. */
export function counts(): fc.Arbitrary<Question> {
  return conditions().map((condition) => ({
    options: { filter: textOf(condition) },
    wanted: (table) => passing(table, condition)?.length,
    found: (query) => query.count(),
  }))
}

/** Rows with the largest or smallest values. */
export function extremes(): fc.Arbitrary<Question> {
  return fc
    .tuple(filters, fc.boolean(), fc.integer({ min: 1, max: 3_000 }), keys)
    .map(([condition, top, most, key]) => ({
      options: {
        apply: `${stepOf(condition)}${top ? 'top' : 'bottom'}count(${most},${key.text})`,
        select: ['n'],
      },
      wanted: (table) => {
        const rows = passing(table, condition)
        return (
          rows &&
          sorted(table, rows, [{ key, descending: top }])
            .slice(0, most)
            .sort((a, b) => a - b)
        )
      },
      found: numbersOf,
    }))
}

/** The bounds of a column, how many values it has, and how many rows there are. */
export function bounds(): fc.Arbitrary<Question> {
  return fc.tuple(filters, columns).map(([condition, { name }]) => ({
    options: {
      apply:
        `${stepOf(condition)}aggregate($count as rows,${name} with min as low,${name} with max as high,` +
        `${name} with countdistinct as values)`,
    },
    wanted: (table) => {
      const rows = passing(table, condition)
      if (!rows) return undefined
      const texts = new Map<string, Value>()
      for (const at of new Set(rows.map((row) => table.at[row]!))) {
        const value = table.rows[at]![name]!
        if (value !== null) texts.set(shown(value), value)
      }
      const real = [...texts.values()].filter((value) => !Number.isNaN(value)).sort(compare)
      return [
        String(rows.length),
        ...[real[0], real.at(-1)].map((value) => shown(value ?? null)),
        String(texts.size),
      ]
    },
    found: async (query) => {
      const [row] = await rowsOf(query)
      const { rows, low, high, values } = row!
      return [String(rows), comparable(low, name), comparable(high, name), String(values)]
    },
  }))
}

/** Groups, in the order of their first rows. */
export function groups(): fc.Arbitrary<Question> {
  return fc.tuple(filters, columns).map(([condition, { name }]) => ({
    options: {
      apply: `${stepOf(condition)}groupby((${name}),aggregate($count as rows,n with min as first))`,
    },
    wanted: (table) => {
      const rows = passing(table, condition)
      if (!rows) return undefined
      const found = Map.groupBy(rows, (row) => shown(table.rows[table.at[row]!]![name]!))
      return [...found].map(([value, of]) => [value, of.length, of[0]])
    },
    found: async (query) => {
      const found = await rowsOf(query)
      return found.map((row) => [comparable(row[name], name), Number(row['rows']), Number(row['first'])])
    },
  }))
}

export function questions(): fc.Arbitrary<Question> {
  return fc.oneof(
    { weight: 4, arbitrary: sortedRows(0) },
    { weight: 3, arbitrary: counts() },
    { weight: 1, arbitrary: extremes() },
    { weight: 1, arbitrary: bounds() },
    { weight: 1, arbitrary: groups() },
  )
}

function textOf(condition: Model): string {
  return print(condition, new Random(1))
}

function stepOf(condition: Model | undefined): string {
  return condition ? `filter(${textOf(condition)})/` : ''
}

/** The numbers of the rows that a condition keeps; undefined where it may fail. */
function passing({ rows, at }: ModelRows, condition: Model | undefined): number[] | undefined {
  if (!condition) return at.map((_, row) => row)
  const outcomes = rows.map((row) => evaluate(condition, row))
  if (outcomes.some(({ value, failing }) => value === undefined || failing)) return undefined
  return at.flatMap((of, row) => (outcomes[of]!.value === true ? [row] : []))
}

/** Null comes first, and NaN after all numbers; of equal rows the first ones. */
function sorted({ rows, at }: ModelRows, numbers: readonly number[], order: readonly Order[]): number[] {
  const values = order.map(({ key }) => rows.map((row) => key.of(row)))
  return numbers.toSorted((a, b) => {
    for (const [index, { descending }] of order.entries()) {
      const sign = compare(values[index]![at[a]!]!, values[index]![at[b]!]!)
      if (sign !== 0) return descending ? -sign : sign
    }
    return a - b
  })
}

function compare(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  if (typeof a === 'number') {
    const unlike = Number(Number.isNaN(a)) - Number(Number.isNaN(b))
    return unlike !== 0 || Number.isNaN(a) ? unlike : a - (b as number) < 0 ? -1 : Number(a > (b as number))
  }
  const [x, y] = isDecimal(a) && isDecimal(b) ? [a.digits, b.digits] : [a as bigint, b as bigint]
  return x < y ? -1 : Number(x > y)
}

function cut(
  rows: readonly number[],
  { skip = 0, top, last }: { readonly skip?: number; readonly top?: number; readonly last?: number },
): readonly number[] {
  if (last !== undefined) return last === 0 ? [] : rows.slice(-last)
  return rows.slice(skip, top === undefined ? undefined : skip + top)
}

async function rowsOf(query: Query): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  for await (const row of query.rows()) rows.push(row)
  return rows
}

async function numbersOf(query: Query): Promise<number[]> {
  return (await rowsOf(query)).map(({ n }) => Number(n))
}

/** A value of the model as text, which tells values apart; the two zeros are one. */
function shown(value: Value): string {
  if (value === null) return 'null'
  if (isDecimal(value)) return String(value.digits)
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'number' ? String(value + 0) : String(value)
}

const DAY = 86_400_000n

/** The same text of a value that the engine gave. */
function comparable(value: unknown, name: string): string {
  if (value === null) return 'null'
  const { type } = COLUMNS.find((one) => one.name === name)!
  if (type === 'double') return String((value as number) + 0)
  const text = String(value)
  if (typeof type === 'object') return String(BigInt(text.replace('.', '')))
  switch (type) {
    case 'date':
      return String(BigInt(Date.parse(`${text}T00:00Z`)) / DAY)
    case 'time':
      return String(micros(text))
    case 'timestamp':
    case 'timestamptz': {
      const [day, clock] = text.replace('Z', '').split('T')
      return String(BigInt(Date.parse(`${day}T00:00Z`)) * 1000n + micros(clock!))
    }
    case 'string':
    case 'uuid':
      return JSON.stringify(text)
    default:
      return text
  }
}

function micros(clock: string): bigint {
  const [whole, fraction = ''] = clock.split('.')
  const [hours, minutes, seconds] = whole!.split(':').map(BigInt)
  return ((hours! * 60n + minutes!) * 60n + seconds!) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}
