import type { SqlColumn } from '../check/scope.ts'
import type { ValueType } from '../check/value-types.ts'
import { invalid } from '../errors.ts'
import { NotTranslatable } from '../sql/dialect.ts'
import type { Computed, Name, OrderItem } from '../syntax/tree.ts'
import { asColumn, type Building, type Source, type Value } from './building.ts'
import type { AddedColumn, SortKey } from './steps.ts'

/** The columns that `price mul 2 as double, …` adds. */
export function computedColumns(
  computed: readonly Computed[],
  source: Source,
  columns: readonly SqlColumn[],
  building: Building,
): readonly AddedColumn[] {
  requireNew(computed, columns)
  return computed.map(({ expression, name }) => {
    const value = building.value(source, expression, columns)
    return { name: name.name, sql: building.newName(), ...asColumn(value, building) }
  })
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

/** The keys of `delay desc, tolower(Name)`. */
export function sortKeys(
  items: readonly OrderItem[],
  source: Source,
  columns: readonly SqlColumn[],
  building: Building,
): readonly SortKey[] {
  return items.map(({ expression, descending }) => {
    const value = building.value(source, expression, columns)
    return sortKey(sortable(value, columns, building), value.type, descending, building)
  })
}

/** The key that sorts rows by a value. */
export function sortKey(sql: string, type: ValueType, descending: boolean, { dialect }: Building): SortKey {
  const double = type.kind === 'double'
  // Trino sorts -0 before 0, although the two are equal.
  if (dialect.name !== 'duckdb' && double) throw new NotTranslatable('order of double')
  return { sql, descending, ...(double && { double }) }
}

/**
 * SQL to sort by. A column is not cast, because only a bare column lets files be skipped. Everything else is cast, so
 * that DuckDB doesn't take a constant for something else.
 */
export function sortable(value: Value, columns: readonly SqlColumn[], building: Building): string {
  if (value.type.kind === 'duration' || columns.some(({ sql }) => sql === value.sql)) return value.sql
  return asColumn(value, building).value
}
