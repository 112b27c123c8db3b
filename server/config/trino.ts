import type { TrinoOptions } from '../../engine/index.ts'
import type { Config } from './schema.ts'

/** The engine's options for a Trino; undefined if there is none. */
export function distributed({ trinoUrl, trino, timeouts }: Config): TrinoOptions | undefined {
  // If Trino fails later than this, DuckDB would hardly give the first byte in time.
  return trinoUrl === undefined ? undefined : { url: trinoUrl, ...trino, retryWithin: timeouts.firstByte / 2 }
}
