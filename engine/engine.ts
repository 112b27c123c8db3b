import { availableParallelism } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Database, Handle } from './catalog/database.ts'
import type {
  DatasetChanges,
  DatasetName,
  DatasetRecord,
  DatasetSummary,
  NewDataset,
  QueryDefinition,
  Repository,
  RepositoryChanges,
  SavedQuery,
} from './catalog/records.ts'
import { Dataset } from './dataset.ts'
import { type HttpOptions, sizeOfLimit, spillLimit } from './duckdb/instance.ts'
import { loadDuckDb } from './duckdb/native/ffi.ts'
import { checkEngineOptions, type EngineOptions } from './engine-options.ts'
import { EngineError } from './errors.ts'
import { type EventKind, Events } from './events.ts'
import { type Executor, type ExecutorStats, openExecutor } from './export/index.ts'
import { IcebergTables } from './iceberg/tables.ts'
import { ShownFiles } from './parquet/shown-file.ts'
import { Counts } from './plan/counts.ts'
import { Preview } from './preview.ts'
import type { Query } from './query.ts'
import { type Cell, type Relation, relationOf } from './relation.ts'
import type { SnapshotContext } from './snapshot.ts'
import type { StatementStats } from './sql/process/sql-pool.ts'
import type { SqlValues } from './sql/rewrite.ts'
import { type DefineOptions, Sql, type SqlContext, type SqlOptions } from './sql/sql.ts'
import { type SqlTable, sqlTables } from './sql/tables.ts'
import { type BackupOptions, type BackupReport, backupStore } from './store/backup.ts'
import { type VerifyOptions, type VerifyReport, verifyStore } from './store/integrity/verify.ts'
import type { ClusterStats } from './store/membership/membership.ts'
import type { CacheStats } from './store/objects/part-store.ts'
import { Store } from './store/store.ts'
import type { PreviewOptions, Upload } from './store/upload.ts'
import { Trino, type TrinoStats } from './trino/trino.ts'
import { checkColumns, type DeclaredColumn } from './types/columns.ts'
import { checkRuntime } from './util/runtime.ts'
import { Lazy } from './util/shared.ts'

/** Figures for metrics. */
export interface EngineStats {
  /** Queries that hold a version. */
  readonly readers: number
  /**
   * Whether writes are refused, because the outcome of a commit is unknown or because another catalog has taken over the
   * store.
   */
  readonly writesStopped: boolean
  /** Parts that were found damaged and are not read. */
  readonly damagedParts: number
  /** Figures about the parts that are cached on this machine; undefined if all parts are stored on it. */
  readonly cache: CacheStats | undefined
  /** Statements of SQL that run or wait for a process. */
  readonly statements: StatementStats
  /** How often each kind of event has happened since the start. */
  readonly events: Readonly<Record<EventKind, number>>
  /** The executor's figures, once it runs, and those of a Trino, if there is one. */
  readonly executor: (ExecutorStats & { readonly trino?: TrinoStats | undefined }) | undefined
}

/** Repositories of datasets, in a directory. */
export class Engine implements AsyncDisposable {
  readonly #store: Store
  readonly #options: EngineOptions
  readonly #context: SnapshotContext
  readonly #events: Events
  readonly #remote: Trino | undefined
  readonly #executor = new Lazy(() => this.#openExecutor())
  readonly #sql: Sql
  #mayRead: SqlContext['mayRead'] = async () => true
  #closing: Promise<void> | undefined

  private constructor(options: EngineOptions, events: Events, store: Store) {
    this.#options = options
    this.#events = events
    this.#store = store
    const failed = events.failure('trino_failed', 'Trino did not answer a question.')
    this.#remote = options.trino && new Trino(options.trino, this.#threads, failed)
    this.#context = {
      store,
      counts: new Counts(),
      files: new ShownFiles(),
      iceberg: new IcebergTables(store.manifests),
      executor: () => this.executor(),
      remote: this.#remote,
      saved: (id, reading) => this.#sql.saved(id, reading),
    }
    this.#sql = new Sql({
      readers: {
        threads: this.#threads,
        tempDirectory: store.temporary,
        folders: store.files.attachable.filter(isAbsolute),
        onEnd: (message) => events.tell('reader_ended', message),
      },
      wait: options.sqlWaitMs,
      http: async () => (store.files.ranges && (await this.executor()).readsHttp ? this.#http() : undefined),
      counts: this.#context.counts,
      tables: () => this.sqlTables(),
      record: (id) => store.datasets.get(id),
      saved: (id) => store.datasets.saved(id),
      mayRead: (by, repositoryIds) => this.#mayRead(by, repositoryIds),
      snapshot: async (id, past, reading) => (await this.dataset(id)).snapshot(past, reading),
    })
  }

  /** Use `openEngine`. */
  static async open(options: EngineOptions): Promise<Engine> {
    checkRuntime()
    checkEngineOptions(options)
    // A server that could answer no query must not start.
    if (options.role === 'server') loadDuckDb()
    const events = new Events(options.onEvent)
    const store = await Store.open({ ...options, role: options.role ?? 'guest', events })
    return new Engine(options, events, store)
  }

  /** A folder for temporary files, on the disk of the rows; it is removed when the engine is closed. */
  get temporary(): string {
    return this.#store.temporary
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
    return this.#store.repositories.in(t).create(fields)
  }

  repositories(): Promise<Repository[]> {
    return this.#store.repositories.list()
  }

  /** @throws EngineError `not_found` */
  repository(id: number, t?: Handle): Promise<Repository> {
    return this.#store.repositories.in(t).get(id)
  }

  updateRepository(id: number, fields: RepositoryChanges, t?: Handle): Promise<Repository> {
    return this.#store.repositories.in(t).update(id, fields)
  }

  /**
   * Deletes a repository and its datasets. Running queries continue to their end.
   * @param accept may refuse, in the transaction that deletes
   */
  deleteRepository(id: number, accept?: (t: Handle) => Promise<void>): Promise<void> {
    return this.#store.delete('repositories', id, accept)
  }

  /** @throws EngineError `not_found` (repository), `name_taken`, `invalid_name`, `invalid_columns_manifest` */
  async createDataset(fields: NewDataset, t?: Handle): Promise<DatasetRecord> {
    return this.#store.datasets.in(t).create({ ...fields, columns: checkColumns(fields.columns ?? []) })
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
   * @param repositoryId only its datasets
   * @param ids only those from the first to the last of these
   */
  datasetList(
    columnBytes: number,
    repositoryId?: number,
    ids?: readonly [first: number, last: number],
  ): AsyncGenerator<readonly DatasetSummary[], void, undefined> {
    return this.#store.datasets.pages(columnBytes, repositoryId, ids)
  }

  /** A text that changes with each change of the datasets of these repositories, or only of one. */
  datasetsTag(isIn: (repositoryId: number) => boolean, repositoryId?: number): Promise<string> {
    return this.#store.datasets.tag(isIn, repositoryId)
  }

  /** @throws EngineError `not_found` */
  async dataset(id: number): Promise<Dataset> {
    await this.#store.datasets.get(id)
    return new Dataset(id, this.#context)
  }

  updateDataset(id: number, fields: DatasetChanges, t?: Handle): Promise<DatasetRecord> {
    return this.#store.datasets.in(t).update(id, fields)
  }

  /** As `deleteRepository`. */
  deleteDataset(id: number, accept?: (t: Handle) => Promise<void>): Promise<void> {
    return this.#store.delete('datasets', id, accept)
  }

  /** How many threads DuckDB has. */
  get #threads(): number {
    return this.#options.threads ?? availableParallelism()
  }

  /**
   * Rows in memory, which can be queried like a dataset.
   * @throws EngineError `invalid_columns_manifest`; `invalid_upload` if a value is not of its column's type
   */
  relation(columns: readonly DeclaredColumn[], rows: readonly (readonly Cell[])[]): Relation {
    return relationOf(checkColumns(columns), rows, this.#context)
  }

  /**
   * One SELECT over datasets, as a query, in a process of its own. Tables are `"repository"."dataset"`, `dataset` or
   * `dataset_17`, or `"owner"."repository"."dataset"` if `options.tables` has owners.
   * @param parameters values for `$1` and `?`, or for `$name`
   * @throws EngineError `invalid_sql`, `sql_not_allowed`, `unknown_table`, `version_gone`, `overloaded`, `cancelled`
   */
  sql(text: string, parameters?: SqlValues, options: SqlOptions = {}): Promise<Query> {
    return this.#sql.query(text, parameters, options)
  }

  /**
   * Checks a query that `createDataset` is to save, and finds its columns.
   * @throws EngineError as `sql` and `Query` do, `saved_query`
   */
  defineQuery(given: QueryDefinition, options: DefineOptions = {}): ReturnType<Sql['define']> {
    return this.#sql.define(given, options)
  }

  /** The rows of a query that `defineQuery` has checked, now. @throws EngineError as `sql` does, `saved_query` */
  runQuery(...query: Parameters<Sql['run']>): ReturnType<Sql['run']> {
    return this.#sql.run(...query)
  }

  /** Requires that the rows of a query that is saved may still be read. @throws EngineError `saved_query` */
  requireReadable(saved: SavedQuery): Promise<void> {
    return this.#sql.requireReadable(saved)
  }

  /** Says whether the account that saved a query may read repositories; unless it is said, all may. */
  checkSavedQueries(mayRead: SqlContext['mayRead']): void {
    this.#mayRead = mayRead
  }

  /** All datasets as SQL names them. */
  async sqlTables(): Promise<readonly SqlTable[]> {
    return sqlTables(...(await Promise.all([this.datasetNames(), this.repositories()])))
  }

  /**
   * Reads an upload as `Dataset.replace` and `append` do, without storing it, into `dataset` or on its own: what its columns
   * are, and its rows, until it is disposed.
   */
  async preview(upload: Upload, options: PreviewOptions = {}, dataset?: Dataset): Promise<Preview> {
    const read = await this.#store.writer.preview(upload, options, dataset?.id)
    return new Preview(read, this.#context, upload.words)
  }

  /** Reads every part and compares it with the catalog. */
  verify(
    onProgress?: (done: { parts: number; of: number; bytes: number }) => void,
    options?: VerifyOptions,
  ): Promise<VerifyReport> {
    return verifyStore(this.#store, onProgress, options)
  }

  /**
   * Copies all rows and the metadata, as of one moment, into a directory, which is created or brought up to date.
   * Writes may go on meanwhile.
   */
  backup(directory: string, options?: BackupOptions): Promise<BackupReport> {
    return backupStore(this.#store, directory, options)
  }

  /** Removes what nothing needs any more. @throws EngineError `locked` beside a server */
  gc(): Promise<{ files: number; bytes: number; processes: number }> {
    return this.#store.gc()
  }

  /**
   * Resolves if the database and the store of the rows answer.
   * @throws EngineError `catalog_unavailable`, `storage_unavailable`
   */
  ready(): Promise<void> {
    return this.#store.ready()
  }

  /** Waits for merges and removals that run in the background after commits. */
  settled(): Promise<void> {
    return this.#store.background.settled()
  }

  async stats(): Promise<EngineStats> {
    return {
      readers: this.#store.members.readers,
      writesStopped: this.#store.database.inDoubt || this.#store.files.objects?.isLost === true,
      damagedParts: this.#store.integrity.damaged,
      cache: this.#store.files.cache,
      statements: await this.#sql.stats(),
      events: { ...this.#events.counts },
      executor: await this.#executorStats(),
    }
  }

  /** How the cluster is doing, as this node sees it; undefined if the catalog is in the data directory. */
  cluster(): Promise<ClusterStats | undefined> {
    return this.#store.members.cluster()
  }

  async #executorStats(): Promise<EngineStats['executor']> {
    const stats = (await this.#executor.present())?.stats()
    if (!stats || !this.#remote) return stats
    const { stats: trino } = this.#remote
    return { ...stats, statements: stats.statements + trino.running, trino }
  }

  /**
   * Loads and starts what the first query would otherwise wait for: DuckDB, the parser of filters, encoders, threads.
   * @throws EngineError what that query would throw, unless the engine is being closed
   */
  async warm(): Promise<void> {
    try {
      using query = this.relation([{ name: 'a', type: 'integer' }], [[1]]).query({ filter: 'a eq 1', top: 1 })
      await using stream = await query.bytes('json')
      for await (const _ of stream);
      ;(await this.executor()).startWorkers()
    } catch (error) {
      if (!this.#closing) throw error
    }
  }

  /** Runs statements; opened with the first query. @throws EngineError `cancelled` once the engine is closed */
  executor(): Promise<Executor> {
    return this.#executor.get()
  }

  async #openExecutor(): Promise<Executor> {
    if (this.#closing) throw new EngineError('cancelled', 'The engine is closed.')
    const http = await this.#http()
    return openExecutor({
      threads: this.#threads,
      workers: this.#options.workers ?? this.#threads,
      memoryLimit: sizeOfLimit(this.#options.memoryLimit),
      tempDirectory: this.#store.temporary,
      mostTemporary: spillLimit(this.#store.temporary, 1 / 3),
      allowedDirectories: [...this.#store.files.folders, this.#store.temporary],
      onReplaced: this.#events.failure('duckdb_replaced', 'DuckDB had an internal error and was replaced.'),
      http: http && {
        ...http,
        onMissing: this.#events.failure(
          'ranges_unavailable',
          "DuckDB's extension httpfs can't be loaded, so parts that are not in the cache are always fetched whole.",
        ),
      },
    })
  }

  /** How DuckDB reads parts by ranges. */
  async #http(): Promise<HttpOptions | undefined> {
    return this.#store.files.ranges?.open(join(this.#store.layout.directory, 'extensions'))
  }

  /** Ends running queries, refuses new writes, waits for those under way, and releases the directory. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#store.writer.end()
    try {
      await this.#sql.close()
      await this.#remote?.close()
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
