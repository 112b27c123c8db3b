import { Engine } from './engine.ts'
import type { EngineOptions } from './engine-options.ts'

export type { Database, Handle, SqlValue } from './catalog/database.ts'
export { noStoredRows } from './catalog/datasets.ts'
export { isUniqueViolation, isUnwritable } from './catalog/failures.ts'
export { KEEP, type PastVersion, type VersionRecord } from './catalog/history.ts'
export type {
  DatasetName,
  DatasetRecord,
  DatasetSummary,
  Keep,
  NewDataset,
  QueryDefinition,
  Repository,
  RepositoryChanges,
  SavedQuery,
} from './catalog/records.ts'
export { migrate } from './catalog/schema.ts'
export type { Changes, ChangesRange } from './changes/changes.ts'
export type { EditedFilter, NewValues } from './changes/edit.ts'
export type { Revisions, SeriesColumns } from './changes/revisions.ts'
export { Dataset, pastVersion, type VersionOptions } from './dataset.ts'
export { Engine, type EngineStats } from './engine.ts'
export type { EngineOptions, ObjectStoreOptions, S3Options } from './engine-options.ts'
export { EngineError, ERRORS, type ErrorCode, type Said, type Words } from './errors.ts'
export { type EngineEvent, EVENTS, type EventKind } from './events.ts'
export type { ByteStream } from './export/byte-stream.ts'
export type { EncodeOptions, ODataJson } from './export/formats/encoder.ts'
export { checkEncoding, type Dialect } from './export/formats/encoder.ts'
export { type FilesOptions, openFiles, type ParquetFiles } from './files.ts'
export { NAMED, type Naming, PLAIN } from './iceberg/table-schema.ts'
export type { TableMetadata } from './iceberg/tables.ts'
export type { Contents } from './ingest/contents.ts'
export type { ColumnProfile } from './ingest/profile.ts'
export type { UploadFormat, UploadOptions } from './ingest/request.ts'
export { type ExplainedColumn, faultsOf, type TextReason, type UploadFault } from './ingest/text/errors.ts'
export { uploadFormatOf } from './ingest/upload-format.ts'
export type { OrderKey } from './options.ts'
export type { ShownFile } from './parquet/shown-file.ts'
export type { Plan, QueryOptions } from './plan/plan.ts'
export type { View } from './plan/view.ts'
export type { Preview } from './preview.ts'
export type { Query } from './query.ts'
export type { BytesOptions, CountedOption, PagedOption, RunOptions } from './reading/runs.ts'
export type { Cell, Relation } from './relation.ts'
export type { Queryable, Snapshot } from './snapshot.ts'
export type { SqlParameter, SqlValues } from './sql/rewrite.ts'
export type { SqlOptions } from './sql/sql.ts'
export type { SqlTable } from './sql/tables.ts'
export {
  type BackupOptions,
  type BackupReport,
  restoreBackup,
  restoreIntoCluster,
} from './store/backup.ts'
export type { VerifyOptions, VerifyReport } from './store/integrity/verify.ts'
export type { ClusterStats } from './store/membership/membership.ts'
export {
  type ClusterPlace,
  type MoveAllOptions,
  type MoveOptions,
  type MoveReport,
  moveIntoCluster,
  moveIntoDirectory,
  moveRows,
} from './store/move.ts'
export { s3Requests } from './store/objects/address.ts'
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
export type { WrittenRecord } from './store/written.ts'
export type { TrinoOptions, TrinoStats } from './trino/trino.ts'
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
export { nearest } from './util/nearest.ts'

/** Opens a data directory. Close the engine, or use it with `await using`. */
export function openEngine(options: EngineOptions): Promise<Engine> {
  return Engine.open(options)
}
