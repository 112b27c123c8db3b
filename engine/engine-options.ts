import { checkKeep } from './catalog/history.ts'
import type { Keep } from './catalog/records.ts'
import { checkMemoryLimit } from './duckdb/instance.ts'
import { invalidOption } from './errors.ts'
import type { EngineEvent } from './events.ts'
import type { Names } from './options.ts'
import type { S3Address } from './store/objects/address.ts'
import type { UploadLimits } from './store/upload.ts'
import type { TrinoOptions } from './trino/trino.ts'
import { requireKnown } from './types/known-options.ts'

/** How often and how fast stored rows are read again, to find files that have decayed on disk. */
export interface CheckOptions {
  /** The most bytes read in a second; 0 turns the checks off. */
  readonly bytesPerSecond: number
  /** After how many days an undamaged part is checked again. */
  readonly everyDays: number
}

/**
 * How large parts are. For each row group that DuckDB leaves out of a scan, it makes a reader of every column, so a
 * point read takes less time in a file of half a million rows than in one of a million, and a third in one of six
 * million. Much smaller files make a scan of everything slower.
 */
export interface PartSizes {
  /** Rows of a part. */
  readonly rows: number
  /** Bytes of a part's file. */
  readonly bytes: number
}

/** How objects are reached and cached. */
export interface S3Options extends Omit<S3Address, 'bucket' | 'prefix'> {
  /** The most bytes of the cache on this machine; by default a third of the free disk. */
  readonly cacheBytes?: number | undefined
  /**
   * DuckDB's extension httpfs, with which a few rows of parts that are not in the cache are read by ranges: a folder
   * that has the file `httpfs.duckdb_extension`, or `install` to have DuckDB fetch it from its repository. Without it,
   * parts are fetched whole.
   */
  readonly httpfs?: string | undefined
}

/** The store of objects that holds the rows if they are not in the data directory. */
export interface ObjectStoreOptions extends S3Options {
  /** `s3://bucket/prefix`. */
  readonly address: string
}

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
   * A store belongs to one database. A server on a copy of that database, as a restored dump, is refused with
   * `invalid_option`. With `takeOver`, the store belongs to this database from now on, and who owned it before stops
   * writing and removing there.
   */
  readonly takeOver?: boolean | undefined
  /**
   * The PostgreSQL database of the catalog, as `postgres://user:password@host/database`; it needs a `store`, too. Then
   * any number of processes may serve, and the directory only holds caches and temporary files. Without it the catalog
   * is in the data directory.
   */
  readonly database?: string | undefined
  /** The object store in which rows are kept; without it they are kept in the data directory. */
  readonly store?: ObjectStoreOptions | undefined
  /**
   * Folders below which there are Parquet files that may be attached, and so are read where they are; also
   * `s3://bucket/prefix`. By default none.
   */
  readonly attachable?: readonly string[] | undefined
  /** How buckets with attached files are reached, where there is no `store`; otherwise they are as the store is. */
  readonly s3?: S3Options | undefined
  /** Called when background work fails, and when there is something that an operator must act on; see `EVENTS`. */
  readonly onEvent?: (event: EngineEvent) => void
  /**
   * How a server reads stored rows again in the background, to find files that have become damaged. The defaults are at
   * most 8 MiB a second, and every part once in 7 days.
   */
  readonly checks?: Partial<CheckOptions>
  /** How large the files of rows are. The default is about half a million rows (491,520) or 128 MiB, whichever is less. */
  readonly partSizes?: Partial<PartSizes>
  /**
   * How new files of rows are encoded. Others that read them where they are, as Iceberg tables, may need `plain`, as Spark
   * does; `compact` (the default) makes them smaller.
   */
  readonly partEncoding?: 'plain' | 'compact' | undefined
  /** Threads of DuckDB; the number of cores by default. */
  readonly threads?: number
  /** Threads that encode; the number of cores by default. */
  readonly workers?: number
  /** How much memory DuckDB may use, as `2GiB`; by default 40 % of the machine's. */
  readonly memoryLimit?: string
  /**
   * How long a statement of SQL waits for one of the four processes, in milliseconds, before it fails with `overloaded`; by
   * default until there is one.
   */
  readonly sqlWaitMs?: number | undefined
  /** How large an upload may be. */
  readonly uploadLimits?: UploadLimits
  /**
   * How long a version of a dataset stays after another took its place, unless the dataset has a time of its own: as
   * long as it is among the newest `versions`, the current one included, and was replaced less than `days` days ago. By
   * default 10 versions and 30 days.
   */
  readonly keep?: Partial<Keep>
  /** A Trino that answers questions too large for one machine. It reads the parts through our Iceberg catalog. */
  readonly trino?: TrinoOptions | undefined
}

const S3 = { endpoint: true, region: true, pathStyle: true, cacheBytes: true, httpfs: true } as const

const KNOWN: Names<EngineOptions> = {
  directory: true,
  role: true,
  anew: true,
  takeOver: true,
  database: true,
  store: { ...S3, address: true },
  attachable: true,
  s3: S3,
  onEvent: true,
  checks: { bytesPerSecond: true, everyDays: true },
  partSizes: { rows: true, bytes: true },
  partEncoding: true,
  threads: true,
  workers: true,
  memoryLimit: true,
  sqlWaitMs: true,
  uploadLimits: { bytes: true, unpackedBytes: true, memory: true },
  trino: { url: true, minBytes: true, cores: true, maxRows: true, retryWithin: true },
  keep: { versions: true, days: true },
}

/** @throws EngineError `invalid_option` */
export function checkEngineOptions(options: EngineOptions): void {
  requireKnown(options, KNOWN)
  const { directory, role = 'guest', memoryLimit } = options
  if (typeof directory !== 'string' || directory === '') {
    const given = JSON.stringify(directory) ?? 'missing'
    throw invalidOption(`directory is the path of a folder; it is ${given}.`)
  }
  checkThreads(options)
  if (role !== 'server' && role !== 'guest') {
    throw invalidOption(`role is server or guest; it is ${JSON.stringify(role)}.`)
  }
  const { partEncoding = 'compact' } = options
  if (partEncoding !== 'plain' && partEncoding !== 'compact') {
    throw invalidOption(`partEncoding is plain or compact; it is ${JSON.stringify(partEncoding)}.`)
  }
  checkMemoryLimit(memoryLimit)
  if (options.keep !== undefined) checkKeep(options.keep)
}

/** More than any machine has cores. DuckDB starts all of its threads at once. */
export const MOST_THREADS = 1024

/** @throws EngineError `invalid_option` */
export function checkThreads(given: { readonly threads?: number; readonly workers?: number }): void {
  for (const name of ['threads', 'workers'] as const) {
    const count = given[name]
    if (count === undefined || (Number.isSafeInteger(count) && count > 0 && count <= MOST_THREADS)) continue
    throw invalidOption(
      `${name} is a whole number from 1 to ${MOST_THREADS}; it is ${JSON.stringify(count)}.`,
    )
  }
}
