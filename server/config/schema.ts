import type { FromSchema } from 'json-schema-to-ts'
import { MEMORY_LIMIT } from '../../engine/duckdb/memory-limit.ts'
import { MOST_THREADS } from '../../engine/engine-options.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

const milliseconds = (byDefault: number) =>
  ({ type: 'integer', minimum: 1, maximum: 7 * 86_400_000, default: byDefault }) as const
const count = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const
const bytes = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const
const natural = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const text = { type: 'string', minLength: 1 } as const

/** null is "no limit". */
const quota = { type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

const PLAN = {
  privateRepositories: quota,
  paidProviders: { type: 'boolean' },
  exportedRows: quota,
  datasets: quota,
  columns: quota,
  storedBytes: quota,
} as const

type Plan = { readonly [Name in keyof typeof PLAN]: number | boolean | null }

/** A plan that exists without configuration; each of its limits can be changed separately. */
function builtIn(limits: Plan) {
  const properties = Object.fromEntries(
    Object.entries(PLAN).map(([name, schema]) => [name, { ...schema, default: limits[name as keyof Plan] }]),
  )
  return {
    type: 'object',
    additionalProperties: false,
    required: ['privateRepositories', 'paidProviders', 'exportedRows', 'datasets', 'columns', 'storedBytes'],
    properties: properties as unknown as typeof PLAN,
    default: {},
  } as const
}

const WINDOWS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['requests', 'perSeconds'],
    additionalProperties: false,
    properties: { requests: count, perSeconds: { ...count, maximum: Number.MAX_SAFE_INTEGER } },
  },
} as const

/**
 * The type, the bounds and the default of every setting. `environment` names the variable that overrides the
 * configuration file. `secret` settings can only be set by their variable, so that no file has to contain them.
 * Arguments of the command have the names of the settings.
 */
export const CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: [
    'host',
    'port',
    'data',
    'logLevel',
    'samples',
    'plans',
    'timeouts',
    'limits',
    'shedding',
    'engine',
    'iceberg',
    'trino',
    'cors',
    'trustedProxies',
    'providers',
  ],
  properties: {
    host: { ...text, default: '127.0.0.1', environment: 'PARQUETRY_HOST' },
    port: { type: 'integer', minimum: 0, maximum: 65_535, default: 8080, environment: 'PARQUETRY_PORT' },
    data: { ...text, default: 'data/store', environment: 'PARQUETRY_DATA' },
    database: {
      type: 'string',
      format: 'postgres-address',
      description: 'an address like postgres://user:password@host/database',
      environment: 'PARQUETRY_DATABASE',
      // It usually contains a password.
      secret: true,
    },
    store: {
      type: 'string',
      pattern: '^s3://.',
      description: 's3://bucket/prefix',
      environment: 'PARQUETRY_STORE',
    },
    s3Endpoint: {
      type: 'string',
      format: 'web-address',
      description: 'an http or https address',
      environment: 'PARQUETRY_S3_ENDPOINT',
    },
    s3Region: { ...text, environment: 'PARQUETRY_S3_REGION' },
    s3PathStyle: { type: 'boolean', environment: 'PARQUETRY_S3_PATH_STYLE' },
    cacheBytes: { ...natural, environment: 'PARQUETRY_CACHE_BYTES' },
    httpfs: { ...text, environment: 'PARQUETRY_HTTPFS' },
    trinoUrl: {
      type: 'string',
      format: 'trino-address',
      description: 'an address like http://host:8080/catalog, the path being the name of a catalog',
      environment: 'PARQUETRY_TRINO_URL',
      // It may contain a password.
      secret: true,
    },
    logLevel: {
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      default: 'info',
      environment: 'PARQUETRY_LOG_LEVEL',
    },
    samples: { type: 'boolean', default: true },
    rootKey: {
      type: 'string',
      // Basic authentication ends the user name at the first colon and has no way to write a control character.
      pattern: '^[^:\\x00-\\x1f\\x7f]{16,}$',
      description: 'at least 16 characters, without colons and control characters',
      environment: 'PARQUETRY_ROOT_KEY',
      secret: true,
    },
    secret: { ...text, environment: 'PARQUETRY_SECRET', secret: true },
    plans: {
      type: 'object',
      default: {},
      required: ['free', 'pro', 'unlimited'],
      properties: {
        free: builtIn({
          privateRepositories: 1,
          paidProviders: false,
          exportedRows: 1_000_000,
          datasets: 100,
          columns: 2_000,
          storedBytes: 10 * GIB,
        }),
        pro: builtIn({
          privateRepositories: 50,
          paidProviders: true,
          exportedRows: 100_000_000,
          datasets: 10_000,
          columns: 20_000,
          storedBytes: 1024 * GIB,
        }),
        unlimited: builtIn({
          privateRepositories: null,
          paidProviders: true,
          exportedRows: null,
          datasets: null,
          columns: null,
          storedBytes: null,
        }),
      },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['privateRepositories', 'paidProviders', 'exportedRows'],
        properties: {
          ...PLAN,
          datasets: { ...quota, default: null },
          columns: { ...quota, default: null },
          storedBytes: { ...quota, default: null },
        },
      },
    },
    timeouts: {
      type: 'object',
      additionalProperties: false,
      default: {},
      required: ['firstByte', 'stall', 'transfer', 'queue', 'leaving', 'shutdown', 'provider', 'idle'],
      properties: {
        firstByte: milliseconds(30_000),
        stall: milliseconds(30_000),
        transfer: milliseconds(3_600_000),
        queue: milliseconds(5_000),
        leaving: { ...milliseconds(0), minimum: 0 },
        shutdown: milliseconds(20_000),
        provider: milliseconds(20_000),
        idle: milliseconds(120_000),
      },
    },
    limits: {
      type: 'object',
      additionalProperties: false,
      default: {},
      required: [
        'exports',
        'exportsPerAccount',
        'uploads',
        'uploadsPerAccount',
        'queue',
        'uploadBytes',
        'unpackedBytes',
        'uploadBytesPerSecond',
        'bodyBytes',
        'headerBytes',
        'savedSeries',
        'odataPageRows',
        'failedKeys',
        'requestsPerMinute',
        'cachedAnswerBytes',
      ],
      properties: {
        exports: { ...count, default: 24 },
        exportsPerAccount: { ...count, default: 12 },
        uploads: { ...count, default: 16 },
        uploadsPerAccount: { ...count, default: 8 },
        queue: { ...natural, maximum: 1_000_000, default: 64 },
        uploadBytes: { ...bytes, default: 16 * GIB },
        unpackedBytes: { ...bytes, default: 64 * GIB },
        uploadMemory: { ...bytes, minimum: 256 * MIB },
        uploadBytesPerSecond: { ...natural, default: 1_024 },
        bodyBytes: { ...bytes, maximum: 256 * MIB, default: MIB },
        headerBytes: { ...bytes, minimum: 16 * 1024, maximum: 16 * MIB, default: 160 * 1024 },
        savedSeries: { ...count, default: 100 },
        odataPageRows: { ...count, maximum: 100_000_000, default: 100_000 },
        failedKeys: { ...natural, maximum: 1_000_000, default: 20 },
        requestsPerMinute: { ...quota, minimum: 1, default: null },
        cachedAnswerBytes: { ...natural, default: 64 * MIB },
      },
    },
    shedding: {
      type: 'object',
      additionalProperties: false,
      default: {},
      required: ['eventLoopDelay', 'memoryBytes'],
      properties: {
        eventLoopDelay: { ...natural, default: 1_000 },
        memoryBytes: { ...natural, default: 0 },
      },
    },
    engine: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        threads: { ...count, maximum: MOST_THREADS },
        workers: { ...count, maximum: MOST_THREADS },
        memoryLimit: {
          type: 'string',
          pattern: MEMORY_LIMIT.source,
          description: 'a size with a unit, such as 4GiB or 1536MB, or a part of the memory, such as 30%',
        },
        checks: {
          type: 'object',
          additionalProperties: false,
          properties: { bytesPerSecond: natural, everyDays: count },
        },
      },
    },
    iceberg: {
      type: 'object',
      additionalProperties: false,
      default: {},
      required: ['localFiles'],
      properties: { localFiles: { type: 'boolean', default: false } },
    },
    trino: {
      type: 'object',
      additionalProperties: false,
      default: {},
      required: ['maxRows'],
      properties: {
        minBytes: natural,
        cores: count,
        maxRows: { ...count, maximum: 1_000_000, default: 100_000 },
      },
    },
    cors: {
      type: 'object',
      additionalProperties: false,
      default: {},
      required: ['origins'],
      properties: {
        origins: {
          type: 'array',
          items: {
            type: 'string',
            format: 'origin',
            description: 'an origin as browsers send it, such as https://example.org, or *',
          },
          default: [],
        },
      },
    },
    trustedProxies: {
      type: 'array',
      items: {
        type: 'string',
        pattern: '^[0-9a-fA-F.:]+(/[0-9]{1,3})?$',
        description: 'an address or a network, such as 127.0.0.1 or 10.0.0.0/8',
      },
      default: [],
    },
    providers: {
      type: 'object',
      default: {},
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          url: { type: 'string', format: 'web-address', description: 'an http or https address' },
          key: text,
          limits: {
            type: 'object',
            additionalProperties: false,
            properties: { windows: WINDOWS, withKey: WINDOWS, concurrency: count },
          },
        },
      },
    },
  },
} as const

/** The type of a configuration that passes the schema. `Config` is the same type, with comments. */
export type CheckedConfig = FromSchema<typeof CONFIG_SCHEMA>
