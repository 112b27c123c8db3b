import { EngineError } from '../errors.ts'
import { type OptionsOf, READING } from '../options.ts'
import type { DeclaredColumn } from '../types/columns.ts'
import type { DatasetWords } from '../types/file-metadata.ts'
import type { Column } from '../types/index.ts'
import { checkOptions } from '../util/known-options.ts'
import type { WrittenPart } from './parts/part.ts'
import type { TextReason } from './text/errors.ts'

/** The formats in which rows can be uploaded. */
export type UploadFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx'

/** Those that are text, and may be packed with gzip. */
export const TEXT_FORMATS: ReadonlySet<UploadFormat> = new Set(['csv', 'tsv', 'json', 'ndjson'])

/** What the endings of files' names mean. */
export const FORMAT_OF_ENDING: Readonly<Record<string, UploadFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  parquet: 'parquet',
  arrow: 'arrow',
  arrows: 'arrow',
  feather: 'arrow',
  ipc: 'arrow',
  xlsx: 'xlsx',
}

/** The format that a file's name stands for. The ending `.gz` is known only behind those of the text formats. */
export function uploadFormatOf(fileName: string): { format: UploadFormat; gzip: boolean } | undefined {
  const match = /\.([^./\\]+?)(\.gz)?$/i.exec(fileName)
  if (!match) return undefined
  const ending = match[1]!.toLowerCase()
  const format = Object.hasOwn(FORMAT_OF_ENDING, ending) ? FORMAT_OF_ENDING[ending] : undefined
  const gzip = match[2] !== undefined
  return format && (!gzip || TEXT_FORMATS.has(format)) ? { format, gzip } : undefined
}

/** The binary format that a file has by its first bytes; undefined for text. A workbook may also be another archive. */
export function binaryFormat(
  head: Uint8Array,
): 'parquet' | 'arrow' | 'xlsx' | 'xls' | 'feather1' | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 8))
  const start = bytes.toString('latin1')
  if (start.startsWith('PAR1')) return 'parquet'
  if (start.startsWith('ARROW1') || start.startsWith('\xff\xff\xff\xff')) return 'arrow'
  if (start.startsWith('FEA1')) return 'feather1'
  if (start.startsWith('\xd0\xcf\x11\xe0')) return 'xls'
  return start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06') ? 'xlsx' : undefined
}

/** How a file is to be read where it differs from its format's rules. Each option names the formats that it is for. */
export interface UploadOptions extends OptionsOf<typeof READING> {}

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

/** The part that was made of an upload. */
export interface IngestResult extends SizedPart {
  /** The columns, in the order of the part's c0, c1, … */
  readonly columns: readonly Column[]
  /** Per column: why it is text, in formats whose types are inferred; undefined for other columns. */
  readonly reasons?: readonly (TextReason | undefined)[]
  /** The options that `dialect: 'auto'` has chosen. */
  readonly options?: UploadOptions
  /** What the file says about the dataset. */
  readonly metadata?: DatasetWords | undefined
  /** The names of a workbook's sheets. */
  readonly sheets?: readonly string[] | undefined
}

/** A request as the code that reads its format gets it. */
export interface ReadRequest extends IngestRequest, Hooks {}

/** The signal that ends a job or one of its passes over an upload, and the callback for its progress. */
export interface Hooks {
  readonly signal?: AbortSignal
  /** Is called with the bytes of the file that have been read so far, and with the rows where they are known. */
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}

/**
 * @throws EngineError `unsupported_format`; `invalid_option` where an option is unknown or has no meaning in the format
 */
export function checkUploadOptions(format: UploadFormat, options: UploadOptions = {}): void {
  const formats = new Set(Object.values(FORMAT_OF_ENDING))
  if (!formats.has(format)) {
    throw new EngineError(
      'unsupported_format',
      `Uploads have no format ${JSON.stringify(format)}; known are ${[...formats].join(', ')}.`,
    )
  }
  checkOptions(options, READING, format)
}
