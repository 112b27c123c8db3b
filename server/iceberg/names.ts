import type { Account } from '../accounts/accounts.ts'
import type { Services } from '../services.ts'
import { IcebergError } from './errors.ts'

type Place = Pick<Services, 'engine' | 'access'>

/** The dataset that a table's name means. If `version` is undefined, its current version is meant. */
export interface NamedTable {
  readonly datasetId: number
  readonly version: number | undefined
}

/** The names that repositories and datasets have in a warehouse, for one account. */
export interface Names {
  /** Names of the repositories that the account may read. */
  namespaces(): Promise<string[]>
  /** @throws IcebergError `noNamespace` */
  repository(namespace: string): Promise<number>
  /** Names of the datasets of a repository. */
  tables(repositoryId: number): Promise<string[]>
  /** @throws IcebergError `noTable` */
  table(repositoryId: number, name: string): Promise<NamedTable>
}

/**
 * The names that users gave. If the account reads two repositories of the same name, `~` and the id are appended to
 * both (`sales~3`); this longer form is accepted for every repository. `Table@7` is version 7 of a table.
 */
export class PeoplesNames implements Names {
  readonly #place: Place
  readonly #account: Account

  constructor(place: Place, account: Account) {
    this.#place = place
    this.#account = account
  }

  async namespaces(): Promise<string[]> {
    const repositories = await this.#repositories()
    const uses = new Map<string, number>()
    for (const { name } of repositories) uses.set(name, (uses.get(name) ?? 0) + 1)
    return repositories.map(({ name, id }) => (uses.get(name) === 1 ? name : `${name}~${id}`))
  }

  async repository(namespace: string): Promise<number> {
    const repositories = await this.#repositories()
    const named = repositories.filter(({ name }) => name === namespace)
    if (named.length === 1) return named[0]!.id
    const withId = repositories.find(({ name, id }) => `${name}~${id}` === namespace)
    if (withId) return withId.id
    const several = named.map(({ name, id }) => JSON.stringify(`${name}~${id}`)).join(' or ')
    throw noNamespace(namespace, several && ` Several have that name: say ${several}.`)
  }

  async tables(repositoryId: number): Promise<string[]> {
    const datasets = await this.#place.engine.datasets({ repositoryId })
    return datasets.map(({ name }) => name)
  }

  async table(repositoryId: number, name: string): Promise<NamedTable> {
    const datasets = await this.#place.engine.datasets({ repositoryId })
    const whole = datasets.find((dataset) => dataset.name === name)
    if (whole) return { datasetId: whole.id, version: undefined }
    const [, base, version] = /^(.*)@(\d{1,15})$/s.exec(name) ?? []
    const pinned = datasets.find((dataset) => dataset.name === base)
    if (pinned) return { datasetId: pinned.id, version: Number(version) }
    throw noTable(name)
  }

  async #repositories() {
    const readable = await this.#place.access.readable(this.#account)
    const repositories = await this.#place.engine.repositories()
    return repositories.filter(({ id }) => readable.has(id))
  }
}

/**
 * Names made of ids, for programs that allow few characters in names or ignore case: repository 3 is `r3`, dataset 17
 * is `d17`, and `d17_7` is its version 7.
 */
export class PlainNames implements Names {
  readonly #place: Place
  readonly #account: Account

  constructor(place: Place, account: Account) {
    this.#place = place
    this.#account = account
  }

  async namespaces(): Promise<string[]> {
    const readable = await this.#place.access.readable(this.#account)
    return [...readable.keys()].map((id) => `r${id}`)
  }

  async repository(namespace: string): Promise<number> {
    const id = Number(/^r([1-9]\d{0,14})$/.exec(namespace)?.[1])
    const readable = await this.#place.access.readable(this.#account)
    if (readable.has(id)) return id
    throw noNamespace(namespace)
  }

  async tables(repositoryId: number): Promise<string[]> {
    const datasets = await this.#place.engine.datasets({ repositoryId })
    return datasets.map(({ id }) => `d${id}`)
  }

  async table(repositoryId: number, name: string): Promise<NamedTable> {
    const [, id, version] = /^d([1-9]\d{0,14})(?:_(\d{1,15}))?$/.exec(name) ?? []
    const datasets = await this.#place.engine.datasets({ repositoryId })
    const found = datasets.find((dataset) => dataset.id === Number(id))
    if (found) return { datasetId: found.id, version: version === undefined ? undefined : Number(version) }
    throw noTable(name)
  }
}

/** The same error for a missing repository and a hidden one, so that nobody finds out which names exist. */
function noNamespace(name: string, more = ''): IcebergError {
  return new IcebergError(
    'noNamespace',
    `There is no repository ${JSON.stringify(name)} that this key may read.${more}`,
  )
}

function noTable(name: string): IcebergError {
  return new IcebergError('noTable', `The repository has no dataset ${JSON.stringify(name)}.`)
}
