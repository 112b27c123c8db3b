import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type {
  Caller,
  Connector,
  ConnectorContext,
  ProviderInfo,
  UpstreamAnswer,
  UpstreamRequest,
  UserKey,
} from '../connector.ts'
import { ConnectorError, type ConnectorErrorCode, cancelled, FAULTS } from '../errors.ts'
import { type Asked, Failure, sanitised } from '../failures.ts'
import type { ProviderOverride, Settings } from '../options.ts'
import { addressOf } from './address.ts'
import { Allowance, fingerprint } from './allowances.ts'
import { Breaker } from './breaker.ts'
import { type Cache, type Read, unlessAborted } from './cache.ts'
import { type Exchange, type Handler, limitConcurrency, limited, retried } from './layers.ts'
import { openTransport } from './transport.ts'

type Operation = 'browse' | 'list' | 'series' | 'source' | 'many' | 'search' | 'catalogue' | 'releases'

/** Requests under way at once if the provider publishes no number. */
const CONCURRENCY = 8

/** Categories and catalogues change much more rarely than series, so they stay fresh this many times as long. */
const CATALOGUE_FRESHNESS = 24
/** Calendars, whose dates may move, are not fresh for longer, nor is what costs nothing to ask for again. */
const DAY_MS = 86_400_000

/**
 * The errors that make a check of a key fail. Others, such as a provider that is down, say nothing about the key, whose
 * first use will show whether it is good.
 */
const DECISIVE: readonly ConnectorErrorCode[] = ['key_rejected', 'cancelled']

/** What all requests of one call have in common. */
type Sending = Omit<Exchange, 'request'>

/** A connector with all that is between it and its callers, and between it and the network. */
export class Provider {
  readonly connector: Connector
  readonly info: ProviderInfo
  readonly breaker: Breaker
  /** The service's own key, if it has one and the provider takes keys. */
  readonly #key: string | undefined
  readonly #base: URL
  readonly #isOwnBase: boolean
  readonly #settings: Settings
  readonly #cache: Cache
  readonly #freshMs: number
  /** Two users who saved the same key share its limits, whose counts outlive the allowance in the store. */
  readonly #allowances = new LRUCache<string, Allowance>({ max: 1000 })
  readonly #send: Handler
  readonly close: () => Promise<void>

  /**
   * Builds the layers between a connector and the network. From the outside in: retries come first, so each retry passes
   * all other layers again; an open breaker refuses before limits are spent; limits are spent before a request waits for
   * a free slot, so that refusals are quick.
   */
  constructor(connector: Connector, settings: Settings, cache: Cache) {
    const { now, timeouts, maxAnswerBytes: maxBytes, retry, contact } = settings
    const override: ProviderOverride = settings.overrides[connector.info.slug] ?? {}
    const limits = { ...connector.info.limits, ...override.limits }
    this.connector = connector
    this.info = { ...connector.info, limits, baseUrl: override.baseUrl ?? connector.info.baseUrl }
    this.breaker = new Breaker(settings.breaker, now)
    this.#key = override.key
    this.#base = new URL(this.info.baseUrl)
    this.#isOwnBase = override.baseUrl === undefined
    this.#settings = settings
    this.#cache = cache
    this.#freshMs = 1000 * (settings.cache.freshSeconds[connector.info.slug] ?? connector.freshSeconds ?? 900)
    const transport = openTransport({ base: this.#base, timeouts, maxBytes, contact })
    const waitMs = timeouts.headersMs + timeouts.bodyMs
    const layers = [
      retried(retry),
      this.breaker.refuse,
      limited(now),
      limitConcurrency(limits.concurrency ?? CONCURRENCY, waitMs),
      this.breaker.observe,
    ]
    this.#send = layers.reduceRight((next, layer) => layer(next), transport.send)
    this.close = transport.close
  }

  /** The allowance of the user's own key, else of the service's; without a key, that of our address. */
  allowance(user?: UserKey): Allowance {
    return this.#allowanceOf(this.info.key === 'none' ? undefined : (user?.key ?? this.#key))
  }

  /** Runs one operation of a connector through the cache; `name` and `inputs` distinguish it from all others. */
  run<T>(
    caller: Caller,
    name: Operation,
    inputs: readonly unknown[],
    work: (connector: Connector, context: ConnectorContext) => Promise<T>,
  ): Promise<Read<T>> {
    const user = this.info.key === 'none' ? undefined : caller.userKey
    const allowance = this.allowance(user)
    const space = [this.info.slug, user === undefined ? '' : `${user.owner}/${fingerprint(user.key)}`]
    const isData = name === 'series' || name === 'many'
    const subject = name === 'search' ? undefined : (inputs[0] as string | undefined)
    const request = { subject, isSeries: isData || name === 'source' || name === 'releases' }
    const fill = (signal: AbortSignal) =>
      this.#guarded(allowance, request, () =>
        work(this.connector, this.#context({ allowance, account: caller.account, signal }, space)),
      )
    const key = JSON.stringify([...space, name, ...inputs])
    const freshMs = isData ? this.#freshMs : this.#catalogueMs(name === 'releases')
    return this.#cache.read(key, freshMs, fill, { ...caller, isShared: true })
  }

  #catalogueMs(isDaily = false): number {
    return Math.min(this.#freshMs * CATALOGUE_FRESHNESS, isDaily ? DAY_MS : Number.POSITIVE_INFINITY)
  }

  /** `unchecked` if the provider offers no check or can't answer now. @throws ConnectorError `key_rejected` */
  async checkKey(key: string, signal: AbortSignal): Promise<'accepted' | 'unchecked'> {
    const { connector, info } = this
    if (connector.checkKey === undefined || info.key === 'none') return 'unchecked'
    const allowance = this.#allowanceOf(key)
    const context = this.#context({ allowance, account: undefined, signal }, [info.slug, fingerprint(key)])
    const checked = this.#guarded(allowance, {}, async () => connector.checkKey?.(context))
    try {
      await unlessAborted(checked, signal)
      return 'accepted'
    } catch (error) {
      if (!(error instanceof ConnectorError) || DECISIVE.includes(error.code)) throw error
      return 'unchecked'
    }
  }

  /** What a connector may use for one call; `space` distinguishes what it caches from what others may not see. */
  #context(sending: Sending, space: readonly string[]): ConnectorContext {
    const { allowance, signal } = sending
    return {
      send: (request) => this.#ask(request, sending),
      cached: async (request, read) => {
        const key = JSON.stringify([...space, 'request', request])
        const fetch = async (signal: AbortSignal) => read(await this.#ask(request, { ...sending, signal }))
        return (await this.#cache.read(key, this.#catalogueMs(request.isFree), fetch, { signal })).value
      },
      pause: (attempt) => this.#pause(attempt, signal),
      key: allowance.key,
    }
  }

  /** Waits twice as long with each attempt, from a thirty-second of the whole time on. */
  async #pause(attempt: number, signal: AbortSignal): Promise<boolean> {
    const share = 2 ** attempt / 64
    if (share > 1 / 2) return false
    await sleep(this.#settings.timeouts.queueMs * share, undefined, { signal }).catch(() => {
      throw cancelled()
    })
    return true
  }

  #allowanceOf(key: string | undefined): Allowance {
    const { limitStore, now } = this.#settings
    const allowance = this.#allowances.get(key ?? '') ?? new Allowance(this.info, key, limitStore, now)
    this.#allowances.set(key ?? '', allowance)
    return allowance
  }

  /** Sends through all layers. 408 and 504 become `provider_slow`, other statuses of 500 or more `provider_down`. */
  async #ask(request: UpstreamRequest, sending: Sending): Promise<UpstreamAnswer> {
    const { allowance } = sending
    if (this.info.key === 'required' && allowance.key === undefined) {
      throw new Failure('no-key', { what: this.info.keyPage ?? '' })
    }
    // Refuses an id that would climb out of the base address before the request costs anything.
    addressOf(this.#base, request)
    const { query, headers } = this.connector.common?.(allowance.key) ?? {}
    const whole = {
      ...request,
      host: this.#isOwnBase ? request.host : undefined,
      query: { ...request.query, ...query },
      headers: { ...request.headers, ...headers },
    }
    const answer = await this.#send({ ...sending, request: whole })
    const isSlow = answer.status === 408 || answer.status === 504
    if (answer.status < 500 && !isSlow) return answer
    throw new Failure(isSlow ? 'slow' : 'failing', { what: `status ${answer.status}` })
  }

  /** Runs the work and turns anything it throws into an error that may be shown; logs what the operator should know. */
  async #guarded<T>(
    allowance: Allowance,
    request: Omit<Asked, 'provider' | 'hasKey'>,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      const { href, host, hostname } = this.#base
      const secrets = [allowance.key, this.#key, href, host, hostname].filter((each) => each !== undefined)
      const hasKey = allowance.key !== undefined
      const error = sanitised(thrown, { provider: this.info, hasKey, ...request }, secrets)
      // The provider reported this limit in the body of an answer, so our own limits, whose errors are shown as they
      // are, don't know of it yet.
      if (error.code === 'provider_limit' && error !== thrown) {
        await allowance.block('provider_limit', error.retryAfter ?? 60)
      }
      // A provider that sends another series than the one asked for.
      const isOther = error.code === 'series_not_found' && error.cause !== undefined
      if (isOther || FAULTS.includes(error.code)) {
        const level = error.code === 'not_understood' ? 'error' : 'warn'
        this.#settings.log({ level, provider: this.info.slug, message: error.message, cause: error.cause })
      }
      throw error
    }
  }
}
