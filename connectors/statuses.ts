import type { UpstreamAnswer } from './connector.ts'
import { ConnectorError, keyRejected } from './errors.ts'
import { type Json, notUnderstood, parseJson } from './read.ts'

interface Provider {
  readonly slug: string
  readonly name: string
  readonly key: 'none' | 'optional' | 'required'
}

/**
 * The JSON of an answer. Statuses that mean the same at every provider are refused here; those whose meaning the body
 * has to tell (400 and the like) come back with it, for `refusedStatus` once the body has told nothing.
 */
export function openBody(answer: UpstreamAnswer, provider: Provider, notFound: () => Error): Json {
  switch (answer.status) {
    case 404:
    case 410:
    // The address of the request was too long, so the id in it is none that the provider has.
    case 414:
      throw notFound()
    case 413:
      throw answerTooLarge(provider)
    default:
      // A page for people instead of data: a firewall or a gate before the service, which says nothing about the key.
      if (isForbidden(answer.status) && isMarkup(answer.text)) throw refused(provider)
      return parseJson(answer)
  }
}

/** What a status of 400 and more means where the body of the answer didn't say. */
export function refusedStatus({ status }: UpstreamAnswer, provider: Provider): ConnectorError {
  if (isForbidden(status)) return provider.key === 'none' ? refused(provider) : keyRejected(provider)
  if (status === 408) return slow(provider)
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

function slow({ name, slug }: Provider): ConnectorError {
  return new ConnectorError('provider_slow', `${name} did not answer in time. Try again later.`, {
    provider: slug,
  })
}

export function answerTooLarge({ name, slug }: { name: string; slug: string }): ConnectorError {
  const sentence = `The answer of ${name} is too large. Ask for less with start and end.`
  return new ConnectorError('answer_too_large', sentence, { provider: slug })
}
