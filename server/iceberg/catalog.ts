import {
  type Dataset,
  type DatasetName,
  EngineError,
  NAMED,
  type Naming,
  PLAIN,
  type Repository,
  type Snapshot,
  s3Requests,
} from '../../engine/index.ts'
import { RELATIONS, type Relation } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import { s3Access } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { errorAnswer } from '../http/errors.ts'
import type { Services } from '../services.ts'
import type { KeptSnapshots } from '../transfers/kept-snapshots.ts'

/** How a warehouse names repositories and datasets; none contains another. */
export interface Warehouse {
  readonly naming: Naming
  /** Its part of the path. */
  readonly prefix: string
  /** The names of a repository: the second, which no other has, is shown where the first means another or several. */
  readonly namespaces: (repository: Repository) => readonly [string, string]
  readonly table: (dataset: DatasetName) => string
  /** How a name is that pins a version: the name without it, and the version. */
  readonly pinned: RegExp
}

/** The names that users gave. `Table@7` is version 7 of a table. */
const PEOPLES: Warehouse = {
  naming: NAMED,
  prefix: '',
  namespaces: ({ name, id }) => [name, `${name}~${id}`],
  table: ({ name }) => name,
  pinned: /^(.*)@(\d{1,15})$/s,
}

/**
 * Names made of ids, for programs that allow few characters in names or ignore case: repository 3 is `r3`, dataset 17
 * is `d17`, and `d17_7` is its version 7.
 */
const PLAIN_IDS: Warehouse = {
  naming: PLAIN,
  prefix: 'plain',
  namespaces: ({ id }) => [`r${id}`, `r${id}`],
  table: ({ id }) => `d${id}`,
  pinned: /^(.*)_(\d{1,15})$/,
}

export const WAREHOUSES: Readonly<Record<string, Warehouse>> = { parquetry: PEOPLES, plain: PLAIN_IDS }

/** What a request is about: the names in its path, for one account. */
export interface RequestPath {
  readonly warehouse: Warehouse
  readonly account: Account
  readonly namespace: string
  readonly table: string
}

export async function listNamespaces(services: Services, path: RequestPath, parent: string | undefined) {
  if (parent !== undefined) {
    await repositoryAt(services, { ...path, namespace: parent })
    return { namespaces: [] }
  }
  const all = await repositories(services, path)
  const namespaces = all.map((repository) => {
    const [short, long] = repository.names
    const found = named(all, short)
    return [found.length === 1 && found[0] === repository ? short : long]
  })
  return { namespaces }
}

export async function describeNamespace(services: Services, path: RequestPath) {
  const { id, description } = await repositoryAt(services, path)
  const properties = { 'parquetry.repository': String(id), ...(description && { comment: description }) }
  return { namespace: [path.namespace], properties }
}

export async function listTables(services: Services, path: RequestPath) {
  const { id: repositoryId } = await repositoryAt(services, path)
  const datasets = await services.engine.datasetNames({ repositoryId })
  const { namespace, warehouse } = path
  return {
    identifiers: datasets.map((dataset) => ({ namespace: [namespace], name: warehouse.table(dataset) })),
  }
}

/**
 * A version as a table. It is kept for ten minutes, because the client reads its files next.
 * @throws IcebergError `noNamespace`, `noTable`, `noPlace`
 */
export async function loadTable(services: Services, path: RequestPath) {
  const { engine, snapshots, config } = services
  const { datasetId, version } = await tableAt(services, path)
  // Objects are protected by the store's credentials. Files are not, so their paths are given only if the operator
  // allows it.
  if (config.store === undefined && !config.iceberg.localFiles) {
    throw new IcebergError(
      'noPlace',
      'The rows are in a folder of the server. Its operator can let readers on the same machine open the files with ' +
        'the setting iceberg.localFiles; GET /datasets/{id}/parquet gives the rows to everybody else.',
    )
  }
  const snapshot = await heldVersion(snapshots, await engine.dataset(datasetId), version)
  return { metadata: await snapshot.icebergTable(path.warehouse.naming), config: storeSettings(config) }
}

/** The settings with which clients reach the store of the rows, or attached objects. They need credentials of their own. */
function storeSettings(config: Config): Record<string, string> {
  const { endpoint, region, pathStyle } = s3Requests(s3Access(config))
  return {
    ...(endpoint !== undefined && { 's3.endpoint': endpoint }),
    ...(region !== undefined && { 's3.region': region, 'client.region': region }),
    ...(pathStyle && { 's3.path-style-access': 'true' }),
  }
}

/** Throws if there is no such table. Doesn't check whether its files can be opened. @throws IcebergError */
export async function requireTable(services: Services, path: RequestPath): Promise<void> {
  const { datasetId, version } = await tableAt(services, path)
  if (version === undefined) return
  await heldVersion(services.snapshots, await services.engine.dataset(datasetId), version)
}

/** @throws IcebergError `noTable` */
async function heldVersion(
  snapshots: KeptSnapshots,
  dataset: Dataset,
  version: number | undefined,
): Promise<Snapshot> {
  try {
    return await snapshots.get(dataset, version)
  } catch (error) {
    if (!(error instanceof EngineError && error.code === 'version_gone')) throw error
    throw new IcebergError('noTable', error.message)
  }
}

type Namespace = Awaited<ReturnType<typeof repositories>>[number]

/** The repositories that the account may read, with their names; its own first. */
async function repositories({ engine, access }: Services, { account, warehouse }: RequestPath) {
  const readable = await access.readable(account)
  const all = new Map((await engine.repositories()).map((one) => [one.id, one]))
  return [...readable.values()].flatMap(({ repositoryId, relation }) => {
    const repository = all.get(repositoryId)
    return repository ? [{ ...repository, relation, names: warehouse.namespaces(repository) }] : []
  })
}

/**
 * The repositories that a namespace means, of which there should be one: the account's own of that name, or that with the
 * long name, or those shared with it, or those of others.
 */
function named(all: readonly Namespace[], namespace: string): readonly Namespace[] {
  const short = (own: Relation) =>
    all.filter(({ relation, names }) => relation === own && names[0] === namespace)
  const [own, shared, other] = RELATIONS.map(short)
  const long = all.filter(({ names }) => names[1] === namespace)
  return [own!, long, shared!, other!].find(({ length }) => length > 0) ?? []
}

/** @throws IcebergError `noNamespace`, for a missing repository as for a hidden one, so that nobody finds out which exist */
async function repositoryAt(services: Services, path: RequestPath) {
  const { namespace } = path
  const [found, ...others] = named(await repositories(services, path), namespace)
  if (found && others.length === 0) return found
  const several = (found ? [found, ...others] : []).map(({ names }) => JSON.stringify(names[1])).join(' or ')
  throw new IcebergError(
    'noNamespace',
    several
      ? `Several repositories that this key may read are called ${JSON.stringify(namespace)}: write ${several}.`
      : `There is no repository ${JSON.stringify(namespace)} that this key may read.`,
  )
}

/** The dataset that a table's name means. If `version` is undefined, its current version is meant. @throws IcebergError */
async function tableAt(services: Services, path: RequestPath) {
  const { warehouse, table } = path
  const { id: repositoryId } = await repositoryAt(services, path)
  const datasets = await services.engine.datasetNames({ repositoryId })
  const named = (tableName: string | undefined) =>
    datasets.find((dataset) => warehouse.table(dataset) === tableName)
  const whole = named(table)
  if (whole) return { datasetId: whole.id, version: undefined }
  const [, base, version] = warehouse.pinned.exec(table) ?? []
  const found = named(base)
  if (found) return { datasetId: found.id, version: Number(version) }
  throw new IcebergError('noTable', `The repository has no dataset ${JSON.stringify(table)}.`)
}

/**
 * Errors that only the catalog has: the status, and the type by which Iceberg's clients recognize the error (REST catalog
 * specification, ErrorModel). The message is written where the error is thrown.
 */
const ICEBERG_ERRORS = {
  unknownWarehouse: { status: 400, type: 'BadRequestException' },
  readOnly: { status: 403, type: 'ForbiddenException' },
  noNamespace: { status: 404, type: 'NoSuchNamespaceException' },
  /** Also if the version of a dataset is no longer kept. */
  noTable: { status: 404, type: 'NoSuchTableException' },
  wrongMethod: { status: 405, type: 'UnsupportedOperationException' },
  /** A part of the catalog that we don't have, such as views and scan plans. */
  notSupported: { status: 501, type: 'UnsupportedOperationException' },
  /** The rows are in a folder that the configuration does not open to readers. */
  noPlace: { status: 501, type: 'UnsupportedOperationException' },
} as const

/** An error of the catalog. `message` is a sentence for the user. */
export class IcebergError extends Error {
  override readonly name = 'IcebergError'
  readonly code: keyof typeof ICEBERG_ERRORS
  readonly headers: Readonly<Record<string, string>>

  constructor(code: IcebergError['code'], message: string, headers: IcebergError['headers'] = {}) {
    super(message)
    this.code = code
    this.headers = headers
  }
}

/** The types for errors of the rest of the server, by status. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestException',
  401: 'NotAuthorizedException',
  403: 'ForbiddenException',
  404: 'NotFoundException',
  503: 'ServiceUnavailableException',
}

/** An error in the form in which it is sent to a client of Iceberg. `code` is our own, for metrics and the log. */
export function icebergAnswer(error: unknown) {
  if (error instanceof IcebergError) {
    const { code, message, headers } = error
    const { status, type } = ICEBERG_ERRORS[code]
    return { status, headers, code, body: { error: { message, type, code: status } } }
  }
  const { status, headers, body } = errorAnswer(error)
  const type = TYPES[status] ?? (status < 500 ? 'BadRequestException' : 'InternalServerError')
  return { status, headers, code: body.code, body: { error: { message: body.error, type, code: status } } }
}
