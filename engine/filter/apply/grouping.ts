import { nearest } from '../../util/nearest.ts'
import { unknownColumns } from '../check/unknown-columns.ts'
import { isNumeric, typeName } from '../check/value-types.ts'
import { invalid, mistyped } from '../errors.ts'
import { Unsaid } from '../sql/dialect.ts'
import { atom } from '../sql/fragments.ts'
import { LParen, RParen, type Token } from '../syntax/tokens.ts'
import { type AggregateRow, aggregateRow, aggregateTable } from './aggregates.ts'
import { asColumn, type Building, type Place } from './building.ts'
import { named, requireNew } from './computed.ts'
import type { AddedColumn, StepColumn } from './steps.ts'
import { type Cursor, isName, isWord, nameOf } from './token-cursor.ts'

/** Columns to group by. */
export type Keys = readonly StepColumn[]

/** The most groupings of one groupby(). A rollup makes one for each of its columns, and several rollups multiply. */
const MOST_GROUPINGS = 64

/**
 * Reads the columns to group by, such as `(a,b)`. With rollup, these are several groupings, the finest first (section
 * 3.2.3.2).
 * @returns the groupings, and all keys in the order of the text
 */
export function readKeys(
  cursor: Cursor,
  columns: readonly StepColumn[],
): { readonly groupings: readonly Keys[]; readonly all: Keys } {
  const byName = new Map(columns.map((column) => [column.name, column]))
  const unknown = new Map<string, number>()
  const key = (): StepColumn | undefined => {
    const { name, at } = cursor.name('a column')
    const column = byName.get(name)
    if (!column && !unknown.has(name)) unknown.set(name, at)
    return column
  }
  cursor.expect(LParen, "'(' and the columns to group by")
  let groupings: StepColumn[][] = [[]]
  const all: StepColumn[] = []
  cursor.list(() => {
    const { at } = cursor
    const levels = isRollup(cursor) ? readRollup(cursor, key) : [[key()]]
    const known = levels.map((level) => level.filter((column) => column !== undefined))
    all.push(...known[0]!)
    groupings = groupings.flatMap((keys) => known.map((level) => [...keys, ...level]))
    if (groupings.length > MOST_GROUPINGS) {
      throw invalid(at, `these rollups make more than ${MOST_GROUPINGS} groupings.`)
    }
  })
  cursor.expect(RParen, "',' or ')'")
  if (unknown.size > 0) throw unknownColumns(unknown, cursor.text, columns, 'Apply')
  return { groupings: groupings.map(unique), all: unique(all) }
}

function unique(columns: Keys): Keys {
  return [...new Set(columns)]
}

function isRollup(cursor: Cursor): boolean {
  if (!isWord(cursor.token, 'rollup')) return false
  const start = cursor.position
  cursor.name('rollup')
  const isCall = cursor.token?.tokenType === LParen
  cursor.reset(start)
  return isCall
}

/** Reads `rollup(a,b,c)`, which groups by a, b and c, then by a and b, then by a. */
function readRollup<T>(cursor: Cursor, key: () => T): T[][] {
  const { at } = cursor.name('rollup')
  cursor.expect(LParen, "'('")
  const levels = cursor.list(key)
  cursor.expect(RParen, "',' or ')'")
  if (levels.length < 2) throw invalid(at, 'rollup() takes two columns or more, the coarsest first.')
  return levels.map((_, index) => levels.slice(0, levels.length - index))
}

/** Reads aggregates, such as `price with sum as total, $count as n` (section 3.2.1). */
export function readAggregates(
  cursor: Cursor,
  place: Place,
  columns: readonly StepColumn[],
  keys: Keys,
  building: Building,
): readonly AddedColumn[] {
  const added: AddedColumn[] = []
  cursor.list(() => {
    const item = cursor.item('an expression to aggregate')
    const { name, tokens } = named(item, cursor, 'Price with sum as Total, or $count as Number')
    requireNew(name, [...keys, ...added])
    const aggregate = isCount(tokens) ? COUNT : readAggregate(tokens, place, columns, building)
    added.push({ name: name.name, sql: building.newName(), ...aggregate })
  })
  return added
}

const COUNT = { type: 'integer', value: 'count(*)' } as const

function isCount(tokens: readonly Token[]): boolean {
  return tokens.length === 1 && tokens[0]!.image.toLowerCase() === '$count'
}

function readAggregate(
  tokens: readonly Token[],
  place: Place,
  columns: readonly StepColumn[],
  building: Building,
): Pick<AddedColumn, 'type' | 'value'> {
  const method = tokens.at(-1)!
  if (tokens.length < 3 || !isWord(tokens.at(-2), 'with') || !isName(method)) {
    const from = tokens.find((token) => isWord(token, 'from'))
    if (from) {
      throw invalid(
        from.startOffset,
        "'from' is not supported here. Write groupby(…)/aggregate(…) in its place.",
      )
    }
    throw invalid(
      tokens[0]!.startOffset,
      'what is aggregated is followed by the method, as in Price with sum as Total; rows are counted by $count as ' +
        'Number.',
    )
  }
  const row = aggregateRow(nameOf(method).name)
  if (!row) throw unknownMethod(method)
  const value = building.value(place, tokens.slice(0, -2), columns)
  const type = row.gives(value.type)
  if (!type) throw unsuitable(row, value)
  const { value: operand } = asColumn(value, building)
  const sql = row[building.dialect.name]?.(atom(operand), value.type)
  if (!sql) throw new Unsaid(`${row.name} of ${typeName(value.type)}`)
  return asColumn({ type, sql: sql.text, at: value.at }, building)
}

function unsuitable(
  row: AggregateRow,
  { type, at }: { readonly type: Parameters<typeof typeName>[0]; readonly at: number },
): Error {
  const hint = type.kind === 'duration' ? ' totalseconds(…) makes a number of a duration.' : ''
  const wanted = row.takes === 'numbers' && isNumeric(type) ? 'other values' : row.takes
  return mistyped(at, `'${row.name}' takes ${wanted}, not ${typeName(type)}.${hint}`)
}

function unknownMethod({ image, startOffset: at }: Token): Error {
  const names = aggregateTable.map((row) => row.name)
  const meant = image.toLowerCase() === 'count' ? '$count as Number' : nearest(image, names)
  return invalid(
    at,
    `'${image}' is not an aggregation method.${meant ? ` Did you mean ${meant}?` : ` There are ${names.join(', ')}, and p0 to p100 for percentiles.`}`,
  )
}
