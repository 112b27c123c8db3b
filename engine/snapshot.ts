import { hash } from 'node:crypto'
import type { Handle } from './catalog/database.ts'
import { attachedFiles, noStoredRows } from './catalog/datasets.ts'
import type { Authorship } from './catalog/history.ts'
import type { DatasetRecord, Part } from './catalog/records.ts'
import { EngineError } from './errors.ts'
import type { Executor } from './export/index.ts'
import type { Naming } from './iceberg/table-schema.ts'
import type { IcebergTables, TableMetadata } from './iceberg/tables.ts'
import type { ShownFile, ShownFiles } from './parquet/shown-file.ts'
import { VersionReading } from './parts-reading.ts'
import type { Counts } from './plan/counts.ts'
import { versionSource } from './plan/parts.ts'
import { type Plan, type PlanSource, planQuery, type QueryOptions } from './plan/plan.ts'
import { type View, viewed } from './plan/view.ts'
import { Query } from './query.ts'
import type { Reading } from './reading/reading.ts'
import type { RemoteEngine, RemoteTable } from './reading/remote.ts'
import type { SavedOptions, StatementRows } from './sql/saved.ts'
import type { Lease } from './store/membership/membership.ts'
import type { Store } from './store/store.ts'
import type { DatasetMetadata } from './types/file-metadata.ts'
import type { Column } from './types/index.ts'
import { Users } from './util/shared.ts'

/** Releases the leases of queries that were garbage-collected without having been disposed. */
const forgotten = new FinalizationRegistry((leave: () => void) => leave())

/** Names the rows of a version, which never change. */
export function identityOf(datasetId: number, version: number): string {
  return `${datasetId}.${version}`
}

/** Something whose rows can be queried. When a query is disposed, or garbage-collected, it releases its version. */
export interface Queryable {
  /** @throws EngineError what is wrong with the options; see `Query` */
  query(options?: QueryOptions): Query | Promise<Query>
}

/** What datasets and their snapshots work with. */
export interface SnapshotContext {
  readonly store: Store
  readonly counts: Counts
  readonly files: ShownFiles
  readonly iceberg: IcebergTables
  readonly executor: () => Promise<Executor>
  /** Another database that answers large queries, if there is one. */
  readonly remote?: RemoteEngine | undefined
  /** The rows of a saved query; undefined for a dataset that has rows of its own. */
  readonly saved: (id: number, options: SavedOptions) => Promise<StatementRows | undefined>
}

/**
 * A dataset as it was at one moment. Whatever is written later, it answers from the same rows, until it and the queries
 * made of it are disposed.
 */
export class Snapshot implements Disposable {
  readonly #context: SnapshotContext
  readonly #datasetId: number
  readonly #lease: Lease
  readonly #source: PlanSource
  readonly #metadata: DatasetMetadata
  /** The rows that a saved query gives; undefined where the version has rows. */
  readonly derived: StatementRows | undefined
  /** The users of the lease: the snapshot itself, its queries, and calls of `hold`. */
  readonly #users = new Users(() => this.#end())
  /** How many rows at its beginning statements of SQL don't read. */
  #skip = 0
  #released = false
  readonly #release = this.hold()
  #disposed = false

  /** Use `dataset.snapshot()`. The snapshot takes over the lease and releases it. */
  constructor(dataset: DatasetRecord, lease: Lease, context: SnapshotContext, derived?: StatementRows) {
    this.#datasetId = dataset.id
    this.#metadata = dataset
    this.#lease = lease
    this.#context = context
    this.derived = derived
    this.#source =
      derived?.source ?? versionSource(lease.version, (part) => context.store.integrity.file(part))
  }

  /** The dataset's version, as in its record. */
  get version(): number {
    return this.#lease.version.number + (this.derived?.version ?? 0)
  }

  get columns(): readonly Column[] {
    return this.derived?.columns ?? this.#lease.version.columns
  }

  /** undefined for a saved query. */
  get rowCount(): number | undefined {
    return this.#source.rows
  }

  /**
   * @param view other names for the columns, and columns that number the rows
   * @throws EngineError what is wrong with the options; see `Query`. `cancelled` after the snapshot was disposed
   */
  query(options: QueryOptions = {}, view?: View): Query {
    if (this.#disposed) throw new EngineError('cancelled', 'The snapshot was disposed.')
    const { counts, store } = this.#context
    const { executor = this.#context.executor, volatile = false } = this.derived ?? {}
    const source = view ? viewed(this.#source, view) : this.#source
    const leave = this.hold()
    const context = {
      source,
      // Under other names, the same options have another meaning.
      identity: view ? `${this.identity} ${hash('sha256', JSON.stringify(view))}` : this.identity,
      metadata: { dataset: this.#metadata, columns: this.columns },
      executor,
      volatile,
      counts,
      reading: (plan: Plan) => this.reading(plan),
      release: () => {
        forgotten.unregister(context)
        leave()
      },
      borrowed: this.derived?.borrowed,
      fetches: this.#lease.version.parts.some((part) => store.files.isCached(part)),
      remote: this.derived ? undefined : this.#remoteTable(),
    }
    try {
      const query = new Query(context, options)
      forgotten.register(query, leave, context)
      return query
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Names the rows: they never change. */
  get identity(): string {
    const skipped = this.#skip > 0 ? `+${this.#skip}` : ''
    return this.derived?.identity ?? identityOf(this.#datasetId, this.version) + skipped
  }

  /** The plan of all rows. */
  get plan(): Plan {
    return planQuery(this.#source, this.#skip > 0 ? { skip: this.#skip } : {})
  }

  /**
   * Leaves only the rows that were appended since a version.
   * @param version its number and its rows; false if the rows were changed in another way since
   */
  keepAppended({ version, rows }: { readonly version: number; readonly rows: number }): boolean {
    const { appendedSince, number } = this.#lease.version
    if (this.derived || appendedSince === null || appendedSince > version || number < version) return false
    this.#skip = rows
    return true
  }

  /** Begins to read what a plan needs, which may go on after the snapshot is disposed. */
  reading(plan: Plan): Reading {
    if (this.derived) return this.derived.reading(plan)
    const { executor, store } = this.#context
    const { parts } = this.#lease.version
    const readsHttp = async () => (await executor()).readsHttp
    return new VersionReading(plan, { parts, store, leave: this.hold() }, readsHttp)
  }

  /**
   * The rows as Parquet files under the columns' own names, in the order of the rows, to be read by ranges. They may be
   * read until the snapshot is disposed.
   * @throws EngineError `storage_damaged`, `cancelled`, `saved_query`
   */
  async files(): Promise<ShownFile[]> {
    this.#requireStored()
    return Promise.all(this.#lease.version.parts.map((part) => this.#show(part)))
  }

  hasFile(number: number): boolean {
    return this.#lease.version.parts.some(({ id }) => id === number)
  }

  /** The file with this number; undefined where the version has none. */
  async file(number: number): Promise<ShownFile | undefined> {
    const part = this.#lease.version.parts.find(({ id }) => id === number)
    return part && this.#show(part)
  }

  /**
   * The metadata of the version as an Apache Iceberg table. With it, readers find manifests and parts and read them by
   * themselves, as long as the snapshot is not disposed.
   * @param naming whether columns have the users' names, or `c0`, `c1` …
   * @throws EngineError `not_found`, `storage_damaged`, `cancelled`, `saved_query`
   */
  async icebergTable(naming: Naming): Promise<TableMetadata> {
    if (this.#disposed) throw new EngineError('cancelled', 'The snapshot was disposed.')
    this.#requireStored()
    // Readers of such tables find columns by ids, or by their names in files without ids. Files of others may have others.
    if (this.#lease.version.parts.some(({ attached }) => attached && attached.hasIds !== false))
      throw attachedFiles(this.#datasetId)
    const { iceberg, store } = this.#context
    const dataset = await store.datasets.get(this.#datasetId)
    return iceberg.metadata(dataset, this.#lease.version, naming, (part) => {
      store.integrity.file(part)
      return store.files.url(part)
    })
  }

  /**
   * Makes a dataset of the same rows, columns, key and metadata. No bytes are copied: both have the same parts.
   * @throws EngineError `not_found` (repository), `name_taken`, `invalid_name`, `saved_query`
   */
  async copy(
    fields: { readonly repositoryId: number; readonly name: string; readonly description?: string },
    author: Authorship,
    t: Handle,
  ): Promise<DatasetRecord> {
    this.#requireStored()
    const { datasets, versions } = this.#context.store
    const { columns, key, parts, rows } = this.#lease.version
    const { id } = await datasets.in(t).create({ ...fields, columns, key, by: author.by })
    const original = await datasets.in(t).get(this.#datasetId)
    await datasets.in(t).fill(id, original)
    await datasets.in(t).noteUploadOptions(id, original.uploadOptions)
    if (parts.length > 0) {
      const change = { ...author, operation: 'replace', addedRows: rows, removedRows: 0 } as const
      const current = await versions.in(t).current(id)
      await versions.in(t).commit(id, current, { columns, key, parts, number: 1, change })
    }
    return datasets.in(t).get(id)
  }

  #requireStored(): void {
    if (this.derived) throw noStoredRows(this.#datasetId)
  }

  #remoteTable(): RemoteTable | undefined {
    const { remote, store } = this.#context
    const name = async () => {
      const { repositoryId } = await store.datasets.get(this.#datasetId)
      return `r${repositoryId}.d${this.#datasetId}_${this.version}`
    }
    return remote?.table(this.#lease.version, (part) => store.files.file(part), name)
  }

  #show(part: Part): Promise<ShownFile> {
    if (this.#disposed) throw new EngineError('cancelled', 'The snapshot was disposed.')
    const { files, store } = this.#context
    return files.open(part, (from, to) => store.integrity.read(part, from, to), this.columns)
  }

  /**
   * Holds the version, even after the snapshot is disposed, until the returned function is called.
   * @throws EngineError `cancelled` where nobody holds the version any more
   */
  hold(): () => void {
    if (this.#released) throw new EngineError('cancelled', 'The query was disposed.')
    return this.#users.enter()
  }

  [Symbol.dispose](): void {
    this.#disposed = true
    this.#release()
  }

  #end(): void {
    this.#released = true
    this.derived?.[Symbol.dispose]()
    this.#lease[Symbol.dispose]()
  }
}
