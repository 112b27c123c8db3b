import {
  type Dataset,
  type Engine,
  EngineError,
  type Naming,
  type Snapshot,
  s3Requests,
} from '../../engine/index.ts'
import type { Access } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import type { Config } from '../config/schema.ts'
import type { Services } from '../services.ts'
import type { KeptSnapshots } from '../transfers/kept-snapshots.ts'
import { IcebergError } from './errors.ts'

type Backend = Pick<Services, 'engine' | 'kept' | 'config'>

/** The names in the path of a request. */
export interface RequestPath {
  readonly names: Names
  readonly naming: Naming
  readonly namespace: string
  readonly table: string
}

/** The namespaces. None contains another. */
export async function listNamespaces(names: Names, parent: string | undefined) {
  if (parent !== undefined) {
    await names.repository(parent)
    return { namespaces: [] }
  }
  return { namespaces: (await names.namespaces()).map((name) => [name]) }
}

export async function describeNamespace({ engine }: Backend, { names, namespace }: RequestPath) {
  const { id, description } = await engine.repository(await names.repository(namespace))
  const properties = { 'parquetry.repository': String(id), ...(description && { comment: description }) }
  return { namespace: [namespace], properties }
}

export async function listTables({ names, namespace }: RequestPath) {
  const tables = await names.tables(await names.repository(namespace))
  return { identifiers: tables.map((name) => ({ namespace: [namespace], name })) }
}

/**
 * A version as a table. It is kept for ten minutes, because the client reads its files next.
 * @throws IcebergError `noNamespace`, `noTable`, `noPlace`
 */
export async function loadTable({ engine, kept, config }: Backend, path: RequestPath) {
  const { names, naming, namespace, table } = path
  const { datasetId, version } = await names.table(await names.repository(namespace), table)
  // Objects are protected by the store's credentials. Files are not, so their paths are given only if the operator
  // allows it.
  if (config.store === undefined && !config.iceberg.localFiles) {
    throw new IcebergError(
      'noPlace',
      'The rows are in a folder of the server. Its operator can let readers on the same machine open the files with ' +
        'the setting iceberg.localFiles; GET /datasets/{id}/parquet gives the rows to everybody else.',
    )
  }
  const snapshot = await keptVersion(kept, await engine.dataset(datasetId), version)
  return { metadata: await snapshot.icebergTable(naming), config: storeSettings(config) }
}

/** The settings with which clients reach the store of the rows. They need credentials of their own. */
function storeSettings({ store, s3Endpoint, s3Region, s3PathStyle }: Config): Record<string, string> {
  if (store === undefined) return {}
  const { endpoint, region, pathStyle } = s3Requests({
    endpoint: s3Endpoint,
    region: s3Region,
    pathStyle: s3PathStyle,
  })
  return {
    ...(endpoint !== undefined && { 's3.endpoint': endpoint }),
    ...(region !== undefined && { 's3.region': region, 'client.region': region }),
    ...(pathStyle && { 's3.path-style-access': 'true' }),
  }
}

/** Throws if there is no such table. Doesn't check whether its files can be opened. @throws IcebergError */
export async function requireTable(
  { engine, kept }: Backend,
  { names, namespace, table }: RequestPath,
): Promise<void> {
  const { datasetId, version } = await names.table(await names.repository(namespace), table)
  if (version !== undefined) await keptVersion(kept, await engine.dataset(datasetId), version)
}

/** How often the current version is looked up again if a write has replaced it meanwhile. */
const TRIES = 10

async function keptVersion(
  kept: KeptSnapshots,
  dataset: Dataset,
  version: number | undefined,
): Promise<Snapshot> {
  for (let tried = 1; ; tried++) {
    try {
      return await kept.get(dataset, version ?? (await dataset.record()).version)
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'version_gone')) throw error
      if (version !== undefined || tried === TRIES) throw new IcebergError('noTable', error.message)
    }
  }
}

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
