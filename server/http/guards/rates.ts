import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { ServerError } from '../errors.ts'

const WINDOW_SECONDS = 60
/**
 * Somebody who guesses many keys often keeps their beginning, so wrong keys are also counted by this many characters.
 */
const BEGINNING = 6

/**
 * Counts wrong API keys by the address from which they come and by their beginning. Beyond the limit they are answered
 * with 429 instead of 401. A right key is always accepted, so that users who share an address with a guesser can work.
 */
export class FailedKeys {
  readonly #limiter: RateLimiterMemory | undefined

  /** @param most wrong keys allowed in a minute; 0 sets no limit */
  constructor(most: number) {
    this.#limiter = most > 0 ? new RateLimiterMemory({ points: most, duration: WINDOW_SECONDS }) : undefined
  }

  /** Counts a wrong key. @throws ServerError `too_many_failures` if there were too many */
  async count(address: string, key: string): Promise<void> {
    if (!this.#limiter) return
    const counted = [`from ${network(address)}`, `like ${key.slice(0, BEGINNING)}`]
    const outcomes = await Promise.allSettled(counted.map((name) => this.#limiter!.consume(name)))
    const spent = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    )
    if (spent.length === 0) return
    throw tooMany(
      'too_many_failures',
      'Too many wrong API keys were sent.',
      Math.max(...spent.map((one) => (one as RateLimiterRes).msBeforeNext)),
    )
  }
}

/** Counts the requests of each account if the configuration limits them. */
export class RequestRate {
  readonly #limiter: RateLimiterMemory | undefined
  readonly #most: number | null

  /** @param most requests allowed in a minute; null is "no limit" */
  constructor(most: number | null) {
    this.#most = most
    this.#limiter =
      most === null ? undefined : new RateLimiterMemory({ points: most, duration: WINDOW_SECONDS })
  }

  get limited(): boolean {
    return this.#limiter !== undefined
  }

  /** @throws ServerError `too_many_requests` */
  async count(accountId: number): Promise<void> {
    try {
      await this.#limiter?.consume(accountId)
    } catch (spent) {
      throw tooMany(
        'too_many_requests',
        `This account sends more than ${this.#most} requests a minute.`,
        (spent as RateLimiterRes).msBeforeNext,
      )
    }
  }
}

function tooMany(
  code: 'too_many_failures' | 'too_many_requests',
  problem: string,
  wait: number,
): ServerError {
  const seconds = Math.max(1, Math.ceil(wait / 1000))
  return new ServerError(code, `${problem} Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** An IPv4 address, or the network of an IPv6 address, because one user of IPv6 usually has 2^64 addresses. */
function network(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':')
    groups.push(...Array(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest)
  }
  return groups.slice(0, 4).join(':')
}
