import type { Engine } from '../../engine/index.ts'
import type { Access } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import type { Services } from '../services.ts'
import { IcebergError } from './errors.ts'

/** The dataset that a table's name means. If `version` is undefined, its current version is meant. */
export interface NamedTable {
  readonly datasetId: number
  readonly version: number | undefined
}

/** The names that repositories and datasets have in a warehouse, for one account. */
export abstract class Names {
  protected readonly engine: Engine
  readonly #access: Access
  readonly #account: Account

  constructor({ engine, access }: Services, account: Account) {
    this.engine = engine
    this.#access = access
    this.#account = account
  }

  /** Names of the repositories that the account may read. */
  abstract namespaces(): Promise<string[]>
  /** @throws IcebergError `noNamespace` */
  abstract repository(namespace: string): Promise<number>
  protected abstract nameOf(dataset: { readonly id: number; readonly name: string }): string
  /** How a name is that pins a version: the name without it, and the version. */
  protected abstract readonly pinned: RegExp

  protected readable() {
    return this.#access.readable(this.#account)
  }

  /** Names of the datasets of a repository. */
  async tables(repositoryId: number): Promise<string[]> {
    return (await this.engine.datasets({ repositoryId })).map((dataset) => this.nameOf(dataset))
  }

  /** @throws IcebergError `noTable` */
  async table(repositoryId: number, name: string): Promise<NamedTable> {
    const datasets = await this.engine.datasets({ repositoryId })
    const named = (asked: string | undefined) => datasets.find((dataset) => this.nameOf(dataset) === asked)
    const whole = named(name)
    if (whole) return { datasetId: whole.id, version: undefined }
    const [, base, version] = this.pinned.exec(name) ?? []
    const found = named(base)
    if (found) return { datasetId: found.id, version: Number(version) }
    throw new IcebergError('noTable', `The repository has no dataset ${JSON.stringify(name)}.`)
  }
}

/**
 * The names that users gave. If the account reads two repositories of the same name, `~` and the id are appended to
 * both (`sales~3`); this longer form is accepted for every repository. `Table@7` is version 7 of a table.
 */
export class PeoplesNames extends Names {
  protected readonly pinned = /^(.*)@(\d{1,15})$/s

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

  protected nameOf({ name }: { readonly name: string }): string {
    return name
  }

  async #repositories() {
    const readable = await this.readable()
    const repositories = await this.engine.repositories()
    return repositories.filter(({ id }) => readable.has(id))
  }
}

/**
 * Names made of ids, for programs that allow few characters in names or ignore case: repository 3 is `r3`, dataset 17
 * is `d17`, and `d17_7` is its version 7.
 */
export class PlainNames extends Names {
  protected readonly pinned = /^(.*)_(\d{1,15})$/

  async namespaces(): Promise<string[]> {
    return [...(await this.readable()).keys()].map((id) => `r${id}`)
  }

  async repository(namespace: string): Promise<number> {
    const id = Number(/^r([1-9]\d{0,14})$/.exec(namespace)?.[1])
    if ((await this.readable()).has(id)) return id
    throw noNamespace(namespace)
  }

  protected nameOf({ id }: { readonly id: number }): string {
    return `d${id}`
  }
}

/** The same error for a missing repository and a hidden one, so that nobody finds out which names exist. */
function noNamespace(name: string, more = ''): IcebergError {
  return new IcebergError(
    'noNamespace',
    `There is no repository ${JSON.stringify(name)} that this key may read.${more}`,
  )
}
