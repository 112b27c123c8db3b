import type { ProviderInfo } from './connector.ts'
import { ConnectorError, type ConnectorErrorCode, quoted } from './errors.ts'

/** What the sentence about a failure may name. */
interface About {
  /** The provider. */
  readonly name: string
  /** The id or the path that was asked for. */
  readonly subject: string
  /** Whether that is the id of a series. */
  readonly isSeries: boolean
  readonly seconds: number
  /** What the reader says of it. */
  readonly what: string
}

type Row = readonly [code: ConnectorErrorCode, sentence: (about: About) => string]

const nothing = ({ name, subject, isSeries }: About) =>
  `${name} has no ${isSeries ? 'series' : 'category'} ${quoted(subject)}.`
const notUnderstoodBy = ({ name }: About) => `The response of ${name} could not be understood.`

/** Why there is no answer, or none that can be read: the code, and the sentence that users read. */
const FAILURES = {
  /** The provider has no such thing. The cause is what it sent instead. */
  'no-results': ['series_not_found', nothing],
  /** The provider says that the request is wrong, for example a key with too many parts. */
  refused: ['series_not_found', nothing],
  /** The id has another form than the one that `what` tells. */
  malformed: [
    'invalid_series_id',
    ({ name, subject, what }) =>
      `${quoted(subject)} is not a valid series id of ${name}. It must be ${what}.`,
  ],
  /** A server could read `what`, a part of the id, as a step out of its path. */
  unsafe: ['invalid_series_id', ({ name, what }) => `${name}: ${quoted(what)} can not be part of an id.`],
  'no-time': [
    'invalid_option',
    ({ name, subject }) => `${quoted(subject)} is no series: ${name} has no time dimension for it.`,
  ],
  /** The provider has the series, but does not tell what it was on the day that was asked for. */
  'no-history': [
    'series_not_found',
    ({ name, subject }) =>
      `${name} has no figures of ${quoted(subject)} as they were on that day. Ask for a later asOf, or leave it out.`,
  ],
  /** `what` is the page where a key is had. */
  'no-key': [
    'key_required',
    ({ name, what }) => `${name} needs a key of your own${what && `, which you get at ${what}`}.`,
  ],
  'bad-key': ['key_rejected', ({ name }) => `${name} does not accept the key.`],
  /** The provider wants a key: `bad-key` if one was sent, else `no-key`. */
  unauthorised: ['key_rejected', ({ name }) => `${name} does not accept the key.`],
  /** A limit that the provider reports in the body of its answer. */
  limited: [
    'provider_limit',
    ({ name, seconds }) => `The request limit of ${name} has been reached. Try again in ${seconds} s.`,
  ],
  /** A status of 429. */
  'too-many': [
    'provider_limit',
    ({ name, seconds }) => `${name} refuses further requests for now. Try again in ${seconds} s.`,
  ],
  /** A status of 503 with the time of the next attempt. */
  pausing: ['provider_down', ({ name, seconds }) => `${name} asks to be left alone for ${seconds} s.`],
  /** The breaker is open. */
  resting: [
    'provider_down',
    ({ name, seconds }) => `${name} has failed several times in a row and is not asked for ${seconds} s.`,
  ],
  /** The same, where the last request did not come through either. */
  unreached: [
    'provider_down',
    ({ name, seconds }) =>
      `${name} can not be reached from this server. After several attempts, it is not asked for ${seconds} s.`,
  ],
  crowded: ['provider_slow', ({ name }) => `${name} is slow, and too many requests are waiting for it.`],
  /** The request never left. */
  unconnected: [
    'provider_down',
    ({ name }) =>
      `${name} can not be reached from this server. Try again later, or see whether it has access to the internet.`,
  ],
  /** The connection ended early. */
  cut: ['provider_down', ({ name }) => `The connection to ${name} broke off. Try again later.`],
  slow: [
    'provider_slow',
    ({ name }) => `${name} did not answer in time. Try again later, or ask for less with start and end.`,
  ],
  /** A status of 500 or more, or a body that says the same, or that access is denied to everybody. */
  failing: ['provider_down', ({ name }) => `${name} is failing at the moment. Try again later.`],
  /** New figures of what was asked for are being released. */
  publishing: [
    'provider_down',
    ({ name, subject }) =>
      `${quoted(subject)} is being published by ${name} at the moment. Try again in a few minutes.`,
  ],
  /** A firewall, or a service that takes no keys, denies access. */
  rejecting: [
    'provider_down',
    ({ name }) => `${name} is rejecting our requests at the moment. Try again later.`,
  ],
  /** The answer is over our limit, or over that of the provider. */
  oversized: [
    'answer_too_large',
    ({ name }) => `The response of ${name} is too large. Ask for less with start and end.`,
  ],
  /** The provider prepares the answer, and has not finished in time. */
  queued: [
    'provider_slow',
    ({ name, subject }) =>
      `${name} is still preparing ${quoted(subject)}. Try again in a few minutes, or ask for less with start and end.`,
  ],
  /** An SDMX message says that the answer would be too large. */
  'too-large': [
    'answer_too_large',
    ({ name, subject }) =>
      `The response of ${name} for ${quoted(subject)} is too large. Ask for less with start and end, or choose a narrower path.`,
  ],
  /** A table of a statistical office is larger than one id with wildcards may select. */
  'too-many-cells': [
    'answer_too_large',
    ({ name, subject }) =>
      `${quoted(subject)} selects too many cells of ${name}. Write codes in place of some of its wildcards.`,
  ],
  /** The answer can't be decoded, is not what the reader expects, or redirects away from the configured address. */
  unreadable: ['not_understood', notUnderstoodBy],
} as const satisfies Record<string, Row>

export type FailureKind = keyof typeof FAILURES

interface FailureOptions {
  readonly what?: string
  /** What was asked for, if it is not the id or the path of the call. */
  readonly subject?: string
  /** After which a new attempt makes sense. */
  readonly seconds?: number
  readonly cause?: unknown
}

/** How long to wait if a provider says that its limit is reached, but not for how long. */
const PAUSE_SECONDS = 60

/**
 * Thrown by what asks a provider or reads its answer. That knows neither the provider's name nor what was asked for;
 * `explained` adds both. The message is for the log.
 */
export class Failure extends ConnectorError {
  readonly kind: FailureKind
  readonly options: FailureOptions

  constructor(kind: FailureKind, options: FailureOptions = {}) {
    const retryAfter = options.seconds ?? (kind === 'limited' ? PAUSE_SECONDS : undefined)
    super(FAILURES[kind][0], options.what ?? kind, { retryAfter, cause: options.cause })
    this.kind = kind
    this.options = options
  }
}

/** The provider has no such thing. `cause` is what it sent instead. */
export function absent(cause?: unknown): Failure {
  return new Failure('no-results', { cause })
}

/** `what` completes 'It must be …'. */
export function malformed(what: string): Failure {
  return new Failure('malformed', { what })
}

/** The body is not what the reader expects; `what` says what it is. */
export function notUnderstood(what: string, cause?: unknown): Failure {
  return new Failure('unreadable', { what, cause })
}

/** Mistakes of the user, of which only a cause that is given is logged. */
const OF_USERS: readonly FailureKind[] = [
  'no-results',
  'refused',
  'malformed',
  'unsafe',
  'no-time',
  'no-history',
]
/** Failures that a valid key of the user's own would prevent. */
const OF_KEYS: readonly FailureKind[] = ['no-key', 'bad-key', 'limited', 'too-many']

/** The provider of a failure, and what was asked of it. */
export interface Asked {
  readonly provider: Pick<ProviderInfo, 'slug' | 'name' | 'key'> & Pick<Partial<ProviderInfo>, 'keyPage'>
  /** Whether a key was sent. Default true. */
  readonly hasKey?: boolean
  /** An id or a path; undefined for a call that has neither. */
  readonly subject?: string | undefined
  readonly isSeries?: boolean
}

function kindOf(
  { kind }: Failure,
  subject: string,
  { provider: { key }, hasKey = true }: Asked,
): FailureKind {
  // The root of a provider is there: then its answer is odd.
  if (kind === 'no-results' && subject === '') return 'unreadable'
  if (kind === 'unauthorised' && key !== 'none') return hasKey ? 'bad-key' : 'no-key'
  // A provider that takes no keys does not mean ours.
  return (kind === 'bad-key' || kind === 'unauthorised') && key === 'none' ? 'rejecting' : kind
}

/**
 * Turns anything that was thrown into the error that a user reads, with a sentence of ours. Its cause is a plain
 * description for the log, without addresses, keys or stack traces; the original error is dropped. Each of the secrets is
 * replaced by `[hidden]` wherever a cause mentions it.
 */
export function sanitised(error: unknown, asked: Asked, secrets: readonly string[]): ConnectorError {
  if (error instanceof Failure) return explained(error, asked, secrets)
  if (!(error instanceof ConnectorError)) {
    return explained(new Failure('unreadable', { cause: error }), asked, secrets)
  }
  const { code, message, provider, retryAfter, remedy, cause } = error
  if (provider !== undefined && cause === undefined) return error
  return new ConnectorError(code, message, {
    provider: asked.provider.slug,
    retryAfter,
    remedy,
    ...(cause !== undefined && { cause: described(cause, secrets) }),
  })
}

function explained(failure: Failure, asked: Asked, secrets: readonly string[]): ConnectorError {
  const { provider, isSeries = false } = asked
  const { subject = asked.subject ?? '', cause } = failure.options
  const kind = kindOf(failure, subject, asked)
  const [code, sentence]: Row = FAILURES[kind]
  const isPath = code === 'series_not_found' && !isSeries
  const what = failure.options.what ?? (kind === 'no-key' ? (provider.keyPage ?? '') : '')
  const about = { name: provider.name, subject, isSeries, seconds: failure.retryAfter ?? 0, what }
  const shown = OF_USERS.includes(kind) ? cause : failure
  return new ConnectorError(isPath ? 'path_not_found' : code, sentence(about), {
    provider: provider.slug,
    retryAfter: failure.retryAfter,
    remedy: OF_KEYS.includes(kind) && provider.key !== 'none' ? 'own-key' : undefined,
    ...(shown !== undefined && { cause: described(shown, secrets) }),
  })
}

/** `Name [CODE]: message`, for each error of the chain. */
function described(error: unknown, secrets: readonly string[]): string {
  const sentences: string[] = []
  for (let each = error, depth = 0; each !== undefined && each !== null && depth < 4; depth++) {
    if (!(each instanceof Error)) {
      sentences.push(String(each))
      break
    }
    const code = (each as NodeJS.ErrnoException).code
    // The message of a syntax error quotes the provider's text.
    const message = each instanceof SyntaxError ? 'malformed text' : each.message
    sentences.push(`${each.name}${code === undefined ? '' : ` [${code}]`}: ${message}`)
    each = each.cause
  }
  return hide(sentences.join(' < '), secrets).slice(0, 500)
}

const ADDRESS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\[?::1\]?:\d+/gi

function hide(text: string, secrets: readonly string[]): string {
  const shown = secrets
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => {
      return rest.replaceAll(secret, '[hidden]').replaceAll(encodeURIComponent(secret), '[hidden]')
    }, text)
  return shown.replace(ADDRESS, '[address]')
}
