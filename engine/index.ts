import { Engine } from './engine.ts'
import type { EngineOptions } from './engine-options.ts'
import { Events } from './events.ts'
import { type BackupReport, restoreStore, restoreToCluster } from './store/backup.ts'
import { type MoveOptions, type MoveReport, moveParts } from './store/move/move.ts'
import { type MoveAllOptions, moveToCluster, moveToDirectory } from './store/move/move-catalog.ts'

export type { Database, Handle, SqlValue } from './catalog/database.ts'
export { noStoredRows } from './catalog/datasets.ts'
export { isUniqueViolation, isUnwritable } from './catalog/failures.ts'
export {
  KEEP,
  type PastVersion,
  pastVersion,
  type VersionOptions,
  type VersionRecord,
} from './catalog/history.ts'
export type {
  DatasetName,
  DatasetRecord,
  DatasetSummary,
  Keep,
  QueryDefinition,
  Repository,
  SavedQuery,
} from './catalog/records.ts'
export { migrate } from './catalog/schema.ts'
export type { Changes, ChangesRange } from './changes/changes.ts'
export type { EditedFilter, NewValues } from './changes/edit.ts'
export { Dataset } from './dataset.ts'
export { Engine, type EngineStats, type Relation } from './engine.ts'
export type { EngineOptions } from './engine-options.ts'
export { EngineError, ERRORS, type ErrorCode } from './errors.ts'
export { type EngineEvent, EVENTS, type EventKind } from './events.ts'
export type { ByteStream } from './export/byte-stream.ts'
export type { EncodeOptions, ODataJson } from './export/formats/encoder.ts'
export { checkEncoding, type Dialect } from './export/formats/encoder.ts'
export { type FilesOptions, openFiles, type ParquetFiles } from './files.ts'
export { NAMED, type Naming, PLAIN, type TableMetadata } from './iceberg/index.ts'
export type { UploadFormat, UploadOptions } from './ingest/index.ts'
export type { ColumnProfile } from './ingest/profile.ts'
export { uploadFormatOf } from './ingest/spool.ts'
export { type ExplainedColumn, faultsOf, type TextReason, type UploadFault } from './ingest/text/errors.ts'
export type { OrderKey } from './options.ts'
export type { ShownFile } from './parquet/shown-file.ts'
export type { QueryOptions } from './plan/options.ts'
export type { Plan } from './plan/plan.ts'
export type { View } from './plan/view.ts'
export type { Preview } from './preview.ts'
export type { Query } from './query.ts'
export type { Cell } from './relation.ts'
export type { BytesOptions, CountedOption, PagedOption, RunOptions } from './run-options.ts'
export type { Queryable, Snapshot } from './snapshot.ts'
export type { SqlParameter, SqlValues } from './sql/parameters.ts'
export type { SqlOptions } from './sql/sql.ts'
export type { SqlTable } from './sql/tables.ts'
export type { BackupOptions, BackupReport } from './store/backup.ts'
export type { VerifyOptions, VerifyReport } from './store/integrity/verify.ts'
export type { ClusterStats } from './store/membership/membership.ts'
export type { MoveOptions, MoveReport } from './store/move/move.ts'
export type { ClusterPlace, MoveAllOptions } from './store/move/move-catalog.ts'
export { s3Requests } from './store/objects/address.ts'
export type { ObjectStoreOptions } from './store/objects/open.ts'
export type { CacheStats } from './store/objects/part-store.ts'
export type { Profile } from './store/profiles.ts'
export type {
  DeclareOptions,
  EditedRows,
  PreviewOptions,
  Upload,
  UploadLimits,
  WriteOptions,
} from './store/upload.ts'
export type { WrittenRecord } from './store/writer.ts'
export type { TrinoOptions, TrinoStats } from './trino/index.ts'
export type { DeclaredColumn } from './types/columns.ts'
export {
  type Column,
  type ColumnType,
  decimalParts,
  edmName,
  FORMATS,
  type Format,
  TYPE_PATTERN,
  TYPES_IN_WORDS,
} from './types/index.ts'
export { nearest } from './util/known-options.ts'

/** Opens a data directory. Close the engine, or use it with `await using`. */
export function openEngine(options: EngineOptions): Promise<Engine> {
  return Engine.open(options)
}

/**
 * Copies a backup into a new data directory, and compares every part with the hash that was kept when it was written.
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
 * Copies a backup into an empty database and an empty place in an object store, and compares every part with its hash. If
 * it is interrupted, the next call continues.
 * @throws EngineError `invalid_option` if either holds a catalog already; `catalog_unavailable`, `storage_damaged`,
 * `storage_unavailable`
 */
export function restoreIntoCluster(backup: string, options: MoveAllOptions): Promise<MoveReport> {
  return restoreToCluster(backup, options, new Events(undefined))
}

/**
 * Copies the rows of a data directory into an object store, or back, and uses the copies from then on; the old files
 * stay where they are. If it is interrupted, the next call continues. No other process may have the directory open.
 * @throws EngineError `locked` beside a server, `invalid_option`, `storage_damaged`, `storage_unavailable`
 */
export function moveRows(
  directory: string,
  options: MoveOptions,
  onProgress?: (done: { bytes: number; of: number }) => void,
): Promise<MoveReport> {
  return moveParts(directory, options, new Events(undefined), onProgress)
}

/**
 * Copies a data directory, its rows and its catalog, into a database and an object store, where any number of nodes can
 * serve it. Every part is compared with its hash. The directory's files stay; only its catalog is renamed. If it is
 * interrupted, the next call continues. No other process may have the directory open.
 * @throws EngineError `locked` beside a server, `invalid_option` if the database holds a catalog already,
 * `catalog_unavailable`, `storage_damaged`, `storage_unavailable`
 */
export function moveIntoCluster(options: MoveAllOptions): Promise<MoveReport> {
  return moveToCluster(options, new Events(undefined))
}

/**
 * Copies what a database and an object store hold into a data directory. The originals stay. If it is interrupted, the
 * next call continues.
 * @throws EngineError `locked` while nodes run, `invalid_option` if the directory holds a catalog already,
 * `catalog_unavailable`, `storage_damaged`, `storage_unavailable`
 */
export function moveIntoDirectory(options: MoveAllOptions): Promise<MoveReport> {
  return moveToDirectory(options, new Events(undefined))
}
