import { checkMemoryLimit } from './duckdb/memory-limit.ts'
import { EngineError } from './errors.ts'
import type { EngineEvent } from './events.ts'
import type { CheckOptions } from './store/integrity/checker.ts'
import type { ObjectStoreOptions } from './store/objects/open.ts'
import type { PartSizes } from './store/part-size.ts'
import type { UploadLimits } from './store/upload.ts'
import type { TrinoOptions } from './trino/index.ts'
import { type Names, requireKnown } from './util/known-options.ts'

export interface EngineOptions {
  /** The data directory; it is created if it doesn't exist. */
  readonly directory: string
  /**
   * A `server` owns the directory: a second server is refused with `locked`, and the first removes leftovers of crashes
   * when it starts. A `guest` (the default) works beside a server.
   */
  readonly role?: 'server' | 'guest'
  /**
   * If the catalog is missing or damaged although there are parts, the directory is refused with `storage_damaged`.
   * With `anew`, the engine instead starts with an empty catalog and moves what was there to the folder `lost`.
   */
  readonly anew?: boolean
  /**
   * The PostgreSQL database of the catalog, as `postgres://user:password@host/database`; it needs a `store`, too. Then
   * any number of processes may serve, and the directory only holds caches and temporary files. Without it the catalog
   * is in the data directory.
   */
  readonly database?: string | undefined
  /** The object store in which rows are kept; without it they are kept in the data directory. */
  readonly store?: ObjectStoreOptions | undefined
  /** Called when background work fails, and when there is something that an operator must act on; see `EVENTS`. */
  readonly onEvent?: (event: EngineEvent) => void
  /**
   * How a server reads stored rows again in the background, to find files that have become damaged. The defaults are at
   * most 8 MiB a second, and every part once in 7 days.
   */
  readonly checks?: Partial<CheckOptions>
  /** How large the files of rows are. The default is about half a million rows (491,520) or 128 MiB, whichever is less. */
  readonly partSizes?: Partial<PartSizes>
  /** Threads of DuckDB; the number of cores by default. */
  readonly threads?: number
  /** Threads that encode; the number of cores by default. */
  readonly workers?: number
  /** How much memory DuckDB may use, as `2GiB`; by default 40 % of the machine's. */
  readonly memoryLimit?: string
  /** How large an upload may be. */
  readonly uploadLimits?: UploadLimits
  /** A Trino that answers questions too large for one machine. It reads the parts through our Iceberg catalog. */
  readonly trino?: TrinoOptions | undefined
}

const KNOWN: Names<EngineOptions> = {
  directory: true,
  role: true,
  anew: true,
  database: true,
  store: true,
  onEvent: true,
  checks: true,
  partSizes: true,
  threads: true,
  workers: true,
  memoryLimit: true,
  uploadLimits: true,
  trino: true,
}

/** The options within those options that are objects. */
const WITHIN: {
  readonly store: Names<ObjectStoreOptions>
  readonly checks: Names<CheckOptions>
  readonly partSizes: Names<PartSizes>
  readonly uploadLimits: Names<UploadLimits>
  readonly trino: Names<TrinoOptions>
} = {
  store: {
    address: true,
    endpoint: true,
    region: true,
    pathStyle: true,
    cacheBytes: true,
    httpfs: true,
  },
  checks: { bytesPerSecond: true, everyDays: true },
  partSizes: { rows: true, bytes: true },
  uploadLimits: { bytes: true, unpackedBytes: true, memory: true },
  trino: { url: true, minBytes: true, cores: true, maxRows: true, retryWithin: true },
}

/** @throws EngineError `invalid_option` */
export function checkEngineOptions(options: EngineOptions): void {
  requireKnown(options, KNOWN)
  for (const name of Object.keys(WITHIN) as (keyof typeof WITHIN)[]) {
    const given = options[name]
    if (given !== undefined) requireKnown(given, WITHIN[name])
  }
  const { directory, role = 'guest', memoryLimit } = options
  if (typeof directory !== 'string' || directory === '') {
    const given = JSON.stringify(directory) ?? 'missing'
    throw new EngineError('invalid_option', `directory is the path of a folder; it is ${given}.`)
  }
  checkThreads(options)
  if (role !== 'server' && role !== 'guest') {
    throw new EngineError('invalid_option', `role is server or guest; it is ${JSON.stringify(role)}.`)
  }
  checkMemoryLimit(memoryLimit)
}

/** More than any machine has cores. DuckDB starts all of its threads at once. */
export const MOST_THREADS = 1024

/** @throws EngineError `invalid_option` */
export function checkThreads(given: { readonly threads?: number; readonly workers?: number }): void {
  for (const name of ['threads', 'workers'] as const) {
    const count = given[name]
    if (count === undefined || (Number.isSafeInteger(count) && count > 0 && count <= MOST_THREADS)) continue
    throw new EngineError(
      'invalid_option',
      `${name} is a whole number from 1 to ${MOST_THREADS}; it is ${JSON.stringify(count)}.`,
    )
  }
}
