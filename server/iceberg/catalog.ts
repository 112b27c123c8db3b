import type { Dataset, Naming, Snapshot } from '../../engine/index.ts'
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
  // What lies in the folder then is a cache, from which parts come and go.
  if (config.store !== undefined) {
    throw new IcebergError(
      'noPlace',
      'The rows are in an object store, whose tables this catalog can not show yet.',
    )
  }
  if (!config.iceberg.localFiles) {
    throw new IcebergError(
      'noPlace',
      'The rows are in a folder of the server. Its operator can let readers on the same machine open the files with ' +
        'the setting iceberg.localFiles; GET /datasets/{id}/parquet gives the rows to everybody else.',
    )
  }
  const snapshot = await keptVersion(kept, await engine.dataset(datasetId), version)
  return { metadata: await snapshot.icebergTable(naming), config: {} }
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
