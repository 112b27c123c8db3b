import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../server/config/config.ts'

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
      rootKey: undefined,
    })
    expect(config.plans).toEqual({
      free: { privateRepositories: 1, paidProviders: false, exportedRows: 1_000_000 },
      pro: { privateRepositories: 50, paidProviders: true, exportedRows: 100_000_000 },
      unlimited: { privateRepositories: null, paidProviders: true, exportedRows: null },
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

  it('merges plans, timeouts and limits with the defaults', () => {
    const config = withFile({
      plans: {
        free: { exportedRows: 10 },
        team: { privateRepositories: 5, paidProviders: true, exportedRows: null },
      },
      timeouts: { stall: 5 },
      limits: { exports: 2 },
    })
    expect(config.plans['free']).toEqual({ privateRepositories: 1, paidProviders: false, exportedRows: 10 })
    expect(config.plans['team']).toEqual({ privateRepositories: 5, paidProviders: true, exportedRows: null })
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
    [{ prot: 1 }, /^prot is not a setting; known here are host, port/],
    [{ timeouts: { stal: 1 } }, /^timeouts\.stal is not a setting/],
    [{ plans: { free: { rows: 1 } } }, /^plans\.free\.rows is not a setting/],
    [
      { plans: { team: { paidProviders: true } } },
      /^plans\.team is a new plan, so it must also say privateRepositories and exportedRows/,
    ],
    [
      { plans: { free: { exportedRows: '1' } } },
      /^plans\.free\.exportedRows must be a whole number of at least 0, not "1"/,
    ],
    [{ plans: [] }, /^plans must be an object/],
    [{ port: 70_000 }, /^port must be a whole number from 0 to 65535, not 70000/],
    [{ samples: 'no' }, /^samples must be true or false, not "no"/],
    [{ logLevel: 'loud' }, /^logLevel must be one of trace, debug/],
    [{ limits: { exports: 0 } }, /^limits\.exports must be a whole number from 1/],
    [{ cors: { origins: 'https://a' } }, /^cors\.origins must be a list/],
    [{ providers: { fred: { url: 'fred' } } }, /^providers\.fred\.url must be an http or https address/],
    [
      { providers: { fred: { limits: { windows: [{ requests: 1 }] } } } },
      /windows\[0\] must say requests and perSeconds/,
    ],
    ['{"port": 1,}', /is not JSON/],
    ['[]', /^The configuration must be an object/],
  ])('%j', (settings, message) => {
    expect(() => withFile(settings)).toThrow(ConfigError)
    expect(() => withFile(settings)).toThrow(message)
  })

  it.each<[Record<string, string>, RegExp]>([
    [{ PARQUETRY_PORT: 'eighty' }, /port/],
    [{ PARQUETRY_LOG_LEVEL: 'loud' }, /PARQUETRY_LOG_LEVEL/],
    [{ PARQUETRY_ROOT_KEY: 'too-short' }, /at least 16/],
    [{ PARQUETRY_ROOT_KEY: 'with:a:colon:in:it' }, /colon/],
    [{ PARQUETRY_PROVIDER_FRED_URL: 'ftp://x' }, /PARQUETRY_PROVIDER_FRED_URL/],
    [{ PARQUETRY_CONFIG: join(folder, 'missing.json') }, /can't read/],
  ])('%j', (environment, message) => {
    expect(() => readConfig({}, environment)).toThrow(ConfigError)
    expect(() => readConfig({}, environment)).toThrow(message)
  })
})
