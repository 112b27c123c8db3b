import { type Column, type DatasetName, type Engine, EngineError, nearest } from '../../engine/index.ts'
import { Derived } from '../../engine/util/shared.ts'
import type { Account } from '../accounts/accounts.ts'
import { recordTag } from '../http/headers.ts'
import type { Services } from '../services.ts'
import { ODataError } from './errors.ts'
import {
  CONTAINER,
  type DescribedSet,
  type EntitySet,
  identifiersFor,
  propertiesOf,
  slices,
} from './model.ts'
import { nameFor, setNames } from './names.ts'

/** The entity sets that an account sees at a service root: the datasets of a repository, or all that it may read. */
export interface Feed {
  /** The datasets as entity sets, ordered by id. */
  readonly sets: readonly EntitySet[]
  /** The same, with their properties, some at a time. */
  described(): AsyncIterable<readonly DescribedSet[]>
  /** A text that changes when these do. */
  tag(): Promise<string>
  /** @throws ODataError `notFound` if there is no such set */
  set(name: string): EntitySet
}

/** Wider tables than this, in bytes of JSON, are read one by one. */
const COLUMN_BYTES = 64 * 1024

/** The sets of a list of datasets, of a repository or for an account, so that a page of a long list doesn't name all of them again. */
const setsOfLists = new Derived<readonly DatasetName[], readonly EntitySet[]>()

/** @throws EngineError `not_found`, ServerError `forbidden` */
export async function repositoryFeed(
  { engine, access }: Pick<Services, 'engine' | 'access'>,
  repositoryId: number,
  account: Account,
): Promise<Feed> {
  await access.require(repositoryId, account, 'Read')
  const datasets = await engine.datasetNames({ repositoryId })
  const sets = setsOfLists.get(datasets, '', () => {
    const names = identifiersFor(
      datasets.map(({ name }) => name),
      [CONTAINER],
    )
    return datasets.map((dataset, index) => setOf(dataset, names[index]!))
  })
  return feed(engine, sets, new Set([repositoryId]), repositoryId)
}

/** All datasets that an account may read, by names that never change. */
export async function wholeFeed(
  { engine, access }: Pick<Services, 'engine' | 'access'>,
  account: Account,
): Promise<Feed> {
  const readable = await access.readable(account)
  const datasets = await engine.datasetNames()
  const names = await setNames(engine, datasets, readable)
  const sets = setsOfLists.get(datasets, `${account.id} ${[...readable.keys()]}`, () => {
    const shown = datasets.filter(({ id, repositoryId }) => readable.has(repositoryId) && names.has(id))
    return shown.map((dataset) => setOf(dataset, nameFor(names.get(dataset.id)!, account)))
  })
  return feed(engine, sets, readable)
}

function setOf({ id, name: title, description }: DatasetName, name: string): EntitySet {
  return { name, datasetId: id, title, description }
}

function feed(
  engine: Engine,
  sets: readonly EntitySet[],
  repositories: { has(id: number): boolean },
  repositoryId?: number,
): Feed {
  return {
    sets,
    async *described() {
      const byId = new Map(sets.map((set) => [set.datasetId, set]))
      for await (const page of engine.datasetList(COLUMN_BYTES, repositoryId)) {
        for await (const some of slices(page)) {
          const described: DescribedSet[] = []
          for (const { id, columns } of some) {
            const set = byId.get(id)
            if (!set) continue
            const all = columns ?? (await columnsOf(engine, id))
            if (all) described.push({ ...set, properties: propertiesOf(all) })
          }
          yield described
        }
      }
    },
    // The names of the sets also depend on those of the repositories.
    tag: async () =>
      recordTag(
        sets.map(({ name }) => name),
        await engine.datasetsTag((id) => repositories.has(id), repositoryId),
      ),
    set(name) {
      const set = sets.find((one) => one.name === name)
      if (set) return set
      const longer = sets.find((one) => one.name.includes(`_${name}_id`))?.name
      const near =
        longer ??
        nearest(
          name,
          sets.slice(0, 2_000).map((one) => one.name),
        )
      const hint = near === undefined ? '' : ` Did you mean ${near}?`
      throw new ODataError(
        'notFound',
        `There is no entity set ${JSON.stringify(name)} in this service.${hint}`,
      )
    },
  }
}

/** The columns of a dataset; undefined if it was deleted a moment ago. */
async function columnsOf(engine: Engine, id: number): Promise<readonly Column[] | undefined> {
  try {
    return (await (await engine.dataset(id)).record()).columns
  } catch (error) {
    if (error instanceof EngineError && error.code === 'not_found') return undefined
    throw error
  }
}
