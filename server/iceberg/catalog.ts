import { type Dataset, EngineError, type Naming, type Snapshot, s3Requests } from '../../engine/index.ts'
import type { Config } from '../config/schema.ts'
import type { Services } from '../services.ts'
import type { KeptSnapshots } from '../transfers/kept-snapshots.ts'
import { IcebergError } from './errors.ts'
import type { Names } from './names.ts'

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
