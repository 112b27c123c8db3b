import { availableParallelism, totalmem } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import type { Database, Handle } from './catalog/database.ts'
import type { Datasets } from './catalog/datasets.ts'
import type { DatasetRecord, DatasetSummary, Repository } from './catalog/records.ts'
import { Repositories } from './catalog/repositories.ts'
import { Counts } from './counts.ts'
import { EngineError } from './errors.ts'
import { type EngineEvent, type EventKind, Events } from './events.ts'
import { type Executor, openExecutor } from './export/index.ts'
import { IcebergTables } from './iceberg/index.ts'
import { ShownFiles } from './parquet/shown-file.ts'
import type { QueryOptions } from './plan/options.ts'
import { Query } from './query.ts'
import { type Cell, inlineContext } from './relation.ts'
import { Snapshot, type SnapshotPlace } from './snapshot.ts'
import { type BackupReport, backupStore, restoreStore } from './store/backup.ts'
import type { CheckOptions } from './store/integrity/checker.ts'
import { type VerifyReport, verifyStore } from './store/integrity/verify.ts'
import { type MoveOptions, type MoveReport, moveParts } from './store/move.ts'
import type { ObjectStoreOptions } from './store/objects/open.ts'
import type { CacheStats } from './store/objects/part-store.ts'
import type { PartSizes } from './store/part-size.ts'
import { Store, type Upload, type UploadLimits } from './store/store.ts'
import { checkColumns, type DeclaredColumn } from './types/columns.ts'
import { Opened } from './util/opened.ts'

export type { Database, Handle, SqlValue } from './catalog/database.ts'
export { isUniqueViolation, isUnwritable } from './catalog/failures.ts'
export { migrate } from './catalog/migrate.ts'
export type { DatasetRecord, DatasetSummary, Repository } from './catalog/records.ts'
export { EngineError, ERRORS, type ErrorCode } from './errors.ts'
export { type EngineEvent, EVENTS, type EventKind } from './events.ts'
export { checkEncoding, type Dialect } from './export/formats/dialect.ts'
export type { EncodeOptions, ODataJson } from './export/formats/encoder.ts'

export type { ByteStream } from './export/index.ts'
export { type FilesOptions, openFiles, type ParquetFiles } from './files.ts'
export { NAMED, type Naming, PLAIN, type TableMetadata } from './iceberg/index.ts'
export type { UploadFormat, UploadOptions } from './ingest/index.ts'
export { uploadFormatOf } from './ingest/spool.ts'
export type { ShownFile } from './parquet/shown-file.ts'
export type { OrderKey, QueryOptions } from './plan/options.ts'
export type { Plan } from './plan/plan.ts'
export type { View } from './plan/view.ts'
export type { Query, RunOptions } from './query.ts'
export type { Cell } from './relation.ts'
export type { Snapshot } from './snapshot.ts'
export type { BackupReport } from './store/backup.ts'
export type { VerifyReport } from './store/integrity/verify.ts'
export type { MoveOptions, MoveReport } from './store/move.ts'
export type { ObjectStoreOptions } from './store/objects/open.ts'
export type { CacheStats } from './store/objects/part-store.ts'
export type { Upload, UploadLimits } from './store/store.ts'
export type { DeclaredColumn } from './types/columns.ts'
export { type Column, type ColumnType, decimalParts, edmName, FORMATS, type Format } from './types/index.ts'
export { nearest } from './util/nearest.ts'

export interface EngineOptions {
  /** The data directory; made where it isn't there. */
  readonly directory: string
  /**
   * `server` owns the directory: a second one is refused with `locked`, and leftovers of crashes are swept at the
   * start. `guest` (the default) works beside a server.
   */
  readonly role?: 'server' | 'guest'
  /**
   * Begins anew where the catalog is missing or damaged though parts are there, which is refused with `storage_damaged`
   * otherwise. What was there is set aside in the folder `lost`.
   */
  readonly anew?: boolean
  /** The store of objects in which rows are kept; in the data directory where none is named. */
  readonly store?: ObjectStoreOptions | undefined
  /** Is told what fails where nobody waits for it, and what an operator must act on; see `EVENTS`. */
  readonly onEvent?: (event: EngineEvent) => void
  /**
   * How a server reads stored rows again in the background, to find what has rotted: 8 MiB a second at most, every part
   * once in 7 days, where nothing else is said.
   */
  readonly checks?: Partial<CheckOptions>
  /** How large the files of rows are: about a million rows (983,040) or 128 MiB, whichever is less. */
  readonly partSizes?: Partial<PartSizes>
  /** Threads of DuckDB; the number of cores by default. */
  readonly threads?: number
  /** Threads that encode; the number of cores by default. */
  readonly workers?: number
  /** What DuckDB may use, as `2GiB`; a good part of the machine by default. */
  readonly memoryLimit?: string
  /** What an upload may come to. */
  readonly uploadLimits?: UploadLimits
}

/** Figures for metrics. */
export interface EngineStats {
  /** Queries that hold a version. */
  readonly readers: number
  /** Whether nothing is written any more, because the outcome of a commit is unknown. */
  readonly writesStopped: boolean
  /** Parts that were found damaged and are not read. */
  readonly damagedParts: number
  /** Of the parts that are kept on this machine; undefined where all of them are. */
  readonly cache: CacheStats | undefined
  /** How often each kind of event has happened since the start. */
  readonly events: Readonly<Record<EventKind, number>>
  /** The executor's own, once it runs. */
  readonly executor: ReturnType<Executor['stats']> | undefined
}

/** Something with rows that can be asked. Dispose the query, or drop it, and its version may go. */
export interface Queryable {
  /** @throws EngineError what is wrong with the options; see `Query` */
  query(options?: QueryOptions): Query | Promise<Query>
}

/** Rows in memory. */
export interface Relation extends Queryable {
  query(options?: QueryOptions): Query
}

const GIB = 2 ** 30
const UPLOAD_LIMITS = { bytes: 16 * GIB, unpackedBytes: 64 * GIB }

/** Datasets of a list that are read at once; fewer where each may have 20,000 columns. */
const LIST_PAGE = 200
const WIDE_LIST_PAGE = 10

/** Opens a data directory. Close the engine, or use it with `await using`. */
export function openEngine(options: EngineOptions): Promise<Engine> {
  return Engine.open(options)
}

/**
 * Copies a backup into a new data directory; every part is held against the hash that it was written with.
 * @throws EngineError `invalid_option` where the directory holds data already; `storage_damaged`, `storage_full`
 */
export function restoreBackup(
  backup: string,
  directory: string,
  onProgress?: (done: { bytes: number }) => void,
): Promise<BackupReport> {
  return restoreStore(backup, directory, onProgress)
}

/**
 * Moves the rows of a data directory into a store of objects, or back, and leaves the old ones where they are. Ended in
 * the middle, the next call goes on. Nobody else may have the directory open.
 * @throws EngineError `locked` beside a server, `invalid_option`, `storage_damaged`, `storage_unavailable`
 */
export function moveRows(
  directory: string,
  options: MoveOptions,
  onProgress?: (done: { bytes: number; of: number }) => void,
): Promise<MoveReport> {
  return moveParts(directory, options, new Events(undefined), onProgress)
}

/** Repositories of datasets, in a directory. */
export class Engine implements AsyncDisposable {
  readonly #store: Store
  readonly #options: EngineOptions
  readonly #counts = new Counts()
  readonly #files = new ShownFiles()
  readonly #iceberg: IcebergTables
  readonly #events: Events
  readonly #executor = new Opened(() => this.#openExecutor())
  #closing: Promise<void> | undefined

  private constructor(options: EngineOptions, events: Events, store: Store) {
    this.#options = options
    this.#events = events
    this.#store = store
    this.#iceberg = new IcebergTables(store.manifests)
  }

  /** Use `openEngine`. */
  static async open(options: EngineOptions): Promise<Engine> {
    const events = new Events(options.onEvent)
    const store = await Store.open({
      directory: options.directory,
      anew: options.anew,
      store: options.store,
      events,
      checks: options.checks,
      partSizes: options.partSizes,
      role: options.role ?? 'guest',
      threads: options.threads,
      uploadLimits: options.uploadLimits ?? UPLOAD_LIMITS,
    })
    return new Engine(options, events, store)
  }

  /** The metadata database, for those who keep tables of their own beside the engine's. */
  get database(): Database {
    return this.#store.database
  }

  /**
   * All of `work` or nothing, in the metadata database. `work` gives the handle to those methods of the engine that are
   * to be a part of it.
   */
  transaction<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    return this.#store.database.transaction(work)
  }

  createRepository(fields: { name: string; description?: string }, t?: Handle): Promise<Repository> {
    return this.#repositories(t).create(fields)
  }

  repositories(): Promise<Repository[]> {
    return this.#store.repositories.list()
  }

  /** @throws EngineError `not_found` */
  repository(id: number, t?: Handle): Promise<Repository> {
    return this.#repositories(t).get(id)
  }

  updateRepository(
    id: number,
    fields: { name?: string; description?: string },
    t?: Handle,
  ): Promise<Repository> {
    return this.#repositories(t).update(id, fields)
  }

  /** With its datasets. Queries under way go on to their end. */
  deleteRepository(id: number): Promise<void> {
    return this.#store.deleteRepository(id)
  }

  /** @throws EngineError `not_found` (repository), `name_taken`, `invalid_name`, `invalid_columns_manifest` */
  async createDataset(
    fields: {
      repositoryId: number
      name: string
      description?: string
      columns?: readonly DeclaredColumn[]
    },
    t?: Handle,
  ): Promise<DatasetRecord> {
    return this.#datasets(t).create({ ...fields, columns: checkColumns(fields.columns ?? []) })
  }

  datasets(where: { repositoryId?: number } = {}): Promise<DatasetRecord[]> {
    return this.#store.datasets.list(where)
  }

  /**
   * All datasets, in the order of their ids, some at a time, so that a long list holds nobody up.
   * @param columnBytes up to how many bytes of JSON the columns of a dataset are given; Infinity gives all
   */
  async *datasetList(columnBytes: number): AsyncGenerator<readonly DatasetSummary[], void, undefined> {
    const most = Number.isFinite(columnBytes) ? LIST_PAGE : WIDE_LIST_PAGE
    for (let after = 0; ; ) {
      const limit = Math.min(columnBytes, Number.MAX_SAFE_INTEGER)
      const page = await this.#store.datasets.page(after, most, limit)
      if (page.length > 0) yield page
      if (page.length < most) return
      after = page.at(-1)!.id
      await setImmediate()
    }
  }

  /** @throws EngineError `not_found` */
  async dataset(id: number): Promise<Dataset> {
    await this.#store.datasets.get(id)
    return new Dataset(id, {
      store: this.#store,
      counts: this.#counts,
      files: this.#files,
      iceberg: this.#iceberg,
      executor: () => this.executor(),
    })
  }

  updateDataset(
    id: number,
    fields: { name?: string; description?: string },
    t?: Handle,
  ): Promise<DatasetRecord> {
    return this.#datasets(t).update(id, fields)
  }

  /** Queries under way go on to their end. */
  deleteDataset(id: number): Promise<void> {
    return this.#store.deleteDataset(id)
  }

  #repositories(t: Handle | undefined): Repositories {
    return t ? new Repositories(t) : this.#store.repositories
  }

  #datasets(t: Handle | undefined): Datasets {
    return t ? this.#store.datasets.in(t) : this.#store.datasets
  }

  /** Rows in memory, asked like a dataset. @throws EngineError `invalid_columns_manifest` */
  relation(columns: readonly DeclaredColumn[], rows: readonly (readonly Cell[])[]): Relation {
    const checked = checkColumns(columns)
    return {
      query: (options) => {
        const counts = this.#counts
        return new Query(
          { ...inlineContext(checked, rows), executor: () => this.executor(), counts },
          options,
        )
      },
    }
  }

  /** Reads every part and holds it against the catalog. */
  verify(onProgress?: (done: { parts: number; of: number; bytes: number }) => void): Promise<VerifyReport> {
    return verifyStore(this.#store, onProgress)
  }

  /**
   * Copies all rows and the metadata, as of one moment, into a directory, which is made or brought up to date; also
   * while others write.
   */
  backup(directory: string, onProgress?: (done: { bytes: number }) => void): Promise<BackupReport> {
    return backupStore(this.#store, directory, onProgress)
  }

  /** Removes what nothing needs any more. @throws EngineError `locked` beside a server */
  gc(): Promise<{ files: number; bytes: number; processes: number }> {
    return this.#store.gc()
  }

  /** Resolves where the database and the store of the rows answer. @throws EngineError `storage_unavailable` */
  async ready(): Promise<void> {
    await this.database.get('SELECT 1')
    await this.#store.files.answers()
  }

  /** Waits for merges and removals that run behind the commits. */
  settled(): Promise<void> {
    return this.#store.settled()
  }

  async stats(): Promise<EngineStats> {
    return {
      readers: this.#store.readers,
      writesStopped: this.#store.database.inDoubt,
      damagedParts: this.#store.integrity.damaged,
      cache: this.#store.cache,
      events: this.#events.counts(),
      executor: (await this.#executor.present())?.stats(),
    }
  }

  /**
   * Loads and starts what the first query would wait for: DuckDB, the parser of filters, encoders, threads. What fails
   * is left to the first query, which tells of it.
   */
  async warm(): Promise<void> {
    try {
      using query = this.relation([{ name: 'a', type: 'integer' }], [[1]]).query({ filter: 'a eq 1', top: 1 })
      await using stream = await query.bytes('json')
      for await (const _ of stream);
      const executor = await this.executor()
      executor.startWorkers()
    } catch {}
  }

  /** Runs statements; opened with the first query. @throws EngineError `cancelled` once the engine is closed */
  executor(): Promise<Executor> {
    return this.#executor.get()
  }

  async #openExecutor(): Promise<Executor> {
    if (this.#closing) throw new EngineError('cancelled', 'The engine is closed.')
    const threads = this.#options.threads ?? availableParallelism()
    return openExecutor({
      threads,
      workers: this.#options.workers ?? threads,
      memoryLimit: this.#options.memoryLimit ?? `${Math.round((totalmem() * 0.4) / 2 ** 20)}MiB`,
      tempDirectory: this.#store.temporary,
      allowedDirectories: [...this.#store.files.folders, this.#store.temporary],
      onSlower: (cause) =>
        this.#events.tell(
          'slower_source',
          'DuckDB is reached by way of its Node package, several times slower, because koffi or the library could not be loaded.',
          { cause },
        ),
    })
  }

  /** Ends queries under way, waits for writes, refuses others, and lets the directory go. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#store.endWrites()
    try {
      await (await this.#executor.present())?.close()
    } finally {
      await this.#store.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** A dataset, by its id: what it holds is looked up anew with each call. */
export class Dataset implements Queryable {
  readonly id: number
  readonly #place: SnapshotPlace

  /** Use `engine.dataset(id)`. */
  constructor(id: number, place: SnapshotPlace) {
    this.id = id
    this.#place = place
  }

  /** @throws EngineError `not_found` when it has been deleted */
  record(t?: Handle): Promise<DatasetRecord> {
    const { datasets } = this.#place.store
    return (t ? datasets.in(t) : datasets).get(this.id)
  }

  async query(options: QueryOptions = {}): Promise<Query> {
    // The query holds the version from here on.
    using snapshot = await this.snapshot()
    return snapshot.query(options)
  }

  /** The version that is current now, to be asked more than once. Dispose it. @throws EngineError `not_found` */
  async snapshot(): Promise<Snapshot> {
    return new Snapshot(this.id, await this.#place.store.read(this.id), this.#place)
  }

  /** Puts the rows of an upload in place of all rows. All or nothing; queries under way keep the old rows. */
  replace(upload: Upload): Promise<DatasetRecord> {
    return this.#place.store.write(this.id, upload, 'replace')
  }

  /** Puts the rows of an upload behind the rows that are there. All or nothing. */
  append(upload: Upload): Promise<DatasetRecord> {
    return this.#place.store.write(this.id, upload, 'append')
  }

  /** Declares the columns: before data as one likes, with data what loses nothing. @throws EngineError `column_conflict` */
  declareColumns(
    columns: readonly DeclaredColumn[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<DatasetRecord> {
    return this.#place.store.declareColumns(this.id, columns, options.signal)
  }
}
