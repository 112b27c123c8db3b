import type { DeclaredColumn } from '../types/columns.ts'
import type { Column } from '../types/index.ts'
import type { PartStatistics } from '../types/statistics.ts'
import type { EarlyScan } from './csv/tasks.ts'

export type { DeclaredColumn } from '../types/columns.ts'

export type UploadFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx'

/** How a file is to be read, where that is not what its format says. Each is for the formats that it names. */
export interface UploadOptions {
  /** csv, tsv: texts that stand for a missing value where they have no quotes, as `NA`. */
  readonly nulls?: readonly string[]
  /** csv, tsv: the character between fields. */
  readonly delimiter?: string
  /** csv, tsv: what parts the places of a number; a point by default. */
  readonly decimal?: '.' | ','
  /** csv, tsv: UTF-8 by default. `latin1` is what Windows calls so (windows-1252). */
  readonly encoding?: 'utf-8' | 'latin1' | 'utf-16'
  /**
   * csv, tsv: whether the first record names the columns; without it they are those of the dataset or of the
   * request, if there are as many fields, else `column1`, `column2` …
   */
  readonly header?: 'present' | 'absent'
  /** csv, tsv: a first column without a name is the row's `index`, as R and pandas write it. */
  readonly names?: 'index'
  /** csv, tsv: how days are written, as `DD.MM.YYYY` or `M/D/YYYY`; a time of day may follow. */
  readonly dates?: string
  /** Parquet, Arrow: times finer than a microsecond lose what is too fine; otherwise they are refused. */
  readonly nanoseconds?: 'truncate'
}

/** One upload on its way into one Parquet part. */
export interface IngestRequest {
  /** The upload, spooled to a file. */
  readonly file: string
  readonly format: UploadFormat
  /** The file is gzip around one of the text forms. */
  readonly gzip?: boolean
  /** Where the part is to be written: it does not exist yet. Its columns are named c0, c1, … */
  readonly target: string
  /** The dataset's columns, where it has some. The upload's are matched by name. */
  readonly existing?: readonly Column[]
  /** Columns that the request declares. */
  readonly declared?: readonly DeclaredColumn[]
  readonly options?: UploadOptions
  /** `unpackedBytes`: what gzip, xlsx and compressed pages may come to. */
  readonly limits: { readonly unpackedBytes: number }
  readonly signal?: AbortSignal
  /** Bytes of the upload that have been read. */
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}

export interface IngestResult {
  /** In the order of the part's c0, c1, … */
  readonly columns: readonly Column[]
  readonly rows: number
  /** Size of the part. */
  readonly bytes: number
  /** The width of all values, about: strings by their length, fixed types by their size. */
  readonly rawBytes: number
}

/** An upload, as the readers of its format get it. */
export interface ReadRequest extends IngestRequest {
  readonly tempDirectory: string
  /** A scan of the file that began before it was whole. */
  readonly early?: EarlyScan
}

/** What a part that was written from other parts comes to. */
export type PartSize = Pick<IngestResult, 'rows' | 'bytes' | 'rawBytes'>

/** What was written, and between what its values lie. */
export type Described<Written> = Written & { readonly statistics: PartStatistics }
