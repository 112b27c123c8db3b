import { createHash } from 'node:crypto'
import { resolve } from 'node:path'

/** Each data directory of the tests has a prefix of its own. */
function prefixOf(directory: string): string {
  return createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16)
}

/** Where the rows of a data directory are kept in tests of the cluster; undefined in all others. */
export function storeOf(directory: string): { address: string; endpoint: string } | undefined {
  const { CLUSTER_BUCKET: bucket, CLUSTER_ENDPOINT: endpoint } = process.env
  return bucket && endpoint ? { address: `s3://${bucket}/${prefixOf(directory)}`, endpoint } : undefined
}

/** The same, as a process is told. */
export function storeEnvironment(directory: string): Record<string, string> {
  const store = storeOf(directory)
  return store ? { PARQUETRY_STORE: store.address, PARQUETRY_S3_ENDPOINT: store.endpoint } : {}
}
