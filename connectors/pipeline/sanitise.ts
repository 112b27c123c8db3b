import { ConnectorError } from '../errors.ts'
import { type Asked, explained, Failure } from '../failures.ts'

/**
 * Turns anything that was thrown into an error with a sentence of ours. Its cause is a plain description for the log,
 * without addresses, keys or stack traces; the original error is dropped. Each of the secrets is replaced by `[hidden]`
 * wherever a cause mentions it.
 */
export function sanitised(error: unknown, asked: Asked, secrets: readonly string[]): ConnectorError {
  const described = (cause: unknown) => describe(cause, secrets)
  if (error instanceof Failure) return explained(error, asked, described)
  if (!(error instanceof ConnectorError)) {
    return explained(new Failure('unreadable', { cause: error }), asked, described)
  }
  const { code, message, provider, retryAfter, remedy, cause } = error
  if (provider !== undefined && cause === undefined) return error
  return new ConnectorError(code, message, {
    provider: asked.provider.slug,
    retryAfter,
    remedy,
    ...(cause !== undefined && { cause: described(cause) }),
  })
}

/** `Name [CODE]: message`, for each error of the chain. */
function describe(error: unknown, secrets: readonly string[]): string {
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
