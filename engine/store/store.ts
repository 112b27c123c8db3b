import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database, Handle } from '../catalog/database.ts'
import { Datasets } from '../catalog/datasets.ts'
import { isUnwritable } from '../catalog/failures.ts'
import { History, KEEP, type PastVersion } from '../catalog/history.ts'
import { Parts } from '../catalog/parts.ts'
import type { Keep, Version } from '../catalog/records.ts'
import { Repositories } from '../catalog/repositories.ts'
import { type NumberedVersion, Versions } from '../catalog/versions.ts'
import type { EngineOptions, PartSizes } from '../engine-options.ts'
import { EngineError, sentenceOf, storageError } from '../errors.ts'
import type { Events } from '../events.ts'
import type { ManifestStore } from '../iceberg/tables.ts'
import type { Ingestor } from '../ingest/ingestor.ts'
import type { Column } from '../types/index.ts'
import { Background, withTimeout } from '../util/concurrency.ts'
import { Lazy } from '../util/shared.ts'
import { Commits, PART_SIZES, type WorkContext } from './commits.ts'
import { CHECKS, Integrity } from './integrity/integrity.ts'
import type { Layout } from './layout.ts'
import type { Job, Lease, Membership } from './membership/membership.ts'
import { Nodes } from './membership/nodes.ts'
import { Processes } from './membership/processes.ts'
import { Merger } from './merger.ts'
import { storeUnavailable } from './objects/failures.ts'
import { folderManifests } from './objects/folder.ts'
import type { PartStore } from './objects/part-store.ts'
import { objectManifests } from './objects/remote.ts'
import { Profiles } from './profiles.ts'
import { lockServer, openStorage, type Storage } from './storage.ts'
import { type Swept, sweep } from './sweep.ts'
import type { UploadLimits } from './upload.ts'
import { Writer } from './writer.ts'

/** How often to look for leases that are no longer needed because another process made a new version. */
const TIDY_MS = 60_000

const GIB = 2 ** 30
const UPLOAD_LIMITS: UploadLimits = { bytes: 16 * GIB, unpackedBytes: 64 * GIB }

/** How long the database and the store of objects may take to answer whether they are there. */
const READY_MS = 2_000
/** As many bytes as file systems reserve at once. */
const PROBE = Buffer.alloc(4_096)
/** For how long the answer is used again that the store of objects can be reached. */
const ANSWER_MS = 5_000

/** What a store is opened with: the options of an engine, with their defaults. */
export interface StoreOptions extends Omit<EngineOptions, 'onEvent' | 'workers' | 'memoryLimit' | 'trino'> {
  readonly role: 'server' | 'guest'
  readonly events: Events
}

/**
 * The rows: immutable Parquet parts, which a commit in the catalog makes visible. A part's file is written and synced
 * before the commit, so after a crash there may be a file too many, but none is missing.
 */
export class Store implements WorkContext {
  readonly storage: Storage
  readonly events: Events
  readonly background: Background
  readonly repositories: Repositories
  readonly datasets: Datasets
  readonly versions: Versions
  readonly history: History
  readonly parts: Parts
  readonly members: Membership
  readonly manifests: ManifestStore
  readonly sizes: PartSizes
  readonly uploadLimits: UploadLimits
  readonly keep: Keep
  readonly integrity: Integrity
  readonly profiles: Profiles
  readonly writer: Writer
  readonly commits: Commits
  readonly #options: StoreOptions
  readonly #merger: Merger
  #endChecks: (() => Promise<void>) | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #ingestor = new Lazy(() => this.#openIngestor())

  private constructor(options: StoreOptions, storage: Storage) {
    this.#options = options
    this.storage = storage
    this.events = options.events
    this.sizes = { ...PART_SIZES, ...options.partSizes }
    this.uploadLimits = options.uploadLimits ?? UPLOAD_LIMITS
    this.keep = { ...KEEP, ...options.keep }
    const { database, layout, files } = storage
    this.background = new Background(
      () => existsSync(database.isShared ? layout.directory : layout.catalog),
      (work) => database.unattended(work),
    )
    this.repositories = new Repositories(database)
    this.datasets = new Datasets(database)
    this.versions = new Versions(database, this.keep)
    this.history = new History(database, this.keep)
    this.parts = new Parts(database)
    const work = (job: Job) => this.#work(job)
    this.members = database.isShared
      ? new Nodes(this, work, options.role === 'server')
      : new Processes(this, work, (datasetId, versionId) => this.commits.tidyBehind(datasetId, versionId))
    this.manifests = files.objects ? objectManifests(files.objects) : folderManifests(layout, this.temporary)
    this.commits = new Commits(this)
    this.integrity = new Integrity(this)
    this.profiles = new Profiles(this)
    this.#merger = new Merger(this)
    this.writer = new Writer(this)
  }

  /** @throws EngineError as `openStorage` does */
  static async open(options: StoreOptions): Promise<Store> {
    const storage = await openStorage(options)
    let store: Store | undefined
    try {
      store = new Store(options, storage)
      await store.#start()
      return store
    } catch (error) {
      if (store) {
        store.members.end()
        // Nodes that can't be told find out by themselves.
        await store.members.leave().catch(() => {})
      }
      await storage[Symbol.asyncDispose]()
      throw error
    }
  }

  async #start(): Promise<void> {
    const { events } = this
    const { role, checks } = this.#options
    const isServer = role === 'server'
    await this.members.start()
    await this.integrity.refresh()
    // Nodes of a cluster sweep by turns. Listing a million objects takes minutes, so this runs in the background. Parts
    // written meanwhile are safe, since they are registered first.
    const tidying = () => ifWritable(() => sweep(this))
    if (isServer && !this.files.objects) await tidying()
    else if (isServer && !this.database.isShared) {
      this.background.later(
        tidying,
        events.failure('tidy_failed', 'Leftovers of crashes could not be removed.'),
      )
    }
    this.#timer = setInterval(() => {
      this.background.later(
        () => this.integrity.refresh(),
        events.failure('check_failed', 'Reading the list of damaged parts failed.'),
      )
      this.commits.tidyLater(0)
    }, TIDY_MS)
    this.#timer.unref()
    // A store of objects protects its data against decay by itself, and reading it costs money.
    const bytesPerSecond = this.files.objects ? 0 : CHECKS.bytesPerSecond
    const options = { ...CHECKS, bytesPerSecond, ...checks }
    if (isServer && options.bytesPerSecond > 0) this.#endChecks = this.integrity.startChecks(options)
  }

  get layout(): Layout {
    return this.storage.layout
  }

  /** Where the bytes of parts are. */
  get files(): PartStore {
    return this.storage.files
  }

  get database(): Database {
    return this.storage.database
  }

  /**
   * Resolves if the database and the store of objects answer, and the disk takes what is written to it.
   * @throws EngineError as `Engine.ready` does
   */
  async ready(): Promise<void> {
    const { objects } = this.files
    await Promise.all([
      withTimeout(
        READY_MS,
        this.#writes(),
        () => new EngineError('storage_failed', sentenceOf('storage_failed')),
      ),
      withTimeout(
        READY_MS,
        this.database.get('SELECT 1'),
        () => new EngineError('catalog_unavailable', 'The database does not answer. Try again in a moment.'),
      ),
      objects &&
        withTimeout(READY_MS, objects.answers(ANSWER_MS), () => storeUnavailable('no answer in time')),
    ])
  }

  /** @throws EngineError `storage_full`, `storage_read_only`, `storage_failed` */
  async #writes(): Promise<void> {
    const file = join(this.temporary, `ready-${randomUUID()}`)
    try {
      await writeFile(file, PROBE)
    } catch (error) {
      throw storageError(error)
    } finally {
      await rm(file, { force: true }).catch(() => undefined)
    }
  }

  /** A folder that only this process uses; it is removed when the store closes. */
  get temporary(): string {
    return this.storage.mark.temporary
  }

  /** A version of a dataset that it may no longer show; undefined if it is no longer there. */
  async readNumbered(datasetId: number, version: NumberedVersion): Promise<Lease | undefined> {
    const current = await this.members.take(datasetId)
    const { number, parts } = current.version
    const { part } = version
    if (number === version.number && (part === undefined || parts.some(({ id }) => id === part)))
      return current
    current[Symbol.dispose]()
    return this.members.takeNumbered(datasetId, version)
  }

  /**
   * A past version of a dataset.
   * @throws EngineError `not_found`, `version_gone`
   */
  async readPast(datasetId: number, version: PastVersion): Promise<Lease> {
    for (;;) {
      const { number } = await this.history.find(datasetId, version)
      const lease = await this.readNumbered(datasetId, { number })
      // It was removed since it was found; then it is not found again.
      if (lease) return lease
    }
  }

  /** Writes down in the background which columns a saved query has now, for lists of datasets. */
  noteColumns(datasetId: number, version: Version, columns: readonly Column[]): void {
    const text = JSON.stringify(columns)
    if (JSON.stringify(version.columns) === text) return
    const change = { operation: 'columns', addedRows: 0, removedRows: 0 } as const
    const content = (now: Version) =>
      JSON.stringify(now.columns) === text ? undefined : { columns, parts: [], change }
    // If it can't be written, the next reader tries again.
    this.background.later(
      () => this.commits.commit(datasetId, [], content).then(() => {}),
      () => {},
    )
  }

  async delete(what: 'datasets' | 'repositories', id: number, accept?: (t: Handle) => Promise<void>) {
    await this.database.transaction(async (t) => {
      await accept?.(t)
      await this[what].in(t).delete(id)
    })
    this.commits.tidyLater(0)
  }

  /**
   * Removes what is not needed, also leftovers of crashes.
   * @throws EngineError `locked` while a server runs, unless the catalog is shared
   */
  async gc(): Promise<Swept> {
    const isAlone = this.storage.serverLock !== undefined || this.database.isShared
    using _ = isAlone ? undefined : lockServer(this.layout, 'gc removes files, so it runs alone')
    return await sweep(this)
  }

  /** The ingestor, opened with the first upload. */
  ingestor(): Promise<Ingestor> {
    return this.#ingestor.get()
  }

  async #openIngestor(): Promise<Ingestor> {
    // Loaded only here, so that programs which only read do not spend time on it.
    const { Ingestor } = await import('../ingest/ingestor.ts')
    const { threads, partEncoding } = this.#options
    return new Ingestor({
      threads,
      memory: this.uploadLimits.memory,
      encoding: partEncoding,
      tempDirectory: this.temporary,
      folders: this.files.folders,
      onEnd: (message) => this.events.tell('reader_ended', message),
    })
  }

  /**
   * Refuses new writes, waits for those under way, and releases the directory. A server gives up its merges, since it
   * must stop in time. A guest finishes them, because it may run for a single write only. Profiles are given up.
   */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#endChecks?.()
    if (this.#options.role === 'server') this.#merger.giveUp()
    else this.#merger.end()
    this.profiles.giveUp()
    await this.writer.end()
    await this.background.settled()
    this.members.end()
    try {
      await (await this.#ingestor.present())?.close()
      await ifWritable(async () => {
        if (this.database.inDoubt) return
        await this.members.leave()
        await this.commits.tidy()
      })
    } finally {
      await this.storage[Symbol.asyncDispose]()
    }
  }

  async #work({ kind, subject }: Job): Promise<void> {
    if (kind === 'merge') await this.#merger.merge(subject)
    else if (kind === 'gc') await this.commits.reclaim(subject)
    else await sweep(this)
  }
}

/** Does work that can wait. If nothing can be written now, it is left for the next time. */
async function ifWritable(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isUnwritable(error)) throw error
  }
}
