import { describe, expect, it } from 'vitest'
import { openConnectors } from '../../connectors/index.ts'
import { failureOf, harness } from './support/harness.ts'

const connectors = openConnectors()

describe('the providers', () => {
  it('are each described in full', () => {
    const all = connectors.list()
    expect(all.length).toBeGreaterThanOrEqual(17)
    expect(new Set(all.map(({ slug }) => slug)).size).toBe(all.length)
    for (const info of all) {
      expect(info.slug).toMatch(/^[a-z]+(-[a-z]+)*$/)
      expect(info.baseUrl).toMatch(/^https:\/\/[^?#]*[^/?#]$/)
      expect(info.homepage).toMatch(/^https:\/\//)
      expect(info.name.length).toBeGreaterThan(2)
      expect(info.description).toMatch(/\.$/)
      for (const { requests, perSeconds } of [...info.limits.windows, ...(info.limits.withKey ?? [])]) {
        expect(requests).toBeGreaterThan(0)
        expect(perSeconds).toBeGreaterThan(0)
      }
    }
  })

  it('are found in any case of letters', async () => {
    expect(connectors.get('Norges-BANK').slug).toBe('norges-bank')
    expect(() => connectors.get('nobody')).toThrow("There is no provider 'nobody'; valid providers: fred, ")
    const missing = connectors.series('no\u0000body', 'x')
    expect(await failureOf(missing)).toMatchObject({ code: 'unknown_provider', status: 404 })
  })

  it('are all that options may name', () => {
    for (const options of [{ overrides: { nobody: {} } }, { cache: { freshSeconds: { nobody: 60 } } }]) {
      expect(() => openConnectors(options)).toThrow("There is no provider 'nobody'; valid providers: fred, ")
    }
  })

  it.each([
    { windows: [{ requests: 0, perSeconds: 60 }] },
    { withKey: [{ requests: 5, perSeconds: 0 }] },
    { windows: [{ requests: Number.NaN, perSeconds: 60 }] },
    { concurrency: 0 },
  ])('have no limit in which no request has room: %j', (limits) => {
    expect(() => openConnectors({ overrides: { FRED: { limits } } })).toThrow(
      'In the limits of fred, requests and concurrency must be whole numbers of 1 or more',
    )
  })

  it.each([
    [{ overides: {} }, "Unknown option 'overides'. Did you mean overrides? Valid options: overrides, "],
    [{ cache: { fresh: 5 } }, "Unknown option 'fresh'. Valid options: maxBytes, "],
    [{ overrides: { fred: { url: 'http://x' } } }, "Unknown option 'url' of fred. Valid options: baseUrl, "],
    [
      { overrides: { fred: { limits: { window: [] } } } },
      "Unknown option 'window' of fred. Did you mean windows? Valid options: windows, ",
    ],
    [
      { timeouts: { connect: 5 } },
      "Unknown option 'connect'. Did you mean connectMs? Valid options: connectMs, ",
    ],
    [{ retry: { attempt: 5 } }, "Unknown option 'attempt'. Did you mean attempts? Valid options: attempts, "],
    [
      { breaker: { cooldown: 5 } },
      "Unknown option 'cooldown'. Did you mean cooldownMs? Valid options: failures, ",
    ],
    [
      { overrides: { fred: { baseUrl: 'x' } } },
      "The baseUrl of fred is 'x', which is no address of the form https",
    ],
    [
      { overrides: { fred: { baseUrl: 'localhost:80' } } },
      "The baseUrl of fred is 'localhost:80', which is no address",
    ],
  ])('take no options that could not take effect: %j', (options, message) => {
    expect(() => openConnectors(options as never)).toThrow(message)
  })

  it('take an option that is undefined for none', async () => {
    await openConnectors({ overrides: { fred: undefined }, cache: undefined } as never).close()
  })

  it('say what their tightest limit is', () => {
    expect(connectors.limit('bls')).toEqual({
      requests: 25,
      perSeconds: 86_400,
      remaining: 25,
      resetsAt: null,
    })
    expect(connectors.limit('fred')).toMatchObject({ requests: 120, perSeconds: 60 })
    const unlimited = { requests: null, perSeconds: null, remaining: null, resetsAt: null }
    expect(connectors.limit('ecb')).toEqual(unlimited)
    const user = { owner: 'ann', key: 'k' }
    expect(connectors.limit('BLS', user)).toMatchObject({ requests: 500, remaining: 500 })
    expect(connectors.limit('ecb', user)).toEqual(unlimited)
  })

  it('offer no check of a key where none is to be had', async () => {
    expect(await connectors.checkKey('alphavantage', 'k')).toBe('unchecked')
    expect(await connectors.checkKey('ecb', 'k')).toBe('unchecked')
  })
})

describe('an option', () => {
  it.each([
    [{ limit: 1001, offset: 0 }],
    [{ limit: -1, offset: 0 }],
    [{ limit: 1.5, offset: 0 }],
    [{ limit: 1, offset: -1 }],
    [{ limit: 1, offset: Number.NaN }],
  ])('of a page out of its bounds is refused: %j', async (page) => {
    expect(await failureOf(connectors.seriesList('ecb', 'x', page))).toMatchObject({ code: 'invalid_option' })
  })

  it.each([
    [{ start: '2024-02-30' }, "start must be a date as 2024-01-31, not '2024-02-30'."],
    [{ end: '2024' }, "end must be a date as 2024-01-31, not '2024'."],
    [{ start: '2024-01-02', end: '2024-01-01' }, 'start (2024-01-02) must not be after end (2024-01-01).'],
  ])('of a range that is none is refused: %j', async (range, message) => {
    const error = await failureOf(connectors.series('ecb', 'x', range))
    expect(error).toMatchObject({ code: 'invalid_range', status: 400, message })
  })

  it.each<[asks: () => Promise<unknown>, message: string]>([
    [
      () => connectors.series('ecb', 'x', { strat: '2024-01-01' } as object),
      "Unknown option 'strat'. Did you mean start? Valid options: start, end, transform, ",
    ],
    [
      () => connectors.many([{ provider: 'ecb', id: 'x' }], { asof: '2024-01-01' } as object),
      "Unknown option 'asof'. Did you mean asOf? Valid options: start, ",
    ],
    [
      () => connectors.releases('bls', { form: '2024-01-01' } as object),
      "Unknown option 'form'. Did you mean from? Valid options: from, to, series.",
    ],
  ])('that does not exist is refused: %s', async (asks, message) => {
    const error = await failureOf(asks())
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(message) })
  })
})

describe('a list of no series', () => {
  it('is what a limit of 0 asks for', async () => {
    await using at = await harness('frankfurter', { '*': { body: { EUR: 'Euro', USD: 'Dollar' } } })
    const page = await at.connectors.seriesList('frankfurter', 'EUR', { limit: 0, offset: 0 })
    expect(page).toMatchObject({ total: 1, limit: 0, series: [] })
  })

  it('is what lies past the end', async () => {
    await using at = await harness('frankfurter', { '*': { body: { EUR: 'Euro', USD: 'Dollar' } } })
    const page = await at.connectors.seriesList('frankfurter', '/EUR/', { limit: 5, offset: 99 })
    expect(page).toMatchObject({ total: 1, path: 'EUR', series: [] })
  })
})
