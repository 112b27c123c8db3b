import type { ConnectorContext } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { SdmxFailure } from './failures.ts'
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

/**
 * The outcome, or undefined where the provider says that it has none or says it in a way that can not be read. That it
 * is down or spent stays an error: what is made without the outcome would be kept for hours.
 */
export async function attempt<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    const isFinal = error instanceof SdmxFailure && error.kind !== 'limited' && error.kind !== 'unavailable'
    if (isFinal) return undefined
    throw error
  }
}

/** The outcome of what a call can well do without, however it fails. Only a caller who has gone away ends the call. */
export async function optional<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof SdmxFailure) return undefined
    if (error instanceof ConnectorError && error.code !== 'cancelled') return undefined
    throw error
  }
}

/**
 * The outcome of a request that may be too wide for the service. Some, the ECB's among them, then fail as if they were
 * down: whoever asked should know both.
 */
export async function wide<T>({ provider: { info } }: Session, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof ConnectorError) || cause.code !== 'provider_down') throw cause
    const sentence = `${info.name} fails at the moment, or at so wide a request. Choose a narrower one, or try again later.`
    throw new ConnectorError('provider_down', sentence, { provider: info.slug, cause })
  }
}
