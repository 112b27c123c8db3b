import { LRUCache } from 'lru-cache'
import type { Connector, UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import type { ConnectorError } from '../errors.ts'
import { type Asked, Failure } from '../failures.ts'
import type { ProviderOverride, Settings } from '../options.ts'
import { addressOf } from './address.ts'
import { Allowance } from './allowances.ts'
import { Breaker } from './breaker.ts'
import { compose } from './layer.ts'
import { limitConcurrency, limited } from './limits.ts'
import { retried } from './retries.ts'
import { sanitised } from './sanitise.ts'
import { openTransport } from './transport.ts'

/** A connector with all the layers between it and the network. */
export type Provider = ReturnType<typeof openProvider>

/** Requests under way at once if the provider publishes no number. */
const CONCURRENCY = 8

/**
 * Builds the layers between a connector and the network. From the outside in: retries come first, so each retry passes
 * all other layers again; an open breaker refuses before limits are spent; limits are spent before a request waits for
 * a free slot, so that refusals are quick.
 */
export function openProvider(connector: Connector, options: Settings & ProviderOverride) {
  const { now, timeouts, maxAnswerBytes: maxBytes } = options
  const limits = { ...connector.info.limits, ...options.limits }
  const info = { ...connector.info, limits, baseUrl: options.baseUrl ?? connector.info.baseUrl }
  const key = info.key === 'none' ? undefined : options.key

  // Two users who saved the same key share its limits, whose counts outlive the allowance in the store.
  const allowances = new LRUCache<string, Allowance>({ max: 1000 })
  const breaker = new Breaker(options.breaker, now)
  const base = new URL(info.baseUrl)
  const transport = openTransport({ base, timeouts, maxBytes })
  const waitMs = timeouts.headersMs + timeouts.bodyMs
  const layers = [
    retried(options.retry),
    breaker.refuse,
    limited(now),
    limitConcurrency(limits.concurrency ?? CONCURRENCY, waitMs),
    breaker.observe,
  ]
  const send = compose(layers, transport.send)
  const hidden = (key: string | undefined) =>
    [key, options.key, base.href, base.host, base.hostname].filter((secret) => secret !== undefined)

  return {
    connector,
    info,
    /** The service's own key, if it has one and the provider takes keys. */
    key,
    breaker,
    /** The allowance of a key; without a key, the allowance of our address. */
    allowance(key: string | undefined): Allowance {
      const name = key ?? ''
      const allowance = allowances.get(name) ?? new Allowance(info, key, options.limitStore, now)
      allowances.set(name, allowance)
      return allowance
    },
    /** Sends through all layers. 408 and 504 become `provider_slow`, other statuses of 500 or more `provider_down`. */
    async send(
      request: UpstreamRequest,
      allowance: Allowance,
      signal: AbortSignal | undefined,
    ): Promise<UpstreamAnswer> {
      if (info.key === 'required' && allowance.key === undefined) {
        throw new Failure('no-key', { what: info.keyPage ?? '' })
      }
      // Refuses an id that would climb out of the base address before the request costs anything.
      addressOf(base, request)
      const answer = await send({ request, allowance, signal })
      const isSlow = answer.status === 408 || answer.status === 504
      if (answer.status < 500 && !isSlow) return answer
      throw new Failure(isSlow ? 'slow' : 'failing', { what: `status ${answer.status}` })
    },
    /** Turns anything that was thrown into an error that may be shown. */
    sanitised: (error: unknown, key: string | undefined, asked?: Omit<Asked, 'provider'>): ConnectorError =>
      sanitised(error, { provider: info, ...asked }, hidden(key)),
    close: transport.close,
  }
}
