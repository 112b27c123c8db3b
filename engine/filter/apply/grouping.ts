import { nearest } from '../../util/nearest.ts'
import type { Source } from '../check/check.ts'
import { columnsOf, type SqlColumn } from '../check/expression.ts'
import { unknownColumns } from '../check/unknown-columns.ts'
import { invalid, mistyped } from '../errors.ts'
import { asColumn, type Building, type Value } from '../sql/compile.ts'
import { atom, NotTranslatable } from '../sql/dialect.ts'
import type { GroupingElement, Name, Sequence } from '../syntax/tree.ts'
import { isNumeric, typeName } from '../values.ts'
import { type AggregateRow, aggregateRow, aggregateTable, aggregateType } from './aggregates.ts'

/** Columns to group by. */
export type Keys = readonly SqlColumn[]

/** The most groupings of one groupby(). A rollup makes one for each of its columns, and several rollups multiply. */
const MOST_GROUPINGS = 64

/**
 * What `(a,rollup(b,c))` groups by: several groupings, the finest first (section 3.2.3.2). `rollup(b,c)` groups by b and
 * c, then by b.
 */
export function groupingsOf(
  elements: readonly GroupingElement[],
  columns: readonly SqlColumn[],
): readonly Keys[] {
  const byName = new Map(columns.map((column) => [column.name, column]))
  let groupings: Keys[] = [[]]
  for (const { names, rollup, at } of elements) {
    if (rollup && names.length < 2) {
      throw invalid(at, 'rollup() takes two columns or more, the coarsest first.')
    }
    const keys = names.map(({ name }) => byName.get(name)!)
    const levels = rollup ? keys.map((_, index) => keys.slice(0, keys.length - index)) : [keys]
    groupings = groupings.flatMap((before) => levels.map((level) => [...before, ...level]))
    if (groupings.length > MOST_GROUPINGS) {
      throw invalid(at, `these rollups make more than ${MOST_GROUPINGS} groupings.`)
    }
  }
  return groupings.map((keys) => [...new Set(keys)])
}

/** `price with sum`: the column that it gives (section 3.2.1). */
export function aggregate(row: AggregateRow, value: Value, building: Building): ReturnType<typeof asColumn> {
  const type = aggregateType(row, value.type)
  if (!type) throw unsuitable(row, value)
  const { value: operand } = asColumn(value, building)
  const sql = row[building.dialect.name]?.(atom(operand), value.type)
  if (!sql) throw new NotTranslatable(`${row.name} of ${typeName(value.type)}`)
  return asColumn({ type, sql: sql.text, at: value.at }, building)
}

function unsuitable(row: AggregateRow, { type, at }: Value): Error {
  const hint = type.kind === 'duration' ? ' totalseconds(…) makes a number of a duration.' : ''
  const expected = row.takes === 'numbers' && isNumeric(type) ? 'other values' : row.takes
  return mistyped(at, `'${row.name}' takes ${expected}, not ${typeName(type)}.${hint}`)
}

/** What other languages call the methods. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{ mean: 'average', maximum: 'max', minimum: 'min', total: 'sum', distinct: 'countdistinct' },
  ...{ nunique: 'countdistinct', std: 'stdev', stddev: 'stdev', variance: 'var' },
}

/** @throws EngineError `invalid_filter` for a name that no method has */
export function findMethod({ name, at }: Name): AggregateRow {
  const row = aggregateRow(name)
  if (row) return row
  const names = aggregateTable.map((row) => row.name)
  const meant =
    name.toLowerCase() === 'count'
      ? '$count as Number'
      : (OTHER_NAMES[name.toLowerCase()] ?? nearest(name, names))
  throw invalid(
    at,
    `'${name}' is not an aggregation method.${meant ? ` Did you mean ${meant}?` : ` There are ${names.join(', ')}, and p0 to p100 for percentiles.`}`,
  )
}

/** @throws EngineError `invalid_filter` where a column or an item before has the name already */
export function requireNew(items: readonly { readonly name: Name }[], columns: readonly SqlColumn[]): void {
  const taken = new Set(columns.map((column) => column.name))
  for (const { name } of items) {
    if (taken.has(name.name)) {
      throw invalid(name.at, `there is already a column ${JSON.stringify(name.name)}; choose another name.`)
    }
    taken.add(name.name)
  }
}

/**
 * Refuses names in a sequence of transformations that no column has at their place.
 * @throws EngineError `invalid_columns`, with all of the names
 */
export function requireNames(sequence: Sequence, source: Source, columns: readonly SqlColumn[]): void {
  const unknown = new Map<string, number>()
  namesAfter(sequence, new Set(columns.map(({ name }) => name)), [], unknown)
  if (unknown.size > 0) throw unknownColumns(unknown, source.text, columns, source.option)
}

type Names = ReadonlySet<string>

/**
 * The names of the columns that come out of a sequence.
 * @param keys the names of the columns that rows are grouped by
 * @param unknown takes names that no column has, each with its first position
 */
function namesAfter(
  sequence: Sequence,
  start: Names,
  keys: readonly string[],
  unknown: Map<string, number>,
): Names {
  let known = start
  const note = (names: Iterable<readonly [name: string, at: number]>) => {
    for (const [name, at] of names) if (!known.has(name) && !unknown.has(name)) unknown.set(name, at)
  }
  const named = (items: readonly { readonly name: Name }[]) => items.map(({ name }) => name.name)
  for (const step of sequence) {
    if (step.kind === 'concat') {
      const from = known
      known = new Set(step.branches.flatMap((branch) => [...namesAfter(branch, from, keys, unknown)]))
    } else if (step.kind === 'groupby') {
      const names = step.elements.flatMap((element) => element.names)
      note(names.map(({ name, at }) => [name, at] as const))
      const all = [...keys, ...names.map(({ name }) => name)]
      known = step.sequence ? namesAfter(step.sequence, known, all, unknown) : new Set(all)
    } else {
      note(columnsOf(step))
      if (step.kind === 'compute') known = new Set([...known, ...named(step.computed)])
      if (step.kind === 'aggregate') known = new Set([...keys, ...named(step.aggregated)])
    }
  }
  return known
}
