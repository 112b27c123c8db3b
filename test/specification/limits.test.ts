import { expect, it } from 'vitest'
import { service } from './asked.ts'

// A series is two requests to FRED, what it is and its observations; from then on one, since the first is kept.
const limits = { windows: [{ requests: 3, perSeconds: 86_400 }] }
const at = service({ providers: { fred: { key: 'the-key-of-the-service', limits } } } as never)

const status = async (path: string, key = at.ada) => (await at.get(path, key)).status

it("a provider's limit is kept: 429 names it and says when to ask again; others are unaffected", async () => {
  expect(await status('/providers/fred/series/GNPCA')).toBe(200)
  expect(await status('/providers/fred/series/GNPCA?start=1930-01-01')).toBe(200)
  const beyond = await at.get('/providers/fred/series/GNPCA?start=1931-01-01')
  expect(beyond.status).toBe(429)
  expect(beyond.json.error).toContain('FRED')
  expect(Number(beyond.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(at.at.upstream.requests.length).toBeLessThanOrEqual(limits.windows[0]!.requests)
  expect(await status('/providers/frankfurter/series/EUR/USD')).not.toBe(429)
})

it('a saved key of its own raises the limit for its user, and for nobody else', async () => {
  await at.ask(at.ada, 'PUT', '/user-keys/fred', { key: 'my-own-key-for-fred' })
  expect(await status('/providers/fred/series/GNPCA?end=1930-01-01')).toBe(200)
  expect(await status('/providers/fred/series/GNPCA?end=1929-01-01', at.eve)).toBe(429)
})

it('there is no limit on requests to the service itself', async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, () => status('/account')))
  expect(new Set(answers)).toEqual(new Set([200]))
})
