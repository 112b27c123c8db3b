import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Database, Handle } from './catalog/database.ts'
import type { Datasets } from './catalog/datasets.ts'
import type { DatasetName, DatasetRecord, DatasetSummary, Repository } from './catalog/records.ts'
import { Repositories } from './catalog/repositories.ts'
import { Counts } from './counts.ts'
import { Dataset, type Queryable } from './dataset.ts'
import { sizeOfLimit } from './duckdb/memory-limit.ts'
import { checkEngineOptions, type EngineOptions } from './engine-options.ts'
import { EngineError } from './errors.ts'
import { type EventKind, Events } from './events.ts'
import { type Executor, openExecutor } from './export/index.ts'
import { IcebergTables } from './iceberg/index.ts'
import { ShownFiles } from './parquet/shown-file.ts'
import type { QueryOptions } from './plan/options.ts'
import { Query } from './query.ts'
import { type Cell, inlineContext } from './relation.ts'
import { type BackupReport, backupStore } from './store/backup.ts'
import { type VerifyReport, verifyStore } from './store/integrity/verify.ts'
import type { CacheStats } from './store/objects/part-store.ts'
import { Store } from './store/store.ts'
import { trinoSettings } from './trino/index.ts'
import { checkColumns, type DeclaredColumn } from './types/columns.ts'
import { Opened } from './util/opened.ts'
import { checkRuntime } from './util/runtime.ts'

/** Figures for metrics. */
export interface EngineStats {
  /** Queries that hold a version. */
  readonly readers: number
  /** Whether writes are refused because the outcome of a commit is unknown. */
  readonly writesStopped: boolean
  /** Parts that were found damaged and are not read. */
  readonly damagedParts: number
  /** Figures about the parts that are cached on this machine; undefined if all parts are stored on it. */
  readonly cache: CacheStats | undefined
  /** How often each kind of event has happened since the start. */
  readonly events: Readonly<Record<EventKind, number>>
  /** The executor's figures, once it runs. */
  readonly executor: ReturnType<Executor['stats']> | undefined
}

/** Rows in memory. */
export interface Relation extends Queryable {
  query(options?: QueryOptions): Query
}

const GIB = 2 ** 30
const UPLOAD_LIMITS = { bytes: 16 * GIB, unpackedBytes: 64 * GIB }

/** How many datasets of a list are read at once; fewer if their columns are read too, of which there may be 20,000. */
const LIST_PAGE = 200
const WIDE_LIST_PAGE = 10

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
    checkRuntime()
    checkEngineOptions(options)
    const events = new Events(options.onEvent)
    const store = await Store.open({
      directory: options.directory,
      anew: options.anew,
      database: options.database,
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

  /** The metadata database, for callers that keep tables of their own beside the engine's. */
  get database(): Database {
    return this.#store.database
  }

  /**
   * Runs `work` in one transaction of the metadata database. `work` passes the handle to those methods of the engine
   * that are to be part of the transaction.
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

  /** Deletes a repository and its datasets. Running queries continue to their end. */
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

  /** What the datasets are called, in the order of their ids. The same list is given until something changes. */
  datasetNames(where: { repositoryId?: number } = {}): Promise<readonly DatasetName[]> {
    return this.#store.datasets.names(where)
  }

  /**
   * All datasets, in the order of their ids, some at a time, so that a long list doesn't block the event loop.
   * @param columnBytes a dataset's columns are given if their JSON has at most so many bytes; Infinity gives all
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
      trino: this.#trino,
    })
  }

  updateDataset(
    id: number,
    fields: { name?: string; description?: string },
    t?: Handle,
  ): Promise<DatasetRecord> {
    return this.#datasets(t).update(id, fields)
  }

  /** Running queries continue to their end. */
  deleteDataset(id: number): Promise<void> {
    return this.#store.deleteDataset(id)
  }

  get #trino() {
    const { trino } = this.#options
    return trino && trinoSettings(trino, this.#threads)
  }

  /** How many threads DuckDB has. */
  get #threads(): number {
    return this.#options.threads ?? availableParallelism()
  }

  #repositories(t: Handle | undefined): Repositories {
    return t ? new Repositories(t) : this.#store.repositories
  }

  #datasets(t: Handle | undefined): Datasets {
    return t ? this.#store.datasets.in(t) : this.#store.datasets
  }

  /**
   * Rows in memory, which can be queried like a dataset.
   * @throws EngineError `invalid_columns_manifest`; `invalid_upload` if a value is not of its column's type
   */
  relation(columns: readonly DeclaredColumn[], rows: readonly (readonly Cell[])[]): Relation {
    const context = {
      ...inlineContext(checkColumns(columns), rows),
      executor: () => this.executor(),
      counts: this.#counts,
    }
    return { query: (options) => new Query(context, options) }
  }

  /** Reads every part and compares it with the catalog. */
  verify(onProgress?: (done: { parts: number; of: number; bytes: number }) => void): Promise<VerifyReport> {
    return verifyStore(this.#store, onProgress)
  }

  /**
   * Copies all rows and the metadata, as of one moment, into a directory, which is created or brought up to date.
   * Writes may go on meanwhile.
   */
  backup(directory: string, onProgress?: (done: { bytes: number }) => void): Promise<BackupReport> {
    return backupStore(this.#store, directory, onProgress)
  }

  /** Removes what nothing needs any more. @throws EngineError `locked` beside a server */
  gc(): Promise<{ files: number; bytes: number; processes: number }> {
    return this.#store.gc()
  }

  /**
   * Resolves if the database and the store of the rows answer.
   * @throws EngineError `catalog_unavailable`, `storage_unavailable`
   */
  async ready(): Promise<void> {
    await this.database.get('SELECT 1')
    await this.#store.files.answers()
  }

  /** Waits for merges and removals that run in the background after commits. */
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
   * Loads and starts what the first query would otherwise wait for: DuckDB, the parser of filters, encoders, threads.
   * Errors are ignored here, because the first query meets and reports them.
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
    const { ranges } = this.#store.files
    const endpoint = ranges && { ...(await ranges.open()), httpfs: ranges.httpfs }
    return openExecutor({
      threads: this.#threads,
      workers: this.#options.workers ?? this.#threads,
      memoryLimit: sizeOfLimit(this.#options.memoryLimit),
      tempDirectory: this.#store.temporary,
      allowedDirectories: [...this.#store.files.folders, this.#store.temporary],
      http: endpoint && {
        ...endpoint,
        httpfs: endpoint.httpfs === 'install' ? undefined : endpoint.httpfs,
        extensions: join(this.#store.layout.directory, 'extensions'),
        onMissing: (cause) =>
          this.#events.tell(
            'ranges_unavailable',
            "DuckDB's extension httpfs can't be loaded, so parts that are not in the cache are always fetched whole.",
            { cause },
          ),
      },
      onSlower: (cause) =>
        this.#events.tell(
          'slower_source',
          'DuckDB is reached by way of its Node package, several times slower, because koffi or the library could not be loaded.',
          { cause },
        ),
      trino: this.#trino && {
        ...this.#trino,
        onFailure: (cause) =>
          this.#events.tell('trino_failed', 'Trino did not answer a question.', { cause }),
      },
    })
  }

  /** Ends running queries, refuses new writes, waits for those under way, and releases the directory. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#store.endWrites()
    try {
      const closed = (await this.#executor.present())?.close()
      // DuckDB can't give up a request that it waits for, so it is answered.
      await this.#store.files.ranges?.close()
      await closed
    } finally {
      await this.#store.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
