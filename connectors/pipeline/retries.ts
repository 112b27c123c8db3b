import { setTimeout as sleep } from 'node:timers/promises'
import { cancelled } from '../errors.ts'
import { Failure } from '../failures.ts'
import type { Exchange, Layer } from './layer.ts'

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
async function backOff(
  attempt: number,
  options: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const longest = Math.min(options.baseMs * 2 ** (attempt - 1), options.longestMs)
  const wait = longest / 4 + Math.random() * longest * 0.75
  await sleep(wait, undefined, signal === undefined ? {} : { signal }).catch(() => {
    throw cancelled()
  })
}
