import { createHash } from 'node:crypto'
import type { PastVersion } from '../catalog/history.ts'
import type { DatasetName, Repository } from '../catalog/records.ts'
import { FILTERED, type ReadEstimate } from '../plan/parts.ts'
import type { Snapshot } from '../snapshot.ts'
import { nearest } from '../util/nearest.ts'
import { Derived } from '../util/shared.ts'
import type { Checked, TableReference } from './check.ts'
import { CASED, INTERNAL, shownName, sqlError } from './errors.ts'
import type { TreeNode } from './nodes.ts'
import type { Scanned } from './sql-reading.ts'

/** A dataset that SQL may name. */
export interface SqlTable extends Omit<DatasetName, 'description'> {
  readonly repository: string
  /** Whose the repository is, as the engine's caller names accounts. */
  readonly owner?: string
  /**
   * Where tables have the same name, those with the lowest number are meant: 0, the default, for names that nobody else
   * can take.
   */
  readonly precedence?: number
}

const tablesOfNames = new Derived<readonly DatasetName[], readonly SqlTable[]>()

/** The same list is given for the same list of datasets, unless a repository was renamed. */
export function sqlTables(
  datasets: readonly DatasetName[],
  repositories: readonly Pick<Repository, 'id' | 'name'>[],
): readonly SqlTable[] {
  const names = new Map(repositories.map(({ id, name }) => [id, name]))
  return tablesOfNames.get(datasets, JSON.stringify([...names]), () =>
    datasets.map(({ id, name, repositoryId }) => ({
      id,
      name,
      repositoryId,
      repository: names.get(repositoryId) ?? '',
    })),
  )
}

const byFoldedName = new Derived<readonly SqlTable[], ReadonlyMap<string, readonly SqlTable[]>>()

/** The tables of this name, whatever its case. */
function tablesNamed(tables: readonly SqlTable[], name: string): readonly SqlTable[] {
  const all = byFoldedName.get(tables, '', () => Map.groupBy(tables, (table) => table.name.toLowerCase()))
  return all.get(name.toLowerCase()) ?? []
}

/** A dataset that a statement names, and which version of it. */
export interface NamedTable {
  readonly id: number
  readonly past: PastVersion | undefined
}

/**
 * Finds the datasets that a statement names among those that may be read: `"repository"."dataset"`, the same with its
 * owner in front, `dataset` where only one has the name, or `dataset_17`.
 * @throws EngineError `unknown_table`, `invalid_sql`
 */
export function findTables(references: readonly TableReference[], tables: readonly SqlTable[]): NamedTable[] {
  return references.map((reference) => ({ id: find(reference, tables).id, past: pastOf(reference) }))
}

/** What a statement says of a table. */
type TableName = Pick<TableReference, 'owner' | 'repository' | 'name'>

function find(reference: TableReference, tables: readonly SqlTable[]): SqlTable {
  const { repository, name, position } = reference
  const found = meant(reference, tables)
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    const names = found.slice(0, 5).map((table) => longName(table, tables))
    throw sqlError(
      'unknown_table',
      `${quoted(reference)} is ambiguous: write ${names.join(' or ')}.`,
      position,
    )
  }
  const inside = tables.filter((table) => repository !== undefined && isIn(reference, table))
  throw sqlError(
    'unknown_table',
    `There is no table ${quoted(reference)}.${suggestion(name, inside, tables)}`,
    position,
  )
}

/** The tables that a name means, of which there should be one. */
function meant({ owner, repository, name }: TableName, tables: readonly SqlTable[]): readonly SqlTable[] {
  const folded = tablesNamed(tables, name).filter((table) => isIn({ owner, repository }, table))
  const id = repository === undefined ? /^dataset_(\d{1,15})$/i.exec(name)?.[1] : undefined
  const first = id === undefined ? Math.min(...folded.map(precedenceOf)) : 0
  const found = folded.filter((table) => precedenceOf(table) === first)
  if (id !== undefined && found.length === 0) return tables.filter((table) => table.id === Number(id))
  // If they belong to several, nobody can take the name of another by a better spelling.
  if (new Set(found.map((table) => table.owner)).size > 1) return found
  const exact = found.filter(
    (table) => table.name === name && (repository === undefined || table.repository === repository),
  )
  return exact.length > 0 ? exact : found
}

function isIn({ owner, repository }: Omit<TableName, 'name'>, table: SqlTable): boolean {
  if (owner !== undefined && table.owner !== owner) return false
  return repository === undefined || table.repository.toLowerCase() === repository.toLowerCase()
}

function precedenceOf({ precedence = 0 }: SqlTable): number {
  return precedence
}

function suggestion(name: string, inside: readonly SqlTable[], all: readonly SqlTable[]): string {
  const near = nearest(
    name,
    (inside.length > 0 ? inside : all).map((table) => table.name),
  )
  const [found] = [name, near ?? ''].flatMap((one) =>
    tablesNamed(all, one).toSorted((a, b) => precedenceOf(a) - precedenceOf(b)),
  )
  if (found) return ` Did you mean ${longName(found, all)}?`
  return ' Tables are datasets: "repository"."dataset", or "owner"."repository"."dataset".'
}

/** The shortest name with a repository that means this table and no other; by its id if there is none. */
function longName(table: SqlTable, all: readonly SqlTable[]): string {
  const { id, owner, repository, name } = table
  const names = [
    { owner: undefined, repository, name },
    ...(owner === undefined ? [] : [{ owner, repository, name }]),
  ]
  const own = names.find((one) => {
    const [first, ...others] = meant(one, all)
    return first === table && others.length === 0
  })
  return own ? quoted(own) : `dataset_${id}`
}

function quoted({ owner, repository, name }: TableName): string {
  const parts = [owner, repository, name].filter((part) => part !== undefined)
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.')
}

/** Leaves of the names of a column only that of its table, its own, and those of fields. */
function dropQualifiers(names: string[], tables: readonly TableReference[]): void {
  const folded = names.map((name) => name.toLowerCase())
  for (const { owner, repository, name } of tables) {
    const whole = [owner, repository, name].flatMap((part) => part?.toLowerCase() ?? [])
    if (names.length <= whole.length || whole.some((part, index) => part !== folded[index])) continue
    names.splice(0, whole.length - 1)
    return
  }
}

/** `AT (VERSION => 3)` or `AT (TIMESTAMP => '2024-01-31')`. @throws EngineError `invalid_sql` */
export function pastOf({ node, position }: TableReference): PastVersion | undefined {
  const clause = node['at_clause'] as TreeNode | undefined
  if (!clause) return undefined
  const value = constantIn(clause['expr'] as TreeNode)
  const isVersion = /^version$/i.test(String(clause['unit']))
  if (isVersion && Number.isSafeInteger(value) && Number(value) >= 0) return { version: Number(value) }
  if (!isVersion && typeof value === 'string') return { asOf: value }
  throw sqlError(
    'invalid_sql',
    "A past version is AT (VERSION => 3) or AT (TIMESTAMP => '2024-01-31T12:00:00Z').",
    position,
  )
}

function constantIn(expression: TreeNode): unknown {
  if (expression['class'] === 'CAST') return constantIn(expression['child'] as TreeNode)
  return expression['class'] === 'CONSTANT' ? (expression['value'] as TreeNode)['value'] : undefined
}

/** Gives the tables of a tree names of ours, and columns that differ only by case names that DuckDB tells apart. */
export function rewriteTables(checked: Checked, snapshots: readonly Snapshot[]): Scanned[] {
  const { tables, names, qualified } = checked
  const scanned = new Map<string, Scanned>()
  const columnsOf = snapshots.map(({ columns }) => columns.map(({ name }) => name))
  const cased = casedNames(columnsOf)
  const spelt = (name: string) => cased.get(name) ?? name
  for (const [index, { node, name, position }] of tables.entries()) {
    const { identity, plan } = snapshots[index]!
    if (columnsOf[index]!.length === 0)
      throw sqlError('unknown_table', `The table "${name}" has no columns yet.`, position)
    const columns = columnsOf[index]!.map(spelt)
    const known = scanned.get(identity) ?? {
      name: `${INTERNAL}t${createHash('sha256')
        .update(JSON.stringify([identity, columns]))
        .digest('hex')
        .slice(0, 32)}`,
      columns,
      plan,
      estimate: readEstimate(checked, columns),
      reading: () => snapshots[index]!.reading(plan),
    }
    scanned.set(identity, known)
    delete node['schema_name']
    delete node['catalog_name']
    delete node['at_clause']
    node['table_name'] = known.name
  }
  for (const node of qualified) dropQualifiers(node['column_names'] as string[], tables)
  if (cased.size > 0) {
    for (const [holder, key] of names) if (holder[key] !== undefined) holder[key] = spelt(String(holder[key]))
  }
  return [...scanned.values()]
}

/** What a statement may read of a table: the columns whose names are anywhere in it. */
function readEstimate({ names, stars, filters, sources }: Checked, columns: readonly string[]): ReadEstimate {
  const named = new Set(names.map(([holder, key]) => String(holder[key]).toLowerCase()))
  const positions = [...columns.keys()]
  return {
    columns: stars ? positions : positions.filter((at) => named.has(shownName(columns[at]!).toLowerCase())),
    of: columns.length,
    share: filters && sources === 1 ? FILTERED : 1,
  }
}

/**
 * Names for columns that differ from others only by case, which DuckDB takes for the same. In all tables, such a name has
 * the same other name.
 */
function casedNames(tables: readonly (readonly string[])[]): ReadonlyMap<string, string> {
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
