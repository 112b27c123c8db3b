import type { DatasetName, Engine } from '../../engine/index.ts'
import type { Access } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import { ODataError } from './errors.ts'
import { CONTAINER, type DescribedSet, type EntitySet, propertiesOf } from './metadata/model.ts'
import { identifiersFor } from './metadata/names.ts'

/** The entity sets that an account sees at a service root: the datasets of a repository, or all that it may read. */
export interface Feed {
  /** The datasets as entity sets, ordered by id. */
  readonly sets: readonly EntitySet[]
  /** The same, with their properties. */
  describedSets(): Promise<DescribedSet[]>
  /** @throws ODataError `notFound` if there is no such set */
  set(name: string): EntitySet
}

interface Place {
  readonly engine: Engine
  readonly access: Access
}

/** The sets of a list of datasets, so that a page of a large repository doesn't name all of them again. */
const setsOfRepositories = new WeakMap<readonly DatasetName[], readonly EntitySet[]>()

/** @throws EngineError `not_found`, ServerError `forbidden` */
export async function repositoryFeed(
  { engine, access }: Place,
  repositoryId: number,
  account: Account,
): Promise<Feed> {
  await access.require(repositoryId, account, 'Read')
  const datasets = await engine.datasetNames({ repositoryId })
  let sets = setsOfRepositories.get(datasets)
  if (!sets) {
    sets = setsOf(
      datasets,
      datasets.map(({ name }) => name),
    )
    setsOfRepositories.set(datasets, sets)
  }
  return feedOf(engine, sets, { repositoryId })
}

/** All datasets that an account may read. Their names are prefixed with those of their repositories. */
export async function wholeFeed({ engine, access }: Place, account: Account): Promise<Feed> {
  const readable = await access.readable(account)
  const repositories = new Map((await engine.repositories()).map(({ id, name }) => [id, name]))
  const datasets = (await engine.datasetNames()).filter(({ repositoryId }) => readable.has(repositoryId))
  const names = datasets.map(({ repositoryId, name }) => `${repositories.get(repositoryId)}_${name}`)
  return feedOf(engine, setsOf(datasets, names), {})
}

function setsOf(datasets: readonly DatasetName[], names: readonly string[]): EntitySet[] {
  const identifiers = identifiersFor(names, [CONTAINER])
  return datasets.map(({ id, name, description }, index) => ({
    name: identifiers[index]!,
    datasetId: id,
    title: name,
    description,
  }))
}

function feedOf(engine: Engine, sets: readonly EntitySet[], where: { repositoryId?: number }): Feed {
  return {
    sets,
    async describedSets() {
      const records = new Map((await engine.datasets(where)).map((record) => [record.id, record]))
      return sets.flatMap((set) => {
        const record = records.get(set.datasetId)
        // One that was deleted a moment ago isn't described.
        return record ? [{ ...set, properties: propertiesOf(record.columns) }] : []
      })
    },
    set(name) {
      const set = sets.find((one) => one.name === name)
      if (set) return set
      throw new ODataError('notFound', `There is no entity set ${JSON.stringify(name)} in this service.`)
    },
  }
}
