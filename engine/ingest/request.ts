import { EngineError } from '../errors.ts'
import { type Option, type OptionsOf, READING } from '../options.ts'
import type { DeclaredColumn } from '../types/columns.ts'
import type { DatasetMetadata } from '../types/file-metadata.ts'
import type { Column } from '../types/index.ts'
import { checkOptions } from '../types/known-options.ts'
import type { Contents } from './contents.ts'
import type { WrittenPart } from './parts/part.ts'
import type { TextReason } from './text/errors.ts'
import { zoneNamed } from './text/zones.ts'
import { FORMATS_IN_PROSE, isUploadFormat, type UploadFormat } from './upload-format.ts'

export type { UploadFormat } from './upload-format.ts'

/** How a file is to be read where it differs from its format's rules. Each option names the formats that it is for. */
export interface UploadOptions extends OptionsOf<typeof READING> {}

/**
 * What becomes of columns that rows do not name: an upload that lacks one is an error, they are null, or they keep the
 * value of the row whose place is taken.
 */
export type MissingColumns = 'error' | 'null' | 'keep'

/** Which columns the rows of an upload do not name, by their positions. */
export interface UnnamedColumns {
  /** No row names these. */
  readonly all: readonly number[]
  /** Some rows do not name these. */
  readonly some: readonly number[]
  /**
   * Whether the part has one more column, of text: it has the positions of those columns that a row names as null, each
   * between commas. Only where null and unnamed could be confused.
   */
  readonly marked: boolean
}

/** A column with the name of the file that a row is from, as far as the name is known. */
export interface FileColumn {
  readonly column: string
  readonly name?: string | undefined
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
  /** What becomes of columns of the dataset that rows do not name; by default they are null. */
  readonly missing?: MissingColumns | undefined
  /** Columns that every row has to name. */
  readonly key?: readonly string[] | undefined
  /** Whether the upload may have columns that the dataset does not have, which come after those that it has. */
  readonly addColumns?: boolean | undefined
  /** A column of text that each row gets. */
  readonly fileColumn?: FileColumn | undefined
  readonly options?: UploadOptions
  /** The names of those options that are of the last upload: they hold if the file's format has them. */
  readonly stored?: readonly string[] | undefined
  /**
   * The file is only the beginning of one, for a preview: the last record of csv, tsv and ndjson, which may be cut off, is
   * left out.
   */
  readonly beginning?: boolean | undefined
  /** `unpackedBytes`: the most bytes that gzip, xlsx and compressed pages may unpack to. */
  readonly limits: { readonly unpackedBytes: number }
}

/** A part that was written, and its size. */
export interface SizedPart extends WrittenPart {
  /** About how many bytes all values take: strings by their length, fixed types by their size. */
  readonly rawBytes: number
}

/** An option that `dialect: 'auto'` has chosen, and the first value that shows it. */
export interface Choice {
  readonly option: string
  /** From 1, without the header; 0 for a line above the rows, or where the row is not known. */
  readonly row: number
  readonly value: string
}

/** A value of a sample. */
export interface Sampled {
  /** From 1, without the header. */
  readonly row: number
  readonly text: string
  readonly quoted: boolean
}

/** How one column is to be read, by what a sample of the file shows. */
export interface ColumnReading {
  /** `mixed`: text, some of it like values of other types. `open`: the sample has no value of it. `ambiguous`: text, although it might be read as something else. */
  readonly is: 'text' | 'mixed' | 'open' | 'ambiguous' | 'typed'
  /** The options that its values need. */
  readonly options: UploadOptions
  /** By which values the options were chosen. */
  readonly why: readonly Choice[]
  /** Why it is text, if it may be something else; or the first value of a text, which is no word for nothing. */
  readonly because?: TextReason
  /** How it is to be read if it also has these values, by its own evidence. */
  readonly withMore?: (values: readonly Sampled[]) => ColumnReading
}

/** The part that was made of an upload. */
export interface IngestResult extends SizedPart, Contents {
  /** The columns, in the order of the part's c0, c1, … */
  readonly columns: readonly Column[]
  /** Per column: why it is text, in formats whose types are inferred; undefined for other columns. */
  readonly reasons?: readonly (TextReason | undefined)[]
  readonly unnamed?: UnnamedColumns
  /** The options that `dialect: 'auto'` has chosen. */
  readonly options?: UploadOptions
  /** What the file is, or what it holds. */
  readonly format?: UploadFormat
  readonly why?: readonly Choice[]
  /** What the file says about the dataset. */
  readonly metadata?: DatasetMetadata | undefined
  /** What may be wrong with values that could be read, as sentences. */
  readonly warnings?: readonly string[] | undefined
}

/** A request as the code that reads its format gets it. */
export interface ReadRequest extends IngestRequest, Hooks {
  /** The upload, where it is not in a file. */
  readonly bytes?: Uint8Array
  /** How the columns of csv are read by `dialect: 'auto'`, by their positions in the file. */
  readonly readings?: readonly ColumnReading[]
}

/** The signal that ends a job or one of its passes over an upload, and the callback for its progress. */
export interface Hooks {
  readonly signal?: AbortSignal
  /** Is called with the bytes of the file that have been read so far, and with the rows where they are known. */
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}

/** What is called xls may be text, and what an archive holds is known when it is read. */
const isOpen = (format: UploadFormat) => format === 'zip' || format === 'xls'

/** Whether an option of an earlier upload may hold for one of a format. A tab is what tsv is named for. */
export function holdsFor(format: UploadFormat, name: string, isRead = false): boolean {
  const { formats }: Option = READING[name as keyof typeof READING] ?? { formats: [] }
  if (format === 'tsv' && name === 'delimiter') return false
  return !formats || formats.includes(format) || (isOpen(format) && !isRead)
}

/**
 * @param isRead whether the format is that which the file has
 * @throws EngineError `unsupported_format`; `invalid_option` where an option is unknown or has no meaning in the format
 */
export function checkUploadOptions(format: UploadFormat, options: UploadOptions = {}, isRead = false): void {
  if (!isUploadFormat(format)) {
    throw new EngineError(
      'unsupported_format',
      `Uploads have no format ${JSON.stringify(format)}; known are ${FORMATS_IN_PROSE}.`,
    )
  }
  checkOptions(options, READING, isOpen(format) && !isRead ? undefined : format)
  if (options.zone !== undefined) zoneNamed(options.zone)
}
