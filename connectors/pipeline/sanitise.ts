import { ConnectorError } from '../errors.ts'
import { UpstreamFailure } from './failure.ts'

/** Texts that may never be shown; each is replaced by `[hidden]` wherever a cause mentions it. */
export type Secrets = readonly string[]

/**
 * Turns anything that was thrown into a `ConnectorError` with a sentence of ours. Its cause is a plain description for
 * the log, without addresses, keys or stack traces; the original error is dropped.
 */
export function sanitised(
  error: unknown,
  provider: { slug: string; name: string },
  secrets: Secrets,
): ConnectorError {
  const cause = describe(error, secrets)
  const options = { provider: provider.slug, cause }
  if (error instanceof ConnectorError) {
    if (error.provider !== undefined && error.cause === undefined) return error
    return new ConnectorError(error.code, naming(error, provider.name), {
      provider: provider.slug,
      retryAfter: error.retryAfter,
      remedy: error.remedy,
      ...(error.cause === undefined ? {} : { cause: describe(error.cause, secrets) }),
    })
  }
  const { name } = provider
  if (!(error instanceof UpstreamFailure)) {
    return new ConnectorError('not_understood', `The answer of ${name} was not understood.`, options)
  }
  switch (error.kind) {
    case 'connect':
    case 'broken':
      return new ConnectorError('provider_down', `${name} can not be reached. Try again later.`, options)
    case 'failing':
      return new ConnectorError('provider_down', `${name} fails at the moment. Try again later.`, options)
    case 'slow':
      return new ConnectorError(
        'provider_slow',
        `${name} did not answer in time. Try again later, or ask for less with start and end.`,
        options,
      )
    case 'too-large':
      return new ConnectorError(
        'answer_too_large',
        `The answer of ${name} is too large. Ask for less with start and end.`,
        options,
      )
    case 'redirected':
    case 'garbled':
      return new ConnectorError('not_understood', `The answer of ${name} was not understood.`, options)
    default:
      return error.kind satisfies never
  }
}

/** Adds the provider's name, because the readers that throw don't know whose answer they read. */
function naming(error: ConnectorError, name: string): string {
  if (error.provider !== undefined || error.code === 'cancelled') return error.message
  return error.code === 'not_understood'
    ? `The answer of ${name} was not understood.`
    : `${name}: ${error.message}`
}

/** `Name [CODE]: message`, for each error of the chain. */
function describe(error: unknown, secrets: Secrets): string {
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

function hide(text: string, secrets: Secrets): string {
  const shown = secrets
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => {
      return rest.replaceAll(secret, '[hidden]').replaceAll(encodeURIComponent(secret), '[hidden]')
    }, text)
  return shown.replace(ADDRESS, '[address]')
}
