import type { SqlColumn } from '../check/expression.ts'
import { invalid } from '../errors.ts'
import { NotTranslatable } from '../sql/dialect.ts'
import type { Name } from '../syntax/tree.ts'
import type { ValueType } from '../values.ts'
import { asColumn, type Building, type Value } from './building.ts'
import type { SortKey } from './steps.ts'

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

/** The key that sorts rows by SQL of a type. */
export function sortKey(sql: string, type: ValueType, descending: boolean, { dialect }: Building): SortKey {
  const double = type.kind === 'double'
  // Trino sorts -0 before 0, although the two are equal.
  if (dialect.name !== 'duckdb' && double) throw new NotTranslatable('order of double')
  return { sql, descending, ...(double && { double }) }
}

/**
 * The key that sorts rows by a value. A column is not cast, because only a bare column lets files be skipped. Everything
 * else is cast, so that DuckDB doesn't take a constant for something else.
 */
export function keyOf(
  value: Value,
  descending: boolean,
  columns: readonly SqlColumn[],
  building: Building,
): SortKey {
  const isBare = value.type.kind === 'duration' || columns.some(({ sql }) => sql === value.sql)
  const sql = isBare ? value.sql : asColumn(value, building).value
  return sortKey(sql, value.type, descending, building)
}
