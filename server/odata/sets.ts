import type { DatasetRecord, Engine } from '../../engine/index.ts'
import type { Access } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import { ODataError } from './errors.ts'
import { CONTAINER, type DescribedSet, type EntitySet, propertiesOf } from './metadata/model.ts'
import { identifiersFor } from './metadata/names.ts'

/** The entity sets that an account sees at a service root: the datasets of a repository, or all that it may read. */
export interface Feed {
  /** The datasets as entity sets, ordered by id. */
  sets(): EntitySet[]
  /** The same, with their properties. */
  describedSets(): DescribedSet[]
  /** @throws ODataError `notFound` if there is no such set */
  set(name: string): EntitySet
}

interface Place {
  readonly engine: Engine
  readonly access: Access
}

/** @throws EngineError `not_found`, ServerError `forbidden` */
export async function repositoryFeed(
  { engine, access }: Place,
  repositoryId: number,
  account: Account,
): Promise<Feed> {
  await access.require(repositoryId, account, 'Read')
  const records = await engine.datasets({ repositoryId })
  return feedOf(
    records,
    records.map((record) => record.name),
  )
}

/** All datasets that an account may read. Their names are prefixed with those of their repositories. */
export async function wholeFeed({ engine, access }: Place, account: Account): Promise<Feed> {
  const readable = await access.readable(account)
  const repositories = new Map((await engine.repositories()).map(({ id, name }) => [id, name]))
  const records = (await engine.datasets()).filter((record) => readable.has(record.repositoryId))
  return feedOf(
    records,
    records.map((record) => `${repositories.get(record.repositoryId)}_${record.name}`),
  )
}

function feedOf(records: readonly DatasetRecord[], names: readonly string[]): Feed {
  const identifiers = identifiersFor(names, [CONTAINER])
  const setOf = (record: DatasetRecord, index: number): EntitySet => ({
    name: identifiers[index]!,
    datasetId: record.id,
    title: record.name,
    description: record.description,
  })
  return {
    sets: () => records.map(setOf),
    describedSets: () =>
      records.map((record, index) => ({ ...setOf(record, index), properties: propertiesOf(record.columns) })),
    set(name) {
      const index = identifiers.indexOf(name)
      if (index >= 0) return setOf(records[index]!, index)
      throw new ODataError('notFound', `There is no entity set ${JSON.stringify(name)} in this service.`)
    },
  }
}
