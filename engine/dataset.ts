import type { AttachOptions } from './attach/attach.ts'
import type { Handle } from './catalog/database.ts'
import type { FoundVersion, PastVersion, VersionRecord } from './catalog/history.ts'
import type { DatasetRecord } from './catalog/records.ts'
import { Changes, type ChangesRange, followChanges } from './changes/changes.ts'
import { type EditedFilter, type NewValues, planEdit } from './changes/edit.ts'
import { Revisions, type SeriesColumns } from './changes/revisions.ts'
import { planUndo } from './changes/undo.ts'
import { EngineError } from './errors.ts'
import { type OptionsOf, VERSION } from './options.ts'
import type { QueryOptions } from './plan/plan.ts'
import { type Query, queryKey } from './query.ts'
import { identityOf, type Queryable, Snapshot, type SnapshotContext } from './snapshot.ts'
import { type SavedOptions, writeStatement } from './sql/saved.ts'
import type { Profile } from './store/profiles.ts'
import type { Store } from './store/store.ts'
import type { DeclareOptions, EditedRows, Upload, WriteOptions } from './store/upload.ts'
import type { WrittenRecord } from './store/written.ts'
import type { ColumnDescription, DeclaredColumn } from './types/columns.ts'
import { type Format, quoteIdentifier } from './types/index.ts'
import { checkOptions } from './types/known-options.ts'

export type VersionOptions = OptionsOf<typeof VERSION>

/** @throws EngineError `invalid_option` if both are given */
export function pastVersion({ version, asOf }: VersionOptions): PastVersion | undefined {
  checkOptions({ version, asOf }, VERSION)
  if (version !== undefined) return { version }
  return asOf === undefined ? undefined : { asOf }
}

/** How long a record waits for the columns of a saved query. */
const RECORD_MS = 5_000

/** A dataset, known by its id. Each call looks up anew what the dataset holds. */
export class Dataset implements Queryable {
  readonly id: number
  readonly #context: SnapshotContext

  /** Use `engine.dataset(id)`. */
  constructor(id: number, context: SnapshotContext) {
    this.id = id
    this.#context = context
  }

  /**
   * Of a saved query, columns and version are those of the tables that it reads, unless they can not be read; in a
   * transaction, they are as they were found last.
   * @throws EngineError `not_found` when it has been deleted
   */
  async record(t?: Handle): Promise<DatasetRecord> {
    const { datasets } = this.#context.store
    const record = await datasets.in(t).get(this.id)
    if (t || !record.query) return record
    try {
      using snapshot = await this.snapshot(undefined, { signal: AbortSignal.timeout(RECORD_MS) })
      return { ...record, version: snapshot.version, columns: snapshot.columns }
    } catch (error) {
      if (error instanceof EngineError) return record
      throw error
    }
  }

  /** @throws EngineError what is wrong with the options; `version_gone` for a version that is no longer kept */
  async query(
    { version, asOf, ...options }: QueryOptions & VersionOptions = {},
    reading?: SavedOptions,
  ): Promise<Query> {
    // The query holds the version itself, so the snapshot may be disposed.
    using snapshot = await this.snapshot(pastVersion({ version, asOf }), reading)
    return snapshot.query(options)
  }

  /**
   * The `key` that a query of the version in a record has; undefined for a saved query, whose rows are those of other
   * datasets. When the query is made, another version may be current: then it has another key.
   */
  key(record: DatasetRecord, { version, ...options }: QueryOptions & VersionOptions, format: Format) {
    if (record.query) return undefined
    return queryKey(identityOf(this.id, version ?? record.version), record, options, format)
  }

  /**
   * The same question in SQL, as `engine.sql` takes it. No rows are read.
   * @throws EngineError what is wrong with the options; `invalid_option` for `last`; `version_gone`
   */
  async sql({ version, asOf, ...options }: QueryOptions & VersionOptions = {}): Promise<string> {
    const past = pastVersion({ version, asOf })
    using snapshot = await this.snapshot(past)
    const { datasets, repositories } = this.#context.store
    const { name, repositoryId } = await datasets.get(this.id)
    const names = [(await repositories.get(repositoryId)).name, name].map(quoteIdentifier).join('.')
    const table = past ? `${names} AT (VERSION => ${snapshot.version})` : names
    return writeStatement(options, snapshot.columns, table).sql
  }

  /**
   * Which version these options mean, and when it was made.
   * @throws EngineError `not_found`, `version_gone`, `saved_query`
   */
  async find(past: PastVersion): Promise<FoundVersion> {
    return (await this.#stored()).history.find(this.id, past)
  }

  /**
   * The version that is current now, for more than one query, or a past one. Dispose it.
   * @throws EngineError `not_found`; `version_gone` for a version that is no longer kept; `saved_query`
   */
  async snapshot(past?: PastVersion, reading: SavedOptions = {}): Promise<Snapshot> {
    const { store } = this.#context
    const record = await store.datasets.get(this.id)
    if (past) return new Snapshot(record, await (await this.#stored()).readPast(this.id, past), this.#context)
    const derived = record.query && (await this.#context.saved(this.id, reading))
    try {
      const lease = await store.members.take(this.id)
      if (derived) store.noteColumns(this.id, lease.version, derived.columns)
      return new Snapshot(record, lease, this.#context, derived)
    } catch (error) {
      derived?.[Symbol.dispose]()
      throw error
    }
  }

  /**
   * What the values of each column of the current version are like; undefined while that is found out in the background.
   * @throws EngineError `not_found`
   */
  async profile(): Promise<Profile | undefined> {
    return (await this.#stored()).profiles.get(this.id)
  }

  /** What made a version. @throws EngineError `not_found`, `version_gone` */
  version(past: PastVersion): Promise<VersionRecord> {
    return this.#context.store.history.get(this.id, past)
  }

  /** What made each version that can still be read, newest first; by default the newest 100. */
  versions({ limit = 100, offset = 0 }: { limit?: number; offset?: number } = {}): Promise<VersionRecord[]> {
    return this.#context.store.history.list(this.id, { limit, offset })
  }

  /**
   * The rows that versions changed, one after the other. Dispose it.
   * @throws EngineError `not_found`; `version_gone` if `since` is no longer kept
   */
  async changes(range: ChangesRange): Promise<Changes> {
    return Changes.open(await this.#stored(), this.id, range, this.#context)
  }

  /**
   * The rows that versions after `since` changed: first those that there are, which may be none, then those of newer
   * versions as they come. Each `Changes` can be queried until the next is asked for. Leave the loop, or abort the signal,
   * to end it; the latter throws its reason.
   * @throws EngineError `not_found`, also when the dataset has been deleted; `version_gone` if `since` is no longer kept
   */
  async *followChanges(
    since: number,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Changes, never, undefined> {
    return yield* followChanges(await this.#stored(), this.id, since, this.#context, signal)
  }

  /**
   * What was known when of the values of series, by the versions that are kept. Dispose it.
   * @param only names of series; by default all
   * @throws EngineError `not_found`
   */
  async revisions(columns: SeriesColumns, only?: readonly string[]): Promise<Revisions> {
    return Revisions.open(await this.#stored(), this.id, columns, only, this.#context)
  }

  /**
   * Makes the rows and columns of a past version current again, as a new version; no bytes are copied.
   * @throws EngineError `not_found`, `version_gone`
   */
  restore(past: PastVersion, options: WriteOptions = {}): Promise<DatasetRecord> {
    const { store } = this.#context
    return store.writer.restore(this.id, () => store.readPast(this.id, past), options)
  }

  /**
   * Takes back what one version changed, as a new version: rows that it inserted go, and those that it changed or deleted are
   * again as they were. Rows are found by the dataset's key; those that come back are the last ones.
   * @throws EngineError `rows_changed` if later versions changed the same rows; `column_conflict` without a key, or if columns
   * or the key were others; `not_found`, `version_gone`
   */
  async undo(version: number, options: WriteOptions = {}): Promise<EditedRows> {
    const store = await this.#stored()
    return store.writer.edit(this.id, () => planUndo(store, this.id, version, options.signal), options)
  }

  /**
   * A version that may no longer be current; undefined if it was removed, because nobody read it any more. Dispose it.
   * @param options `file` is the number of a file that it must have: a merge gives the same version other files
   * @throws EngineError `not_found`
   */
  async snapshotOf(
    version: number,
    { file, ...reading }: SavedOptions & { readonly file?: number | undefined } = {},
  ): Promise<Snapshot | undefined> {
    const record = await this.#context.store.datasets.get(this.id)
    if (record.query) {
      const snapshot = await this.snapshot(undefined, reading)
      if (snapshot.version === version) return snapshot
      snapshot[Symbol.dispose]()
      return undefined
    }
    const lease = await this.#context.store.readNumbered(this.id, { number: version, part: file })
    return lease && new Snapshot(record, lease, this.#context)
  }

  /** Replaces all rows by those of an upload, entirely or not at all; running queries keep the old rows. */
  replace(upload: Upload): Promise<WrittenRecord> {
    return this.#context.store.writer.write(this.id, upload, 'replace')
  }

  /** Adds the rows of an upload after the existing rows, entirely or not at all. */
  append(upload: Upload): Promise<WrittenRecord> {
    return this.#context.store.writer.write(this.id, upload, 'append')
  }

  /** Adds the rows of an upload; they take the place of rows with the same key. */
  upsert(upload: Upload): Promise<WrittenRecord> {
    return this.#context.store.writer.write(this.id, upload, 'upsert')
  }

  /**
   * Makes Parquet files of others the rows, which can then only be read: a folder, a file, or a pattern with `*`, `?` and
   * `**`, or such an address `s3://bucket/key`, below a folder of the engine's option `attachable`. A file that is
   * changed afterwards is an error of those who read it, until it is attached again.
   * @throws EngineError `invalid_file`, `attached_files`, `invalid_option`
   */
  async attach(path: string, options: AttachOptions = {}): Promise<DatasetRecord> {
    const { attach } = await import('./attach/attach.ts')
    return attach(this.id, path, options, this.#context)
  }

  /**
   * Deletes the rows that match a filter. Only files with such rows are written again.
   * @throws EngineError what is wrong with the filter
   */
  deleteRows(rows: EditedFilter, options: WriteOptions = {}): Promise<EditedRows> {
    return this.#context.store.writer.edit(this.id, (version) => planEdit(version, rows), options)
  }

  /** Sets columns of the rows that match a filter. @throws EngineError what is wrong with the filter or a value */
  editRows(rows: EditedFilter, values: NewValues, options: WriteOptions = {}): Promise<EditedRows> {
    return this.#context.store.writer.edit(this.id, (version) => planEdit(version, rows, values), options)
  }

  /**
   * Declares the columns of which no two rows may have the same values; an empty list for no key.
   * @throws EngineError `duplicate_key` if rows have the same values, `column_conflict` if there is no such column
   */
  declareKey(key: readonly string[], options: DeclareOptions = {}): Promise<DatasetRecord> {
    return this.#context.store.writer.declareKey(this.id, key, options)
  }

  /**
   * Declares the columns: any columns while there are no rows, afterwards only changes that lose nothing.
   * @throws EngineError `column_conflict`
   */
  declareColumns(columns: readonly DeclaredColumn[], options: DeclareOptions = {}): Promise<DatasetRecord> {
    return this.#context.store.writer.declareColumns(this.id, columns, options)
  }

  /**
   * Writes down words about some of the columns.
   * @throws EngineError `invalid_columns_manifest`
   */
  describeColumns(
    columns: readonly ColumnDescription[],
    options: DeclareOptions = {},
  ): Promise<DatasetRecord> {
    return this.#context.store.writer.describeColumns(this.id, columns, options)
  }

  /** The store, for what only datasets with rows of their own have. @throws EngineError `not_found`, `saved_query` */
  async #stored(): Promise<Store> {
    const { store } = this.#context
    await store.datasets.requireStored(this.id)
    return store
  }
}
