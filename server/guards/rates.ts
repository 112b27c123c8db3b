import { createHash } from 'node:crypto'
import { type RateLimiterAbstract, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Database } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { sharedRate } from './shared-rate.ts'

const WINDOW_SECONDS = 60
/**
 * Somebody who guesses many keys often keeps their beginning, so wrong keys are also counted by this many characters.
 */
const BEGINNING = 6
/** How often a node tells the database how many requests it has passed. */
const TELL_MS = 1_000

/**
 * Counts wrong API keys by the address from which they come and by their beginning. Beyond the limit they are answered
 * with 429 instead of 401. A right key is always accepted, so that users who share an address with a guesser can work.
 */
export class FailedKeys {
  readonly #limiter: RateLimiterAbstract | undefined

  /** @param most wrong keys allowed in a minute, on all nodes together; 0 sets no limit */
  constructor(most: number, database: Database) {
    const own = most > 0 ? rate(most) : undefined
    this.#limiter = own && database.isShared ? sharedRate(database, own) : own
  }

  /** Counts a wrong key. @throws ServerError `too_many_failures` if there were too many */
  async count(address: string, key: string): Promise<void> {
    const limiter = this.#limiter
    if (!limiter) return
    const counted = [`from ${network(address)}`, `like ${key.slice(0, BEGINNING)}`].map(digest)
    const outcomes = await Promise.allSettled(counted.map((name) => limiter.consume(name)))
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

/**
 * Counts the requests of each account, or of each address without a key, if the configuration limits them. A node counts
 * in memory, so that no request waits for it, and tells the database every second what it has counted. If all nodes
 * together have passed more than the limit, each refuses the account or the address until the minute ends. So beyond the
 * limit it gets at most what it sends within that second, and never more than the limit on one node.
 */
export class RequestRate {
  readonly #most: number | null
  readonly #own: RateLimiterMemory | undefined
  readonly #all: RateLimiterAbstract | undefined
  readonly #whose: string
  /** Requests by name that the database has not been told of. */
  #untold = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param most requests allowed in a minute; null is "no limit" */
  constructor(most: number | null, database: Database, whose: 'account' | 'address' = 'account') {
    this.#most = most
    this.#whose = whose
    this.#own = most === null ? undefined : rate(most)
    this.#all = most !== null && database.isShared ? sharedRate(database, rate(most)) : undefined
  }

  get limited(): boolean {
    return this.#own !== undefined
  }

  /** @param name the account or the address @throws ServerError `too_many_requests` */
  async count(name: string): Promise<void> {
    try {
      await this.#own?.consume(name)
    } catch (spent) {
      throw tooMany(
        'too_many_requests',
        `This ${this.#whose} sends more than ${this.#most} requests a minute.`,
        (spent as RateLimiterRes).msBeforeNext,
      )
    }
    if (!this.#all) return
    this.#untold.set(name, (this.#untold.get(name) ?? 0) + 1)
    this.#tellLater()
  }

  #tellLater(): void {
    if (this.#timer) return
    this.#timer = setTimeout(async () => {
      await this.#tell(this.#all!)
      this.#timer = undefined
      if (this.#untold.size > 0) this.#tellLater()
    }, TELL_MS).unref()
  }

  async #tell(all: RateLimiterAbstract): Promise<void> {
    const untold = this.#untold
    this.#untold = new Map()
    for (const [name, requests] of untold) {
      try {
        await all.consume(name, requests)
      } catch (spent) {
        await this.#own!.block(name, (spent as RateLimiterRes).msBeforeNext / 1000)
      }
    }
  }
}

function rate(most: number): RateLimiterMemory {
  return new RateLimiterMemory({ points: most, duration: WINDOW_SECONDS })
}

/** So that no beginning of a key, right or wrong, is written into the database. */
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url')
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
export function network(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':')
    groups.push(...Array(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest)
  }
  return groups.slice(0, 4).join(':')
}
