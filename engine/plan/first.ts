import { valueType } from '../filter/check/value-types.ts'
import type { SortKey, SqlColumn } from '../filter/index.ts'
import { byKey, type Keyed } from '../filter/sql/narrow.ts'
import type { ColumnType } from '../types/index.ts'
import { keyed, type PartFacts } from './prune.ts'

/** The first rows of a sorted table: how many, and the key that decides first. */
export interface FirstRows {
  readonly rows: number
  /** The position of the column by which the rows are sorted. */
  readonly column: number
  readonly type: ColumnType
  readonly descending: boolean
}

/**
 * The first rows that an order gives, where it begins with a column itself; undefined where it begins with something
 * that is calculated, about which the statistics of parts say nothing.
 */
export function firstRows(
  [key]: readonly SortKey[],
  rows: number | undefined,
  columns: readonly SqlColumn[],
): FirstRows | undefined {
  const column = columns.find(({ sql }) => sql === key?.sql)
  if (!key || column?.stored === undefined || rows === undefined || rows === 0) return undefined
  return { rows, column: column.stored, type: column.type, descending: key.descending }
}

/**
 * The parts that may hold some of the first rows. If parts whose values all come at or before some value have enough
 * rows, then a part whose values all come behind that value has none of the first rows. Null comes first ascending and
 * last descending; equal values keep their order of upload, so a part that begins with that very value is needed.
 */
export function partsOfFirst<Part extends PartFacts>(
  parts: readonly Part[],
  { rows, column, type, descending }: FirstRows,
): ReadonlySet<Part> {
  const compare: Compare = descending ? (a, b) => byKey(b, a) : byKey
  const ranges = new Map(parts.map((part) => [part, rangeOf(part, column, type, descending)]))
  const enough = valueOfEnough([...ranges.values()], rows, compare)
  if (!enough) return new Set(parts)
  const mayHold = (range: Range | undefined) => {
    if (!range || (range.nulls > 0 && !descending)) return true
    return range.values > 0 && (!range.first || compare(range.first, enough) <= 0)
  }
  return new Set(parts.filter((part) => mayHold(ranges.get(part))))
}

type Compare = (a: Keyed, b: Keyed) => number

/** The values of a column in a part as an order meets them. Its ends are undefined where they aren't known. */
interface Range {
  readonly first: Keyed | undefined
  readonly last: Keyed | undefined
  /** How many there are without the nulls. */
  readonly values: number
  readonly nulls: number
}

function rangeOf(
  { rows, statistics }: PartFacts,
  column: number,
  type: ColumnType,
  descending: boolean,
): Range | undefined {
  const bounds = statistics?.[column]
  if (!bounds) return undefined
  const { min, max, nulls } = bounds
  const [first, last] = (descending ? [max, min] : [min, max]).map((text) =>
    text === null ? undefined : keyed(text, valueType(type)),
  )
  return { first, last, values: rows - nulls, nulls }
}

/** A value that so many rows do not come behind; undefined where none is known. */
function valueOfEnough(
  ranges: readonly (Range | undefined)[],
  rows: number,
  compare: Compare,
): Keyed | undefined {
  const ends = ranges.flatMap((range) => (range?.last ? [{ at: range.last, values: range.values }] : []))
  let sum = 0
  return ends
    .sort((a, b) => compare(a.at, b.at))
    .find(({ values }) => {
      sum += values
      return sum >= rows
    })?.at
}
