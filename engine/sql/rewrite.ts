import { quoteLiteral } from '../types/index.ts'
import { CASED, INTERNAL, sqlError } from './errors.ts'
import type { TreeNode } from './nodes.ts'

/** A constant of the tree. */
export function constant(type: string, value: unknown): TreeNode {
  const held = { type: { id: type }, is_null: value === null, ...(value !== null && { value }) }
  return { class: 'CONSTANT', type: 'VALUE_CONSTANT', value: held }
}

/** Makes another node of a node, in its place. */
export function become(node: TreeNode, other: TreeNode): void {
  for (const key of Object.keys(node)) delete node[key]
  Object.assign(node, other)
}

/**
 * Puts IS [NOT] DISTINCT FROM into coalesce(), which changes no value. Below OR, DuckDB would skip row groups of nulls
 * for it (see the known faults of DuckDB). Gives the comparison itself.
 */
export function guardDistinct(node: TreeNode): TreeNode {
  if (!/DISTINCT_FROM$/.test(String(node['type']))) return node
  const { alias, ...comparison } = node
  const children = [comparison, constant('BOOLEAN', false)]
  const named = alias === undefined ? {} : { alias }
  become(node, { class: 'OPERATOR', type: 'OPERATOR_COALESCE', ...named, children })
  return comparison
}

/**
 * Names for columns that differ from others only by case, which DuckDB takes for the same. In all tables, such a name has
 * the same other name.
 */
export function casedNames(tables: readonly (readonly string[])[]): ReadonlyMap<string, string> {
  const cased = new Map<string, string>()
  const groups = tables.map((names) => Map.groupBy(names, (name) => name.toLowerCase()))
  for (const group of groups) {
    for (const [key, names] of group) {
      if (names.length < 2) continue
      const spelt = new Set(groups.flatMap((other) => other.get(key) ?? []))
      for (const name of spelt) if (!cased.has(name)) cased.set(name, `${name}${CASED}${cased.size}`)
    }
  }
  return cased
}

/** The keys of conditions: what they say changes no column. */
const CONDITIONS: ReadonlySet<string> = new Set(['where_clause', 'having', 'qualify'])
/** In a tree, these numbers and texts stand for constants that are held apart. No 32-bit number is much larger. */
const FIRST_HELD = 2_147_480_000
const MOST_HELD = 3_000
const HELD = new RegExp(`'${INTERNAL}h(\\d+)'|\\b(214748\\d{4})\\b`, 'g')

/**
 * Takes the constants out of the conditions of a statement, so that statements that differ only by them have the same
 * columns and the same tree. DuckDB takes longer to write a tree as SQL and to read it again than to find a few rows.
 * Gives the SQL of the constants, for `withConstants`.
 */
export function holdConstants(statement: TreeNode): string[] {
  const held: string[] = []
  if (!/parquetry h\d|214748\d{4}/.test(JSON.stringify(statement))) hold(statement, false, held)
  return held
}

function hold(node: TreeNode, inside: boolean, held: string[]): void {
  for (const [key, child] of Object.entries(node)) {
    if (typeof child !== 'object' || child === null) continue
    const within = inside || CONDITIONS.has(key)
    const { class: kind, value } = child as TreeNode
    if (within && kind === 'CONSTANT') holdOne(value as TreeNode, held)
    else hold(child as TreeNode, within, held)
  }
}

function holdOne(constant: TreeNode, held: string[]): void {
  const { type, value } = constant
  const { id } = type as TreeNode
  const at = held.length
  if (at >= MOST_HELD) return
  if (id === 'VARCHAR' && typeof value === 'string') {
    held.push(quoteLiteral(value))
    constant['value'] = `${INTERNAL}h${at}`
  } else if (/^(INTEGER|BIGINT)$/.test(String(id)) && isShort(value)) {
    held.push(String(value))
    constant['value'] = FIRST_HELD + at
  }
}

function isShort(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < FIRST_HELD
}

/**
 * The SQL of a tree with the constants that were taken out of it.
 * @throws EngineError `invalid_sql` if they are not in it as often as they were taken out
 */
export function withConstants(sql: string, held: readonly string[]): string {
  if (held.length === 0) return sql
  const missing = new Set(held.keys())
  const whole = sql.replaceAll(HELD, (_, text, number) => {
    const at = Number(text ?? number - FIRST_HELD)
    if (!missing.delete(at)) throw notAsRead()
    return held[at]!
  })
  if (missing.size > 0) throw notAsRead()
  return whole
}

/** The error for a statement that DuckDB writes differently than it has read it. */
export function notAsRead() {
  return sqlError('invalid_sql', 'DuckDB can not write this statement as it read it.')
}
