import type { DeclaredColumn } from '../types/columns.ts'
import type { Column } from '../types/index.ts'
import type { PartStatistics } from '../types/statistics.ts'
import type { EarlyScan } from './csv/tasks.ts'

export type { DeclaredColumn } from '../types/columns.ts'

/** The formats in which rows can be uploaded. */
export type UploadFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx'

/** How a file is to be read where it differs from its format's rules. Each option names the formats that it is for. */
export interface UploadOptions {
  /** csv, tsv: texts, such as `NA`, that stand for a missing value where they are not in quotes. */
  readonly nulls?: readonly string[]
  /** csv, tsv: the character between fields. */
  readonly delimiter?: string
  /** csv, tsv: the character before the decimal places of a number; a point by default. With `,`, `1.5` is no number. */
  readonly decimal?: '.' | ','
  /** csv, tsv: UTF-8 by default. `latin1` is read as windows-1252, which is what Windows programs mean by it. */
  readonly encoding?: 'utf-8' | 'latin1' | 'utf-16'
  /**
   * csv, tsv: whether the first record names the columns. If it does not, the names are those of the dataset's or the
   * request's columns where there are as many of these as fields, and otherwise `column1`, `column2` …
   */
  readonly header?: 'present' | 'absent'
  /** csv, tsv: a first column without a name gets the name `index`; R and pandas write the index of each row there. */
  readonly names?: 'index'
  /** csv, tsv: how days are written, for example `DD.MM.YYYY` or `M/D/YYYY`; a time of day may follow. */
  readonly dates?: string
  /** Parquet, Arrow: times are cut off behind their microseconds; without this option, finer times are refused. */
  readonly nanoseconds?: 'truncate'
  /** xlsx: the name of the sheet to read; the first one by default. */
  readonly sheet?: string
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
  /** The dataset's columns, where it has some. The upload's columns are matched with them by name. */
  readonly existing?: readonly Column[]
  /** Columns that the request declares. */
  readonly declared?: readonly DeclaredColumn[]
  readonly options?: UploadOptions
  /** `unpackedBytes`: the most bytes that gzip, xlsx and compressed pages may unpack to. */
  readonly limits: { readonly unpackedBytes: number }
  readonly signal?: AbortSignal
  /** Is called with the number of bytes of the upload that have been read. */
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}

/** The part that was made of an upload. */
export interface IngestResult {
  /** The columns, in the order of the part's c0, c1, … */
  readonly columns: readonly Column[]
  readonly rows: number
  /** Size of the part. */
  readonly bytes: number
  /** About how many bytes all values take: strings by their length, fixed types by their size. */
  readonly rawBytes: number
}

/** A request as the code that reads its format gets it. */
export interface ReadRequest extends IngestRequest {
  readonly tempDirectory: string
  /** A scan of the file that began before all of the file had arrived. */
  readonly early?: EarlyScan
}

/** The size of a part that was written from other parts. */
export type PartSize = Pick<IngestResult, 'rows' | 'bytes' | 'rawBytes'>

/** What was written, and the bounds of its values. */
export type Described<Written> = Written & { readonly statistics: PartStatistics }
