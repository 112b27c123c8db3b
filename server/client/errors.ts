import {
  type ErrorFields,
  errorFields,
  hint,
  hintsIn,
  httpWords,
  inWords,
  withHints,
} from '../../engine/error-text.ts'
import { type OptionProblem, type OptionTable, unknownOption, wrongOption } from '../../engine/options.ts'
import type { UploadFault } from '../records/index.ts'

/**
 * The error of a request. `message` is the server's sentence. An aborted request rejects with the signal's reason
 * instead, as with `fetch`.
 */
export class ParquetryError extends Error {
  override readonly name = 'ParquetryError'
  /** The HTTP status; 0 if there was no complete answer. */
  readonly status: number
  /**
   * The server's stable error code, for example `name_taken`. The client adds `invalid_option` (an option that does not
   * exist; nothing was sent), `unreachable` (no answer), `interrupted` (the answer broke off), `not_understood` (the
   * answer is not valid JSON), and `http_502` and the like (an answer without a code, which comes from a proxy rather
   * than from the server).
   */
  readonly code: string
  /** Seconds to wait before a new attempt, if the server said so. */
  readonly retryAfter: number | undefined
  /** What is wrong with an upload, at most twenty things, of which `message` tells the first. */
  readonly errors: readonly UploadFault[]
  /** What the error knows, as data, such as `position` and `columns`. */
  readonly details: ErrorFields

  constructor(
    message: string,
    fields: {
      status: number
      code: string
      retryAfter?: number | undefined
      errors?: readonly UploadFault[] | undefined
      details?: ErrorFields | undefined
      cause?: unknown
    },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.status = fields.status
    this.code = fields.code
    this.retryAfter = fields.retryAfter
    this.errors = fields.errors ?? []
    this.details = fields.details ?? {}
  }
}

/** The error for a response with a status outside 200-299. Reads its body. */
export async function errorOf(response: Response): Promise<ParquetryError> {
  const text = await response.text().catch(() => '')
  const { status } = response
  // 401 and 500 may have a plain text body, or none.
  const plain = /^text\/plain\b/i.test(response.headers.get('content-type') ?? '') ? text.trim() : ''
  // Redirects are not followed, because that would turn a POST into a GET. For a redirect, browsers show no status.
  const said = status === 0 ? 'with a redirect' : `${status} ${response.statusText}`.trim()
  return errorIn(text, status, plain || `The server answered ${said}.`, response.headers.get('retry-after'))
}

/** The error that a text is. @param otherwise the message if it has none */
export function errorIn(
  text: string,
  status = 200,
  otherwise = '',
  wait: string | null = null,
): ParquetryError {
  const { error, code, ...others } = parsed(text)
  return new ParquetryError(error ?? otherwise, {
    status,
    code: code ?? `http_${status}`,
    retryAfter: retryAfter(wait),
    ...others,
  })
}

function parsed(text: string): {
  error?: string
  code?: string
  errors?: readonly UploadFault[]
  details?: ErrorFields
} {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null) return {}
    const { error, code, errors } = body as Record<string, unknown>
    return {
      ...(typeof error === 'string' && { error }),
      ...(typeof code === 'string' && { code }),
      ...(Array.isArray(errors) && { errors }),
      details: errorFields(body as Record<string, unknown>),
    }
  } catch {
    return {}
  }
}

/**
 * A message with each of its options, which `details.hints` lists, in other words.
 * @param write words an option that has this name and, unless it is empty, this value
 */
export function withOptions(
  message: string,
  hints: readonly string[] = [],
  write: (name: string, value: string) => string,
): string {
  const words = (hint: string) =>
    Array.from(new URLSearchParams(hint), ([name, value]) => write(name, value)).join(' ')
  return withHints(message, hints, words)
}

/** Parses `Retry-After`, which is a number of seconds or a date (RFC 9110, 10.2.3), into seconds. */
export function retryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000))
}

/**
 * Refuses options that don't exist, because one that is misspelt would otherwise be ignored.
 * @throws ParquetryError `invalid_option`
 */
export function requireKnown(options: object, known: object): void {
  refuse(unknownOption(options, known))
}

/** Checks options against their table. @throws ParquetryError `invalid_option` */
export function checkOptions(options: object, table: OptionTable): void {
  refuse(wrongOption(options, table, hint))
}

function refuse(wrong: OptionProblem | undefined): void {
  if (wrong) throw invalidOption(wrong.problem, wrong.option)
}

export function invalidOption(message: string, option?: string): ParquetryError {
  const hints = hintsIn(message)
  const details = { ...(option !== undefined && { option }), ...(hints.length > 0 && { hints }) }
  return new ParquetryError(inWords(message, httpWords), { status: 0, code: 'invalid_option', details })
}
