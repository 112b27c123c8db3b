import type { ObjectStoreOptions } from '../../engine/index.ts'
import type { Config } from './schema.ts'

/** The engine's options for the store of objects; undefined if rows are kept in the data directory. */
export function objectStore(config: Config): ObjectStoreOptions | undefined {
  const { store, s3Endpoint, s3Region, s3PathStyle, cacheBytes, httpfs } = config
  if (store === undefined) return undefined
  return {
    address: store,
    endpoint: s3Endpoint,
    region: s3Region,
    pathStyle: s3PathStyle,
    cacheBytes,
    httpfs,
  }
}
