import { type DuckType, parseDuckType } from '../../duckdb/duck-type.ts'
import { quoteLiteral } from '../../types/index.ts'

/** An SQL condition for one value that is not nested; undefined where every value of its type is good. */
export type LeafCondition = (type: LeafType, sql: string) => string | undefined

export type LeafType = Extract<DuckType, { kind: 'scalar' | 'decimal' | 'enum' }>

/**
 * An SQL condition that is true if all values within a value, however nested, meet a condition; undefined if none of
 * them has to. It is true for null, and never null itself.
 * @param duckType the type as `DESCRIBE` prints it
 * @param sql an expression of that type
 */
export function everyLeaf(duckType: string, sql: string, condition: LeafCondition): string | undefined {
  return every(parseDuckType(duckType), sql, condition, 0)
}

function every(type: DuckType, sql: string, condition: LeafCondition, depth: number): string | undefined {
  const item = `leaf${depth}`
  const everyItem = (items: string, inner: string | undefined) =>
    inner && `coalesce(len(list_filter(${items}, lambda ${item}: NOT (${inner}))) = 0, true)`
  switch (type.kind) {
    case 'list':
      return everyItem(sql, every(type.of, item, condition, depth + 1))
    case 'struct':
      return all(
        type.fields.map(({ name, type: inner }) =>
          every(inner, `struct_extract(${sql}, ${quoteLiteral(name)})`, condition, depth),
        ),
      )
    case 'map':
      return everyItem(
        `map_entries(${sql})`,
        all([
          every(type.key, `${item}.key`, condition, depth + 1),
          every(type.value, `${item}.value`, condition, depth + 1),
        ]),
      )
    case 'union':
      // Parquet has no unions.
      return undefined
    default: {
      const met = condition(type, sql)
      return met && `coalesce(${met}, true)`
    }
  }
}

function all(conditions: readonly (string | undefined)[]): string | undefined {
  const some = conditions.filter((condition) => condition !== undefined)
  return some.length > 0 ? some.join(' AND ') : undefined
}
