import { payingBytes } from './paying.ts'

export interface TrinoOptions {
  /** `http://user:password@host:port/catalog`; Trino's catalog of that name is ours, in its plain form. */
  readonly url: string
  /**
   * From how many compressed bytes of the columns used a question is large. By default where Trino begins to be quicker
   * than this machine if `cores` is given, and 4 GiB if it isn't.
   */
  readonly minBytes?: number | undefined
  /** How many cores the workers of Trino have together. */
  readonly cores?: number | undefined
  /** The most rows that are taken from it; 100,000 by default. */
  readonly maxRows?: number | undefined
  /** How long after the question a failure of Trino may come so that DuckDB is asked; 15,000 ms by default. */
  readonly retryWithin?: number | undefined
}

const MIN_BYTES = 4 * 2 ** 30
const MAX_ROWS = 100_000
const RETRY_WITHIN_MS = 15_000

/** The options with their defaults. @param threads of DuckDB on this machine */
export function trinoSettings(options: TrinoOptions, threads: number) {
  const { url, cores, maxRows = MAX_ROWS, retryWithin = RETRY_WITHIN_MS } = options
  const minBytes = options.minBytes ?? (cores === undefined ? MIN_BYTES : payingBytes(cores, threads))
  return { url, minBytes, maxRows, retryWithin }
}
