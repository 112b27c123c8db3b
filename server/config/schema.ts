import { MEMORY_LIMIT } from '../../engine/duckdb/instance.ts'
import { MOST_THREADS } from '../../engine/engine-options.ts'
import { type FromSchema, type JsonSchema, object } from '../records/schema.ts'
import { PLANS, type PlanLimits } from './plans.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

const milliseconds = (byDefault: number) =>
  ({ type: 'integer', minimum: 1, maximum: 7 * 86_400_000, default: byDefault }) as const
const count = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const
const bytes = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const
const natural = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const text = { type: 'string', minLength: 1 } as const
const ADDRESS = { type: 'string', format: 'web-address', description: 'an http or https address' } as const

type Defaulted<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never
}[keyof Properties]

/** An object of settings. Those that have a default are always present in a configuration; the others may be missing. */
function fields<const Properties extends Readonly<Record<string, JsonSchema>>>(properties: Properties) {
  const required = Object.keys(properties).filter((name) => 'default' in properties[name]!)
  return {
    type: 'object',
    additionalProperties: false,
    required: required as unknown as readonly Defaulted<Properties>[],
    properties,
  } as const
}

/** A group of settings that need not be given. */
function group<const Properties extends Readonly<Record<string, JsonSchema>>>(properties: Properties) {
  return { ...fields(properties), default: {} } as const
}

/** The variable that overrides a setting: that of `logLevel` is PARQUETRY_LOG_LEVEL. Groups and lists have none. */
export function variableOf(
  name: string,
  { type, fileOnly }: { readonly type?: unknown; readonly fileOnly?: boolean },
): string | undefined {
  if (fileOnly || type === 'object' || type === 'array') return undefined
  return `PARQUETRY_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

const WINDOWS = {
  type: 'array',
  items: object(['requests', 'perSeconds'], {
    requests: count,
    perSeconds: { ...count, maximum: Number.MAX_SAFE_INTEGER },
  }),
} as const

/**
 * The type, the bounds and the default of every setting. `about` says in the reference what a setting means. `secret`
 * settings can only be set by their variable, so that no file has to contain them, and `fileOnly` ones have no variable.
 * Arguments of the command have the names of the settings.
 */
export const CONFIG_SCHEMA = fields({
  host: { ...text, default: '127.0.0.1' },
  port: { type: 'integer', minimum: 0, maximum: 65_535, default: 8080 },
  publicUrl: {
    about: 'Scheme and host of the addresses in responses; without it they are those of each request.',
    type: 'string',
    format: 'web-address',
    pattern: '^[^/]+//[^/?#@]+$',
    description: 'scheme and host of an address, such as https://tables.example.org',
  },
  data: { ...text, default: 'data/store', about: 'The data directory, absolute.' },
  database: {
    about: '`postgres://…` if the catalog is not kept in the data directory; `store` is then set, too.',
    type: 'string',
    format: 'postgres-address',
    description: 'an address like postgres://user:password@host/database',
    // It usually contains a password.
    secret: true,
  },
  store: {
    about:
      '`s3://bucket/prefix` if rows are not kept in the data directory; the `s3…` settings say how to reach that store.',
    type: 'string',
    pattern: '^s3://.',
    description: 's3://bucket/prefix',
  },
  s3Endpoint: ADDRESS,
  s3Region: text,
  s3PathStyle: { type: 'boolean' },
  cacheBytes: {
    ...natural,
    about: "Maximum bytes of a node's cache of parts from the store; by default a third of the free disk.",
  },
  httpfs: {
    ...text,
    about:
      "A folder with DuckDB's `httpfs.duckdb_extension`, or `install`: few rows of parts that are not cached are then read by ranges.",
  },
  attachable: {
    ...text,
    about:
      'Folders below which Parquet files may be attached with `parquetry attach`, absolute, or `s3://bucket/prefix`, separated as in `PATH`; by default none.',
  },
  trinoUrl: {
    about:
      'A Trino for queries too large for one machine, as `http://user:password@host:port/catalog`; by default none.',
    type: 'string',
    format: 'trino-address',
    description: 'an address like http://host:8080/catalog, the path being the name of a catalog',
    // It may contain a password.
    secret: true,
  },
  logLevel: {
    type: 'string',
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
  },
  samples: {
    type: 'boolean',
    default: true,
    fileOnly: true,
    about: 'Whether the sample data is loaded into an empty data directory.',
  },
  indexProviders: {
    type: 'boolean',
    default: true,
    about:
      'Whether `parquetry serve` fetches the catalogues of providers that need no key at its first start, so that a search finds their series.',
  },
  contact: {
    about:
      'Who runs the service. All providers are told in `User-Agent`; the site of BLS refuses programs that do not say it.',
    type: 'string',
    pattern: '^[\\x20-\\x7e]+$',
    description: 'a name and an address for mail, such as Ada Lovelace ada@example.org',
  },
  rootKey: {
    about: "The first account's key; by default one is generated.",
    type: 'string',
    // Basic authentication ends the user name at the first colon and has no way to write a control character.
    pattern: '^[^:\\x00-\\x1f\\x7f]{16,}$',
    description: 'at least 16 characters, without colons and control characters',
    secret: true,
  },
  secret: {
    ...text,
    secret: true,
    about:
      'The secret that encrypts saved provider keys; by default one is generated and kept in the data directory.',
  },
  previousSecret: {
    ...text,
    secret: true,
    about: 'The secret until now, where it is changed; `lost` gives up the saved provider keys.',
  },
  plans: PLANS,
  timeouts: group({
    firstByte: {
      ...milliseconds(30_000),
      about: 'From the arrival of a request for data to its first byte.',
    },
    stall: { ...milliseconds(30_000), about: 'How long a download or an upload may make no progress.' },
    transfer: { ...milliseconds(3_600_000), about: 'A whole download or upload.' },
    queue: { ...milliseconds(5_000), about: 'Waiting in the queue for a place to run.' },
    leaving: {
      ...milliseconds(0),
      minimum: 0,
      about:
        "How long a server that is being stopped still takes requests while `/readyz` says that it isn't ready.",
    },
    shutdown: {
      ...milliseconds(20_000),
      about: 'How long requests under way may still run when the server is stopped.',
    },
    provider: { ...milliseconds(20_000), about: 'A request to a provider.' },
    idle: { ...milliseconds(120_000), about: 'A connection on which nothing moves.' },
    heartbeat: {
      ...milliseconds(15_000),
      about: 'How often a stream of changes sends a sign of life while there are none.',
    },
  }),
  limits: group({
    exports: { ...count, default: 24, about: 'Downloads that run at once, in all and of one account.' },
    exportsPerAccount: { ...count, default: 12 },
    streams: {
      ...count,
      default: 256,
      about:
        'Streams of changes, and uploads with `commit`, that are open at once, in all and of one account.',
    },
    streamsPerAccount: { ...count, default: 32 },
    uploads: { ...count, default: 16 },
    uploadsPerAccount: { ...count, default: 8 },
    smallUploads: {
      ...count,
      default: 1_024,
      about:
        'Appends and upserts of less than 64 KiB, which are committed together, in all and of one account.',
    },
    smallUploadsPerAccount: { ...count, default: 512 },
    queue: {
      ...natural,
      maximum: 1_000_000,
      default: 64,
      about: 'Downloads, and uploads, that may wait for a place.',
    },
    uploadBytes: { ...bytes, default: 16 * GIB },
    unpackedBytes: { ...bytes, default: 64 * GIB },
    uploadMemory: {
      ...bytes,
      minimum: 256 * MIB,
      about: "Maximum memory for reading one upload; by default an eighth of the machine's.",
    },
    uploadBytesPerSecond: {
      ...natural,
      default: 1_024,
      about: 'An upload with a lower average, after its first seconds, is aborted; 0 allows any speed.',
    },
    bodyBytes: { ...bytes, maximum: 256 * MIB, default: MIB, about: 'JSON bodies that are not uploads.' },
    headerBytes: {
      ...bytes,
      minimum: 16 * 1024,
      maximum: 16 * MIB,
      default: 160 * 1024,
      about: 'The request line and the headers.',
    },
    savedSeries: { ...count, default: 100, about: 'Series saved with one request.' },
    odataPageRows: {
      ...count,
      maximum: 100_000_000,
      default: 100_000,
      about: 'Rows of a page of the OData service, unless the client asks for smaller pages.',
    },
    failedKeys: {
      ...natural,
      maximum: 1_000_000,
      default: 20,
      about:
        'Wrong API keys allowed in a minute, from one address and with the same beginning; 0 sets no limit.',
    },
    requestsPerMinute: {
      ...natural,
      type: ['integer', 'null'],
      minimum: 1,
      default: null,
      about: 'Requests of one account in a minute; null is "no limit".',
    },
    cachedAnswerBytes: {
      ...natural,
      default: 64 * MIB,
      about: 'Memory for recent responses, which are sent again for the same query; 0 keeps none.',
    },
    spoolBytes: {
      ...natural,
      default: 2 * GIB,
      about:
        'Bytes of temporary files for rows of SQL that clients read slowly, so that its processes are free; with more, statements wait for their clients.',
    },
    exportFileBytes: {
      ...natural,
      default: 2 * GIB,
      about: 'Bytes of temporary files for exports that are read in pieces or resumed; 0 makes none.',
    },
  }),
  shedding: group({
    eventLoopDelay: { ...natural, default: 1_000, about: 'Requests are rejected beyond it; 0: never.' },
    memoryBytes: { ...natural, default: 0, about: 'Requests are rejected beyond it; 0: never.' },
  }),
  engine: group({
    threads: { ...count, maximum: MOST_THREADS },
    workers: { ...count, maximum: MOST_THREADS },
    partEncoding: {
      type: 'string',
      enum: ['plain', 'compact'],
      about: 'How new files of rows are encoded; `plain` where Spark reads them as Iceberg tables.',
    },
    memoryLimit: {
      type: 'string',
      pattern: MEMORY_LIMIT.source,
      description: 'a size with a unit, such as 4GiB or 1536MB, or a part of the memory, such as 30%',
    },
    checks: {
      about: 'How stored rows are read again in the background; `bytesPerSecond: 0` turns it off.',
      type: 'object',
      additionalProperties: false,
      properties: { bytesPerSecond: natural, everyDays: count },
    },
  }),
  iceberg: group({
    localFiles: {
      type: 'boolean',
      default: false,
      about:
        'Whether the Iceberg catalog gives accounts the paths of files on this machine; opening them also needs permission from the file system.',
    },
  }),
  trino: group({
    minBytes: {
      ...natural,
      about:
        'A query is large if it reads at least this many compressed bytes. By default where Trino begins to be quicker than the node if `cores` is given, else 4 GiB.',
    },
    cores: { ...count, about: 'How many cores the workers of Trino have together.' },
    maxRows: {
      ...count,
      maximum: 1_000_000,
      default: 100_000,
      about: 'Maximum number of rows taken from Trino.',
    },
  }),
  sources: group({
    hosts: {
      about: 'Hosts on the internet of which datasets may follow files; empty: all of them.',
      type: 'array',
      items: text,
      default: [],
    },
    privateHosts: {
      about:
        'Names or addresses of hosts in private networks of which datasets may follow files; empty: none. Everybody who may write a dataset can have files of them read.',
      type: 'array',
      items: text,
      default: [],
    },
  }),
  anonymous: group({
    requestsPerMinute: {
      ...natural,
      maximum: 1_000_000,
      default: 0,
      about:
        'Requests without a key that one address may send in a minute to read public repositories; 0: everything needs a key.',
    },
  }),
  cors: group({
    origins: {
      type: 'array',
      about: 'Web origins whose pages may call the service. `*` means every origin.',
      items: {
        type: 'string',
        format: 'origin',
        description: 'an origin as browsers send it, such as https://example.org, or *',
      },
      default: [],
    },
  }),
  trustedProxies: {
    about:
      'Addresses and networks of trusted proxies: only their headers say where a request comes from, for which host and over which protocol (`X-Forwarded-For`, `-Host`, `-Proto`). None by default.',
    type: 'array',
    items: {
      type: 'string',
      pattern: '^[0-9a-fA-F.:]+(/[0-9]{1,3})?$',
      description: 'an address or a network, such as 127.0.0.1 or 10.0.0.0/8',
    },
    default: [],
  },
  providers: {
    about: 'By slug.',
    type: 'object',
    default: {},
    additionalProperties: object([], {
      url: ADDRESS,
      key: text,
      limits: object([], { windows: WINDOWS, withKey: WINDOWS, concurrency: count }),
    }),
  },
})

/** A configuration that passes the schema. */
export type CheckedConfig = FromSchema<typeof CONFIG_SCHEMA>

/** The whole configuration of the server, checked and with all defaults. Times are milliseconds. */
export type Config = Omit<CheckedConfig, 'plans'> & {
  // The type that follows from the schema has only the built-in plans.
  readonly plans: Readonly<Record<string, PlanLimits>>
}
