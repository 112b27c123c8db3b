import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { jsonFault } from '../http/json-fault.ts'
import {
  address,
  boolean,
  ConfigError,
  integer,
  list,
  mapOf,
  object,
  oneOf,
  orNull,
  type Reader,
  text,
} from './config-reader.ts'

export { ConfigError } from './config-reader.ts'

/** What a plan allows; null is "no limit". */
export interface PlanLimits {
  readonly privateRepositories: number | null
  readonly paidProviders: boolean
  /** Rows of datasets downloaded in a calendar month, UTC. */
  readonly exportedRows: number | null
}

/** Where a provider is reached and with which key of the service's own, if not as the connector says. */
export interface ProviderOverride {
  readonly url?: string
  readonly key?: string
  /** In place of the provider's published limits. */
  readonly limits?: {
    readonly windows?: readonly { readonly requests: number; readonly perSeconds: number }[]
    readonly withKey?: readonly { readonly requests: number; readonly perSeconds: number }[]
    readonly concurrency?: number
  }
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Everything the server can be told, checked and complete. Times are milliseconds. */
export interface Config {
  readonly host: string
  readonly port: number
  /** The data directory, absolute. */
  readonly data: string
  readonly logLevel: (typeof LOG_LEVELS)[number]
  /** Whether the sample data is loaded into an empty data directory. */
  readonly samples: boolean
  /** The first account's key; a generated one where undefined. */
  readonly rootKey: string | undefined
  /** Encrypts saved provider keys; a generated one in the data directory where undefined. */
  readonly secret: string | undefined
  readonly plans: Readonly<Record<string, PlanLimits>>
  readonly timeouts: {
    /** From the arrival of a request for data to its first byte. */
    readonly firstByte: number
    /** Without any progress of a download or an upload. */
    readonly stall: number
    /** A whole download or upload. */
    readonly transfer: number
    /** In the queue, for a place to run. */
    readonly queue: number
    /** For requests under way, when the server is stopped. */
    readonly shutdown: number
    /** A request to a provider. */
    readonly provider: number
    /** A connection on which nothing moves. */
    readonly idle: number
  }
  readonly limits: {
    /** Downloads that run at once, in all and of one account. */
    readonly exports: number
    readonly exportsPerAccount: number
    readonly uploads: number
    readonly uploadsPerAccount: number
    /** Downloads, and uploads, that may wait for a place. */
    readonly queue: number
    readonly uploadBytes: number
    readonly unpackedBytes: number
    /** JSON bodies that are not uploads. */
    readonly bodyBytes: number
    /** The request line and the headers. */
    readonly headerBytes: number
    /** Series saved with one request. */
    readonly savedSeries: number
    /** Rows of a page of the OData service, where the client asks for no smaller ones. */
    readonly odataPageRows: number
  }
  /** 0 switches a check off. */
  readonly shedding: { readonly eventLoopDelay: number; readonly memoryBytes: number }
  readonly engine: { readonly threads?: number; readonly workers?: number; readonly memoryLimit?: string }
  /** Origins whose pages may call the service; none by default. `*` is every origin. */
  readonly cors: { readonly origins: readonly string[] }
  /** By slug. */
  readonly providers: Readonly<Record<string, ProviderOverride>>
}

const MIB = 2 ** 20
const GIB = 2 ** 30

const PLANS: Readonly<Record<string, PlanLimits>> = {
  free: { privateRepositories: 1, paidProviders: false, exportedRows: 1_000_000 },
  pro: { privateRepositories: 50, paidProviders: true, exportedRows: 100_000_000 },
  unlimited: { privateRepositories: null, paidProviders: true, exportedRows: null },
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  data: 'data/store',
  logLevel: 'info',
  samples: true,
  timeouts: {
    firstByte: 30_000,
    stall: 30_000,
    transfer: 3_600_000,
    queue: 5_000,
    shutdown: 20_000,
    provider: 20_000,
    idle: 120_000,
  },
  limits: {
    exports: 24,
    exportsPerAccount: 12,
    uploads: 16,
    uploadsPerAccount: 8,
    queue: 64,
    uploadBytes: 16 * GIB,
    unpackedBytes: 64 * GIB,
    bodyBytes: 1 * MIB,
    headerBytes: 160 * 1024,
    savedSeries: 100,
    odataPageRows: 100_000,
  },
  shedding: { eventLoopDelay: 1_000, memoryBytes: 0 },
  engine: {},
  cors: { origins: [] },
} as const

const milliseconds = integer(1, 7 * 86_400_000)
const count = integer(1, 1_000_000)

const partOfWindow = object({ requests: count, perSeconds: integer(1) })

const WINDOW: Reader<{ requests: number; perSeconds: number }> = (value, where) => {
  const { requests, perSeconds } = partOfWindow(value, where)
  if (requests !== undefined && perSeconds !== undefined) return { requests, perSeconds }
  throw new ConfigError(`${where} must say requests and perSeconds.`)
}

const FILE = object({
  host: text,
  port: integer(0, 65_535),
  data: text,
  logLevel: oneOf(...LOG_LEVELS),
  samples: boolean,
  plans: mapOf(
    object({
      privateRepositories: orNull(integer(0)),
      paidProviders: boolean,
      exportedRows: orNull(integer(0)),
    }),
  ),
  timeouts: object({
    firstByte: milliseconds,
    stall: milliseconds,
    transfer: milliseconds,
    queue: milliseconds,
    shutdown: milliseconds,
    provider: milliseconds,
    idle: milliseconds,
  }),
  limits: object({
    exports: count,
    exportsPerAccount: count,
    uploads: count,
    uploadsPerAccount: count,
    queue: integer(0, 1_000_000),
    uploadBytes: integer(1),
    unpackedBytes: integer(1),
    bodyBytes: integer(1, 256 * MIB),
    headerBytes: integer(16 * 1024, 16 * MIB),
    savedSeries: count,
    odataPageRows: integer(1, 100_000_000),
  }),
  shedding: object({ eventLoopDelay: integer(0), memoryBytes: integer(0) }),
  engine: object({ threads: count, workers: count, memoryLimit: text }),
  cors: object({ origins: list(text) }),
  providers: mapOf(
    object({
      url: address,
      key: text,
      limits: object({ windows: list(WINDOW), withKey: list(WINDOW), concurrency: count }),
    }),
  ),
})

/** Arguments of the command line, as text; they win over the environment, and that wins over the file. */
export interface ConfigArguments {
  readonly host?: string
  readonly port?: string
  readonly data?: string
  readonly samples?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads arguments, environment and the file that `PARQUETRY_CONFIG` names into one complete configuration.
 * @throws ConfigError naming the setting that is unknown or wrong
 */
export function readConfig(given: ConfigArguments = {}, environment: Environment = process.env): Config {
  const file = environment['PARQUETRY_CONFIG']
  const settings = FILE(file ? parseFile(file) : {}, '')
  const set = (name: string) => environment[`PARQUETRY_${name}`] || undefined
  const port = given.port ?? set('PORT')
  // A path in the file is meant from the file's own folder.
  const inFile = settings.data === undefined ? undefined : resolve(dirname(file!), settings.data)
  const level = set('LOG_LEVEL')
  return {
    host: given.host ?? set('HOST') ?? settings.host ?? DEFAULTS.host,
    port: port === undefined ? (settings.port ?? DEFAULTS.port) : parsePort(port),
    data: resolve(given.data ?? set('DATA') ?? inFile ?? DEFAULTS.data),
    logLevel:
      level === undefined
        ? (settings.logLevel ?? DEFAULTS.logLevel)
        : oneOf(...LOG_LEVELS)(level, 'PARQUETRY_LOG_LEVEL'),
    samples: given.samples ?? settings.samples ?? DEFAULTS.samples,
    rootKey: checkedRootKey(set('ROOT_KEY')),
    secret: set('SECRET'),
    plans: completePlans(settings.plans ?? {}),
    timeouts: { ...DEFAULTS.timeouts, ...settings.timeouts },
    limits: { ...DEFAULTS.limits, ...settings.limits },
    shedding: { ...DEFAULTS.shedding, ...settings.shedding },
    engine: { ...DEFAULTS.engine, ...settings.engine },
    cors: { ...DEFAULTS.cors, ...settings.cors },
    providers: withEnvironment(settings.providers ?? {}, environment),
  }
}

function parseFile(file: string): unknown {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`PARQUETRY_CONFIG: can't read ${file} (${(error as NodeJS.ErrnoException).code}).`)
  }
  try {
    return JSON.parse(content)
  } catch (error) {
    throw new ConfigError(`PARQUETRY_CONFIG: ${file} is not JSON: ${jsonFault(error)}.`)
  }
}

function parsePort(given: string): number {
  return integer(0, 65_535)(/^\d+$/.test(given) ? Number(given) : given, 'The port')
}

const SHORTEST_ROOT_KEY = 16

function checkedRootKey(key: string | undefined): string | undefined {
  if (key === undefined) return undefined
  if (key.length < SHORTEST_ROOT_KEY) {
    throw new ConfigError(`PARQUETRY_ROOT_KEY must have at least ${SHORTEST_ROOT_KEY} characters.`)
  }
  // Basic authentication ends the user name at the first colon and has no way to write a control character.
  if (/[:\x00-\x1f\x7f]/.test(key)) {
    throw new ConfigError('PARQUETRY_ROOT_KEY must hold no colon and no control character.')
  }
  return key
}

function completePlans(given: Readonly<Record<string, Partial<PlanLimits>>>): Config['plans'] {
  const plans: Record<string, PlanLimits> = { ...PLANS }
  for (const [name, limits] of Object.entries(given)) {
    const complete = { ...plans[name], ...limits }
    const missing = Object.keys(PLANS['free']!).filter((key) => !Object.hasOwn(complete, key))
    if (missing.length > 0) {
      throw new ConfigError(`plans.${name} is a new plan, so it must also say ${missing.join(' and ')}.`)
    }
    plans[name] = complete as PlanLimits
  }
  return plans
}

/** `PARQUETRY_PROVIDER_<SLUG>_URL` and `…_KEY`, the slug in capitals with `_` for `-`. */
function withEnvironment(
  providers: Readonly<Record<string, ProviderOverride>>,
  environment: Environment,
): Config['providers'] {
  const merged: Record<string, ProviderOverride> = {}
  for (const [slug, override] of Object.entries(providers)) merged[slug.toLowerCase()] = override
  for (const [name, value] of Object.entries(environment)) {
    const match = /^PARQUETRY_PROVIDER_([A-Z0-9_]+)_(URL|KEY)$/.exec(name)
    if (!match || !value) continue
    const slug = match[1]!.toLowerCase().replaceAll('_', '-')
    const setting = match[2] === 'URL' ? { url: address(value, name) } : { key: value }
    merged[slug] = { ...merged[slug], ...setting }
  }
  return merged
}
