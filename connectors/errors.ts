/**
 * Every error that the connectors raise on purpose: its stable code, and when it happens. The sentence that a user reads
 * is written where it is thrown.
 */
export const CONNECTOR_ERRORS = {
  unknown_provider: 'no provider has this slug',
  series_not_found: 'the provider has no series with this id',
  path_not_found: 'the provider has no category at this path',
  no_calendar: 'the provider publishes no calendar of releases for programs',
  invalid_series_id: 'a series id is malformed, so the provider has no such series',
  invalid_range: '`start` or `end` is not an ISO date, or `start` is after `end`',
  invalid_option: 'an option is malformed, out of its bounds, or does not fit the series',
  key_required: 'the provider needs a key, and neither the user nor the service has one',
  key_rejected: 'the provider does not accept the key',
  provider_limit: "the provider's request limit has been reached; the message names the provider",
  not_understood: 'the connector does not understand the response of the provider',
  provider_down: 'the provider cannot be reached or is failing',
  provider_slow: 'the provider did not respond in time',
  answer_too_large: 'the response of the provider is larger than the limit; a range makes it smaller',
  cancelled: 'the caller disconnected or aborted the signal',
} as const satisfies Record<string, string>

export type ConnectorErrorCode = keyof typeof CONNECTOR_ERRORS

/** The errors of the provider, as opposed to mistakes of the caller and limits. */
export const FAULTS: readonly ConnectorErrorCode[] = [
  'not_understood',
  'provider_down',
  'provider_slow',
  'answer_too_large',
]

/**
 * An error with a stable code. `message` is a sentence for the user and never contains an upstream address, a key or
 * any text of the provider; `cause` is only for the log.
 */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError'
  readonly code: ConnectorErrorCode
  /** Slug of the provider, or the unknown one; undefined if there is none. */
  readonly provider: string | undefined
  /** Whole seconds after which a new attempt makes sense. */
  readonly retryAfter: number | undefined
  /**
   * `own-key`: a valid key of the user's own would help. The code that shows the message knows where keys are saved.
   */
  readonly remedy: 'own-key' | undefined

  constructor(
    code: ConnectorErrorCode,
    message: string,
    options: {
      provider?: string
      retryAfter?: number | undefined
      remedy?: 'own-key' | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.provider = options.provider
    this.remedy = options.remedy
    this.retryAfter =
      options.retryAfter === undefined ? undefined : Math.max(1, Math.ceil(options.retryAfter))
  }
}

/** A user's text in a form that is safe in a message: quoted, without control characters, cut after 120 characters. */
export function quoted(text: string): string {
  const shown = text.length > 120 ? `${text.slice(0, 120)}…` : text
  return `'${shown.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\uFFFD')}'`
}

export function cancelled(): ConnectorError {
  return new ConnectorError('cancelled', 'The request was cancelled.')
}

export function invalid(message: string, provider?: string): ConnectorError {
  return new ConnectorError('invalid_option', message, provider === undefined ? {} : { provider })
}
