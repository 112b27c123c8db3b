import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, unknownVariables } from '../../../server/config/read.ts'
import { CONFIG_SCHEMA } from '../../../server/config/schema.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-config-'))
const file = join(folder, 'config.json')

/** The configuration with a file of these settings. */
function withFile(settings: unknown, environment: Record<string, string> = {}, given = {}) {
  writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings))
  return readConfig(given, { ...environment, PARQUETRY_CONFIG: file })
}

describe('the configuration', () => {
  it('is complete without being told anything', () => {
    const config = readConfig({}, {})
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      logLevel: 'info',
      samples: true,
    })
    expect(config.rootKey).toBeUndefined()
    expect(config.plans).toEqual({
      free: {
        privateRepositories: 1,
        publicRepositories: 100,
        paidProviders: false,
        exportedRows: 1_000_000,
        datasets: 100,
        columns: 2_000,
        storedBytes: 10 * 2 ** 30,
        keptVersions: 100,
        keptDays: 366,
        refreshSeconds: 60,
      },
      pro: {
        privateRepositories: 50,
        publicRepositories: 10_000,
        paidProviders: true,
        exportedRows: 100_000_000,
        datasets: 10_000,
        columns: 20_000,
        storedBytes: 2 ** 40,
        keptVersions: 10_000,
        keptDays: 36_525,
        refreshSeconds: 600,
      },
      unlimited: {
        privateRepositories: null,
        publicRepositories: null,
        paidProviders: true,
        exportedRows: null,
        datasets: null,
        columns: null,
        storedBytes: null,
        keptVersions: null,
        keptDays: null,
        refreshSeconds: null,
      },
    })
  })

  it('takes arguments before the environment, and that before the file', () => {
    const settings = { port: 1, host: 'file', data: 'here', logLevel: 'error', samples: false }
    const environment = { PARQUETRY_PORT: '2', PARQUETRY_HOST: 'environment', PARQUETRY_LOG_LEVEL: 'debug' }
    expect(withFile(settings)).toMatchObject({
      port: 1,
      host: 'file',
      data: resolve(folder, 'here'),
      logLevel: 'error',
      samples: false,
    })
    expect(withFile(settings, environment)).toMatchObject({ port: 2, host: 'environment', logLevel: 'debug' })
    expect(withFile(settings, environment, { port: '3', host: 'argument' })).toMatchObject({
      port: 3,
      host: 'argument',
    })
  })

  it('takes the store of the rows from each of them', () => {
    const database = { PARQUETRY_DATABASE: 'postgres://user:password@host/catalog' }
    const environment = {
      ...database,
      PARQUETRY_STORE: 's3://bucket/rows',
      PARQUETRY_S3_ENDPOINT: 'http://127.0.0.1:7070',
      PARQUETRY_S3_REGION: 'eu-central-1',
      PARQUETRY_S3_PATH_STYLE: 'false',
      PARQUETRY_CACHE_BYTES: '1000000',
      PARQUETRY_HTTPFS: '/usr/lib/duckdb',
    }
    const settings = { store: 's3://bucket/other', s3PathStyle: true }
    expect(withFile(settings, database)).toMatchObject(settings)
    expect(withFile(settings, environment)).toMatchObject({
      database: 'postgres://user:password@host/catalog',
      store: 's3://bucket/rows',
      s3Endpoint: 'http://127.0.0.1:7070',
      s3Region: 'eu-central-1',
      s3PathStyle: false,
      cacheBytes: 1_000_000,
      httpfs: '/usr/lib/duckdb',
    })
    expect(withFile({}, environment, { store: 's3://bucket/argument' }).store).toBe('s3://bucket/argument')
    expect(() => withFile({}, { PARQUETRY_STORE: '/a/folder' })).toThrow(/^PARQUETRY_STORE must be s3:/)
    expect(() => withFile({}, { PARQUETRY_S3_PATH_STYLE: 'yes' })).toThrow(/^PARQUETRY_S3_PATH_STYLE must be/)
  })

  it('takes a Trino from the environment, and its limits from the file', () => {
    const environment = { PARQUETRY_TRINO_URL: 'https://user:password@host:8443/parquetry' }
    expect(withFile({ trino: { minBytes: 5 } }, environment)).toMatchObject({
      trinoUrl: environment.PARQUETRY_TRINO_URL,
      trino: { minBytes: 5, maxRows: 100_000 },
    })
    expect(withFile({ trino: { cores: 64 } }, environment).trino).toEqual({ cores: 64, maxRows: 100_000 })
    expect(() => withFile({ trino: { cores: 0 } }, environment)).toThrow(/cores/)
    expect(withFile({}, {}).trinoUrl).toBeUndefined()
    for (const wrong of ['host:8080/catalog', 'http://host:8080', 'http://host/a/b', 'ftp://host/catalog']) {
      expect(() => withFile({}, { PARQUETRY_TRINO_URL: wrong })).toThrow(
        /^PARQUETRY_TRINO_URL must be an address like http:\/\/host:8080\/catalog/,
      )
    }
    expect(() => withFile({ trinoUrl: 'http://host/catalog' })).toThrow(
      'trinoUrl is not a setting of the file; set it with PARQUETRY_TRINO_URL.',
    )
    expect(() => withFile({ trino: { minbytes: 5 } })).toThrow(/minBytes/)
  })

  it('takes a database and a store together, and no database from the file, which would hold its password', () => {
    const store = { PARQUETRY_STORE: 's3://bucket/rows' }
    const database = { PARQUETRY_DATABASE: 'postgresql://user:password@host/catalog' }
    expect(withFile({}, { ...store, ...database })).toMatchObject({ database: database.PARQUETRY_DATABASE })
    expect(() => withFile({}, store)).toThrow(/^PARQUETRY_STORE is set without PARQUETRY_DATABASE /)
    expect(() => withFile({}, database)).toThrow(/^PARQUETRY_DATABASE is set without PARQUETRY_STORE /)
    expect(() => withFile({ store: 's3://bucket/rows' })).toThrow(/without PARQUETRY_DATABASE /)
    expect(() => withFile({ database: database.PARQUETRY_DATABASE }, store)).toThrow(
      'database is not a setting of the file; set it with PARQUETRY_DATABASE.',
    )
    for (const wrong of [
      'mysql://user:password@host/catalog',
      'user:password@host',
      'postgres://[password',
    ]) {
      expect(() => withFile({}, { ...store, PARQUETRY_DATABASE: wrong })).toThrow(
        /^PARQUETRY_DATABASE must be an address like postgres:\/\/user:password@host\/database\.$/,
      )
    }
  })

  it('has the defaults of the schema for everything that is not given', () => {
    const all: Record<string, unknown> = {}
    new Ajv({ useDefaults: true, strict: false, logger: false }).compile(CONFIG_SCHEMA)(all)
    expect(readConfig({}, {})).toEqual({ ...all, data: resolve(String(all['data'])) })
    expect(readConfig({ port: '1', data: '/data' }, {})).toEqual({ ...all, port: 1, data: '/data' })
  })

  it('merges plans, timeouts and limits with the defaults', () => {
    const config = withFile({
      plans: {
        free: { exportedRows: 10 },
        team: { privateRepositories: 5, paidProviders: true, exportedRows: null },
      },
      timeouts: { stall: 5 },
      limits: { exports: 2 },
    })
    expect(config.plans['free']).toMatchObject({ privateRepositories: 1, exportedRows: 10, datasets: 100 })
    expect(config.plans['team']).toEqual({
      privateRepositories: 5,
      publicRepositories: null,
      paidProviders: true,
      exportedRows: null,
      datasets: null,
      columns: null,
      storedBytes: null,
      keptVersions: null,
      keptDays: null,
      refreshSeconds: null,
    })
    expect(config.timeouts).toMatchObject({ stall: 5, firstByte: 30_000 })
    expect(config.limits).toMatchObject({ exports: 2, exportsPerAccount: 12 })
  })

  it('reads providers from the file and from the environment', () => {
    const settings = {
      providers: { FRED: { key: 'a', limits: { windows: [{ requests: 25, perSeconds: 86_400 }] } } },
    }
    const config = withFile(settings, {
      PARQUETRY_PROVIDER_FRED_URL: 'http://127.0.0.1:1/fred',
      PARQUETRY_PROVIDER_NORGES_BANK_URL: 'http://127.0.0.1:2',
      PARQUETRY_PROVIDER_US_TREASURY_KEY: 'k',
    })
    expect(config.providers).toEqual({
      fred: {
        key: 'a',
        url: 'http://127.0.0.1:1/fred',
        limits: { windows: [{ requests: 25, perSeconds: 86_400 }] },
      },
      'norges-bank': { url: 'http://127.0.0.1:2' },
      'us-treasury': { key: 'k' },
    })
  })
})

describe('what is wrong stops the start and is named', () => {
  it.each<[unknown, RegExp]>([
    [{ prot: 1 }, /^prot is not a setting\. Did you mean port\? Valid settings: host, port/],
    [
      { timeouts: { stal: 1 } },
      /^timeouts\.stal is not a setting\. Did you mean stall\? Valid settings: firstByte, stall/,
    ],
    [{ engine: { memoryLimit: 'lots' } }, /^engine\.memoryLimit must be a size with a unit, such as 4GiB/],
    [{ engine: { memoryLimit: '0GB' } }, /^engine\.memoryLimit must be a size/],
    [{ engine: { memoryLimit: '4096' } }, /^engine\.memoryLimit must be a size/],
    [{ trustedProxies: ['proxy'] }, /^trustedProxies\[0\] must be an address or a network, such as /],
    [{ plans: { free: { rows: 1 } } }, /^plans\.free\.rows is not a setting/],
    [{ plans: { team: { paidProviders: true } } }, /^plans\.team\.privateRepositories is missing/],
    [
      { plans: { free: { exportedRows: '1' } } },
      /^plans\.free\.exportedRows must be a whole number or null, not text/,
    ],
    [{ plans: { free: { exportedRows: -1 } } }, /^plans\.free\.exportedRows must be at least 0; it is -1/],
    [{ plans: [] }, /^plans must be an object, not a list/],
    [{ port: 70_000 }, /^port must be at most 65535; it is 70000/],
    [{ samples: 'no' }, /^samples must be true or false, not text/],
    [{ logLevel: 'loud' }, /^logLevel must be one of trace, debug.*; it is "loud"/],
    [{ limits: { exports: 0 } }, /^limits\.exports must be at least 1; it is 0/],
    [{ limits: { queue: 1.5 } }, /^limits\.queue must be a whole number, not 1\.5/],
    [{ cors: { origins: 'https://a' } }, /^cors\.origins must be a list/],
    ...[
      'tables.example',
      'https://tables.example/',
      'https://tables.example/a',
      'https://Tables.example',
      '',
    ].map((origin): [object, RegExp] => [
      { cors: { origins: ['*', 'http://localhost:5173', origin] } },
      /^cors\.origins\[2\] must be an origin as browsers send it, such as https:\/\/example\.org, or \*\.$/,
    ]),
    [{ providers: { fred: { url: 'fred' } } }, /^providers\.fred\.url must be an http or https address/],
    [{ providers: { FRED: { key: '' } } }, /^providers\.FRED\.key must not be empty/],
    [{ providers: [] }, /^providers must be an object/],
    [
      { providers: { fred: { limits: { windows: [{ requests: 1 }] } } } },
      /^providers\.fred\.limits\.windows\[0\]\.perSeconds is missing/,
    ],
    [
      { rootKey: 'in a file for all to read' },
      /^rootKey is not a setting of the file; set it with PARQUETRY_ROOT_KEY/,
    ],
    ['{"port": 1,}', /is not JSON/],
    ['[]', /^The configuration must be an object/],
  ])('%j', (settings, message) => {
    expect(() => withFile(settings)).toThrow(ConfigError)
    expect(() => withFile(settings)).toThrow(message)
  })

  it('but a variable that looks like a setting is only named, with what was probably meant', () => {
    const environment = {
      PARQUETRY_PORTT: '1',
      PARQUETRY_OF_SOMEBODY_ELSE: '1',
      PARQUETRY_PORT: '1',
      PARQUETRY_SERVER: 'x',
      PARQUETRY_PROVIDER_X_KEY: 'k',
    }
    expect(unknownVariables(environment)).toEqual([
      'The variable PARQUETRY_PORTT is no setting. Did you mean PARQUETRY_PORT?',
    ])
  })

  it('and an argument is named as it was given', () => {
    expect(() => readConfig({ port: 'x' }, { PARQUETRY_PORT: '1' })).toThrow(/^port must be a whole number/)
  })

  it.each<[Record<string, string>, RegExp]>([
    [{ PARQUETRY_PORT: 'eighty' }, /^PARQUETRY_PORT must be a whole number, not text/],
    [{ PARQUETRY_PORT: '99999' }, /^PARQUETRY_PORT must be at most 65535/],
    [{ PARQUETRY_LOG_LEVEL: 'loud' }, /^PARQUETRY_LOG_LEVEL must be one of/],
    [{ PARQUETRY_ROOT_KEY: 'too-short' }, /^PARQUETRY_ROOT_KEY must be at least 16/],
    [{ PARQUETRY_ROOT_KEY: 'with:a:colon:in:it' }, /^PARQUETRY_ROOT_KEY must be .*without colons/],
    [
      { PARQUETRY_PROVIDER_FRED_URL: 'ftp://x' },
      /^PARQUETRY_PROVIDER_FRED_URL must be an http or https address/,
    ],
    [{ PARQUETRY_CONFIG: join(folder, 'missing.json') }, /can't read/],
  ])('%j', (environment, message) => {
    expect(() => readConfig({}, environment)).toThrow(ConfigError)
    expect(() => readConfig({}, environment)).toThrow(message)
  })
})
