import type { DeclaredColumn } from './records.ts'
import type { Body, Request } from './transport.ts'

/** Rows as values, a file in one of the formats, or series of a provider. */
export type Upload =
  | {
      /** Objects by column name, or lists in the order of `columns`. */
      readonly rows: readonly (Readonly<Record<string, unknown>> | readonly unknown[])[]
      readonly columns?: readonly DeclaredColumn[]
    }
  | {
      /** Slug of the provider whose series the server fetches: rows of `provider, series_id, date, value`. */
      readonly provider: string
      readonly series: readonly string[]
    }
  | {
      readonly format: keyof typeof CONTENT_TYPES
      /** A stream is sent as it comes and can't be sent again; browsers take one over HTTP/2 only. */
      readonly body: string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>
      /** The body is packed already. Of text forms alone. */
      readonly gzip?: boolean
      /** How the file is written, where that is not what its format says. */
      readonly options?: UploadOptions
    }

/** As the parameters of the request: `delimiter` may be `tab`, `nulls` has commas between its texts. */
export interface UploadOptions {
  readonly nulls?: string
  readonly delimiter?: string
  readonly decimal?: string
  readonly encoding?: string
  readonly header?: string
  readonly names?: string
  readonly dates?: string
  readonly nanoseconds?: string
  /** `replace`: the columns of the upload take the place of those of the dataset. Not where rows are appended. */
  readonly columns?: string
}

const CONTENT_TYPES = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const

export function uploadRequest(upload: Upload): Pick<Request, 'json' | 'body' | 'headers' | 'query'> {
  if (!('format' in upload)) return { json: upload }
  const headers: Record<string, string> = { 'content-type': CONTENT_TYPES[upload.format] }
  if (upload.gzip) headers['content-encoding'] = 'gzip'
  const { body } = upload
  const iterable = typeof body === 'object' && Symbol.asyncIterator in body
  return {
    headers,
    ...(upload.options && { query: { ...upload.options } }),
    body: iterable && !(body instanceof ReadableStream) ? streamOf(body) : (body as Body),
  }
}

/** `ReadableStream.from`, which not every browser has. */
function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
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
