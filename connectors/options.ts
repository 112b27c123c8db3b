import { nearest } from '../engine/util/nearest.ts'
import type { ProviderLimits } from './connector.ts'
import { ConnectorError, invalid, quoted } from './errors.ts'
import type { BreakerOptions } from './pipeline/breaker.ts'
import type { RetryOptions } from './pipeline/layers.ts'
import type { Timeouts } from './pipeline/transport.ts'
import { type LimitStore, memoryStore } from './pipeline/window.ts'
import { connectors } from './providers/index.ts'

export interface ProviderOverride {
  readonly baseUrl?: string
  /** The service's own key for the provider. */
  readonly key?: string
  readonly limits?: Partial<ProviderLimits>
}

/** An event that the operator may want to know of. Never contains keys or upstream addresses. */
export interface ConnectorEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly provider: string
  readonly message: string
  readonly cause?: unknown
}

/** Answers that several processes share, so that what all of them are asked for is fetched once. */
export interface AnswerStore {
  /**
   * The value that a process has fetched within the last `freshMs`, with its age; else what `fetch` gives, which the
   * others then find. One process at a time fetches a value; the others wait for it. If `fetch` throws, so does this,
   * and another one fetches.
   */
  read(
    key: string,
    freshMs: number,
    fetch: () => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<{ readonly value: unknown; readonly ageMs?: number }>
}

/** All options are optional; times are milliseconds if the name says so, else seconds. */
export interface ConnectorsOptions {
  /** By slug. */
  readonly overrides?: Readonly<Record<string, ProviderOverride>>
  /** Who runs this program, as a name and an address for mail. Providers are told, because some refuse all others. */
  readonly contact?: string
  /** File of the search index, created if it is missing; without this option the index is in memory. */
  readonly searchFile?: string
  /** Keeps the counted requests across restarts; without this option they are kept in memory. */
  readonly limitStore?: LimitStore
  /** Shares answers with other processes; without this option each process asks for itself. */
  readonly answers?: AnswerStore
  readonly cache?: {
    /** Limit for all cached answers together. Default 128 MiB. */
    readonly maxBytes?: number
    /** By slug: how long series stay fresh; categories and catalogues stay fresh 24 times as long. */
    readonly freshSeconds?: Readonly<Record<string, number>>
    /** How long after that an answer may still be used when the provider fails. Default 7 days. */
    readonly staleSeconds?: number
    /** How long a 'not found' of the provider, for a series or a path, is cached. Default 60. */
    readonly absentSeconds?: number
  }
  /** `queueMs`: how long to wait for an answer that the provider puts in a queue. Default 30 s. */
  readonly timeouts?: Partial<Timeouts & { readonly queueMs: number }>
  /** Limit for one answer of a provider, unpacked. Default 64 MiB. */
  readonly maxAnswerBytes?: number
  readonly retry?: Partial<RetryOptions>
  readonly breaker?: Partial<BreakerOptions>
  readonly log?: (event: ConnectorEvent) => void
  /** Milliseconds since 1970; replaced in tests. */
  readonly now?: () => number
}

/** The options with all defaults filled in. */
export type Settings = ReturnType<typeof withDefaults>

export function withDefaults(options: ConnectorsOptions) {
  const { cache = {}, overrides = {} } = options
  return {
    overrides: lowerCased(overrides),
    contact: options.contact,
    searchFile: options.searchFile ?? ':memory:',
    limitStore: options.limitStore ?? memoryStore(),
    answers: options.answers,
    cache: {
      maxBytes: cache.maxBytes ?? 128 * 1024 * 1024,
      freshSeconds: lowerCased(cache.freshSeconds ?? {}),
      staleSeconds: cache.staleSeconds ?? 7 * 86_400,
      absentSeconds: cache.absentSeconds ?? 60,
    },
    timeouts: { connectMs: 5000, headersMs: 20_000, bodyMs: 30_000, queueMs: 30_000, ...options.timeouts },
    maxAnswerBytes: options.maxAnswerBytes ?? 64 * 1024 * 1024,
    retry: { attempts: 3, baseMs: 300, longestMs: 3000, ...options.retry },
    breaker: { failures: 10, cooldownMs: 2000, longestCooldownMs: 15_000, ...options.breaker },
    log: options.log ?? (() => undefined),
    now: options.now ?? Date.now,
  }
}

function lowerCased<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).map(([slug, value]) => [slug.toLowerCase(), value]))
}

const OF_PROVIDER = ['baseUrl', 'key', 'limits'] satisfies (keyof ProviderOverride)[]
const OF_LIMITS = ['windows', 'withKey', 'concurrency'] satisfies (keyof ProviderLimits)[]

/**
 * Refuses what could not take effect, so that a misspelt option is not ignored.
 * @throws ConnectorError `unknown_provider`, `invalid_option`
 */
export function checkOptions(options: ConnectorsOptions): void {
  const known = withDefaults({})
  requireKnown(options, Object.keys(known))
  for (const group of ['cache', 'timeouts', 'retry', 'breaker'] as const) {
    requireKnown(options[group] ?? {}, Object.keys(known[group]))
  }
  const { overrides = {}, cache, contact = '' } = options
  if (!/^[\x20-\x7e]*$/.test(contact)) throw invalid('contact must be printable ASCII characters.')
  for (const slug of Object.keys({ ...overrides, ...cache?.freshSeconds })) {
    if (!connectors.some(({ info }) => info.slug === slug.toLowerCase())) throw unknownProvider(slug)
  }
  for (const [provider, override = {}] of Object.entries(overrides)) {
    const { baseUrl, limits = {} } = override
    requireKnown(override, OF_PROVIDER, provider)
    requireKnown(limits, OF_LIMITS, provider)
    requireLimits(provider.toLowerCase(), limits)
    if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      throw invalid(
        `The baseUrl of ${provider} is ${quoted(String(baseUrl))}, which is no address of the form https://example.org.`,
        provider,
      )
    }
  }
}

/**
 * @param provider that the options are of
 * @throws ConnectorError `invalid_option` if an option is not known, because one that is misspelt would otherwise be ignored
 */
export function requireKnown(given: object, known: readonly string[], provider?: string): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue
    const of = provider === undefined ? '' : ` of ${provider}`
    const near = nearest(name, known)
    const meant = near === undefined ? '' : ` Did you mean ${near}?`
    throw invalid(
      `Unknown option ${quoted(name)}${of}.${meant} Valid options: ${known.join(', ')}.`,
      provider,
    )
  }
}

export function unknownProvider(provider: string): ConnectorError {
  const slugs = connectors.map(({ info }) => info.slug).join(', ')
  const message = `There is no provider ${quoted(provider)}; valid providers: ${slugs}.`
  return new ConnectorError('unknown_provider', message, { provider })
}

/** With a limit of 0, no request would ever have room. */
function requireLimits(
  provider: string,
  { windows = [], withKey = [], concurrency = 1 }: Partial<ProviderLimits>,
): void {
  const all = [...windows, ...withKey]
  const counts = [concurrency, ...all.map(({ requests }) => requests)]
  const isWell = counts.every((count) => Number.isSafeInteger(count) && count > 0)
  if (isWell && all.every(({ perSeconds }) => perSeconds > 0 && perSeconds < Number.POSITIVE_INFINITY)) return
  const message = `In the limits of ${provider}, requests and concurrency must be whole numbers of 1 or more, and perSeconds more than 0.`
  throw invalid(message, provider)
}
