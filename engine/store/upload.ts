import type { Handle } from '../catalog/database.ts'
import type { Authorship } from '../catalog/history.ts'
import type { DatasetRecord } from '../catalog/records.ts'
import type { UploadFormat, UploadOptions } from '../ingest/request.ts'
import type { DeclaredColumn } from '../types/columns.ts'

/** What a change of rows by a filter did. */
export interface EditedRows {
  readonly version: number
  readonly matchedRows: number
}

/** How rows of an upload come to those that are there: an upsert replaces those with the same key. */
export type WriteMode = 'replace' | 'append' | 'upsert'

/** What a dataset would have after a change. */
export interface MadeContent {
  readonly columns: number
  readonly rows: number
  readonly bytes: number
  readonly edited?: EditedRows
}

/** What every change of rows or columns takes. */
export interface WriteOptions extends Authorship {
  readonly signal?: AbortSignal
  /**
   * Called in the transaction that would make the change visible, with the number of columns and rows and the bytes on
   * disk that the dataset would have, the bytes with those of kept versions, and with the transaction's handle. If it
   * throws, the change is refused with that error.
   */
  readonly accept?: (made: MadeContent, t: Handle) => void | Promise<void>
}

/** Rows to be written. A body is read once and copied to disk first; a file is read where it is. */
export interface Upload extends WriteOptions {
  readonly body: AsyncIterable<Uint8Array> | { readonly file: string }
  readonly format: UploadFormat
  readonly gzip?: boolean
  readonly columns?: readonly DeclaredColumn[]
  /** How the file is to be read, if not as usual for its format. */
  readonly options?: UploadOptions
  /** Whether a replace takes over the upload's columns as well. */
  readonly replaceColumns?: boolean
  /** The columns by which an upsert finds the rows that it replaces; by default the dataset's key. */
  readonly on?: readonly string[]
  /** Whether the rows are those of a source that the dataset follows. */
  readonly isRefresh?: boolean
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}

export interface DeclareOptions extends Authorship {
  readonly signal?: AbortSignal
  /**
   * Called in the transaction that makes the change, with the dataset as it is then; throw to refuse. Not called where
   * declared columns are these already.
   */
  readonly accept?: (dataset: DatasetRecord, t: Handle) => void | Promise<void>
}

export interface UploadLimits {
  /** The most bytes of an upload as it is sent. */
  readonly bytes: number
  /** The most bytes of an upload after it is decompressed. */
  readonly unpackedBytes: number
  /** The most memory for reading one upload; by default an eighth of the machine's, from 768 MiB to 2 GiB. */
  readonly memory?: number
}

/** What a preview has besides an upload. */
export interface PreviewOptions {
  /**
   * The body is only the beginning of a file. The last record of csv, tsv and ndjson is left out, because it may be cut
   * off; files of other formats can only be read whole.
   */
  readonly beginning?: boolean
}
