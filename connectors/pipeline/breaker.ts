import { Failure } from '../failures.ts'
import type { Layer } from './layers.ts'

export interface BreakerOptions {
  /** Number of consecutive failures, of any requests, after which the provider isn't asked for a while. */
  readonly failures: number
  /** Length of the first such pause; it doubles with each probe that fails. */
  readonly cooldownMs: number
  readonly longestCooldownMs: number
}

type State = 'closed' | 'open' | 'half-open'

/**
 * Stops asking a provider that fails again and again, so that a dead provider costs neither time nor part of its limit.
 * After the cooldown a single request probes the provider: an answer closes the breaker, a failure keeps it open for
 * longer.
 */
export class Breaker {
  readonly #options: BreakerOptions
  readonly #now: () => number
  #failures = 0
  /** Whether the last request that failed did not come through. */
  #isUnreached = false
  #openUntil = 0
  #cooldownMs: number
  #isProbing = false

  constructor(options: BreakerOptions, now: () => number) {
    this.#options = options
    this.#now = now
    this.#cooldownMs = options.cooldownMs
  }

  get state(): State {
    if (this.#openUntil === 0) return 'closed'
    return this.#now() < this.#openUntil ? 'open' : 'half-open'
  }

  /** Refuses at once while the breaker is open, before limits are spent and before any wait. */
  readonly refuse: Layer = (next) => (exchange) => {
    this.#throwIfOpen()
    return next(exchange)
  }

  /**
   * Refuses requests that were waiting when the breaker opened, lets one probe through, and records how requests end.
   */
  readonly observe: Layer = (next) => async (exchange) => {
    this.#throwIfOpen()
    const isProbe = this.state === 'half-open'
    this.#isProbing ||= isProbe
    try {
      const answer = await next(exchange)
      if (answer.status >= 500) this.#failed(isProbe, false)
      else this.#succeeded()
      return answer
    } catch (error) {
      if (error instanceof Failure) {
        // A provider that sends answers which are too large or garbled is up.
        const isDown = ['unconnected', 'cut', 'slow'].includes(error.kind)
        if (isDown) this.#failed(isProbe, error.kind === 'unconnected')
        else this.#succeeded()
      }
      throw error
    } finally {
      if (isProbe) this.#isProbing = false
    }
  }

  #throwIfOpen(): void {
    const { state } = this
    if (state === 'closed' || (state === 'half-open' && !this.#isProbing)) return
    throw new Failure(this.#isUnreached ? 'unreached' : 'resting', {
      seconds: (this.#openUntil - this.#now()) / 1000,
    })
  }

  #failed(isProbe: boolean, isUnreached: boolean): void {
    this.#failures++
    this.#isUnreached = isUnreached
    if (isProbe) this.#cooldownMs = Math.min(this.#cooldownMs * 2, this.#options.longestCooldownMs)
    // Failures of requests that left before the breaker opened don't prolong it.
    const opens = isProbe || (this.#openUntil === 0 && this.#failures >= this.#options.failures)
    if (opens) this.#openUntil = this.#now() + this.#cooldownMs
  }

  #succeeded(): void {
    this.#failures = 0
    this.#openUntil = 0
    this.#cooldownMs = this.#options.cooldownMs
  }
}
