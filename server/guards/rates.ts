import { createHash } from 'node:crypto'
import type { RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Database, SqlValue } from '../../engine/index.ts'
import { Lazy } from '../../engine/util/lazy.ts'
import { ServerError } from '../http/errors.ts'

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
  readonly #limiter: Lazy<RateLimiterAbstract> | undefined

  /** @param most wrong keys allowed in a minute, on all nodes together; 0 sets no limit */
  constructor(most: number, database: Database) {
    this.#limiter =
      most > 0
        ? new Lazy(async () => (database.isShared ? await sharedRate(most, database) : await rate(most)))
        : undefined
  }

  /** Counts a wrong key. @throws ServerError `too_many_failures` if there were too many */
  async count(address: string, key: string): Promise<void> {
    const limiter = await this.#limiter?.get()
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
  readonly #own: Lazy<RateLimiterMemory> | undefined
  readonly #all: Lazy<RateLimiterAbstract> | undefined
  readonly #whose: string
  /** Requests by name that the database has not been told of. */
  #untold = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param most requests allowed in a minute; null is "no limit" */
  constructor(most: number | null, database: Database, whose: 'account' | 'address' = 'account') {
    this.#most = most
    this.#whose = whose
    if (most === null) return
    this.#own = new Lazy(() => rate(most))
    if (database.isShared) this.#all = new Lazy(() => sharedRate(most, database))
  }

  get limited(): boolean {
    return this.#own !== undefined
  }

  /** @param name the account or the address @throws ServerError `too_many_requests` */
  async count(name: string): Promise<void> {
    try {
      await (await this.#own?.get())?.consume(name)
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
      await this.#tell(await this.#all!.get())
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
        await (await this.#own!.get()).block(name, (spent as RateLimiterRes).msBeforeNext / 1000)
      }
    }
  }
}

/** The package is loaded when something is first counted: a server starts 14 ms earlier. */
async function rate(most: number): Promise<RateLimiterMemory> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible')
  return new RateLimiterMemory({ points: most, duration: WINDOW_SECONDS })
}

/** A statement as rate-limiter-flexible gives it to a client of PostgreSQL. */
interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/**
 * Counts in the database for all nodes together. Once a name has reached the limit, it is refused without asking again.
 * If the database does not answer, this node counts by itself.
 */
async function sharedRate(most: number, database: Database): Promise<RateLimiterAbstract> {
  const { RateLimiterPostgres } = await import('rate-limiter-flexible')
  return new RateLimiterPostgres({
    storeClient: {
      query: async ({ text, values }: Statement) => {
        const given: SqlValue[] = []
        const sql = text.replace(/\$(\d+)/g, (_, number) => {
          given.push(values[Number(number) - 1]!)
          return '?'
        })
        const rows = await database.transient((t) => t.all(sql, ...given))
        return { rows, rowCount: rows.length }
      },
    },
    storeType: 'client',
    tableName: 'request_rates',
    tableCreated: true,
    points: most,
    duration: WINDOW_SECONDS,
    inMemoryBlockOnConsumed: most,
    insuranceLimiter: await rate(most),
  })
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
