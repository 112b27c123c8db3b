import { EngineError } from '../errors.ts'
import { valueType } from '../filter/check/value-types.ts'
import {
  type Building,
  readOrderBy,
  type SortKey,
  type StepColumn,
  sortKey,
  unknownColumns,
} from '../filter/index.ts'
import { type Names, requireKnown } from '../util/known-options.ts'

/** What a query may ask for. All options are optional; without any, the result is the whole dataset in upload order. */
export interface QueryOptions {
  /** An OData 4.01 `$filter` expression. */
  readonly filter?: string
  /** A pipeline of transformations, the text of `$apply`; all other options apply to its result. */
  readonly apply?: string
  /** Further columns, the text of `$compute`: `price mul 2 as double`. */
  readonly compute?: string
  /** Words to find in the text columns, the text of `$search`. */
  readonly search?: string
  /** The values of parameter aliases: `{ '@p': "'x'" }`. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Columns, in the order wanted; a list, or the text of `$select`. */
  readonly select?: string | readonly string[]
  /** Sort keys, most important first; a list, or the text of `$orderby`, with expressions. Ties keep their order. */
  readonly orderBy?: string | readonly OrderKey[]
  /** At most so many rows from the start. Not together with `last`. */
  readonly top?: number
  /** At most so many rows from the end; their order stays the same. Not together with `top` or `skip`. */
  readonly last?: number
  /** How many rows to leave out at the start. */
  readonly skip?: number
}

export interface OrderKey {
  readonly column: string
  readonly descending?: boolean
}

/** Which of the matching rows are in the result. */
export interface Window {
  readonly skip: number
  readonly top: number | undefined
  readonly last: number | undefined
}

const KNOWN: Names<QueryOptions> = {
  filter: true,
  apply: true,
  compute: true,
  search: true,
  aliases: true,
  select: true,
  orderBy: true,
  top: true,
  last: true,
  skip: true,
}

/** @throws EngineError `invalid_option` */
export function checkWindow(options: QueryOptions): Window {
  requireKnown(options, KNOWN)
  for (const key of ['filter', 'apply', 'compute', 'search'] as const) {
    const text: unknown = options[key]
    if (text === undefined || typeof text === 'string') continue
    throw invalid(`${key} must be text; it is ${text === null ? 'null' : typeof text}.`)
  }
  const { select, orderBy, aliases = {} } = options
  if (!isTextOrList(select, isText)) throw invalid('select must be text or a list of column names.')
  if (!isTextOrList(orderBy, isOrderKey))
    throw invalid('orderBy must be text or a list of keys such as {"column": "year", "descending": true}.')
  if (!Object.values(aliases).every(isText)) throw invalid('The values of aliases must be text.')
  const top = checkCount('$top', options.top)
  const last = checkCount('$last', options.last)
  const skip = checkCount('$skip', options.skip)
  if (top !== undefined && last !== undefined) throw invalid("$top and $last can't be used together.")
  if (skip !== undefined && last !== undefined) throw invalid("$skip and $last can't be used together.")
  return { skip: skip ?? 0, top, last }
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isTextOrList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || isText(value) || (Array.isArray(value) && value.every(isItem))
}

function isOrderKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { column, descending = false, ...others } = value as Record<string, unknown>
  return isText(column) && typeof descending === 'boolean' && Object.keys(others).length === 0
}

/**
 * The columns of the result: all of them if none were selected.
 * @throws EngineError `invalid_option`, `invalid_columns`
 */
export function checkSelection(
  select: QueryOptions['select'],
  columns: readonly StepColumn[],
): readonly StepColumn[] {
  if (select === undefined) return columns
  const names = typeof select === 'string' ? parseSelect(select, columns) : select
  // For a dataset without columns, `*` names none, which is no mistake.
  if (names.length === 0 && columns.length > 0) throw invalid('$select names no column.')
  const selected = lookUp('Select', names, columns)
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw invalid(`$select names column ${JSON.stringify(name)} twice.`)
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
  columns: readonly StepColumn[],
  building: Building,
): readonly SortKey[] {
  const keys = typeof orderBy === 'string' ? plainOrder(orderBy, columns) : (orderBy ?? [])
  if (!keys) return readOrderBy(orderBy as string, columns, building)
  const sorted = lookUp(
    'Orderby',
    keys.map((key) => key.column),
    columns,
  )
  return keys.map(({ descending = false }, index) => {
    const { sql, type } = sorted[index]!
    return sortKey(sql, valueType(type), descending, building)
  })
}

/**
 * Reads an order that is only a list of columns; their names need no quotes, whatever characters they have. Undefined
 * if it may contain expressions.
 */
function plainOrder(text: string, columns: readonly StepColumn[]): OrderKey[] | undefined {
  const names = new Set(columns.map((column) => column.name))
  const keys = parseOrderBy(text)
  const arePlain = keys?.every(({ column }) => names.has(column) || isIdentifier(column))
  return arePlain ? keys : undefined
}

function isIdentifier(name: string): boolean {
  return /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u.test(name)
}

function checkCount(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value
  throw invalid(`${name} must be a whole number that is not negative; it is ${value}.`)
}

/** Finds columns by their names. The error lists all names that don't exist, each once, in the order of `names`. */
function lookUp(option: string, names: readonly string[], columns: readonly StepColumn[]): StepColumn[] {
  const byName = new Map(columns.map((column) => [column.name, column]))
  const unknown = new Set(names.filter((name) => !byName.has(name)))
  if (unknown.size > 0) {
    throw unknownColumns(new Map([...unknown].map((name) => [name, -1])), '', columns, option)
  }
  return names.map((name) => byName.get(name)!)
}

/** `a,"Unit price"`; `*` stands for every column (OData 4.01 part 2, 5.1.4). */
function parseSelect(text: string, columns: readonly StepColumn[]): string[] {
  return splitItems('$select', text).flatMap((item) =>
    item.text === '*' && !item.quoted ? columns.map((column) => column.name) : [item.text],
  )
}

/** `a desc,"Unit price" asc`; undefined if an item is not a column with or without a direction. */
function parseOrderBy(text: string): OrderKey[] | undefined {
  const keys = splitItems('$orderby', text).map((item): OrderKey | undefined => {
    if (item.quoted) {
      const direction = /^(asc|desc)?$/i.exec(item.rest.trim())
      return direction ? { column: item.text, descending: direction[1]?.toLowerCase() === 'desc' } : undefined
    }
    // The expression matches one blank only. With `\s+`, a long row of blanks would be tried from each of its
    // positions, which takes time that grows with the square of its length.
    const direction = /\s(asc|desc)$/i.exec(item.text)
    if (!direction) return { column: item.text, descending: false }
    const column = item.text.slice(0, direction.index).trimEnd()
    return { column, descending: direction[1]!.toLowerCase() === 'desc' }
  })
  return keys.every((key) => key !== undefined) ? keys : undefined
}

interface Item {
  readonly text: string
  readonly quoted: boolean
  /** The text after a quoted name, up to the comma. */
  readonly rest: string
}

/** Splits at commas. A name in double quotes may contain any character; `""` in it stands for one quote. */
function splitItems(option: string, text: string): Item[] {
  const items: Item[] = []
  let at = 0
  for (;;) {
    const blank = /[ \t]*/y
    blank.lastIndex = at
    blank.exec(text)
    at = blank.lastIndex
    const quoted = /"((?:[^"]|"")*)"([^,]*)/y
    quoted.lastIndex = at
    const match = quoted.exec(text)
    if (match) {
      const rest = match[2]!
      if (option === '$select' && rest.trim() !== '') {
        throw invalid(
          `${option}: expected a comma after "${match[1]}", found ${JSON.stringify(rest.trim())}.`,
        )
      }
      items.push({ text: match[1]!.replaceAll('""', '"'), quoted: true, rest })
      at = quoted.lastIndex
    } else {
      if (text[at] === '"') throw invalid(`${option}: the quote at position ${at + 1} is never closed.`)
      const comma = text.indexOf(',', at)
      const end = comma < 0 ? text.length : comma
      const name = text.slice(at, end).trim()
      if (name === '') throw invalid(`${option}: a column name is missing at position ${at + 1}.`)
      items.push({ text: name, quoted: false, rest: '' })
      at = end
    }
    if (at >= text.length) return items
    at += 1
  }
}

function invalid(message: string): EngineError {
  return new EngineError('invalid_option', message)
}
