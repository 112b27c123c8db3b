import type { UpstreamAnswer } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { UpstreamFailure } from './failure.ts'
import type { Layer } from './layer.ts'

/** How long nothing is asked after a 429 that doesn't say how long. */
const DEFAULT_PAUSE_SECONDS = 60
/** What asks for more is taken for a mistake: a whole provider would be lost for as long as it says. */
const LONGEST_PAUSE_SECONDS = 86_400

/**
 * Spends the account's limits before a request leaves, each retry anew, and turns 429 into `provider_limit`. A
 * `Retry-After` of the provider holds back every later request of the account.
 */
export function limited(provider: { slug: string; name: string }, now: () => number): Layer {
  return (next) => async (exchange) => {
    const { account, signal } = exchange
    const takeBack = await account.take(signal)
    let answer: UpstreamAnswer
    try {
      answer = await next(exchange)
    } catch (error) {
      const hasLeft = error instanceof UpstreamFailure && error.kind !== 'connect'
      if (!hasLeft) await takeBack()
      throw error
    }
    const pause = retryAfter(answer, now())
    if (answer.status === 429) {
      const seconds = pause ?? DEFAULT_PAUSE_SECONDS
      await account.block('provider_limit', seconds)
      throw new ConnectorError(
        'provider_limit',
        `${provider.name} refuses further requests for now. Try again in ${Math.ceil(seconds)} s.`,
        { provider: provider.slug, retryAfter: seconds },
      )
    }
    if (answer.status === 503 && pause !== undefined) {
      await account.block('provider_down', pause)
      // Not left to the retries, which would sit out the pause while the caller waits.
      const sentence = `${provider.name} asks to be left alone for ${Math.ceil(pause)} s.`
      throw new ConnectorError('provider_down', sentence, { provider: provider.slug, retryAfter: pause })
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
