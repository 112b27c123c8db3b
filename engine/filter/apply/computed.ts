import type { ValueType } from '../check/value-types.ts'
import { excerpt, invalid } from '../errors.ts'
import { Unsaid } from '../sql/dialect.ts'
import type { Token } from '../syntax/tokens.ts'
import { asColumn, type Building, type Place, type Value } from './building.ts'
import type { AddedColumn, SortKey, StepColumn } from './steps.ts'
import { type Cursor, isName, isWord, type Name, nameOf } from './token-cursor.ts'

/** Reads `price mul 2 as double, …` and returns the columns that it adds. */
export function readComputed(
  cursor: Cursor,
  place: Place,
  columns: readonly StepColumn[],
  building: Building,
): readonly AddedColumn[] {
  const added: AddedColumn[] = []
  cursor.list(() => {
    const item = cursor.item('an expression')
    const { name, tokens } = named(item, cursor, 'Price mul 2 as double')
    requireNew(name, [...columns, ...added])
    const value = building.value(place, tokens, columns)
    added.push({ name: name.name, sql: building.newName(), ...asColumn(value, building) })
  })
  return added
}

/** Splits `expression as name` into the expression's tokens and the name. */
export function named(
  item: readonly Token[],
  cursor: Cursor,
  example: string,
): { readonly name: Name; readonly tokens: readonly Token[] } {
  const last = item.at(-1)!
  if (item.length < 3 || !isWord(item.at(-2), 'as') || !isName(last)) {
    throw invalid(
      item[0]!.startOffset,
      `'${excerpt(cursor.text.slice(item[0]!.startOffset, last.startOffset + last.image.length))}' has no name. ` +
        `Write 'as' and a name after it, as in ${example}.`,
    )
  }
  return { name: nameOf(last), tokens: item.slice(0, -2) }
}

/** @throws EngineError `invalid_filter` where a column has the name already */
export function requireNew({ name, at }: Name, columns: readonly StepColumn[]): void {
  if (columns.some((column) => column.name === name)) {
    throw invalid(at, `there is already a column ${JSON.stringify(name)}; choose another name.`)
  }
}

/** Reads keys to sort by, such as `delay desc, tolower(Name)`. */
export function readOrder(
  cursor: Cursor,
  place: Place,
  columns: readonly StepColumn[],
  building: Building,
): readonly SortKey[] {
  const keys = cursor.list(() => {
    const item = cursor.item('a column or an expression')
    const direction = item.length > 1 && (isWord(item.at(-1), 'asc') || isWord(item.at(-1), 'desc'))
    const value = building.value(place, direction ? item.slice(0, -1) : item, columns)
    const descending = direction && isWord(item.at(-1), 'desc')
    return sortKey(sortable(value, columns, building), value.type, descending, building)
  })
  return keys
}

/** The key that sorts rows by a value. */
export function sortKey(sql: string, type: ValueType, descending: boolean, { dialect }: Building): SortKey {
  const double = type.kind === 'double'
  // Trino sorts -0 before 0, although the two are equal.
  if (dialect.name !== 'duckdb' && double) throw new Unsaid('order of double')
  return { sql, descending, ...(double && { double }) }
}

/**
 * SQL to sort by. A column is not cast, because only a bare column lets files be skipped. Everything else is cast, so
 * that DuckDB doesn't take a constant for something else.
 */
export function sortable(value: Value, columns: readonly StepColumn[], building: Building): string {
  if (value.type.kind === 'duration' || columns.some(({ sql }) => sql === value.sql)) return value.sql
  return asColumn(value, building).value
}
