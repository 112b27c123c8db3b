import type { UpstreamAnswer } from './connector.ts'
import { ConnectorError, keyRejected } from './errors.ts'
import { type Json, notUnderstood, parseJson } from './read.ts'

interface Provider {
  readonly slug: string
  readonly name: string
  readonly key: 'none' | 'optional' | 'required'
}

/**
 * The JSON of an answer. Throws for statuses that mean the same at every provider. Answers whose body has to tell what
 * the status means (400 and the like) are returned; callers use `refusedStatus` if the body says nothing.
 */
export function openBody(answer: UpstreamAnswer, provider: Provider, notFound: () => Error): Json {
  switch (answer.status) {
    case 404:
    case 410:
    // The address of the request was too long, so the provider can't have such an id.
    case 414:
      throw notFound()
    case 413:
      throw answerTooLarge(provider)
    default:
      // An HTML page instead of data comes from a firewall or a gateway before the service and says nothing about the
      // key.
      if (isForbidden(answer.status) && isMarkup(answer.text)) throw refused(provider)
      return parseJson(answer)
  }
}

/** The meaning of a status of 400 or more whose body didn't explain it. */
export function refusedStatus({ status }: UpstreamAnswer, provider: Provider): ConnectorError {
  if (isForbidden(status)) return provider.key === 'none' ? refused(provider) : keyRejected(provider)
  return notUnderstood(`status ${status}`)
}

function isForbidden(status: number): boolean {
  return status === 401 || status === 403 || status === 451
}

function isMarkup(text: string): boolean {
  return /^[\s\uFEFF]*(<|$)/.test(text)
}

function refused({ name, slug }: Provider): ConnectorError {
  const sentence = `${name} refuses our requests at the moment. Try again later.`
  return new ConnectorError('provider_down', sentence, { provider: slug })
}

function answerTooLarge({ name, slug }: { name: string; slug: string }): ConnectorError {
  const sentence = `The answer of ${name} is too large. Ask for less with start and end.`
  return new ConnectorError('answer_too_large', sentence, { provider: slug })
}
