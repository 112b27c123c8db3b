import type { DatasetName, Engine } from '../../engine/index.ts'
import { Derived } from '../../engine/util/shared.ts'
import type { RepositoryAccess } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import { CONTAINER, identifierOf, identifiersFor, LONGEST } from './model.ts'

/** The name of a dataset at `/odata/` for the account that owned it when the name was given. */
interface SetName {
  readonly datasetId: number
  readonly accountId: number
  /** The name of that account. */
  readonly account: string
  readonly name: string
}

type Names = ReadonlyMap<number, SetName>

/** What the names end with for everybody else, so that no account can have one of its own that is the same. */
const FOREIGN = /_id\d+$/

const ALL = `SELECT s.dataset_id AS "datasetId", s.account_id AS "accountId", a.name AS account, s.name
  FROM entity_sets s JOIN accounts a ON a.id = s.account_id`

/** How many names are written by one statement. */
const BATCH = 1_000

const withoutName = new Derived<readonly DatasetName[], readonly DatasetName[]>()

/**
 * The names of datasets at `/odata/`, which are the same as long as the datasets live: each is given when it is first
 * needed, from the names of repository and dataset at that time, and kept. Whatever others have or do, no name comes to
 * mean another dataset.
 * @param readable the repositories that the account may read
 */
export async function setNames(
  engine: Engine,
  datasets: readonly DatasetName[],
  readable: ReadonlyMap<number, RepositoryAccess>,
): Promise<Names> {
  const { database } = engine
  const names = await database.cached('names of entity sets', () => allNames(database))
  const missing = withoutName.get(datasets, [...readable.keys()].join(), () =>
    datasets.filter(({ id, repositoryId }) => readable.has(repositoryId) && !names.has(id)),
  )
  if (missing.length === 0) return names
  const repositories = new Map((await engine.repositories()).map(({ id, name }) => [id, name]))
  const given = (before: Names) => newNames(missing, readable, repositories, before)
  try {
    return await database.transaction(async (t) => {
      await t.lockName('names of entity sets')
      const before = await allNames(t)
      const made = given(before)
      for (let from = 0; from < made.length; from += BATCH) {
        const some = made.slice(from, from + BATCH)
        await t.run(
          `INSERT INTO entity_sets (dataset_id, account_id, name) VALUES ${some.map(() => '(?, ?, ?)').join()}`,
          ...some.flatMap(({ datasetId, accountId, name }) => [datasetId, accountId, name]),
        )
      }
      return withNames(before, made)
    })
  } catch {
    // For example a full disk, or a dataset that was deleted meanwhile. They are given again at the next request.
    return withNames(names, given(names))
  }
}

/** The name that an account sees: others than the one that it was given for see that one's name and the id as well. */
export function nameFor({ datasetId, accountId, account, name }: SetName, { id }: Account): string {
  if (accountId === id) return name
  const end = `_id${datasetId}`
  return `${identifierOf(`${account}_${name}`).slice(0, LONGEST - end.length)}${end}`
}

async function allNames(handle: Pick<Engine['database'], 'all'>): Promise<Names> {
  return new Map((await handle.all<SetName>(ALL)).map((one) => [one.datasetId, one]))
}

function withNames(names: Names, more: readonly SetName[]): Names {
  return new Map([...names, ...more.map((one) => [one.datasetId, one] as const)])
}

function newNames(
  datasets: readonly DatasetName[],
  readable: ReadonlyMap<number, RepositoryAccess>,
  repositories: ReadonlyMap<number, string>,
  before: Names,
): readonly SetName[] {
  const taken = Map.groupBy(before.values(), ({ accountId }) => accountId)
  const missing = datasets.filter(({ id }) => !before.has(id))
  const owners = Map.groupBy(missing, ({ repositoryId }) => readable.get(repositoryId)!.owner.id)
  return [...owners].flatMap(([accountId, theirs]) => {
    const account = readable.get(theirs[0]!.repositoryId)!.owner.name
    const names = identifiersFor(
      theirs.map(({ repositoryId, name }) => `${repositories.get(repositoryId)}_${name}`),
      [CONTAINER, ...(taken.get(accountId) ?? []).map(({ name }) => name)],
      FOREIGN,
    )
    return theirs.map(({ id }, index) => ({ datasetId: id, accountId, account, name: names[index]! }))
  })
}
