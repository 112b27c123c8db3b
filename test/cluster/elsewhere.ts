import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { makeDatabase } from './postgres.ts'

/** What a cluster consists of beside its nodes. */
export interface Elsewhere {
  readonly database: string
  readonly store: { readonly address: string; readonly endpoint: string }
}

/** Whether these are tests of the cluster. What is about catalog and rows in the data directory isn't run there. */
export const IS_CLUSTER = process.env['CLUSTER_POSTGRES'] !== undefined

/**
 * Where catalog and rows of a data directory are in tests of the cluster, undefined in all others. Each directory has a
 * database and a prefix of its own.
 */
export async function elsewhereOf(directory: string): Promise<Elsewhere | undefined> {
  const { CLUSTER_BUCKET: bucket, CLUSTER_ENDPOINT: endpoint, CLUSTER_POSTGRES: postgres } = process.env
  if (!bucket || !endpoint || !postgres) return undefined
  const name = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16)
  return {
    database: await makeDatabase(postgres, `test_${name}`),
    store: { address: `s3://${bucket}/${name}`, endpoint },
  }
}

/** The same, as a process is told. */
export async function clusterEnvironment(directory: string): Promise<Record<string, string>> {
  const elsewhere = await elsewhereOf(directory)
  return elsewhere
    ? {
        PARQUETRY_DATABASE: elsewhere.database,
        PARQUETRY_STORE: elsewhere.store.address,
        PARQUETRY_S3_ENDPOINT: elsewhere.store.endpoint,
      }
    : {}
}
