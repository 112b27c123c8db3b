import { access, constants, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Handle } from '../catalog/database.ts'
import type { Authorship } from '../catalog/history.ts'
import type { DatasetRecord, Version } from '../catalog/records.ts'
import { hint, invalidOption, type Words } from '../errors.ts'
import { checkUploadOptions, type UploadFormat, type UploadOptions } from '../ingest/request.ts'
import type { Names } from '../options.ts'
import type { DeclaredColumn } from '../types/columns.ts'
import { requireKnown } from '../types/known-options.ts'

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
  /** Columns with values in most rows of which a replacement, or an upsert of at least half of the rows, has none. */
  readonly emptied?: readonly { readonly name: string; readonly values: number }[]
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

/**
 * Rows to be written. A stream is read once and copied to disk first; a file is read where it is. Bytes of csv, tsv, json
 * or ndjson up to 64 KiB that come while another write to the dataset is under way are committed together with others.
 */
export interface Upload extends WriteOptions {
  readonly body: AsyncIterable<Uint8Array> | Uint8Array | { readonly file: string }
  readonly format: UploadFormat
  readonly gzip?: boolean
  readonly columns?: readonly DeclaredColumn[]
  /** How the file is to be read, if not as usual for its format. */
  readonly options?: UploadOptions
  /** Whether a replace takes over the upload's columns as well. */
  readonly replaceColumns?: boolean
  /** Whether an append or upsert adds columns that the dataset does not have; they are null in the rows that are there. */
  readonly addColumns?: boolean
  /**
   * Columns of the dataset that rows do not name are null. Without it, an upsert keeps their values, and a replacement or
   * append of rows none of which names them fails with `missing_columns`.
   */
  readonly missing?: 'null' | undefined
  /** A column of text that gets the name of the file in each row; the name is that of `body` if it is not given. */
  readonly fileColumn?: string | undefined
  readonly fileName?: string | undefined
  /** The columns by which an upsert finds the rows that it replaces; by default the dataset's key. */
  readonly on?: readonly string[]
  /** Whether the rows are those of a source that the dataset follows. */
  readonly isRefresh?: boolean
  /** Whether it gets a version of its own: for whoever accepts only what follows a certain one. */
  readonly alone?: boolean
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
  /** How warnings and suggestions name options, in HTTP as `footer=2`; by default as options are written here. */
  readonly words?: Words
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
  /** How the rows would come to those of the dataset; by default they would replace them. */
  readonly mode?: WriteMode
}

/** The key of an upload's rows. @throws EngineError `invalid_option` */
export function keyOf(
  { key }: Version,
  mode: WriteMode,
  on: readonly string[] | undefined,
): readonly string[] {
  if (on === undefined) {
    if (mode !== 'upsert' || key.length > 0) return key
    throw invalidOption(
      `The dataset has no key, so an upsert names the columns by which it finds rows: ${hint('on=date,series')}.`,
      'on',
    )
  }
  if (mode !== 'upsert') throw invalidOption('on is only for an upsert.', 'on')
  if (on.length === 0 || new Set(on).size < on.length)
    throw invalidOption('on names each column of a key once.', 'on')
  if (key.length > 0 && String([...key].sort()) !== String([...on].sort())) {
    throw invalidOption(
      `The dataset's key is ${key.join(', ')}; leave out on, or name the same columns.`,
      'on',
    )
  }
  return on
}

/** How an upload is read: with its own options and those of the last one, into the version that there is, if one is. */
export interface Reading {
  readonly upload: Upload
  readonly options: UploadOptions | undefined
  readonly mode: WriteMode
  readonly base: Version | undefined
}

export function requestOf({ upload, options, mode, base }: Reading) {
  const { format, gzip, columns: declared, replaceColumns, addColumns, missing, on } = upload
  const { body, fileColumn: column, fileName = 'file' in body ? basename(body.file) : undefined } = upload
  const fileColumn = column === undefined ? undefined : { column, name: fileName }
  const stored = Object.keys(options ?? {}).filter((name) => !(name in (upload.options ?? {})))
  const request = { format, gzip, options, stored, declared, missing, fileColumn }
  if (!base || base.columns.length === 0 || replaceColumns) return request
  const lacking = missing ?? (mode === 'upsert' ? ('keep' as const) : ('error' as const))
  return { ...request, existing: base.columns, missing: lacking, key: keyOf(base, mode, on), addColumns }
}

/** @throws EngineError `invalid_option` if it is no file that can be read */
export async function requireFile(file: string): Promise<void> {
  const problem = await access(file, constants.R_OK).then(
    async () => ((await stat(file)).isDirectory() ? 'is a folder' : undefined),
    ({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? 'does not exist' : `can not be read (${code})`),
  )
  if (problem === undefined) return
  throw invalidOption(`The file ${JSON.stringify(file)} ${problem}.`)
}

const KNOWN: Names<Upload> = {
  body: true,
  format: true,
  gzip: true,
  columns: true,
  options: true,
  replaceColumns: true,
  addColumns: true,
  missing: true,
  fileColumn: true,
  fileName: true,
  signal: true,
  onProgress: true,
  words: true,
  accept: true,
  isRefresh: true,
  alone: true,
  on: true,
  by: true,
  note: true,
}

function isBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  if (body instanceof Uint8Array) return true
  return 'file' in body ? typeof body.file === 'string' : Symbol.asyncIterator in body
}

/** @throws EngineError `unsupported_format`; `invalid_option` for an option that is unknown or not for the format */
export function checkUpload(upload: Upload, mode: WriteMode): void {
  requireKnown(upload, KNOWN)
  if (upload.replaceColumns && mode !== 'replace')
    throw invalidOption(
      `${hint('columns=replace')} is not for an append or upsert; ${hint('columns=add')} adds columns.`,
      'columns',
    )
  if (upload.addColumns && mode === 'replace')
    throw invalidOption(
      `${hint('columns=add')} is for an append or upsert; a replacement takes ${hint('columns=replace')}.`,
      'columns',
    )
  if (upload.fileName !== undefined && upload.fileColumn === undefined)
    throw invalidOption(`${hint('fileName')} is only for ${hint('fileColumn=file')}.`, 'fileName')
  if (upload.missing !== undefined && upload.missing !== 'null')
    throw invalidOption(
      `${hint('missing')} must be "null" (got ${JSON.stringify(upload.missing)}).`,
      'missing',
    )
  if (!isBody(upload.body)) {
    throw invalidOption(
      'body is bytes, a file, as { file: "prices.csv" }, or an async iterable of bytes, such as a stream.',
    )
  }
  checkUploadOptions(upload.format, upload.options)
}
