import type { ObjectStoreOptions, TrinoOptions } from '../../engine/index.ts'
import type { Config } from './schema.ts'

/** The engine's options for the store of objects; undefined if rows are kept in the data directory. */
export function objectStore(config: Config): ObjectStoreOptions | undefined {
  const { store, s3Endpoint, s3Region, s3PathStyle, cacheBytes, httpfs } = config
  if (store === undefined) return undefined
  const how = { endpoint: s3Endpoint, region: s3Region, pathStyle: s3PathStyle }
  return { address: store, ...how, cacheBytes, httpfs }
}

/** The engine's options for a Trino; undefined if there is none. */
export function distributed({ trinoUrl, trino, timeouts }: Config): TrinoOptions | undefined {
  // If Trino fails later than this, DuckDB would hardly give the first byte in time.
  return trinoUrl === undefined ? undefined : { url: trinoUrl, ...trino, retryWithin: timeouts.firstByte / 2 }
}
