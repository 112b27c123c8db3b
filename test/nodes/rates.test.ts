import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster, HAS_CLUSTER, json, type Node } from './cluster.ts'

const WRONG = 10
const REQUESTS = 200

describe.runIf(HAS_CLUSTER)('over two nodes', () => {
  let cluster: Cluster
  let a: Node
  let b: Node
  beforeAll(async () => {
    cluster = await Cluster.start()
    const limits = { failedKeys: WRONG, requestsPerMinute: REQUESTS }
    a = await cluster.node('a', { limits })
    b = await cluster.node('b', { limits })
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  const status = async (node: Node, key?: string) =>
    (await node.ask('GET', '/account', undefined, key)).status

  it('wrong keys are counted together, and right ones pass', async () => {
    const statuses: number[] = []
    for (let n = 0; n < WRONG + 4; n++) statuses.push(await status(n % 3 ? a : b, `guess${n}`))
    expect(statuses).toEqual([...Array(WRONG).fill(401), ...Array(4).fill(429)])
    expect(await status(a)).toBe(200)
    const kept = await a.server.engine.database.all<{ key: string }>('SELECT key FROM request_rates')
    expect(JSON.stringify(kept)).not.toMatch(/guess|127\.0\.0\.1/)
  })

  it('the requests of an account are counted together, a second later', async () => {
    const { apiKey } = await json<{ apiKey: string }>(
      a.ask('POST', '/accounts', { name: 'ada', plan: 'free' }),
    )
    // Neither node would refuse these alone, nor what is asked below. On a slow machine, the second already knows what the
    // first one has counted.
    const ask = (node: typeof a) =>
      Promise.all(Array.from({ length: 0.6 * REQUESTS }, () => status(node, apiKey)))
    expect(new Set(await ask(a))).toEqual(new Set([200]))
    const second = await ask(b)
    expect([200, 429]).toEqual(expect.arrayContaining([...new Set(second)]))
    expect(second.filter((one) => one === 200).length).toBeGreaterThan(0.3 * REQUESTS)
    for (const node of [a, b]) {
      await expect.poll(() => status(node, apiKey), { timeout: 15_000, interval: 500 }).toBe(429)
    }
    expect(await status(a)).toBe(200)
  })
})
