import type { UpstreamAnswer } from '../connector.ts'
import { Failure } from '../failures.ts'
import type { Layer } from './layer.ts'

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
    const refund = await allowance.take(signal)
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
    if (answer.status === 503 && pause !== undefined) {
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
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), LONGEST_PAUSE_SECONDS)
}
