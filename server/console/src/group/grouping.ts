import type { Column } from '../../../client/index.ts'
import { familyOf, filterName } from '../filter/syntax.ts'

/** The state of the form: the columns to group by, and what is calculated for each group. */
export interface Grouping {
  readonly keys: readonly Key[]
  readonly sums: readonly Sum[]
}

/** What the text calls a column of the result, where `writeGrouping` would call it otherwise. */
interface Named {
  readonly name?: string | undefined
}

export interface Key extends Named {
  readonly column: string
  /** '' to group by the values themselves. */
  readonly part: Part
}

export interface Sum extends Named {
  /** '' for a count of rows. */
  readonly column: string
  readonly method: Method
}

/** The parts of values by which rows are grouped, as the form calls them. */
export const PARTS = {
  '': 'each value',
  year: 'year',
  quarter: 'quarter, as 2024 Q1',
  month_start: 'month, as 2024-01-01',
  month: 'month of the year',
  day: 'day of the month',
  date: 'day',
  hour: 'hour',
} as const
export type Part = keyof typeof PARTS

/** The expression of a part of a column. */
function partOf(part: Part, column: string): string {
  if (part === 'month_start') return `date(${column}) sub (day(${column}) sub 1) mul duration'P1D'`
  if (part !== 'quarter') return `${part}(${column})`
  return `concat(concat(cast(year(${column}),Edm.String),' Q'),cast((month(${column}) add 2) div 3,Edm.String))`
}

/** What is calculated, as the form calls it. */
export const METHODS = {
  count: 'number of rows',
  sum: 'sum',
  average: 'mean',
  median: 'median',
  min: 'lowest',
  max: 'highest',
  stdev: 'standard deviation',
  countdistinct: 'different values',
  first: 'first',
  last: 'last',
} as const
export type Method = keyof typeof METHODS
const METHOD_NAMES = Object.keys(METHODS) as Method[]

export function partsFor(type: string): readonly Part[] {
  switch (familyOf(type)) {
    case 'date':
      return ['', 'year', 'quarter', 'month_start', 'month', 'day']
    case 'timestamp':
      return ['', 'year', 'quarter', 'month_start', 'month', 'date', 'day', 'hour']
    case 'time':
      return ['', 'hour']
    default:
      return ['']
  }
}

export function methodsFor(type: string): readonly Method[] {
  switch (familyOf(type)) {
    case 'number':
      return METHOD_NAMES.filter((method) => method !== 'count')
    case 'other':
      return type === 'binary' ? ['countdistinct'] : ['countdistinct', 'first', 'last']
    default:
      return ['min', 'max', 'countdistinct', 'first', 'last']
  }
}

/** Writes the text of `$apply`; '' if there are neither groups nor aggregates. */
export function writeGrouping({ keys, sums }: Grouping): string {
  const taken = new Set([...keys, ...sums].flatMap(({ name }) => name ?? []))
  const names = keys.map(({ column, part, name }) => {
    return name ?? free(part === '' ? column : `${column}_${part}`, taken)
  })
  const parts = keys.flatMap(({ column, part }, at) =>
    part === '' ? [] : [`${partOf(part, filterName(column))} as ${filterName(names[at]!)}`],
  )
  const compute = parts.length > 0 ? `compute(${parts.join(',')})/` : ''
  const items = sums.map(({ column, method, name }) => {
    if (method === 'count') return `$count as ${filterName(name ?? free('rows', taken))}`
    return `${filterName(column)} with ${method} as ${filterName(name ?? free(`${column}_${method}`, taken))}`
  })
  const aggregate = items.length > 0 ? `aggregate(${items.join(',')})` : ''
  if (keys.length === 0) return aggregate
  return `${compute}groupby((${names.map(filterName).join(',')})${aggregate && `,${aggregate}`})`
}

/** Makes a name unique by adding a number if needed. */
function free(name: string, taken: Set<string>): string {
  let found = name
  for (let number = 2; taken.has(found); number += 1) found = `${name}_${number}`
  taken.add(found)
  return found
}

const NAME = String.raw`(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_]*)`
const SHAPE = new RegExp(
  String.raw`^(?:compute\((?<parts>.*?)\)/)?(?:groupby\(\((?<keys>(?:${NAME},?)+)\)(?:,aggregate\((?<grouped>.*)\))?\)|aggregate\((?<all>.*)\))$`,
  'su',
)
/** What each part is read by: its column, and the name that it gets. */
const PART_PATTERNS = (Object.keys(PARTS) as Part[]).slice(1).map((part) => {
  const escaped = partOf(part, '\0').replace(/[()+$]/g, '\\$&')
  const [before, ...after] = escaped.split('\0')
  return [part, new RegExp(`^${before}(${NAME})${after.join(NAME)} as (${NAME})(?:,|$)`, 'u')] as const
})
const SUM = new RegExp(
  String.raw`(?:(\$count)|(${NAME}) with (${METHOD_NAMES.join('|')})) as (${NAME})(?:,|$)`,
  'gu',
)

/** Parses text as `writeGrouping` writes it, with any names; undefined for any other `$apply`, or if a column is unknown. */
export function readGrouping(text: string, columns: readonly Column[]): Grouping | undefined {
  const written = evenly(text)
  if (written === '') return { keys: [], sums: [] }
  const named = groupingIn(written)
  if (!named || unknownIn(named, columns) !== undefined) return undefined
  const unnamed = {
    keys: named.keys.map(({ name: _, ...key }) => key),
    sums: named.sums.map(({ name: _, ...sum }) => sum),
  }
  return [unnamed, named].find((one) => writeGrouping(one) === written)
}

/** What of an `$apply` the form does not have. */
export function beyondForm(text: string, columns: readonly Column[]): string {
  const written = evenly(text)
  const steps = written.replace(QUOTED, '').matchAll(/(?:^|\)\/)(\w+)\(/g)
  const step = [...steps].find(([, name]) => !/^(?:groupby|aggregate|compute)$/.test(name!))
  if (step) return `${step[1]}(…)`
  const grouping = groupingIn(written)
  const unknown = grouping && unknownIn(grouping, columns)
  if (unknown !== undefined) return `${filterName(unknown)}, which is not a column`
  const { grouped, all } = SHAPE.exec(written)?.groups ?? {}
  const rest = (grouped ?? all ?? '').replace(SUM, '')
  return rest === '' ? 'these steps' : rest
}

const QUOTED = /"(?:[^"]|"")*"|'(?:[^']|'')*'/gu

/** The text with spaces and quotes as `writeGrouping` writes them. */
function evenly(text: string): string {
  const tokens = new RegExp(String.raw`${QUOTED.source}|\s*([,/])\s*|(\()\s+|\s+(\))|\s+`, 'gu')
  return text.trim().replace(tokens, (all, between, open, close) => {
    if (all.startsWith('"')) return filterName(plain(all))
    return all.startsWith("'") ? all : (between ?? open ?? close ?? ' ')
  })
}

/** The grouping that a text may be, with the names that it gives. */
function groupingIn(written: string): Grouping | undefined {
  const groups = SHAPE.exec(written)?.groups
  if (!groups) return undefined
  const parts = partsIn(groups['parts'] ?? '')
  const names = [...(groups['keys'] ?? '').matchAll(new RegExp(NAME, 'gu'))].map(([name]) => plain(name))
  const keys = names.map((name): Key => parts.get(name) ?? { column: name, part: '' })
  const sums = [...(groups['grouped'] ?? groups['all'] ?? '').matchAll(SUM)].map(
    ([, count, column, method, name]): Sum => ({
      ...(count ? { column: '', method: 'count' } : { column: plain(column!), method: method as Method }),
      name: plain(name!),
    }),
  )
  return { keys, sums }
}

const unknownIn = ({ keys, sums }: Grouping, columns: readonly Column[]) =>
  [...keys, ...sums].find(({ column }) => column !== '' && columns.every(({ name }) => name !== column))
    ?.column

/** The computed columns by their names, as far as `writeGrouping` has written them. */
function partsIn(text: string): ReadonlyMap<string, Key> {
  const found = new Map<string, Key>()
  for (let rest = text; rest !== ''; ) {
    const [part, match] = PART_PATTERNS.map(([part, pattern]) => [part, pattern.exec(rest)] as const).find(
      ([, match]) => match,
    ) ?? ['', null]
    if (!match) break
    const name = plain(match[2]!)
    found.set(name, { column: plain(match[1]!), part, name })
    rest = rest.slice(match[0].length)
  }
  return found
}

function plain(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}
