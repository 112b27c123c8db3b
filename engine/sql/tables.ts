import { type PastVersion, pastVersion } from '../catalog/history.ts'
import type { DatasetName, Repository } from '../catalog/records.ts'
import { nearest } from '../util/known-options.ts'
import type { TableReference } from './check.ts'
import { sqlError } from './errors.ts'
import type { TreeNode } from './nodes.ts'

/** A dataset that SQL may name. */
export interface SqlTable extends Omit<DatasetName, 'description'> {
  readonly repository: string
}

export function sqlTables(
  datasets: readonly DatasetName[],
  repositories: readonly Pick<Repository, 'id' | 'name'>[],
): SqlTable[] {
  const names = new Map(repositories.map(({ id, name }) => [id, name]))
  return datasets.map(({ id, name, repositoryId }) => ({
    id,
    name,
    repositoryId,
    repository: names.get(repositoryId) ?? '',
  }))
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
  const inside = tables.filter((table) => repository === undefined || same(table.repository, repository))
  const found = spelt(
    inside,
    (table) => same(table.name, name),
    (table) => {
      return table.name === name && (repository === undefined || table.repository === repository)
    },
  )
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    const names = found.slice(0, 5).map(quoted)
    throw sqlError('unknown_table', `"${name}" is ambiguous: write ${names.join(' or ')}.`, position)
  }
  const id = repository === undefined ? /^dataset_(\d{1,15})$/i.exec(name)?.[1] : undefined
  const byId = id === undefined ? undefined : tables.find((table) => table.id === Number(id))
  if (byId) return byId
  const shown = repository === undefined ? `"${name}"` : `"${repository}"."${name}"`
  throw sqlError('unknown_table', `There is no table ${shown}.${suggestion(name, inside, tables)}`, position)
}

/** Those that are spelt just so; if there are none, those that are spelt so but for case. */
function spelt(
  tables: readonly SqlTable[],
  folded: (table: SqlTable) => boolean,
  exact: (table: SqlTable) => boolean,
): readonly SqlTable[] {
  const found = tables.filter(folded)
  const exactly = found.filter(exact)
  return exactly.length > 0 ? exactly : found
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function suggestion(name: string, inside: readonly SqlTable[], all: readonly SqlTable[]): string {
  const elsewhere = all.find((table) => same(table.name, name))
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
  if (isVersion && Number.isSafeInteger(value) && Number(value) >= 0)
    return pastVersion({ version: Number(value) })
  if (!isVersion && typeof value === 'string') return pastVersion({ asOf: value })
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
