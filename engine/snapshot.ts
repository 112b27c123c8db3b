import type { Part } from './catalog/records.ts'
import type { Counts } from './counts.ts'
import { EngineError } from './errors.ts'
import type { Executor } from './export/index.ts'
import type { IcebergTables, Naming, TableMetadata } from './iceberg/index.ts'
import type { ShownFile, ShownFiles } from './parquet/shown-file.ts'
import type { QueryOptions } from './plan/options.ts'
import { type PlanSource, type Scan, versionSource } from './plan/plan.ts'
import { isSmallReach, type Reach } from './plan/reach.ts'
import { type View, viewed } from './plan/view.ts'
import { Query } from './query.ts'
import type { Lease } from './store/membership/readers.ts'
import type { RangedParts } from './store/objects/part-store.ts'
import type { Store } from './store/store.ts'
import { type TrinoLimits, type TrinoTable, versionTable } from './trino/index.ts'
import type { Column } from './types/index.ts'

type Slices = Extract<Scan, { kind: 'slices' }>

/** What datasets and their snapshots work with. */
export interface SnapshotPlace {
  readonly store: Store
  readonly counts: Counts
  readonly files: ShownFiles
  readonly iceberg: IcebergTables
  readonly executor: () => Promise<Executor>
  /** When Trino is asked, if there is one. */
  readonly trino?: TrinoLimits | undefined
}

/**
 * A dataset as it was at one moment. Whatever is written later, it answers from the same rows, until it and the queries
 * made of it are disposed.
 */
export class Snapshot implements Disposable {
  readonly #place: SnapshotPlace
  readonly #datasetId: number
  readonly #lease: Lease
  readonly #source: PlanSource
  /** How many users the lease has: the snapshot itself, its queries, and calls of `hold`. */
  #users = 0
  readonly #release = this.#enter()
  #disposed = false

  /** Use `dataset.snapshot()`. The snapshot takes over the lease and releases it. */
  constructor(datasetId: number, lease: Lease, place: SnapshotPlace) {
    this.#datasetId = datasetId
    this.#lease = lease
    this.#place = place
    this.#source = versionSource(lease.version, (part) => place.store.partFile(part))
  }

  /** The dataset's version, as in its record. */
  get version(): number {
    return this.#lease.version.number
  }

  get columns(): readonly Column[] {
    return this.#lease.version.columns
  }

  get rowCount(): number {
    return this.#lease.version.rows
  }

  /**
   * @param view other names for the columns, and columns that number the rows
   * @throws EngineError what is wrong with the options; see `Query`. `cancelled` after the snapshot was disposed
   */
  query(options: QueryOptions = {}, view?: View): Query {
    if (this.#disposed) throw new EngineError('cancelled', 'The snapshot was disposed.')
    const leave = this.#enter()
    const held: Disposable[] = []
    const ranged: RangedParts[] = []
    let released = false
    const release = () => {
      released = true
      for (const pin of held.splice(0)) pin[Symbol.dispose]()
      leave()
    }
    const hold = (pin: Disposable) => {
      held.push(pin)
      // The query was disposed while this was fetched, so nobody would release it.
      if (!released) return
      release()
      throw new EngineError('cancelled', 'The query was disposed.')
    }
    const ready = async (scan: Scan, reach: Reach | undefined, signal: AbortSignal | undefined) => {
      if (scan.kind !== 'slices') return scan
      const reading = reach && (await this.#readByRanges(scan, reach, signal))
      if (reading) {
        ranged.push(reading)
        hold(reading)
      }
      const others = this.#partsOf(scan).filter((part) => !reading?.url(part))
      const pin = await store.pin(others, signal)
      if (pin) hold(pin)
      return reading ? this.#at(scan, reading) : scan
    }
    const { counts, executor, store } = this.#place
    return new Query(
      {
        source: view ? viewed(this.#source, view) : this.#source,
        identity: `${this.#datasetId}.${this.version}`,
        executor,
        counts,
        release,
        trino: this.#trinoTable(),
        // Without a cache the parts are local files, and nothing needs to be fetched.
        ready: store.cache && ready,
        whole: (scan, signal) => store.integrity.whole(this.#partsOf(scan), signal),
        readable: (error) => store.integrity.unreadable(this.#lease.version.parts, error, ranged),
      },
      options,
    )
  }

  /**
   * The rows as Parquet files under the columns' own names, in the order of the rows, to be read by ranges. They may be
   * read until the snapshot is disposed.
   * @throws EngineError `storage_damaged`, `cancelled`
   */
  files(): Promise<ShownFile[]> {
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
   * @throws EngineError `not_found`, `storage_damaged`, `cancelled`
   */
  async icebergTable(naming: Naming): Promise<TableMetadata> {
    if (this.#disposed) throw new EngineError('cancelled', 'The snapshot was disposed.')
    const { iceberg, store } = this.#place
    const dataset = await store.datasets.get(this.#datasetId)
    return iceberg.metadata(dataset, this.#lease.version, naming, (part) => store.partUrl(part))
  }

  #trinoTable(): TrinoTable | undefined {
    const { trino, store } = this.#place
    return (
      trino &&
      versionTable(
        this.#lease.version,
        trino,
        (part) => store.files.file(part),
        async () => {
          const { repositoryId } = await store.datasets.get(this.#datasetId)
          return `r${repositoryId}.d${this.#datasetId}_${this.version}`
        },
      )
    )
  }

  #show(part: Part): Promise<ShownFile> {
    if (this.#disposed) throw new EngineError('cancelled', 'The snapshot was disposed.')
    const { files, store } = this.#place
    return files.open(part, (from, to) => store.integrity.read(part, from, to), this.columns)
  }

  /** Begins to read those parts by ranges of which little is read; undefined if there are none. */
  async #readByRanges(
    { slices }: Slices,
    reach: Reach,
    signal: AbortSignal | undefined,
  ): Promise<RangedParts | undefined> {
    const { store, executor } = this.#place
    if (!store.files.ranges || !(await executor()).readsHttp) return undefined
    const byFile = new Map(slices.map((slice) => [slice.file, slice]))
    const parts = this.#lease.version.parts.filter((part) => {
      const slice = byFile.get(store.files.file(part))
      return slice && isSmallReach(part, slice, reach)
    })
    return store.integrity.readByRanges(parts, signal)
  }

  /** The scan with the addresses of those parts that are read by ranges. */
  #at({ slices, ...scan }: Slices, reading: RangedParts): Scan {
    const urls = new Map<string, string>()
    for (const part of this.#lease.version.parts) {
      const url = reading.url(part)
      if (url !== undefined) urls.set(this.#place.store.files.file(part), url)
    }
    return {
      ...scan,
      slices: slices.map((slice) => ({ ...slice, file: urls.get(slice.file) ?? slice.file })),
    }
  }

  #partsOf(scan: Scan): Part[] {
    if (scan.kind !== 'slices') return []
    const files = new Set(scan.slices.map(({ file }) => file))
    return this.#lease.version.parts.filter((part) => files.has(this.#place.store.files.file(part)))
  }

  /** Holds the version, even after the snapshot is disposed, until the returned function is called. */
  hold(): () => void {
    return this.#enter()
  }

  [Symbol.dispose](): void {
    this.#disposed = true
    this.#release()
  }

  /** Counts one more user. The returned function removes that user; calling it again has no effect. */
  #enter(): () => void {
    this.#users += 1
    let inside = true
    return () => {
      if (!inside) return
      inside = false
      this.#users -= 1
      if (this.#users === 0) this.#lease.release()
    }
  }
}
