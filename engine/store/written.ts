import type { DatasetRecord } from '../catalog/records.ts'
import { type Words, warningsIn } from '../errors.ts'
import { type Contents, contentsOf } from '../ingest/contents.ts'
import type { Choice, IngestResult, UploadOptions } from '../ingest/request.ts'
import { type ExplainedColumn, explainedColumns, replacing } from '../ingest/text/errors.ts'
import { sameColumns } from '../types/columns.ts'

/** A dataset after an upload, with what the upload tells about its columns. */
export interface WrittenRecord extends DatasetRecord, Pick<Contents, 'sheet' | 'entry' | 'table'> {
  readonly columns: readonly ExplainedColumn[]
  /** The options that `dialect: 'auto'` has chosen. */
  readonly options?: UploadOptions
  /** By which values. */
  readonly why?: readonly Choice[]
  /** What may be wrong with values that could be read, as sentences. */
  readonly warnings?: readonly string[]
  /** The options that the warnings name, in their order, as in a query string. */
  readonly hints?: readonly string[]
}

/** What was read, without the column that only says which values are named as null. */
export function withoutMarks<Read extends Pick<IngestResult, 'columns' | 'unnamed'>>(read: Read): Read {
  return read.unnamed?.marked ? { ...read, columns: read.columns.slice(0, -1) } : read
}

/** A record with the reasons of columns of text, unless another upload has changed the columns since. */
export function explained(
  record: DatasetRecord,
  made: Pick<
    IngestResult,
    'columns' | 'reasons' | 'options' | 'why' | 'sheet' | 'entry' | 'table' | 'warnings'
  >,
  words?: Words,
): WrittenRecord {
  if (!sameColumns(record.columns, made.columns)) return record
  return {
    ...record,
    columns: explainedColumns(
      record.columns,
      made.reasons?.map((reason) => reason && replacing(reason)),
      words,
    ),
    ...(made.options && { options: made.options }),
    ...(made.why && { why: made.why }),
    ...contentsOf({ sheet: made.sheet, entry: made.entry, table: made.table }),
    ...(made.warnings && warningsIn(made.warnings, words)),
  }
}
