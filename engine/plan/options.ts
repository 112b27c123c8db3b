import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'

/** What a query may ask for. Everything is optional; without any it is the whole dataset in the order of upload. */
export interface QueryOptions {
  /** An OData 4.01 `$filter` expression. */
  readonly filter?: string
  /** Columns, in the order wanted; a list, or the text of `$select`. */
  readonly select?: string | readonly string[]
  /** Sort keys, the first one first; a list, or the text of `$orderby`. Ties keep the order of upload. */
  readonly orderBy?: string | readonly OrderKey[]
  /** At most so many rows from the start. Not together with `last`. */
  readonly top?: number
  /** At most so many rows from the end, in their order. Not together with `top` or `skip`. */
  readonly last?: number
  /** Rows to pass over at the start. */
  readonly skip?: number
}

export interface OrderKey {
  readonly column: string
  readonly descending?: boolean
}

/** The options, checked against the columns: complete, and nothing left to be wrong. */
export interface CheckedOptions {
  readonly filter: string | undefined
  readonly select: readonly number[]
  readonly order: readonly { readonly column: number; readonly descending: boolean }[]
  readonly skip: number
  readonly top: number | undefined
  readonly last: number | undefined
}

const KNOWN = ['filter', 'select', 'orderBy', 'top', 'last', 'skip']

/** @throws EngineError `invalid_option`, `invalid_columns` */
export function checkOptions(options: QueryOptions, columns: readonly Column[]): CheckedOptions {
  for (const key of Object.keys(options)) {
    if (!KNOWN.includes(key))
      throw invalid(`Unknown option ${JSON.stringify(key)}; known are ${KNOWN.join(', ')}.`)
  }
  const top = checkCount('$top', options.top)
  const last = checkCount('$last', options.last)
  const skip = checkCount('$skip', options.skip)
  if (top !== undefined && last !== undefined) throw invalid("$top and $last can't be used together.")
  if (skip !== undefined && last !== undefined) throw invalid("$skip and $last can't be used together.")
  const select = typeof options.select === 'string' ? parseSelect(options.select, columns) : options.select
  const orderBy =
    typeof options.orderBy === 'string' ? parseOrderBy(options.orderBy) : (options.orderBy ?? [])
  return {
    filter: options.filter,
    select: select === undefined ? columns.map((_, index) => index) : checkSelect(select, columns),
    order: checkOrder(orderBy, columns),
    skip: skip ?? 0,
    top,
    last,
  }
}

function checkCount(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value
  throw invalid(`${name} must be a whole number that is not negative; it is ${value}.`)
}

function checkSelect(names: readonly string[], columns: readonly Column[]): number[] {
  // `*` of a dataset without columns names none.
  if (names.length === 0 && columns.length > 0) throw invalid('$select names no column.')
  const indexes = lookUp('Select', names, columns)
  const seen = new Set<string>()
  const twice = names.find((name) => seen.has(name) || !seen.add(name))
  if (twice !== undefined) throw invalid(`$select names column ${JSON.stringify(twice)} twice.`)
  return indexes
}

function checkOrder(keys: readonly OrderKey[], columns: readonly Column[]) {
  const names = keys.map((key) => key.column)
  const indexes = lookUp('Orderby', names, columns)
  return keys.map((key, index) => ({ column: indexes[index]!, descending: key.descending ?? false }))
}

/** Indexes of named columns. All that don't exist are listed at once, each once, in the order found. */
function lookUp(option: string, names: readonly string[], columns: readonly Column[]): number[] {
  const indexes = new Map(columns.map((column, index) => [column.name, index]))
  const invalidNames = [...new Set(names.filter((name) => !indexes.has(name)))]
  if (invalidNames.length > 0) {
    throw new EngineError(
      'invalid_columns',
      `${option} contains invalid column(s): ${invalidNames.join(', ')}. Column names are case-sensitive.`,
      { details: { columns: invalidNames } },
    )
  }
  return names.map((name) => indexes.get(name)!)
}

/** `a,"Unit price"`; `*` stands for every column (OData 4.01 part 2, 5.1.4). */
function parseSelect(text: string, columns: readonly Column[]): string[] {
  return splitItems('$select', text).flatMap((item) =>
    item.text === '*' && !item.quoted ? columns.map((column) => column.name) : [item.text],
  )
}

/** `a desc,"Unit price" asc` (OData 4.01 part 2, 5.1.5, of columns alone). */
function parseOrderBy(text: string): OrderKey[] {
  return splitItems('$orderby', text).map((item) => {
    if (item.quoted) {
      const direction = /^(asc|desc)?$/i.exec(item.rest.trim())
      if (!direction) {
        throw invalid(
          `$orderby: expected asc or desc after "${item.text}", found ${JSON.stringify(item.rest.trim())}.`,
        )
      }
      return { column: item.text, descending: direction[1]?.toLowerCase() === 'desc' }
    }
    // One blank alone: a row of them, tried from each of its places, would take time by the square of its length.
    const direction = /[ \t](asc|desc)$/i.exec(item.text)
    if (!direction) return { column: item.text, descending: false }
    const column = item.text.slice(0, direction.index).trimEnd()
    return { column, descending: direction[1]!.toLowerCase() === 'desc' }
  })
}

interface Item {
  readonly text: string
  readonly quoted: boolean
  /** What follows a quoted name. */
  readonly rest: string
}

/** Splits at commas. A name in double quotes may hold anything, `""` being one quote. */
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
