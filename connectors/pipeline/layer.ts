import type { UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import type { Account } from './accounts.ts'

/** One request of a connector on its way to the provider, with everything that the layers need to know about it. */
export interface Exchange {
  readonly request: UpstreamRequest
  /** The account whose limits the request counts against. */
  readonly account: Account
  /**
   * Aborted once nobody waits for the answer. It keeps a request from leaving, but doesn't interrupt one that has left.
   */
  readonly signal: AbortSignal | undefined
}

export type Handler = (exchange: Exchange) => Promise<UpstreamAnswer>

export type Layer = (next: Handler) => Handler

/** The first layer is the outermost. */
export function compose(layers: readonly Layer[], innermost: Handler): Handler {
  return layers.reduceRight((next, layer) => layer(next), innermost)
}
