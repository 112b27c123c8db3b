import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LimitEntries } from '../../connectors/index.ts'
import { memoryEntries, memoryStore, SlidingWindow } from '../../connectors/pipeline/window.ts'
import { failureOf, type HarnessOptions, harness } from './support/harness.ts'
import type { Routes } from './support/upstream.ts'

const DAY = { requests: 25, perSeconds: 86_400 }

const answered: Routes = {
  '*': {
    body: {
      status: 'REQUEST_SUCCEEDED',
      message: [],
      Results: { series: [{ seriesID: 'X', data: [{ year: '2024', period: 'M01', value: '1' }] }] },
    },
  },
}
const openBls = (options: HarnessOptions = {}) => harness('bls', answered, options)
const ids = (count: number, prefix = 'S') => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

describe('a limit of 25 a day', () => {
  it('lets exactly 25 of 500 concurrent requests reach the provider, and refuses the others', async () => {
    await using at = await openBls()
    const settled = await Promise.allSettled(ids(500).map((id) => at.connectors.series('bls', id)))
    const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(at.upstream.requests).toHaveLength(25)
    expect(refused).toHaveLength(475)
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'provider_limit', provider: 'bls' })
      expect(error.message).toContain('BLS')
      expect(error.retryAfter).toBeGreaterThan(80_000)
    }
    expect(at.connectors.limit('bls')).toMatchObject({ requests: 25, perSeconds: 86_400, remaining: 0 })
  })

  it('refuses the 26th after a restart too', async () => {
    const limitStore = memoryStore()
    {
      await using before = await openBls({ limitStore })
      for (const id of ids(25)) await before.connectors.series('bls', id)
    }
    await using after = await openBls({ limitStore })
    expect(await failureOf(after.connectors.series('bls', 'NEW'))).toMatchObject({ code: 'provider_limit' })
    expect(after.upstream.requests).toHaveLength(0)
    expect(after.connectors.limit('bls').remaining).toBe(0)
  })

  it('leaves other providers, users with a key of their own, and cached answers alone', async () => {
    await using other = await harness('frankfurter', { '*': { body: { EUR: 'Euro' } } })
    await using at = await openBls({ overrides: { frankfurter: { baseUrl: other.upstream.url } } })
    const first = await at.connectors.series('bls', 'S0')
    await Promise.allSettled(ids(100).map((id) => at.connectors.series('bls', id)))
    expect(at.upstream.requests).toHaveLength(25)

    expect((await at.connectors.browse('frankfurter', '')).categories).toHaveLength(2)
    const cached = await at.connectors.series('bls', 'S0')
    expect(cached.observations).toEqual(first.observations)
    expect(cached.cachedAt).toBeDefined()
    const own = { userKey: { owner: 'ann', key: 'her-key' } }
    await Promise.all(ids(30, 'T').map((id) => at.connectors.series('bls', id, {}, own)))
    expect(at.upstream.requests).toHaveLength(55)
    expect(at.connectors.limit('bls', own.userKey)).toMatchObject({ requests: 500, remaining: 470 })
    expect(at.connectors.limit('bls').remaining).toBe(0)
  })

  it('is given back once a day has passed', async () => {
    let time = Date.parse('2026-03-01T12:00:00Z')
    await using at = await openBls({ now: () => time, overrides: { bls: { limits: { windows: [DAY] } } } })
    for (const id of ids(25)) await at.connectors.series('bls', id)
    expect(await failureOf(at.connectors.series('bls', 'NEW'))).toMatchObject({ code: 'provider_limit' })
    const { resetsAt } = at.connectors.limit('bls')
    time = Date.parse(resetsAt!) - 10_000
    expect(await failureOf(at.connectors.series('bls', 'NEW'))).toMatchObject({ code: 'provider_limit' })
    time += 10_001
    await at.connectors.series('bls', 'NEW')
    expect(at.upstream.requests).toHaveLength(26)
  })

  it('is spent by each retry, and by nothing that never left', async () => {
    await using at = await harness(
      'dbnomics',
      { '*': { status: 500, body: {} } },
      {
        overrides: { dbnomics: { limits: { windows: [DAY] } } },
      },
    )
    expect(await failureOf(at.connectors.browse('dbnomics', ''))).toMatchObject({ code: 'provider_down' })
    expect(at.upstream.requests).toHaveLength(3)
    expect(at.connectors.limit('dbnomics').remaining).toBe(22)
    expect(await failureOf(at.connectors.browse('dbnomics', '..'))).toMatchObject({ status: 404 })
    expect(at.connectors.limit('dbnomics').remaining).toBe(22)
    await at.upstream.close()
    expect(await failureOf(at.connectors.browse('dbnomics', 'x'))).toMatchObject({ code: 'provider_down' })
    expect(at.connectors.limit('dbnomics').remaining).toBe(22)
  })
})

describe('limits of seconds', () => {
  it('are waited for, and never exceeded in any span', async () => {
    const times: number[] = []
    await using at = await harness(
      'bank-of-canada',
      {
        '*': () => {
          times.push(performance.now())
          return { body: { observations: [] } }
        },
      },
      { overrides: { 'bank-of-canada': { limits: { windows: [{ requests: 3, perSeconds: 0.8 }] } } } },
    )
    await Promise.all(ids(12).map((id) => at.connectors.series('bank-of-canada', id)))
    expect(times).toHaveLength(12)
    // Measured where they arrive: on a busy machine the way takes its time.
    for (const [index, time] of times.entries()) {
      const fourth = times[index + 3]
      if (fourth !== undefined) expect(fourth - time).toBeGreaterThan(400)
    }
  })

  it('refuse what would have to wait too long, with the reason', async () => {
    await using at = await openBls({
      overrides: {
        bls: {
          limits: {
            windows: [
              { requests: 1, perSeconds: 60 },
              { requests: 9, perSeconds: 86_400 },
            ],
          },
        },
      },
    })
    await at.connectors.series('bls', 'S0')
    const error = await failureOf(at.connectors.series('bls', 'S1'))
    expect(error.message).toMatch(
      /^The limit of BLS, 1 request a minute, has been reached\. Try again in \d+ s\.$/,
    )
    expect(error).toMatchObject({ remedy: 'own-key' })
    expect(error.retryAfter).toBeLessThanOrEqual(63)
    expect(at.connectors.limit('bls')).toMatchObject({ requests: 1, perSeconds: 60, remaining: 0 })
  })

  it('stop waiting once the caller has left', async () => {
    await using at = await openBls({
      overrides: { bls: { limits: { windows: [{ requests: 1, perSeconds: 1 }] } } },
    })
    await at.connectors.series('bls', 'S0')
    const leaving = AbortSignal.timeout(20)
    const left = at.connectors.series('bls', 'S1', {}, { signal: leaving })
    expect(await failureOf(left)).toMatchObject({ code: 'cancelled', status: 499 })
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect(at.upstream.requests).toHaveLength(1)
  })
})

describe("a provider's own Retry-After", () => {
  const limited = (retryAfter: string): Routes => ({
    '*': { status: 429, body: { message: 'slow down' }, headers: { 'retry-after': retryAfter } },
  })

  it.each([
    ['in seconds', '120'],
    ['as a date', new Date(Date.now() + 120_500).toUTCString()],
  ])('holds back every request until then, %s, after a restart too', async (_, text) => {
    const limitStore = memoryStore()
    {
      await using at = await harness('frankfurter', limited(text), { limitStore })
      const error = await failureOf(at.connectors.browse('frankfurter', ''))
      expect(error).toMatchObject({ code: 'provider_limit', status: 429 })
      expect(error.message).toContain('Frankfurter')
      expect(error.retryAfter).toBeGreaterThan(100)
      expect(await failureOf(at.connectors.series('frankfurter', 'EUR/USD'))).toMatchObject({
        code: 'provider_limit',
      })
      expect(at.upstream.requests).toHaveLength(1)
      expect(at.connectors.limit('frankfurter').remaining).toBe(0)
    }
    await using after = await harness('frankfurter', answered, { limitStore })
    expect(await failureOf(after.connectors.browse('frankfurter', ''))).toMatchObject({
      code: 'provider_limit',
    })
    expect(after.upstream.requests).toHaveLength(0)
  })

  it('is over when it is over', async () => {
    let time = Date.now()
    await using at = await harness('frankfurter', limited('30'), { now: () => time })
    await failureOf(at.connectors.browse('frankfurter', ''))
    at.upstream.routes = { '*': { body: { EUR: 'Euro' } } }
    time += 30_001
    expect((await at.connectors.browse('frankfurter', '')).categories).toHaveLength(2)
  })

  it('comes with 503 as well', async () => {
    await using at = await harness('frankfurter', {
      '*': { status: 503, body: '', headers: { 'retry-after': '60' } },
    })
    const error = await failureOf(at.connectors.browse('frankfurter', ''))
    expect(error).toMatchObject({ code: 'provider_down', status: 503 })
    expect(error.retryAfter).toBeGreaterThan(50)
    expect(at.upstream.requests).toHaveLength(1)
  })
})

describe('a window', () => {
  const arrivals = fc.array(fc.nat({ max: 4000 }), { minLength: 1, maxLength: 120 })
  const limits = fc.record({
    requests: fc.integer({ min: 1, max: 9 }),
    perSeconds: fc.constantFrom(1, 3, 10),
  })

  it('never lets more through than its limit in any span, and is not stricter than a 24th', () => {
    fc.assert(
      fc.property(arrivals, limits, (gaps, limit) => {
        const span = limit.perSeconds * 1000
        const window = new SlidingWindow(limit, 'w')
        const entries = memoryEntries()
        const taken: number[] = []
        let now = 1_700_000_000_000
        for (const gap of gaps) {
          now += gap
          const freeAt = window.freeAt(now)
          const recent = taken.filter((time) => time > now - span * (1 + 1 / 24) - 1).length
          if (freeAt <= now) {
            window.take(entries, now)
            taken.push(now)
          } else expect(recent).toBeGreaterThanOrEqual(limit.requests)
          const inSpan = taken.filter((time) => time > now - span).length
          expect(inSpan).toBeLessThanOrEqual(limit.requests)
        }
      }),
    )
  })

  it('continues from what was kept, whenever the restart is', () => {
    fc.assert(
      fc.property(arrivals, fc.nat({ max: 119 }), (gaps, restart) => {
        const limit = { requests: 4, perSeconds: 60 }
        const kept = new Map<string, { consumed: number; expiresAt: number }>()
        const entries: LimitEntries = {
          load: (key) => kept.get(key),
          save: (key, consumed, expiresAt) => void kept.set(key, { consumed, expiresAt }),
        }
        const other = memoryEntries()
        const unbroken = new SlidingWindow(limit, 'a')
        let broken = new SlidingWindow(limit, 'b')
        let now = 1_700_000_000_000
        for (const [index, gap] of gaps.entries()) {
          now += gap * 10
          if (index === restart) {
            broken = new SlidingWindow(limit, 'b')
            broken.load(entries, now)
          }
          expect(broken.freeAt(now)).toBe(unbroken.freeAt(now))
          if (broken.freeAt(now) > now) continue
          broken.take(entries, now)
          unbroken.take(other, now)
        }
        expect(kept.size).toBeLessThanOrEqual(26)
      }),
    )
  })

  it('takes back what never left', () => {
    const entries = memoryEntries()
    const window = new SlidingWindow({ requests: 1, perSeconds: 60 }, 'w')
    const refund = window.take(entries, 1000)
    expect(window.freeAt(1000)).toBeGreaterThan(1000)
    refund(entries)
    expect(window.freeAt(1000)).toBe(1000)
  })
})
