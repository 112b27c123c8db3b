import {
  FORMATS_IN_PROSE,
  isUploadFormat,
  UPLOAD_FORMATS,
  type UploadFormat,
} from '../../engine/ingest/upload-format.ts'
import {
  type Names,
  type OptionsOf,
  pick,
  QUERY,
  toHttp,
  UPLOADING,
  VERSION,
  WRITING,
} from '../../engine/options.ts'
import type { Format } from '../../engine/types/index.ts'
import type { DeclaredColumn } from '../records/index.ts'
import { checkOptions, invalidOption, requireKnown } from './errors.ts'
import type { Body, CallOptions, PageOptions, Request } from './transport.ts'

/** Which rows to read: the options of `GET /datasets/{id}/data`. */
export interface QueryOptions extends CallOptions, OptionsOf<typeof QUERY> {}

/** Which version of a dataset to read; the current one without them. */
export interface VersionOptions extends OptionsOf<typeof VERSION> {}

/** Options of a format. The server refuses those that the format doesn't have. */
export interface WritingOptions extends OptionsOf<typeof WRITING> {}

/** Which rows of which version to read, and how to write them. */
export type RowsQuery = QueryOptions & WritingOptions & VersionOptions

export interface PreviewOptions extends CallOptions {
  /** The id of a dataset. */
  readonly into?: number | undefined
  /** The body is only the beginning of a file: its last record, which may be cut off, is left out. */
  readonly beginning?: boolean
}

export interface WriteOptions extends CallOptions {
  /** Why the rows change, for the list of versions. */
  readonly note?: string | undefined
  /**
   * A text that no other request of the account has had for a day, such as a UUID. The call is then sent again also where
   * nobody knows whether its rows were saved, and they are saved once.
   */
  readonly idempotencyKey?: string | undefined
  /** The `etag` of `datasets.tagged`: refused as `changed_meanwhile` if anything was written since. */
  readonly ifMatch?: string | undefined
}

/** Which revisions to read, and how to write them. */
export interface RevisionsQuery extends QueryOptions, WritingOptions {
  /** The `series_id` of series; by default all. */
  readonly series?: readonly string[]
}

/** Which changes to follow: those of the rows that match. */
export interface FollowOptions
  extends Pick<QueryOptions, 'filter' | 'search' | 'compute' | 'select' | 'aliases' | 'signal'> {
  readonly follow: true
}

/** A commit of rows that come in a stream. */
export interface StreamCommit {
  readonly version: number
  readonly rows: number
  /** All rows of the stream so far. */
  readonly total: number
}

/** Which datasets to list, in the order of their ids; all by default. */
export interface ListOptions extends PageOptions {
  readonly columns?: boolean
}

const ROWS = { ...QUERY, ...WRITING }

/**
 * The options as query parameters.
 * @param others further options of the call
 * @throws ParquetryError `invalid_option`
 */
export function parameters(
  query: QueryOptions & WritingOptions,
  others: Readonly<Record<string, unknown>> = {},
) {
  requireKnown(query, { ...ROWS, signal: true, ...others })
  const options = pick(query, ROWS)
  checkOptions(options, ROWS)
  return toHttp(options, ROWS)
}

/** The request for rows. */
export function dataRequest(id: number, format: Format, query: RowsQuery) {
  const which = toHttp(pick(query, VERSION), VERSION)
  const path = ['datasets', id, 'data']
  return { path, query: { $format: format, ...which, ...parameters(query, VERSION) } }
}

/** The request for what a query would read, instead of its rows. */
export function explainRequest(id: number, $explain: 'true' | 'sql', { signal, ...given }: RowsQuery) {
  const { path, query } = dataRequest(id, 'csv', given)
  return { path, query: { ...query, $explain }, signal }
}

/** Rows as values, a file in one of the formats, or series of a provider. */
export type Upload =
  | {
      /** Objects with column names as keys, or arrays in the order of `columns`. */
      readonly rows: readonly (Readonly<Record<string, unknown>> | readonly unknown[])[]
      readonly columns?: readonly DeclaredColumn[]
    }
  | {
      /**
       * Slug of the provider. The server fetches the series as rows with the columns `provider`, `series_id`, `name`,
       * `unit`, `frequency`, `date` or `time`, `period`, `value` and `status`.
       */
      readonly provider: string
      readonly series: readonly string[]
    }
  | {
      readonly format: UploadFormat
      /** A stream is sent while it is read, and can't be sent again. Browsers support streams over HTTP/2 only. */
      readonly body: string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>
      /** The body is compressed with gzip. Only for text formats. */
      readonly gzip?: boolean
      /** How the file is written, if not in the usual way of its format. */
      readonly options?: UploadOptions
    }

/** How a file is read, if not in the usual way of its format, and how its columns come to those of the dataset. */
export interface UploadOptions extends OptionsOf<typeof UPLOADING> {}

/** The media type of each format. */
export const MEDIA_TYPES = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
  'arrow-file': 'application/vnd.apache.arrow.file',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const satisfies Record<Format, string>

const FILE: Names<Extract<Upload, { format: unknown }>> = {
  format: true,
  body: true,
  gzip: true,
  options: true,
}

/** @throws ParquetryError `invalid_option` */
export function uploadRequest(upload: Upload): Pick<Request, 'json' | 'body' | 'headers' | 'query'> {
  if (!('format' in upload)) return { json: upload }
  requireKnown(upload, FILE)
  if (!isUploadFormat(upload.format)) {
    throw invalidOption(
      `Unknown format ${JSON.stringify(upload.format)}; valid formats: ${FORMATS_IN_PROSE}.`,
    )
  }
  const headers: Record<string, string> = { 'content-type': UPLOAD_FORMATS[upload.format].types[0] }
  if (upload.gzip) headers['content-encoding'] = 'gzip'
  const { body, options } = upload
  if (options) checkOptions(options, UPLOADING)
  const iterable = typeof body === 'object' && Symbol.asyncIterator in body
  return {
    headers,
    ...(options && { query: toHttp(options, UPLOADING) }),
    body: iterable && !(body instanceof ReadableStream) ? toStream(body) : (body as Body),
  }
}

/** Like `ReadableStream.from`, which some browsers don't have. */
function toStream(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
