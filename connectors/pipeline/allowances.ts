import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LimitState, ProviderInfo } from '../connector.ts'
import { ConnectorError, cancelled } from '../errors.ts'
import { type LimitEntries, type LimitStore, SlidingWindow } from './window.ts'

const DAY_SECONDS = 86_400
/** The errors of requests during a pause that the provider asked for. */
const PAUSES = ['provider_limit', 'provider_down'] as const
type Pause = (typeof PAUSES)[number]

/** How long a request waits for room in a limit before it is refused. */
const PATIENCE_MS = 5000

/** The limits that a user's request counts against: those of one key, or of our address if there is no key. */
export class Allowance {
  readonly key: string | undefined
  readonly #name: string
  readonly #provider: ProviderInfo
  readonly #windows: readonly SlidingWindow[]
  readonly #store: LimitStore
  /** When the pauses end that the provider itself asked for; they are kept across restarts. */
  readonly #pauses = new Map<Pause, number>()
  readonly #now: () => number
  #turn: Promise<void> = Promise.resolve()

  constructor(provider: ProviderInfo, key: string | undefined, store: LimitStore, now: () => number) {
    const { windows, withKey = windows } = provider.limits
    this.#name = `${provider.slug}/${key === undefined ? 'keyless' : fingerprint(key)}/`
    this.key = key
    this.#provider = provider
    this.#store = store
    this.#now = now
    this.#windows = (key === undefined ? windows : withKey).map(
      (limit) => new SlidingWindow(limit, this.#name.slice(0, -1)),
    )
    this.#load(store.seen, now())
  }

  /**
   * Counts one request in every window, or in none if it `isFree`, or throws `provider_limit`. If a wait of a few seconds is enough, it waits;
   * requests are served in the order in which they came. Returns a function that takes the request back if it never
   * left.
   */
  async take(signal: AbortSignal, isFree = false): Promise<() => Promise<void>> {
    const before = this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = promise
    const arrived = performance.now()
    try {
      await before
      for (;;) {
        if (signal.aborted) throw cancelled()
        const now = this.#now()
        const taken = isFree ? this.#tryFree(now) : await this.#tryTake(now)
        if (typeof taken === 'function') return taken
        if (performance.now() - arrived + taken > PATIENCE_MS) throw this.#refused(now, taken)
        await sleep(taken, undefined, { signal }).catch(() => undefined)
      }
    } finally {
      resolve()
    }
  }

  /** The same for a request that counts in no window: only the pauses that the provider asked for hold it back. */
  #tryFree(now: number): (() => Promise<void>) | number {
    const wait = Math.max(now, ...this.#pauses.values()) - now
    return wait > 0 ? wait : async () => undefined
  }

  /** Counts a request and returns a function that takes it back; or returns how many milliseconds to wait. */
  async #tryTake(here: number): Promise<(() => Promise<void>) | number> {
    if (this.#windows.length === 0 && this.#freeAt(here) <= here) return async () => undefined
    return this.#store.exclusively(this.#name, (entries, now = here) => {
      this.#load(entries, now)
      const wait = this.#freeAt(now) - now
      if (wait > 0) return wait
      const undo = this.#windows.map((window) => window.take(entries, now))
      return () =>
        this.#store.exclusively(this.#name, (later, then = this.#now()) => {
          this.#load(later, then)
          for (const each of undo) each(later)
        })
    })
  }

  /**
   * For requests that an answer can do without: throws `provider_limit` if half is used of a limit that takes longer to
   * renew than a request waits.
   */
  requireHeadroom(): void {
    const now = this.#now()
    const isLong = ({ limit }: SlidingWindow) => limit.perSeconds * 1000 > PATIENCE_MS
    const isPlenty = this.#windows.filter(isLong).every((each) => 2 * each.used(now) < each.limit.requests)
    if (!isPlenty) throw this.#refused(now, this.#freeAt(now) - now)
  }

  #load(entries: Pick<LimitEntries, 'load'>, now: number): void {
    for (const each of this.#windows) each.load(entries, now)
    for (const code of PAUSES) {
      const until = entries.load(this.#name + code)?.expiresAt ?? 0
      this.#pauses.set(code, Math.max(this.#pauses.get(code) ?? 0, until))
    }
  }

  /** Records that the provider asked for a pause: no request leaves before it is over. */
  async block(code: Pause, seconds: number): Promise<void> {
    await this.#store.exclusively(this.#name, (entries, now = this.#now()) => {
      const until = now + seconds * 1000
      if (until <= this.#pauses.get(code)!) return
      this.#pauses.set(code, until)
      entries.save(this.#name + code, 1, until)
    })
  }

  /** The window that restricts most: one that is used up, else the one with the lowest rate. */
  tightest(): LimitState {
    const now = this.#now()
    const rated = this.#windows.toSorted((a, b) => rate(a) - rate(b) || span(b) - span(a))
    const window = rated.toSorted((a, b) => b.freeAt(now) - a.freeAt(now))[0]
    const blockedUntil = Math.max(...this.#pauses.values())
    const isBlocked = blockedUntil > now
    const resetsAt = isBlocked ? Math.max(blockedUntil, window?.freeAt(now) ?? 0) : window?.resetsAt(now)
    return {
      requests: window?.limit.requests ?? null,
      perSeconds: window?.limit.perSeconds ?? null,
      remaining: isBlocked ? 0 : window ? Math.max(0, window.limit.requests - window.used(now)) : null,
      resetsAt: resetsAt === undefined ? null : new Date(resetsAt).toISOString(),
    }
  }

  #freeAt(now: number): number {
    return Math.max(now, ...this.#pauses.values(), ...this.#windows.map((each) => each.freeAt(now)))
  }

  #refused(now: number, wait: number): ConnectorError {
    const { key, name, slug } = this.#provider
    // Our windows count a little longer than the provider's, but no limit lasts longer than a day.
    const retryAfter = Math.min(Math.ceil(wait / 1000), DAY_SECONDS)
    const until = `Try again in ${retryAfter} s`
    const pause = PAUSES.find((code) => this.#pauses.get(code)! > now)
    if (pause === 'provider_down') {
      const sentence = `${name} asks to be left alone for a while. ${until}.`
      return new ConnectorError('provider_down', sentence, { provider: slug, retryAfter })
    }
    const spent = this.#windows.toSorted((a, b) => b.freeAt(now) - a.freeAt(now))[0]
    const limit =
      pause !== undefined || spent === undefined
        ? `The request limit of ${name} has been reached`
        : `The limit of ${name}, ${requestsText(spent.limit.requests)} ${durationText(spent.limit.perSeconds)}, has been reached`
    return new ConnectorError('provider_limit', `${limit}. ${until}.`, {
      provider: slug,
      retryAfter,
      remedy: key === 'none' ? undefined : 'own-key',
    })
  }
}

/** Distinguishes keys without revealing them. */
export function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}

const rate = (window: SlidingWindow) => window.limit.requests / window.limit.perSeconds
const span = (window: SlidingWindow) => window.limit.perSeconds

const requestsText = (count: number) => (count === 1 ? '1 request' : `${count} requests`)

function durationText(seconds: number): string {
  const units = { 1: 'a second', 60: 'a minute', 3600: 'an hour', 86400: 'a day' }
  return units[seconds as keyof typeof units] ?? `in ${seconds} seconds`
}
