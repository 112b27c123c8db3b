import type { Dataset, Naming, Snapshot } from '../../engine/index.ts'
import type { Config } from '../config/config.ts'
import { ServerError } from '../http/errors.ts'
import type { Services } from '../services.ts'
import type { KeptSnapshots } from '../transfers/kept-snapshots.ts'
import { IcebergError } from './errors.ts'
import type { Names } from './names.ts'

type Place = Pick<Services, 'engine' | 'kept' | 'config'>

/** What a request is about: the names in its path. */
export interface Asked {
  readonly names: Names
  readonly naming: Naming
  readonly namespace: string
  readonly table: string
}

/** The namespaces; none lies inside of another. */
export async function listNamespaces(names: Names, parent: string | undefined) {
  if (parent !== undefined) {
    await names.repository(parent)
    return { namespaces: [] }
  }
  return { namespaces: (await names.namespaces()).map((name) => [name]) }
}

export async function describeNamespace({ engine }: Place, { names, namespace }: Asked) {
  const { id, description } = await engine.repository(await names.repository(namespace))
  const properties = { 'parquetry.repository': String(id), ...(description && { comment: description }) }
  return { namespace: [namespace], properties }
}

export async function listTables({ names, namespace }: Asked) {
  const tables = await names.tables(await names.repository(namespace))
  return { identifiers: tables.map((name) => ({ namespace: [namespace], name })) }
}

/**
 * A version as a table, kept for ten minutes for whoever now reads its files.
 * @throws IcebergError `noNamespace`, `noTable`, `noPlace`
 */
export async function loadTable({ engine, kept, config }: Place, asked: Asked) {
  const { names, naming, namespace, table } = asked
  const { datasetId, version } = await names.table(await names.repository(namespace), table)
  // Whoever opens an object needs credentials of the store; paths of files are told only if the operator wants it.
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

/** How clients reach the store of the rows, in the words that they share; credentials they must have themselves. */
function storeSettings({ store, s3Endpoint, s3Region, s3PathStyle }: Config): Record<string, string> {
  if (store === undefined) return {}
  const pathStyle = s3PathStyle ?? s3Endpoint !== undefined
  return {
    ...(s3Endpoint !== undefined && { 's3.endpoint': s3Endpoint }),
    ...(s3Region !== undefined && { 's3.region': s3Region, 'client.region': s3Region }),
    ...(pathStyle && { 's3.path-style-access': 'true' }),
  }
}

/** Whether there is such a table; whether its files may be opened is another question. @throws IcebergError */
export async function requireTable(
  { engine, kept }: Place,
  { names, namespace, table }: Asked,
): Promise<void> {
  const { datasetId, version } = await names.table(await names.repository(namespace), table)
  if (version !== undefined) await keptVersion(kept, await engine.dataset(datasetId), version)
}

/** How often the current version is looked up again where somebody writes between two steps. */
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
      if (!(error instanceof ServerError && error.code === 'version_gone')) throw error
      if (version !== undefined || tried === TRIES) throw new IcebergError('noTable', error.message)
    }
  }
}
