import { describe, expect, it } from 'vitest'
import { failureOf, type HarnessOptions, harness } from './support/harness.ts'
import type { Hit, Reply, Routes } from './support/upstream.ts'

const rates = (value: number): Reply => ({ body: { base: 'EUR', rates: { '2024-01-08': { USD: value } } } })
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A provider whose rate is the number of the request, and which can be made to fail. */
function counting(more: { delayMs?: number } = {}) {
  const state = { failing: false, count: 0 }
  const routes: Routes = {
    '/v1/currencies': { body: { EUR: 'Euro', USD: 'US Dollar' } },
    '*': async () => {
      state.count++
      if (more.delayMs !== undefined) await wait(more.delayMs)
      return state.failing ? { status: 500, body: {} } : rates(state.count)
    },
  }
  return { state, routes }
}
const firstValue = ({ observations }: { observations: readonly { value: number | null }[] }) =>
  observations[0]?.value

async function clocked(options: HarnessOptions = {}) {
  const clock = { now: Date.parse('2026-01-01') }
  const { state, routes } = counting()
  const cache = { freshSeconds: { frankfurter: 100 }, staleSeconds: 1000 }
  const at = await harness('frankfurter', routes, { now: () => clock.now, cache, ...options })
  const read = () => at.connectors.series('frankfurter', 'EUR/USD')
  return { at, clock, state, read, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() }
}

describe('the cache', () => {
  it('fetches once for a thousand who ask at the same time', async () => {
    const { state, routes } = counting({ delayMs: 50 })
    await using at = await harness('frankfurter', routes)
    const asked = Array.from({ length: 1000 }, () => at.connectors.series('frankfurter', 'EUR/USD'))
    const values = new Set((await Promise.all(asked)).map(firstValue))
    expect([...values]).toEqual([1])
    expect(state.count).toBe(1)
  })

  it('fetches once for those who share a failure, and keeps none', async () => {
    const { state, routes } = counting({ delayMs: 20 })
    await using at = await harness('frankfurter', routes, { retry: { attempts: 1 } })
    state.failing = true
    const ask = () => failureOf(at.connectors.series('frankfurter', 'EUR/USD'))
    const failures = await Promise.all(Array.from({ length: 50 }, ask))
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['provider_down']))
    expect(state.count).toBe(1)
    state.failing = false
    expect(firstValue(await at.connectors.series('frankfurter', 'EUR/USD'))).toBe(2)
  })

  it('says since when an answer is kept, and keeps ranges apart', async () => {
    await using at = await clocked()
    expect(await at.read()).not.toHaveProperty('cachedAt')
    at.clock.now += 99_000
    const again = await at.read()
    expect(again).toMatchObject({ cachedAt: '2026-01-01T00:00:00.000Z' })
    expect(again).not.toHaveProperty('stale')
    await at.at.connectors.series('frankfurter', 'EUR/USD', { start: '2024-01-01' })
    expect(at.state.count).toBe(2)
  })

  it('serves what has just aged while it fetches anew', async () => {
    await using at = await clocked()
    await at.read()
    at.clock.now += 150_000
    expect(await at.read()).toMatchObject({ stale: true, cachedAt: '2026-01-01T00:00:00.000Z' })
    await wait(50)
    const renewed = await at.read()
    expect(firstValue(renewed)).toBe(2)
    expect(renewed).not.toHaveProperty('stale')
    expect(at.state.count).toBe(2)
  })

  it('waits for what has aged more', async () => {
    await using at = await clocked()
    await at.read()
    at.clock.now += 250_000
    const renewed = await at.read()
    expect(firstValue(renewed)).toBe(2)
    expect(renewed).not.toHaveProperty('cachedAt')
  })

  it('serves the old answer while the provider fails, marked, but not for ever', async () => {
    await using at = await clocked()
    await at.read()
    at.state.failing = true
    at.clock.now += 500_000
    expect(await at.read()).toMatchObject({ stale: true, observations: [{ value: 1 }] })
    // A failing refresh behind the reader's back disturbs nobody.
    at.clock.now -= 350_000
    expect(await at.read()).toMatchObject({ stale: true })
    await wait(100)
    at.clock.now += 1_000_000
    expect(await failureOf(at.read())).toMatchObject({ code: 'provider_down' })
    at.state.failing = false
    at.clock.now += 120_000
    expect(firstValue(await at.read())).toBeGreaterThan(1)
  })

  it('does not serve an old answer for a series that is no more', async () => {
    await using at = await clocked()
    await at.read()
    at.clock.now += 500_000
    at.at.upstream.routes = { '*': { status: 404, body: { message: 'not found' } } }
    expect(await failureOf(at.read())).toMatchObject({ code: 'series_not_found' })
  })

  it('asks for a minute no more for what the provider does not have', async () => {
    await using at = await clocked()
    const { upstream, connectors } = at.at
    const currencies = { body: { EUR: 'Euro', USD: 'US Dollar', CHF: 'Swiss Franc' } }
    const answerAll = (reply: Reply) => {
      upstream.routes = { '/v1/currencies': currencies, '*': reply }
    }
    const notFound = { code: 'series_not_found' }
    answerAll({ status: 404, body: { message: 'not found' } })
    expect(await failureOf(at.read())).toMatchObject(notFound)
    const spent = upstream.requests.length
    for (let n = 0; n < 5; n++) expect(await failureOf(at.read())).toMatchObject(notFound)
    expect(upstream.requests).toHaveLength(spent)
    // Of another series nothing is known.
    expect(await failureOf(connectors.series('frankfurter', 'EUR/CHF'))).toMatchObject(notFound)
    expect(upstream.requests.length).toBeGreaterThan(spent)
    answerAll(rates(7))
    at.clock.now += 59_000
    expect(await failureOf(at.read())).toMatchObject(notFound)
    at.clock.now += 2_000
    expect(firstValue(await at.read())).toBe(7)
  })

  it('serves the old answer where the limit is spent', async () => {
    const limits = { windows: [{ requests: 2, perSeconds: 86_400 }] }
    await using at = await clocked({ overrides: { frankfurter: { limits } } })
    await at.read()
    at.clock.now += 500_000
    expect(await at.read()).toMatchObject({ stale: true })
  })

  it('lets one leave without disturbing the others', async () => {
    const { state, routes } = counting({ delayMs: 80 })
    await using at = await harness('frankfurter', routes)
    const leaving = at.connectors.series('frankfurter', 'EUR/USD', {}, { signal: AbortSignal.timeout(10) })
    const staying = at.connectors.series('frankfurter', 'EUR/USD')
    expect(await failureOf(leaving)).toMatchObject({ code: 'cancelled' })
    expect(firstValue(await staying)).toBe(1)
    expect(state.count).toBe(1)
  })

  it('finishes for those to come what has left, when all who asked are gone', async () => {
    const { state, routes } = counting({ delayMs: 60 })
    await using at = await harness('frankfurter', routes)
    const gone = at.connectors.series('frankfurter', 'EUR/USD', {}, { signal: AbortSignal.timeout(20) })
    expect(await failureOf(gone)).toMatchObject({ code: 'cancelled' })
    expect(firstValue(await at.connectors.series('frankfurter', 'EUR/USD'))).toBeLessThanOrEqual(2)
    expect(state.count).toBeLessThanOrEqual(2)
    const late = at.connectors.series('frankfurter', 'EUR/USD', {}, { signal: AbortSignal.abort() })
    expect(firstValue(await late)).toBeGreaterThan(0)
  })

  it('stays within its size', async () => {
    const rows = Object.fromEntries(
      Array.from({ length: 2000 }, (_, day) => [
        new Date(day * 86_400_000).toISOString().slice(0, 10),
        { USD: 1 },
      ]),
    )
    await using at = await harness(
      'frankfurter',
      {
        '/v1/currencies': { body: { EUR: 'Euro' } },
        '*': { body: { base: 'EUR', rates: rows } },
      },
      { cache: { maxBytes: 1_000_000 } },
    )
    for (const code of ['AAA', 'BBB', 'CCC', 'DDD', 'EEE', 'FFF']) {
      await at.connectors.series('frankfurter', `EUR/USD`, {
        start: '1970-01-01',
        end: `20${code.charCodeAt(0) - 50}-01-01`,
      })
    }
    const { cache } = at.connectors.stats()
    expect(cache.bytes).toBeLessThanOrEqual(1_000_000)
    expect(cache.entries).toBeLessThan(6)
  })

  it('keeps what a key has paid for away from all other users', async () => {
    const body = (hit: Hit) => ({
      status: 'REQUEST_SUCCEEDED',
      Results: {
        series: [
          {
            seriesID: 'S',
            data: [{ year: '2024', period: 'M01', value: hit.body.includes('"ann-key"') ? '1' : '2' }],
          },
        ],
      },
    })
    await using at = await harness('bls', { '*': (hit) => ({ body: body(hit) }) })
    const read = (userKey?: { owner: string; key: string }) =>
      at.connectors.series('bls', 'S', {}, userKey === undefined ? {} : { userKey })
    expect(firstValue(await read({ owner: 'ann', key: 'ann-key' }))).toBe(1)
    expect(firstValue(await read())).toBe(2)
    expect(firstValue(await read({ owner: 'bob', key: 'bob-key' }))).toBe(2)
    // The same key saved by another is another's answer all the same.
    await read({ owner: 'eve', key: 'ann-key' })
    expect(at.upstream.requests).toHaveLength(4)
    await read({ owner: 'ann', key: 'ann-key' })
    expect(at.upstream.requests).toHaveLength(4)
    await read({ owner: 'ann', key: 'new-key' })
    expect(at.upstream.requests).toHaveLength(5)
  })

  it('counts hits and misses', async () => {
    await using at = await clocked()
    await at.read()
    await at.read()
    const { cache, providers } = at.at.connectors.stats()
    expect(cache).toMatchObject({ hits: 1, staleHits: 0 })
    expect(cache.misses).toBeGreaterThan(0)
    expect(providers.find(({ provider }) => provider === 'frankfurter')).toMatchObject({ breaker: 'closed' })
  })
})
