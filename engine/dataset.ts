import type { Handle } from './catalog/database.ts'
import type { DatasetRecord } from './catalog/records.ts'
import type { QueryOptions } from './plan/options.ts'
import type { Query } from './query.ts'
import { Snapshot, type SnapshotPlace } from './snapshot.ts'
import type { DeclareOptions, Upload } from './store/upload.ts'
import type { DeclaredColumn } from './types/columns.ts'

/** Something whose rows can be queried. When a query is disposed, or garbage-collected, it releases its version. */
export interface Queryable {
  /** @throws EngineError what is wrong with the options; see `Query` */
  query(options?: QueryOptions): Query | Promise<Query>
}

/** A dataset, known by its id. Each call looks up anew what the dataset holds. */
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
    // The query holds the version itself, so the snapshot may be disposed.
    using snapshot = await this.snapshot()
    return snapshot.query(options)
  }

  /** The version that is current now, for more than one query. Dispose it. @throws EngineError `not_found` */
  async snapshot(): Promise<Snapshot> {
    return new Snapshot(this.id, await this.#place.store.read(this.id), this.#place)
  }

  /**
   * A version that may no longer be current; undefined if it was removed, because nobody read it any more. Dispose it.
   * @param file the number of a file that it must have: a merge gives the same version other files
   * @throws EngineError `not_found`
   */
  async snapshotOf(version: number, file?: number): Promise<Snapshot | undefined> {
    const lease = await this.#place.store.readNumbered(this.id, { number: version, part: file })
    return lease && new Snapshot(this.id, lease, this.#place)
  }

  /** Replaces all rows by those of an upload, entirely or not at all; running queries keep the old rows. */
  replace(upload: Upload): Promise<DatasetRecord> {
    return this.#place.store.write(this.id, upload, 'replace')
  }

  /** Adds the rows of an upload after the existing rows, entirely or not at all. */
  append(upload: Upload): Promise<DatasetRecord> {
    return this.#place.store.write(this.id, upload, 'append')
  }

  /**
   * Declares the columns: any columns while there are no rows, afterwards only changes that lose nothing.
   * @throws EngineError `column_conflict`
   */
  declareColumns(columns: readonly DeclaredColumn[], options: DeclareOptions = {}): Promise<DatasetRecord> {
    return this.#place.store.declareColumns(this.id, columns, options)
  }
}
