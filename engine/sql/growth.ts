import type { RefreshKind } from '../reading/explanation.ts'
import type { Snapshot } from '../snapshot.ts'
import { type Column, type ColumnType, decimalParts, quoteIdentifier, sqlType } from '../types/index.ts'
import type { Checked } from './check.ts'
import { FUNCTIONS, type TreeNode } from './nodes.ts'
import type { ReadRows } from './saved.ts'

/** What of a group's value and that of rows which are added makes the value of all. */
type Merge = 'key' | 'sum' | 'min' | 'max'

/**
 * What the rows of a statement become if rows are added to its table: those of the added rows come after them, or groups
 * are merged with those of the added rows; or it must be run on all rows, because of something.
 */
export type Growth =
  | { readonly adds: 'rows' }
  | { readonly adds: 'groups'; readonly merges: readonly Merge[] }
  | { readonly because: string }

/** What is never the same twice. */
export const VOLATILE: Growth = { because: 'it depends on the time or on chance' }

const MERGES: Readonly<Record<string, Merge>> = {
  count: 'sum',
  count_star: 'sum',
  sum: 'sum',
  min: 'min',
  max: 'max',
}

/** Expressions whose value depends on one row alone, if that of what is in them does. */
const OF_ONE_ROW: ReadonlySet<unknown> = new Set([
  'COLUMN_REF',
  'CONSTANT',
  'CAST',
  'COMPARISON',
  'CONJUNCTION',
  'OPERATOR',
  'CASE',
  'BETWEEN',
])
const MORE_ROWS = ['unnest', 'generate_subscripts', 'unpivot_list']
const SCALAR: ReadonlySet<unknown> = new Set(FUNCTIONS.scalar.filter((name) => !MORE_ROWS.includes(name)))

/** How the rows of a statement grow with those of its table. Everything that is not known here is run on all rows. */
export function growthOf({ statement, tables, sources, volatile }: Checked): Growth {
  const node = statement['node'] as TreeNode
  const from = node['from_table'] as TreeNode | undefined
  if (volatile) return VOLATILE
  if (
    node['type'] !== 'SELECT_NODE' ||
    tables.length !== 1 ||
    sources !== 1 ||
    from?.['type'] !== 'BASE_TABLE'
  )
    return { because: 'it reads more than one table, or has another SELECT in it' }
  if (from['at_clause'] || from['sample'] || node['sample'])
    return { because: 'it reads a sample or an earlier version' }
  const others = [node['having'], node['qualify'], ...listOf(node['modifiers'])].filter(Boolean)
  if (others.length > 0) return { because: 'it has HAVING, QUALIFY, DISTINCT, ORDER BY or LIMIT' }
  if (!isOfOneRow(node['where_clause'])) return { because: 'its WHERE depends on more than a row' }
  return selectedGrowth(node)
}

function selectedGrowth(node: TreeNode): Growth {
  const selected = listOf(node['select_list'])
  const groups = listOf(node['group_expressions']).map(exprOf)
  const isGrouped = groups.length > 0 || node['aggregate_handling'] === 'FORCE_AGGREGATES'
  if (!isGrouped && selected.every((one) => isOfOneRow(one) || isStar(one))) return { adds: 'rows' }
  const merges = selected.map((one) => mergeOf(one))
  const wrong = { because: 'it has something else than columns of groups, sum, count, min and max' }
  if (merges.includes(undefined)) return wrong
  const sets = (node['group_sets'] ?? []) as readonly unknown[]
  const keys = selected.filter((_, index) => merges[index] === 'key').map(exprOf)
  const isNamed =
    node['aggregate_handling'] === 'FORCE_AGGREGATES' || keys.every((key) => groups.includes(key))
  const isWhole = groups.every((group) => keys.includes(group))
  return sets.length <= 1 && isNamed && isWhole ? { adds: 'groups', merges: merges as Merge[] } : wrong
}

/** How a column of the groups is merged; undefined for one that can't be. */
function mergeOf(one: TreeNode): Merge | undefined {
  const { function_name: name, children, filter, distinct } = one as { [key: string]: unknown }
  const merge = one['class'] === 'FUNCTION' ? MERGES[String(name)] : undefined
  if (!merge) return isOfOneRow(one) && one['class'] !== 'CONSTANT' ? 'key' : undefined
  const orders = (one['order_bys'] as TreeNode | undefined)?.['orders']
  // Sums of these have more digits than ours.
  const isLong = JSON.stringify(children ?? []).includes('BIGNUM')
  const isPlain = !distinct && !isLong && listOf(orders).length === 0 && listOf(children).length <= 1
  return isPlain && isOfOneRow(children) && isOfOneRow(filter) ? merge : undefined
}

function isStar(one: TreeNode): boolean {
  return one['class'] === 'STAR' && !one['columns'] && !one['expr'] && isOfOneRow(one['replace_list'])
}

function isOfOneRow(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isOfOneRow)
  if (typeof value !== 'object' || value === null) return true
  const node = value as TreeNode
  const { class: kind, distinct, filter, function_name: name } = node as { [key: string]: unknown }
  if (kind === 'CONSTANT') return true
  const isKnown = kind === 'FUNCTION' ? SCALAR.has(name) && !distinct && !filter : OF_ONE_ROW.has(kind)
  return (kind === undefined || isKnown) && Object.values(node).every(isOfOneRow)
}

function listOf(value: unknown): readonly TreeNode[] {
  return (value ?? []) as readonly TreeNode[]
}

/** An expression without its place and the name of its column. */
function exprOf(one: TreeNode): string {
  const shape = (name: string, value: unknown) =>
    name === 'query_location' || name === 'alias' ? undefined : value
  return JSON.stringify(one, shape)
}

/** Why groups can't be merged that are stored in these columns. @param sql of their values, as they are stored */
export function unmergeable(
  merges: readonly Merge[],
  columns: readonly { readonly type: ColumnType; readonly sql: string }[],
): string | undefined {
  if (merges.some((merge, index) => merge === 'sum' && columns[index]!.type === 'double'))
    return 'a sum of doubles depends on the order in which they are added'
  const isChanged = columns.some(({ type, sql }, index) => {
    const isExact = type === 'integer' || decimalParts(type) !== undefined || /^r\d+$/.test(sql)
    return merges[index] !== 'sum' && !isExact
  })
  return isChanged ? 'it has values of types that datasets do not have' : undefined
}

/** How the rows of a statement are refreshed where they are stored. @param columns as for `unmergeable` */
export function refreshOf(
  growth: Growth,
  columns: Parameters<typeof unmergeable>[1],
  read: ReadRows | undefined,
): RefreshKind {
  const merged = 'merges' in growth ? unmergeable(growth.merges, columns) : undefined
  const opaque = read === undefined ? 'it reads a saved query, whose rows have no versions' : undefined
  const because = 'because' in growth ? growth.because : (opaque ?? merged)
  return because === undefined ? { by: 'difference', because: null } : { by: 'whole', because }
}

/**
 * A SELECT of groups that are stored, merged with those of a statement.
 * @param table of the stored groups, as SQL names it
 */
export function mergedGroups(
  table: string,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  merges: readonly Merge[],
  sql: string,
): string {
  const given = columns.map((_, index) => `g${index}`).join(', ')
  const cast = columns.map(({ type }, index) => `CAST(g${index} AS ${sqlType(type)})`)
  const stored = columns.map(({ name }) => quoteIdentifier(name)).join(', ')
  const added = `SELECT ${cast.join(', ')} FROM (${sql}\n) AS added (${given})`
  const keys = merges.flatMap((merge, index) => (merge === 'key' ? `g${index}` : []))
  const merged = columns.map(({ name, type }, index) => {
    const merge = merges[index]!
    const value = merge === 'key' ? `g${index}` : `CAST(${merge}(g${index}) AS ${sqlType(type)})`
    return `${value} AS ${quoteIdentifier(name)}`
  })
  const all = `(SELECT ${stored} FROM ${table} UNION ALL ${added}) AS merged (${given})`
  return `SELECT ${merged.join(', ')} FROM ${all}${keys.length > 0 ? ` GROUP BY ${keys.join(', ')}` : ''}`
}

/** What is read of a dataset; undefined if it has no rows of its own. */
export function readOf(snapshot: Snapshot | undefined): ReadRows | undefined {
  const { rowCount: rows, version } = snapshot ?? {}
  return rows === undefined || version === undefined ? undefined : { version, rows }
}

/** The names and types of columns. */
export function shapeOf(columns: readonly Pick<Column, 'name' | 'type'>[]): string {
  return JSON.stringify(columns.map(({ name, type }) => [name, type]))
}
