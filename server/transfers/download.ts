import type { EncodeOptions, Format, ODataJson, Query } from '../../engine/index.ts'
import type { Envelope } from './envelope.ts'

/** A query that is made only if no answer to it is kept. */
export interface LazyQuery {
  /** The `key` that the query will probably have, if that is known without reading anything. */
  readonly key?: string | undefined
  /** Makes the query. What is kept gets the key of this one, which may read a later version. */
  readonly open: (signal: AbortSignal) => Query | Promise<Query>
}

/** The description of a download. */
export interface Download {
  /** It is disposed when the download is over. */
  readonly query: LazyQuery
  readonly format: Format
  /** The name of the file, without extension. */
  readonly name: string
  /** Whether rows count against the plan. */
  readonly metered: boolean
  /** Whether rows must be counted even if it takes time. */
  readonly counted?: boolean
  /** Text that stands before and after the rows. `variant` has all of it but the numbers of rows. */
  readonly envelope?: Envelope
  /** How OData's JSON is written; undefined for our own JSON. */
  readonly odata?: ODataJson
  /** Options for writing the format, if there are any. */
  readonly encoding?: EncodeOptions
  /** The content type if it is not the format's own. Such an answer is not offered as a file to save. */
  readonly contentType?: string
  /** Everything else on which the bytes depend, for the entity tag. */
  readonly variant?: string
  /** Whether the rows are a page, and a request for the next one will probably follow. */
  readonly paged?: boolean
}

/** Whether the rows that match must be counted even if it takes time. */
export function isCounted({ counted, envelope }: Download): boolean {
  return counted === true || typeof envelope?.before === 'function'
}
