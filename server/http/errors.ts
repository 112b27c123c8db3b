import type { FastifyError } from 'fastify'
import { CONNECTOR_ERRORS, ConnectorError, type ConnectorErrorCode } from '../../connectors/errors.ts'
import { type ErrorFields, errorFields, httpWords, machineError, type Said } from '../../engine/errors.ts'
import { EngineError, ERRORS, type ErrorCode, faultsOf, type UploadFault } from '../../engine/index.ts'

/**
 * The HTTP status for each error of the engine. 499, which nginx uses for a client that left, only appears in the log,
 * because the client is gone.
 */
export const ENGINE_STATUSES = {
  invalid_filter: 400,
  filter_too_complex: 400,
  filter_type_error: 400,
  filter_failed: 400,
  invalid_columns: 400,
  invalid_option: 400,
  invalid_sql: 400,
  sql_not_allowed: 400,
  unknown_table: 400,
  saved_query: 409,
  not_representable: 400,
  invalid_upload: 400,
  invalid_columns_manifest: 400,
  invalid_file: 400,
  attached_files: 409,
  file_changed: 409,
  invalid_name: 400,
  not_found: 404,
  version_gone: 410,
  name_taken: 409,
  missing_columns: 409,
  column_conflict: 409,
  duplicate_key: 409,
  rows_changed: 409,
  upload_too_large: 413,
  unsupported_format: 415,
  locked: 503,
  storage_full: 503,
  storage_read_only: 503,
  storage_failed: 503,
  too_many_open_files: 503,
  storage_damaged: 500,
  storage_unavailable: 503,
  outcome_unknown: 503,
  writes_stopped: 503,
  catalog_unavailable: 503,
  overloaded: 503,
  timeout: 504,
  cancelled: 499,
  internal: 500,
} as const satisfies Record<ErrorCode, number>

/** The HTTP status for each error of the connectors. */
export const CONNECTOR_STATUSES = {
  unknown_provider: 404,
  series_not_found: 404,
  path_not_found: 404,
  no_calendar: 404,
  invalid_series_id: 404,
  invalid_range: 400,
  invalid_option: 400,
  key_required: 400,
  key_rejected: 400,
  provider_limit: 429,
  not_understood: 500,
  provider_down: 503,
  provider_slow: 504,
  answer_too_large: 504,
  cancelled: 499,
} as const satisfies Record<ConnectorErrorCode, number>

/**
 * Every error that the server itself raises on purpose: its stable code, its HTTP status, and when it happens. The
 * engine and the connectors have errors of their own. The message for the user is written where the error is thrown.
 */
export const SERVER_ERRORS = {
  invalid_url: { status: 400, when: 'the path or the query string contains malformed percent-encoding' },
  invalid_query: {
    status: 400,
    when: 'a query parameter is unknown, given twice, or of a wrong type',
  },
  invalid_json: { status: 400, when: 'a JSON body is malformed' },
  invalid_body: {
    status: 400,
    when: 'a body lacks a required field, has an unknown one or one of a wrong type',
  },
  bad_request: { status: 400, when: 'the request is not valid HTTP' },
  user_key_unreadable: {
    status: 400,
    when: "a saved provider key can't be decrypted, because the server's secret has changed",
  },
  invalid_name: { status: 400, when: 'a name is empty, too long or not text' },
  unauthorized: { status: 401, when: 'the API key is missing, malformed, unknown or has been replaced' },
  plan_limit: { status: 402, when: "the account's plan does not allow it; the message names the limit" },
  forbidden: { status: 403, when: 'the account has no permission for it' },
  cross_site: {
    status: 403,
    when: "a page of another site asked for a change with a browser's own login",
  },
  not_found: { status: 404, when: 'no such repository, dataset, member or account' },
  not_followed: { status: 404, when: 'a dataset follows neither series nor a file' },
  unknown_path: { status: 404, when: 'there is nothing at this path' },
  method_not_allowed: {
    status: 405,
    when: 'the path does not support the method; `Allow` lists those that it supports',
  },
  request_timeout: { status: 408, when: 'the body of the request stopped arriving' },
  user_key_conflict: { status: 409, when: 'the same saved provider key is being changed by another request' },
  account_exists: { status: 409, when: 'an account of that name exists already' },
  follows_series: {
    status: 409,
    when: 'rows were sent to a dataset that follows series or a file; the next refresh would remove them',
  },
  other_data: {
    status: 409,
    when: 'a dataset that has columns of other data can not follow series',
  },
  fewer_rows: {
    status: 409,
    when: 'a refresh brought no rows, or fewer than half of those that a dataset or a series has; they are kept. It is only in `missing` and in the log',
  },
  changed_meanwhile: { status: 412, when: 'the record has changed since the `ETag` in `If-Match`' },
  key_exists: { status: 409, when: 'the account has a key of that name already' },
  too_many_keys: { status: 409, when: 'the account has as many named keys as it may' },
  body_too_large: { status: 413, when: 'the body of the request is larger than the limit' },
  uri_too_long: { status: 414, when: 'the path or the request line is longer than the limit' },
  unsupported_media_type: {
    status: 415,
    when: 'the path does not support the `Content-Type` or the `Content-Encoding`',
  },
  range_not_satisfiable: { status: 416, when: 'none of the ranges in `Range` is within the file' },
  idempotency_key_reused: {
    status: 422,
    when: 'another request of the account had the same `Idempotency-Key` in the last day',
  },
  too_many_failures: { status: 429, when: 'too many wrong API keys were sent' },
  too_many_requests: { status: 429, when: 'the account sends more requests than it may' },
  headers_too_large: {
    status: 431,
    when: 'the request line and the headers together are larger than the limit',
  },
  busy: {
    status: 503,
    when: 'the server is overloaded; `Retry-After` says when to try again',
  },
  shutting_down: { status: 503, when: 'the server is being stopped; `Retry-After` says when to try again' },
} as const satisfies Record<string, { status: number; when: string }>

export type ServerErrorCode = keyof typeof SERVER_ERRORS

/** An error with a stable code and possibly headers for the answer. `message` is a sentence for the user. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly code: ServerErrorCode
  readonly headers: Readonly<Record<string, string>>
  readonly details: ErrorFields

  constructor(
    code: ServerErrorCode,
    message: string,
    options: {
      cause?: unknown
      headers?: Readonly<Record<string, string>>
      details?: ErrorFields
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.headers = options.headers ?? {}
    this.details = options.details ?? {}
  }

  get status(): number {
    return SERVER_ERRORS[this.code].status
  }
}

/** Every error that an answer may contain, by code: those of the engine, of the connectors and of the server. */
export const ERROR_TABLE = new Map<string, { readonly status: number; readonly when: string }>([
  ...withStatuses(CONNECTOR_ERRORS, CONNECTOR_STATUSES),
  ...withStatuses(ERRORS, ENGINE_STATUSES),
  ...Object.entries(SERVER_ERRORS),
])

function withStatuses<Code extends string>(
  errors: Readonly<Record<Code, string>>,
  statuses: Readonly<Record<Code, number>>,
) {
  const codes = Object.keys(errors) as Code[]
  return codes.map((code) => [code, { status: statuses[code], when: errors[code] }] as const)
}

/** An error that was thrown elsewhere, with headers for the answer. */
export class ErrorWithHeaders extends Error {
  readonly headers: Readonly<Record<string, string>>

  constructor(cause: unknown, headers: Readonly<Record<string, string>>) {
    super('an error with headers', { cause })
    this.headers = headers
  }
}

/** An error in the form in which it is sent to a client. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorFields & {
    readonly error: string
    readonly code: string
    /** What is wrong with an upload, at most twenty things, of which `error` tells the first. */
    readonly errors?: readonly UploadFault[]
  }
}

/** Seconds after which a client should try again, unless the error itself says so. */
const RETRY_AFTER = '5'

const INTERNAL: ErrorAnswer = {
  status: 500,
  headers: {},
  body: { error: 'Something went wrong on our side. It has been recorded.', code: 'internal' },
}

/**
 * Turns every error into an answer. An error that was not raised on purpose gives a 500 without details, because its
 * message may contain a path, SQL or an address.
 */
export function errorAnswer(thrown: unknown): ErrorAnswer {
  if (thrown instanceof ErrorWithHeaders) {
    const given = errorAnswer(thrown.cause)
    return { ...given, headers: { ...given.headers, ...thrown.headers } }
  }
  const error = machineError(thrown) ?? thrown
  if (error instanceof ServerError)
    return withFields(answer(error.status, error.message, error.code, error.headers), error)
  if (error instanceof EngineError) {
    if (error.code === 'internal') return INTERNAL
    const said = error.inWords(httpWords)
    return withFields(answer(ENGINE_STATUSES[error.code], said.message, error.code), said)
  }
  if (error instanceof ConnectorError) {
    const headers = error.retryAfter === undefined ? undefined : { 'retry-after': String(error.retryAfter) }
    const status = CONNECTOR_STATUSES[error.code]
    return answer(status, `${error.message}${keyAdvice(error)}`, error.code, headers)
  }
  const known = fastifyError(error)
  return known ? answer(known.status, known.message, known.code) : INTERNAL
}

/** Adds what an error knows as data. Texts among it quote the request, as messages do. */
function withFields(given: ErrorAnswer, said: Said): ErrorAnswer {
  const lists = ['invalid_upload', 'duplicate_key', 'rows_changed'].includes(given.body.code)
  const fields = { ...errorFields(said.details), ...(lists && { errors: faultsOf(said) }) }
  if (Object.keys(fields).length === 0) return given
  return { ...given, body: { ...given.body, ...JSON.parse(withoutKeys(JSON.stringify(fields))) } }
}

/** Says how to save a key, if the connectors say that a key of the user's own would help. They don't know our paths. */
function keyAdvice({ code, provider, remedy }: ConnectorError): string {
  if (provider === undefined || remedy === undefined) return ''
  const path = `PUT /user-keys/${provider}`
  if (code === 'key_required') return ` Save one with ${path}.`
  if (code === 'key_rejected') return ` Save a valid one with ${path}.`
  return ` A key of your own has a limit of its own: save it with ${path}.`
}

/** Matches API keys: `pq_`, 32 random characters and a checksum of six. */
const API_KEYS = /pq_[0-9A-Za-z]{38}/g

/** A text with its API keys removed, so that others may read it. */
function withoutKeys(text: string): string {
  return text.replace(API_KEYS, 'pq_…')
}

function answer(
  status: number,
  message: string,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): ErrorAnswer {
  const all = status === 503 ? { 'retry-after': RETRY_AFTER, ...headers } : headers
  // Messages quote the request, and a user may have put a key into it.
  return { status, headers: all, body: { error: withoutKeys(message), code } }
}

/** What stands for errors that Fastify raises before a handler runs. */
const OF_FASTIFY: Readonly<Record<string, readonly [ServerErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The body must be JSON, sent with Content-Type: application/json.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body of the request is larger than the limit.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'bad_request',
    'The length of the body is not what Content-Length says.',
  ],
  FST_ERR_BAD_URL: ['invalid_url', 'The path contains malformed percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', 'A part of the path is longer than the limit.'],
}

/** An error of Fastify's about the request as one of ours; undefined if it is another error. */
function fastifyError(error: unknown): ServerError | undefined {
  const { code = '', statusCode = 500 } = (error ?? {}) as Partial<FastifyError>
  const known = OF_FASTIFY[code]
  if (known) return new ServerError(...known)
  const isRefusal = String(code).startsWith('FST_') && statusCode >= 400 && statusCode < 500
  return isRefusal ? new ServerError('bad_request', 'The request can not be handled.') : undefined
}
