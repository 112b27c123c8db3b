/**
 * Every error that the engine raises on purpose: its stable code, the HTTP status that a server gives it, and when it
 * happens. The sentence that a user reads is written where it is thrown, because only that place knows the particulars.
 */
export const ERRORS = {
  invalid_filter: {
    status: 400,
    when: '`$filter` is not an OData expression; the message gives the position',
  },
  filter_too_complex: { status: 400, when: '`$filter` is longer or deeper than the limits' },
  filter_type_error: {
    status: 400,
    when: 'an operator or a function of `$filter` got a type that it does not take',
  },
  filter_failed: { status: 400, when: '`$filter` failed on a value of the data: overflow, division by zero' },
  invalid_columns: { status: 400, when: 'a query names columns that the dataset does not have' },
  invalid_option: { status: 400, when: 'a query option is unknown, malformed or conflicts with another' },
  not_representable: { status: 400, when: 'a value can not be written in the format that was asked for' },
  invalid_upload: {
    status: 400,
    when: 'an upload is malformed; the message names row and column where it can',
  },
  invalid_columns_manifest: { status: 400, when: 'declared columns are malformed' },
  invalid_file: {
    status: 400,
    when: 'a file to be queried where it lies is not there, or is no Parquet file',
  },
  invalid_name: { status: 400, when: 'a name is empty, too long or not text' },
  not_found: { status: 404, when: 'no such repository, dataset or account' },
  name_taken: { status: 409, when: 'the name already exists in the same place' },
  column_conflict: {
    status: 409,
    when: 'columns of an upload or a manifest conflict with those of the dataset',
  },
  upload_too_large: { status: 413, when: 'an upload is larger than the limit, packed or unpacked' },
  unsupported_format: { status: 415, when: 'an upload is in a format that is not known' },
  locked: { status: 503, when: 'another process holds what the operation needs for itself alone' },
  storage_full: { status: 503, when: 'the disk is full; nothing was changed' },
  overloaded: { status: 503, when: 'more work than the configured limits allow; try again later' },
  timeout: { status: 504, when: 'the query took longer than the deadline' },
  cancelled: { status: 499, when: 'the caller went away or aborted the signal' },
  internal: { status: 500, when: 'a defect; the cause is kept for the log' },
} as const satisfies Record<string, { status: number; when: string }>

export type ErrorCode = keyof typeof ERRORS

/** An error with a stable code. `message` is a sentence for the user; `cause` is for the log alone. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: ErrorCode
  /** Machine-readable particulars that are safe to show: position, row, column … */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}
