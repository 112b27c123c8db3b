import type { UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import type { Allowance } from './allowances.ts'

/** One request of a connector on its way to the provider, with everything that the layers need to know about it. */
export interface Exchange {
  readonly request: UpstreamRequest
  /** What the request counts against. */
  readonly allowance: Allowance
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
