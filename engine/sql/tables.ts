import type { PastVersion } from '../catalog/history.ts'
import type { DatasetName, Repository } from '../catalog/records.ts'
import { nearest } from '../util/nearest.ts'
import { Derived } from '../util/shared.ts'
import type { TableReference } from './check.ts'
import { sqlError } from './errors.ts'
import type { TreeNode } from './nodes.ts'

/** A dataset that SQL may name. */
export interface SqlTable extends Omit<DatasetName, 'description'> {
  readonly repository: string
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
 * Finds the datasets that a statement names among those that may be read: `"repository"."dataset"`, `dataset` where only
 * one has the name, or `dataset_17`.
 * @throws EngineError `unknown_table`, `invalid_sql`
 */
export function findTables(references: readonly TableReference[], tables: readonly SqlTable[]): NamedTable[] {
  return references.map((reference) => ({ id: find(reference, tables).id, past: pastOf(reference) }))
}

function find({ repository, name, position }: TableReference, tables: readonly SqlTable[]): SqlTable {
  const isInside = (table: SqlTable) => repository === undefined || same(table.repository, repository)
  const folded = tablesNamed(tables, name).filter(isInside)
  const exact = folded.filter(
    (table) => table.name === name && (repository === undefined || table.repository === repository),
  )
  const found = exact.length > 0 ? exact : folded
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    const names = found.slice(0, 5).map(quoted)
    throw sqlError('unknown_table', `"${name}" is ambiguous: write ${names.join(' or ')}.`, position)
  }
  const id = repository === undefined ? /^dataset_(\d{1,15})$/i.exec(name)?.[1] : undefined
  const byId = id === undefined ? undefined : tables.find((table) => table.id === Number(id))
  if (byId) return byId
  const shown = repository === undefined ? `"${name}"` : `"${repository}"."${name}"`
  throw sqlError(
    'unknown_table',
    `There is no table ${shown}.${suggestion(name, tables.filter(isInside), tables)}`,
    position,
  )
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function suggestion(name: string, inside: readonly SqlTable[], all: readonly SqlTable[]): string {
  const [elsewhere] = tablesNamed(all, name)
  const near = nearest(
    name,
    (inside.length > 0 ? inside : all).map((table) => table.name),
  )
  const meant = elsewhere ?? all.find((table) => table.name === near)
  return meant ? ` Did you mean ${quoted(meant)}?` : ' Tables are datasets: "repository"."dataset".'
}

function quoted({ repository, name }: SqlTable): string {
  return [repository, name].map((part) => `"${part.replaceAll('"', '""')}"`).join('.')
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
