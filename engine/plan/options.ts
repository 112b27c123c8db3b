import { invalidOption } from '../errors.ts'
import {
  type Building,
  readNames,
  readOrderBy,
  type SortKey,
  type SqlColumn,
  sortKey,
  unknownColumns,
} from '../filter/index.ts'
import { valueType } from '../filter/values.ts'
import { type OptionsOf, type OrderKey, QUERY } from '../options.ts'
import { checkOptions } from '../util/known-options.ts'

/** What a query may ask for. All options are optional; without any, the result is the whole dataset in upload order. */
export interface QueryOptions extends OptionsOf<typeof QUERY> {}

/** Which of the matching rows are in the result. */
export interface Window {
  readonly skip: number
  readonly top?: number | undefined
  readonly last?: number | undefined
}

/** @throws EngineError `invalid_option` */
export function checkWindow(options: QueryOptions): Window {
  checkOptions(options, QUERY)
  const { skip = 0, top, last } = options
  return { skip, top, last }
}

/**
 * The columns of the result: all of them if none were selected.
 * @throws EngineError `invalid_option`, `invalid_columns`
 */
export function checkSelection(
  select: QueryOptions['select'],
  columns: readonly SqlColumn[],
): readonly SqlColumn[] {
  if (select === undefined) return columns
  const names = typeof select === 'string' ? parseSelect(select, columns) : select
  // For a dataset without columns, `*` names none, which is no mistake.
  if (names.length === 0 && columns.length > 0) throw invalidOption('$select names no column.')
  const selected = lookUp('Select', names, columns)
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw invalidOption(`$select names column ${JSON.stringify(name)} twice.`)
    seen.add(name)
  }
  return selected
}

/**
 * The keys that rows are sorted by.
 * @throws EngineError `invalid_option`, `invalid_columns`, `filter_type_error`, `filter_too_complex`
 */
export function checkOrder(
  orderBy: QueryOptions['orderBy'],
  columns: readonly SqlColumn[],
  building: Building,
): readonly SortKey[] {
  const keys = typeof orderBy === 'string' ? plainOrder(orderBy, columns) : (orderBy ?? [])
  if (!keys) return readOrderBy(orderBy as string, columns, building)
  const sorted = lookUp(
    'Orderby',
    keys.map((key) => key.column),
    columns,
  )
  building.noteColumns(sorted)
  return keys.map(({ descending = false }, index) => {
    const { sql, type } = sorted[index]!
    return sortKey(sql, valueType(type), descending, building)
  })
}

/**
 * Reads an order that is only a list of columns; their names need no quotes, whatever characters they have. Undefined
 * if it may contain expressions.
 */
function plainOrder(text: string, columns: readonly SqlColumn[]): OrderKey[] | undefined {
  const names = new Set(columns.map((column) => column.name))
  const items = plainNames(text)
  if (!items?.every(({ name }) => names.has(name) || isIdentifier(name))) return undefined
  return items.map(({ name, direction }) => ({
    column: name,
    descending: direction?.toLowerCase() === 'desc',
  }))
}

function plainNames(text: string) {
  try {
    return readNames('$orderby', text)
  } catch {
    return undefined
  }
}

function isIdentifier(name: string): boolean {
  return /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u.test(name)
}

/** Finds columns by their names. The error lists all names that don't exist, each once, in the order of `names`. */
function lookUp(option: string, names: readonly string[], columns: readonly SqlColumn[]): SqlColumn[] {
  const byName = new Map(columns.map((column) => [column.name, column]))
  const unknown = new Set(names.filter((name) => !byName.has(name)))
  if (unknown.size > 0) {
    throw unknownColumns(new Map([...unknown].map((name) => [name, -1])), '', columns, option)
  }
  return names.map((name) => byName.get(name)!)
}

/** `a,"Unit price"`; `*` stands for every column (OData 4.01 part 2, 5.1.4). */
function parseSelect(text: string, columns: readonly SqlColumn[]): string[] {
  return readNames('$select', text).flatMap(({ name, quoted, direction }) => {
    if (name === '*' && !quoted) return columns.map((column) => column.name)
    return direction === undefined ? name : `${name} ${direction}`
  })
}
