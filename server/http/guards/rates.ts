import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { ServerError } from '../errors.ts'

const WINDOW_SECONDS = 60
/** Who guesses many keys often keeps their beginning; so much of a key is held against later ones. */
const BEGINNING = 6

/**
 * Counts wrong API keys, by the address that they come from and by their beginning. Past the limit they are answered
 * with 429 in place of 401. A right key is never held up: whoever shares an address with a guesser goes on working.
 */
export class FailedKeys {
  readonly #limiter: RateLimiterMemory | undefined

  /** `most`: in a minute; 0 counts nothing. */
  constructor(most: number) {
    this.#limiter = most > 0 ? new RateLimiterMemory({ points: most, duration: WINDOW_SECONDS }) : undefined
  }

  /** Counts a wrong key. @throws ServerError `too_many_failures` where there were too many */
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

/** Counts the requests of each account, where the configuration limits them. */
export class RequestRate {
  readonly #limiter: RateLimiterMemory | undefined
  readonly #most: number | null

  /** `most`: in a minute; null is "no limit". */
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

/** An address of IPv4, or the network of one of IPv6: whoever has one there has 2^64. */
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
