import type { ConnectorContext } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { Failure, type FailureKind } from '../failures.ts'
import type { SdmxProvider, Session } from './provider.ts'
import { readStructures } from './structures/structures.ts'

export function openSession(provider: SdmxProvider, context: ConnectorContext): Session {
  return {
    provider,
    send: (request) => context.send(request),
    cached: (request, read) => context.cached(request, read),
    structures: (request) => context.cached(request, readStructures),
  }
}

/** What an SDMX message may say, as opposed to failures on the way to it. */
const OF_MESSAGES: readonly FailureKind[] = [
  ...(['no-results', 'refused', 'no-time', 'no-history', 'too-large'] as const),
  ...(['limited', 'unavailable', 'unreadable'] as const),
]

/** Whether an error is in what the provider has answered. */
export function isOfMessage(error: unknown): error is Failure {
  return error instanceof Failure && OF_MESSAGES.includes(error.kind)
}

/**
 * The outcome, or undefined if the provider says that it has none or sends something that can't be read. If the
 * provider is down or its limit is used up, that stays an error, because a result without the outcome would be cached
 * for hours.
 */
export async function attempt<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isOfMessage(error) && error.kind !== 'limited' && error.kind !== 'unavailable') return undefined
    throw error
  }
}

/**
 * The outcome of a request that may be too wide for the service. Some services, such as the ECB's, then fail as if they
 * were down, so the error tells the user of both possible causes.
 */
export async function wide<T>({ provider: { info } }: Session, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const isDown = cause instanceof ConnectorError && cause.code === 'provider_down'
    if (!isDown || isOfMessage(cause)) throw cause
    const sentence = `${info.name} is failing at the moment, or at so wide a request. Choose a narrower one, or try again later.`
    throw new ConnectorError('provider_down', sentence, { cause })
  }
}
