import { readFileSync } from 'node:fs'
import { delimiter, dirname, resolve } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import {
  type EngineOptions,
  nearest,
  type ObjectStoreOptions,
  type TrinoOptions,
} from '../../engine/index.ts'
import { faultSentence, jsonFault, jsonPath } from '../http/answer-errors.ts'
import { type CheckedConfig, CONFIG_SCHEMA, type Config, variableOf } from './schema.ts'

/** An error in the configuration. Its message is a sentence that names the setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Arguments of the command line, as text. They take precedence over the environment, and that over the file. */
export interface ConfigArguments {
  readonly host?: string
  readonly port?: string
  readonly data?: string
  readonly database?: string
  readonly store?: string
  readonly samples?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>
type Settings = Record<string, unknown>

/** For each setting that doesn't come from the file, by its JSON pointer, the name of the variable or argument. */
type Names = Map<string, string>

interface Setting {
  readonly type: string
  readonly default?: unknown
  readonly properties?: object
  readonly fileOnly?: boolean
  readonly secret?: boolean
}

const SETTINGS = Object.entries(CONFIG_SCHEMA.properties) as [string, Setting][]

const hasScheme = (text: string, scheme: RegExp) => scheme.test(URL.parse(text)?.protocol ?? '')

// Ajv looks at the schema itself even without compiling the schema of schemas.
const ajv = new Ajv({
  useDefaults: true,
  allowUnionTypes: true,
  verbose: true,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
  keywords: ['about', 'fileOnly', 'secret'],
  formats: {
    'web-address': (text) => hasScheme(text, /^https?:$/),
    // Origins are compared with the header as texts, so another spelling would never match. Extensions of browsers have
    // schemes of their own.
    origin: (text) =>
      text === '*' ||
      (/^https?:/.test(text) ? URL.parse(text)?.origin === text : /^[a-z-]+:\/\/[^/]+$/.test(text)),
    'postgres-address': (text) => hasScheme(text, /^postgres(ql)?:$/),
    'trino-address': (text) => hasScheme(text, /^https?:$/) && /^\/[a-z0-9_]+$/.test(new URL(text).pathname),
  },
})

/**
 * Reads arguments, environment and the file that `PARQUETRY_CONFIG` names into one complete configuration.
 * @throws ConfigError naming the setting that is unknown or wrong
 */
export function readConfig(given: ConfigArguments = {}, environment: Environment = process.env): Config {
  const settings = readFile(environment['PARQUETRY_CONFIG'])
  const names: Names = new Map()
  // The file is also checked by itself, so that a wrong setting in it is an error even if a variable overrides it.
  checked(structuredClone(settings), names)
  for (const [name, setting] of SETTINGS) {
    const variable = variableOf(name, setting) ?? ''
    const argument = (given as Settings)[name]
    // An empty variable counts as not set.
    const text = argument ?? (environment[variable] || undefined)
    if (text === undefined) continue
    settings[name] = typed(setting.type, text)
    names.set(`/${name}`, argument === undefined ? variable : name)
  }
  const providers = providersOf(settings['providers'], environment, names)
  if (!isObject(providers) || Object.keys(providers).length > 0) settings['providers'] = providers
  const config = checked(settings, names)
  requireBoth(config)
  return { ...config, data: resolve(config.data), plans: config.plans as Config['plans'] }
}

/**
 * The settings with all defaults. Only the schemas of the settings that are given are compiled, usually three or four:
 * compiling all of them takes a tenth of the time of a start.
 */
function checked(settings: Settings, names: Names): CheckedConfig {
  const given = SETTINGS.filter(([name]) => Object.hasOwn(settings, name))
  // The message about an unknown name lists all settings, so the whole schema has to find it.
  const known = given.length === Object.keys(settings).length
  const schema = known
    ? { ...CONFIG_SCHEMA, required: [], properties: Object.fromEntries(given) }
    : CONFIG_SCHEMA
  const check = ajv.compile(schema)
  if (!check(settings)) throw new ConfigError(sentence(check.errors![0]!, names))
  return { ...defaultsOf(CONFIG_SCHEMA.properties), ...settings } as CheckedConfig
}

/** The defaults of an object's properties, as Ajv adds them to an empty object. */
function defaultsOf(object: object): Settings {
  const defaults = (Object.entries(object) as [string, Setting][]).map(([name, setting]) => {
    const { default: value, properties } = setting
    return [name, isObject(value) && properties ? defaultsOf(properties) : value] as const
  })
  return Object.fromEntries(defaults.filter(([, value]) => value !== undefined))
}

/**
 * Converts the text of a variable or argument to the setting's type. If it can't, the schema check reports the text.
 */
function typed(type: string, text: unknown): unknown {
  if (type === 'integer' && /^\d+$/.test(String(text))) return Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(String(text))) return text === 'true'
  return text
}

/**
 * Other nodes can't reach rows in a data directory, and nothing keeps them from removing rows of a catalog that only one
 * of them knows.
 */
function requireBoth({ database, store }: CheckedConfig): void {
  if ((database === undefined) === (store === undefined)) return
  const [given, missing] =
    store === undefined
      ? ['PARQUETRY_DATABASE', 'PARQUETRY_STORE (s3://bucket/prefix)']
      : ['PARQUETRY_STORE', 'PARQUETRY_DATABASE (postgres://user:password@host/database)']
  throw new ConfigError(
    `${given} is set without ${missing}. Set both to run on more than one machine. On one machine set neither: ` +
      'everything is then in the data directory.',
  )
}

function readFile(file: string | undefined): Settings {
  if (!file) return {}
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`PARQUETRY_CONFIG: can't read ${file} (${(error as NodeJS.ErrnoException).code}).`)
  }
  let settings: unknown
  try {
    settings = JSON.parse(content)
  } catch (error) {
    throw new ConfigError(`PARQUETRY_CONFIG: ${file} is not JSON: ${jsonFault(error)}.`)
  }
  if (!isObject(settings)) throw new ConfigError('The configuration must be an object.')
  for (const [name, setting] of SETTINGS) {
    if (setting.secret && Object.hasOwn(settings, name)) {
      throw new ConfigError(`${name} is not a setting of the file; set it with ${variableOf(name, setting)}.`)
    }
  }
  const { data } = settings
  // A relative path in the file starts from the file's own folder.
  return typeof data === 'string' ? { ...settings, data: resolve(dirname(file), data) } : { ...settings }
}

/**
 * The configured providers by slug in lower case, with the variables `PARQUETRY_PROVIDER_<SLUG>_URL` and `…_KEY` added.
 * The slug in a variable is in capitals, with `_` for `-`.
 */
function providersOf(given: unknown, environment: Environment, names: Names): unknown {
  if (given !== undefined && !isObject(given)) return given
  const providers: Settings = {}
  for (const [slug, override] of Object.entries(given ?? {})) providers[slug.toLowerCase()] = override
  for (const [name, value] of Object.entries(environment)) {
    const match = /^PARQUETRY_PROVIDER_([A-Z0-9_]+)_(URL|KEY)$/.exec(name)
    if (!match || !value) continue
    const slug = match[1]!.toLowerCase().replaceAll('_', '-')
    const setting = match[2]!.toLowerCase()
    providers[slug] = { ...(providers[slug] as object | undefined), [setting]: value }
    names.set(`/providers/${slug}/${setting}`, name)
  }
  return providers
}

/** Variables that other code reads: the command, and the processes that the server starts. */
const OTHER_VARIABLES = /^PARQUETRY_(?:CONFIG|SERVER|KEY|READER|PROVIDER_.*_(?:URL|KEY))$/

/** A sentence for each variable that is no setting but nearly has the name of one. Others may be somebody else's. */
export function unknownVariables(environment: Environment = process.env): string[] {
  const known = SETTINGS.flatMap(([name, setting]) => variableOf(name, setting) ?? [])
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith('PARQUETRY_') || known.includes(name) || OTHER_VARIABLES.test(name)) return []
    const meant = nearest(name, known)
    return meant === undefined ? [] : [`The variable ${name} is no setting. Did you mean ${meant}?`]
  })
}

/** A sentence about the error that Ajv found, with the name under which the setting was given. */
function sentence(error: ErrorObject, names: Names): string {
  const { instancePath, keyword, params, parentSchema } = error
  if (keyword === 'additionalProperties') {
    const known = Object.entries((parentSchema?.['properties'] ?? {}) as Record<string, Setting>)
    const settings = known.filter(([, { secret }]) => !secret).map(([name]) => name)
    const given = String(params['additionalProperty'])
    const meant = nearest(given, settings)
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    const unknown = jsonPath(`${instancePath}/${given}`)
    return `${unknown} is not a setting.${hint} Valid settings: ${settings.join(', ')}.`
  }
  return faultSentence(error, 'The configuration', names.get(instancePath))
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The engine's options for the store of objects; undefined if rows are kept in the data directory. */
export function objectStore(config: Config): ObjectStoreOptions | undefined {
  const { store, cacheBytes, httpfs } = config
  return store === undefined ? undefined : { address: store, ...s3Access(config), cacheBytes, httpfs }
}

/** The engine's options for files that may be attached. */
export function attachableIn(config: Config): Pick<EngineOptions, 'attachable' | 's3'> {
  const { attachable = '', cacheBytes, httpfs } = config
  // The colon of s3:// separates nothing.
  const folders = attachable.split(delimiter === ':' ? /:(?!\/\/)/ : delimiter)
  return {
    attachable: folders.filter((folder) => folder !== ''),
    s3: { ...s3Access(config), cacheBytes, httpfs },
  }
}

/** How object stores are reached. */
export function s3Access({ s3Endpoint, s3Region, s3PathStyle }: Config) {
  return { endpoint: s3Endpoint, region: s3Region, pathStyle: s3PathStyle }
}

/** The engine's options for a Trino; undefined if there is none. */
export function distributed({ trinoUrl, trino, timeouts }: Config): TrinoOptions | undefined {
  // If Trino fails later than this, DuckDB would hardly give the first byte in time.
  return trinoUrl === undefined ? undefined : { url: trinoUrl, ...trino, retryWithin: timeouts.firstByte / 2 }
}

/** How long a statement of SQL waits for a process: three are waited for at most, before the first byte is due. */
export function sqlWait({ timeouts }: Config): number {
  return Math.ceil(timeouts.firstByte / 4)
}
