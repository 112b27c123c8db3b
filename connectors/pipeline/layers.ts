import { setTimeout as sleep } from 'node:timers/promises'
import { Semaphore } from '../../engine/util/semaphore.ts'
import type { UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import { cancelled } from '../errors.ts'
import { Failure } from '../failures.ts'
import type { Allowance } from './allowances.ts'

/** One request of a connector on its way to the provider, with everything that the layers need to know about it. */
export interface Exchange {
  readonly request: UpstreamRequest
  /** What the request counts against. */
  readonly allowance: Allowance
  /** On whose behalf it is sent, if that is known. */
  readonly account: string | undefined
  /**
   * Aborted once nobody waits for the answer. It keeps a request from leaving, but doesn't interrupt one that has left.
   */
  readonly signal: AbortSignal
}

export type Handler = (exchange: Exchange) => Promise<UpstreamAnswer>

export type Layer = (next: Handler) => Handler

export interface RetryOptions {
  /** Attempts in all, the first included. */
  readonly attempts: number
  /** The longest wait before the second attempt; it doubles with each further attempt. */
  readonly baseMs: number
  readonly longestMs: number
}

/**
 * Asks again after a failure that may be over in a moment. After a connection failure any request can be repeated,
 * because a connector's POST is a query too. After a status of 500 or more only GET is repeated, because it is defined
 * to be safe. Timeouts are not tried again: the caller has waited long enough.
 */
export function retried(options: RetryOptions): Layer {
  return (next) => async (exchange) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await next(exchange)
        if (attempt >= options.attempts || !isWorthRetrying(answer.status, exchange)) return answer
      } catch (error) {
        const isTransient = error instanceof Failure && (error.kind === 'unconnected' || error.kind === 'cut')
        if (attempt >= options.attempts || !isTransient) throw error
      }
      await backOff(attempt, options, exchange.signal)
    }
  }
}

function isWorthRetrying(status: number, { request }: Exchange): boolean {
  return [500, 502, 503, 504].includes(status) && (request.method ?? 'GET') === 'GET'
}

/**
 * Waits a random part, at least a quarter, of the longest wait, so that requests which failed together don't come back
 * together.
 */
async function backOff(attempt: number, options: RetryOptions, signal: AbortSignal): Promise<void> {
  const longest = Math.min(options.baseMs * 2 ** (attempt - 1), options.longestMs)
  const wait = longest / 4 + Math.random() * longest * 0.75
  await sleep(wait, undefined, { signal }).catch(() => {
    throw cancelled()
  })
}

/** How long nothing is asked after a 429 without `Retry-After`. */
const DEFAULT_PAUSE_SECONDS = 60
/**
 * A longer `Retry-After` is taken for a mistake, because obeying it would make the whole provider unusable for that
 * time.
 */
const LONGEST_PAUSE_SECONDS = 86_400

/**
 * Counts each request, and each retry, against its allowance before it leaves, and turns 429 into
 * `provider_limit`. A `Retry-After` of the provider holds back every later request with the same allowance.
 */
export function limited(now: () => number): Layer {
  return (next) => async (exchange) => {
    const { allowance, signal } = exchange
    const refund = await allowance.take(signal, exchange.request.isFree)
    let answer: UpstreamAnswer
    try {
      answer = await next(exchange)
    } catch (error) {
      const hasLeft = error instanceof Failure && error.kind !== 'unconnected'
      if (!hasLeft) await refund()
      throw error
    }
    const pause = retryAfter(answer, now())
    if (answer.status === 429) {
      const seconds = pause ?? DEFAULT_PAUSE_SECONDS
      await allowance.block('provider_limit', seconds)
      throw new Failure('too-many', { seconds })
    }
    if (answer.status === 503 && pause) {
      await allowance.block('provider_down', pause)
      // This is thrown as an error that isn't retried, because a retry would make the caller wait through the pause.
      throw new Failure('pausing', { seconds: pause })
    }
    return answer
  }
}

/** RFC 9110, 10.2.3: seconds or an HTTP date. */
function retryAfter(answer: UpstreamAnswer, now: number): number | undefined {
  const text = answer.headers['retry-after']?.trim()
  if (text === undefined || text === '') return undefined
  // `Date.parse` takes numbers such as -5 for dates.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (date - now) / 1000
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), LONGEST_PAUSE_SECONDS)
}

/**
 * Limits how many requests with one allowance are under way at once; the others wait, and those of each account take
 * turns. `waitMs` limits the wait, so that with a provider that hangs, requests that wait don't take longer than those
 * under way.
 */
export function limitConcurrency(concurrency: number, waitMs: number): Layer {
  const lines = new WeakMap<Allowance, Semaphore>()
  const crowded = () => new Failure('crowded')
  return (next) => async (exchange) => {
    const { allowance, account, signal } = exchange
    const line = lines.get(allowance) ?? new Semaphore(concurrency, { wait: waitMs, crowded })
    lines.set(allowance, line)
    using _ = await line.enter(account, signal).catch((error) => {
      throw signal.aborted ? cancelled() : error
    })
    return await next(exchange)
  }
}
