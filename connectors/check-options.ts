import type { ProviderLimits } from './connector.ts'
import { ConnectorError, quoted } from './errors.ts'
import type { ConnectorsOptions, ProviderOverride } from './options.ts'
import { connectors } from './providers/index.ts'

/** The names of a type's options, and of those within options that are objects. */
type Names<Options extends object> = {
  readonly [Name in keyof Options]-?:
    | true
    | (NonNullable<Options[Name]> extends object ? Names<NonNullable<Options[Name]>> : never)
}

const KNOWN: Names<ConnectorsOptions> = {
  overrides: true,
  searchFile: true,
  limitStore: true,
  answers: true,
  cache: { maxBytes: true, freshSeconds: true, staleSeconds: true, absentSeconds: true },
  timeouts: { connectMs: true, headersMs: true, bodyMs: true },
  maxAnswerBytes: true,
  retry: { attempts: true, baseMs: true, longestMs: true },
  breaker: { failures: true, cooldownMs: true, longestCooldownMs: true },
  log: true,
  now: true,
}

const KNOWN_OF_PROVIDER: Names<ProviderOverride> = {
  baseUrl: true,
  key: true,
  limits: { windows: true, withKey: true, concurrency: true },
}

/**
 * Refuses what could not take effect, so that a misspelt option is not ignored.
 * @throws ConnectorError `unknown_provider`, `invalid_option`
 */
export function checkOptions(options: ConnectorsOptions): void {
  requireKnown(options, KNOWN)
  const { overrides = {}, cache } = options
  requireProviders(Object.keys({ ...overrides, ...cache?.freshSeconds }))
  for (const [provider, override = {}] of Object.entries(overrides)) {
    const { baseUrl, limits = {} } = override
    requireKnown(override, KNOWN_OF_PROVIDER, provider)
    requireLimits(provider.toLowerCase(), limits)
    if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      throw invalid(
        `The baseUrl of ${provider} is ${quoted(String(baseUrl))}, which is no address of the form https://example.org.`,
        provider,
      )
    }
  }
}

function requireKnown(given: object, known: object, provider?: string): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (!Object.hasOwn(known, name)) {
      const of = provider === undefined ? '' : ` of ${provider}`
      const names = Object.keys(known).join(', ')
      throw invalid(`Unknown option ${quoted(name)}${of}; valid options: ${names}.`, provider)
    }
    const within: true | object = known[name as keyof typeof known]
    if (within !== true) requireKnown(value, within, provider)
  }
}

function requireProviders(slugs: readonly string[]): void {
  const known = connectors.map(({ info }) => info.slug)
  const provider = slugs.map((slug) => slug.toLowerCase()).find((slug) => !known.includes(slug))
  if (provider === undefined) return
  const message = `There is no provider ${quoted(provider)}; valid providers: ${known.join(', ')}.`
  throw new ConnectorError('unknown_provider', message, { provider })
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

function invalid(message: string, provider: string | undefined): ConnectorError {
  return new ConnectorError('invalid_option', message, provider === undefined ? {} : { provider })
}
