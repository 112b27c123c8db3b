import type { Duck, RunOptions } from '../duckdb/duck.ts'
import { valueText } from '../duckdb/value-text.ts'
import { readParts } from '../parquet/read-parts.ts'
import { type Column, type TypeName, typeName } from '../types/index.ts'

/** What the values of a column are like. Values of integers and doubles are numbers, those of other types are text. */
export interface ColumnProfile {
  readonly name: string
  readonly type: Column['type']
  readonly nulls: number
  /** How many different values there are; an estimate unless it is `exact`. Not for json and binary. */
  readonly distinct?: { readonly value: number; readonly exact: boolean }
  readonly min?: number | string
  readonly max?: number | string
  /** Of numbers that are finite. */
  readonly mean?: number
  /** Estimates, by the share of the finite numbers below. */
  readonly quantiles?: Readonly<Record<string, number>>
  /**
   * How many finite numbers, dates or timestamps lie from each bound to the next, where there is more than one; the last
   * range includes its end.
   */
  readonly histogram?: readonly {
    readonly from: number | string
    readonly to: number | string
    readonly count: number
  }[]
  /** The most frequent values, where there are at most `MOST_VALUES` different ones. */
  readonly top?: readonly { readonly value: number | string | boolean; readonly count: number }[]
}

const MOST_VALUES = 1_000
const TOP = 10
const BINS = 20
const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]
const UNORDERED: ReadonlySet<TypeName> = new Set<TypeName>(['json', 'binary'])
const NUMBERS: ReadonlySet<TypeName> = new Set<TypeName>(['integer', 'double', 'decimal'])
const TIMES: ReadonlySet<TypeName> = new Set<TypeName>(['date', 'timestamp', 'timestamptz'])
const DAY = 86_400_000

export interface ProfileInput {
  readonly parts: readonly string[]
  readonly columns: readonly Column[]
  /** Whether others wrote the files. */
  readonly attached?: boolean
}

/**
 * What the values of the columns of parts are like. Two scans: the first learns the ranges, the second counts within them.
 */
export async function profileParts(
  duck: Duck,
  { parts, columns, attached }: ProfileInput,
  options: RunOptions,
): Promise<ColumnProfile[]> {
  if (parts.length === 0) return columns.map(({ name, type }) => ({ name, type, nulls: 0 }))
  const profiles: ColumnProfile[] = []
  const source = readParts(parts, attached ? columns : undefined)
  for (let from = 0; from < columns.length; from += COLUMNS_AT_ONCE) {
    const some = columns.slice(from, from + COLUMNS_AT_ONCE)
    profiles.push(...(await profileColumns(duck, source, some, from, options)))
  }
  return profiles
}

/** Of thousands of columns in one statement, DuckDB would take minutes and gigabytes. */
const COLUMNS_AT_ONCE = 200

/** @param from the number of columns before these */
async function profileColumns(
  duck: Duck,
  source: string,
  columns: readonly Column[],
  from: number,
  options: RunOptions,
): Promise<ColumnProfile[]> {
  const sums = columns.map((column, at) => summaryOf(column, from + at))
  const [row = []] = await duck.run(`SELECT count(*), ${sums.flat().join(', ')} FROM ${source}`, options)
  const rows = Number(row[0])
  const found = columns.map((column, at) =>
    profileOf(column, rows, row.slice(1 + at * WIDTH, 1 + (at + 1) * WIDTH)),
  )
  const counts = found.map((profile, at) => countsOf(profile, from + at))
  const asked = counts.flatMap((count) => count?.sql ?? [])
  const [second = []] =
    asked.length === 0 ? [] : await duck.run(`SELECT ${asked.join(', ')} FROM ${source}`, options)
  let next = 0
  return found.map((profile, at) => {
    return counts[at]?.finish(JSON.parse(String(second[next++] ?? '[]')) as Entries) ?? profile
  })
}

/** How many values `summaryOf` gives for each column. */
const WIDTH = 6

function summaryOf({ type }: Column, at: number): string[] {
  const column = `c${at}`
  const name = typeName(type)
  if (UNORDERED.has(name)) return [`count(${column})`, 'NULL', 'NULL', 'NULL', 'NULL', 'NULL']
  const isNumber = NUMBERS.has(name)
  const finite = name === 'double' ? ` FILTER (isfinite(${column}))` : ''
  return [
    `count(${column})`,
    `approx_count_distinct(${column})`,
    valueText(type, `min(${column})${ordered(type, column)}`),
    valueText(type, `max(${column})${ordered(type, column)}`),
    isNumber ? `avg(${column})${finite}` : 'NULL',
    isNumber
      ? `CAST(approx_quantile(CAST(${column} AS DOUBLE), [${QUANTILES}])${finite} AS VARCHAR)`
      : 'NULL',
  ]
}

/** Leaves out NaN, which has no order. DuckDB's histograms count it as some other value. */
function ordered(type: Column['type'], column: string): string {
  return typeName(type) === 'double' ? ` FILTER (NOT isnan(${column}))` : ''
}

function profileOf({ name, type }: Column, rows: number, values: readonly unknown[]): ColumnProfile {
  const [count, distinct, min, max, mean, quantiles] = values
  const held = Number(count)
  const nulls = rows - held
  if (held === 0 || distinct === null)
    return { name, type, nulls, ...(distinct !== null && { distinct: NONE }) }
  const average = mean === null ? Number.NaN : Number(mean)
  const estimates = typeof quantiles === 'string' ? quantiles.slice(1, -1).split(', ').map(Number) : []
  // Between the largest doubles they are infinite.
  const shares = estimates.every(Number.isFinite) ? estimates : []
  return {
    name,
    type,
    nulls,
    distinct: { value: Math.min(Number(distinct), held), exact: false },
    ...(min !== null && { min: asValue(type, String(min)), max: asValue(type, String(max)) }),
    ...(Number.isFinite(average) && { mean: average }),
    ...(shares.length > 0 && {
      quantiles: Object.fromEntries(QUANTILES.map((share, at) => [share, shares[at]!])),
    }),
  }
}

const NONE = { value: 0, exact: true }

/** A value as JSON has it, unless a number would lose digits. */
function asValue(type: Column['type'], text: string): number | string {
  const number = Number(text)
  if (typeName(type) === 'integer') return Number.isSafeInteger(number) ? number : text
  return typeName(type) === 'double' && Number.isFinite(number) ? number : text
}

/** What the second scan counts in a column, and the profile with it. */
interface Count {
  readonly sql: string
  readonly finish: (entries: Entries) => ColumnProfile
}

/** Counts each value of a column with few of them, or the values in ranges of a column of numbers. */
function countsOf(profile: ColumnProfile, at: number): Count | undefined {
  const { type, distinct } = profile
  if (!distinct || distinct.exact) return undefined
  const column = `c${at}`
  // The estimate is within a few per cent.
  if (distinct.value <= 0.9 * MOST_VALUES) {
    const sql = entries(`histogram(${column})${ordered(type, column)}`, valueText(type, 'e.key'))
    return { sql, finish: (found) => withTop(profile, found) }
  }
  const ranges = rangesOf(profile)
  if (!ranges) return undefined
  const { from, width, count } = ranges
  const value = TIMES.has(typeName(type))
    ? `epoch_ms(CAST(${column} AS TIMESTAMP))`
    : `CAST(${column} AS DOUBLE)`
  const place = `floor((${value} - ${double(from)}) / ${double(width)})`
  const finite = typeName(type) === 'double' ? ` FILTER (isfinite(${column}))` : ''
  return {
    sql: entries(`histogram(CAST(least(${count - 1}, ${place}) AS INTEGER))${finite}`, 'e.key'),
    finish: (found) =>
      withHistogram(profile, ranges, new Map(found.map(({ key, value }) => [Number(key), value]))),
  }
}

interface Ranges {
  readonly from: number
  readonly width: number
  readonly count: number
}

/** Ranges of equal width from the lowest value to the highest; each of a few whole numbers has its own. */
function rangesOf({ type, min, max }: ColumnProfile, isWhole = false): Ranges | undefined {
  const name = typeName(type)
  if (min === undefined || max === undefined || !(NUMBERS.has(name) || TIMES.has(name))) return undefined
  const [from, to] = [placeOf(type, min), placeOf(type, max)]
  if (!(to > from && Number.isFinite(to - from))) return undefined
  if (isWhole && to - from < BINS) return { from, width: 1, count: to - from + 1 }
  return { from, width: (to - from) / BINS, count: BINS }
}

/** A number, or the milliseconds of a time since 1970. */
function placeOf(type: Column['type'], value: number | string): number {
  if (!TIMES.has(typeName(type))) return Number(value)
  return Date.parse(typeName(type) === 'timestamp' ? `${value}Z` : String(value))
}

/** A bound as values of its type are written: the first value that is not below it. */
function boundOf(type: Column['type'], place: number): number | string {
  const name = typeName(type)
  if (!TIMES.has(name)) return place
  if (name === 'date') return new Date(Math.ceil(place / DAY) * DAY).toISOString().slice(0, 10)
  const text = new Date(Math.ceil(place)).toISOString().replace('.000', '')
  return name === 'timestamp' ? text.slice(0, -1) : text
}

/** Only digits of a number that we have computed come into the SQL. */
const double = (value: number) => `CAST('${value}' AS DOUBLE)`

function entries(map: string, key: string): string {
  return `CAST(to_json(list_transform(map_entries(${map}), lambda e: {key: ${key}, value: e.value})) AS VARCHAR)`
}

type Entries = readonly { readonly key: string | number; readonly value: number }[]

function withTop(profile: ColumnProfile, counts: Entries): ColumnProfile {
  const { type } = profile
  const isBoolean = typeName(type) === 'boolean'
  const top = counts
    .toSorted((a, b) => b.value - a.value)
    .slice(0, TOP)
    .map(({ key, value: count }) => ({
      value: isBoolean ? String(key) === 'true' : asValue(type, String(key)),
      count,
    }))
  const distinct = { value: counts.length, exact: true }
  const ranges = rangesOf(
    profile,
    counts.every(({ key }) => Number.isInteger(Number(key))),
  )
  if (!ranges) return { ...profile, distinct, top }
  const bins = new Map<number, number>()
  for (const { key, value } of counts) {
    const bin = Math.min(ranges.count - 1, Math.floor((placeOf(type, key) - ranges.from) / ranges.width))
    bins.set(bin, (bins.get(bin) ?? 0) + value)
  }
  return { ...withHistogram(profile, ranges, bins), distinct, top }
}

/** @param counts by the number of the range */
function withHistogram(
  profile: ColumnProfile,
  { from, width, count }: Ranges,
  counts: ReadonlyMap<number, number>,
): ColumnProfile {
  const histogram = Array.from({ length: count }, (_, at) => ({
    from: boundOf(profile.type, from + width * at),
    to: boundOf(profile.type, from + width * (at + 1)),
    count: counts.get(at) ?? 0,
  }))
  return { ...profile, histogram }
}
