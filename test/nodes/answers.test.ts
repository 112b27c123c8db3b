import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Hit, startUpstream, type Upstream } from '../connectors/support/upstream.ts'
import { Cluster, HAS_CLUSTER, type Node } from './cluster.ts'

const ANSWER_MS = 500

describe.runIf(HAS_CLUSTER)('what a provider answers one node', () => {
  let cluster: Cluster
  let upstream: Upstream
  let a: Node
  let b: Node
  beforeAll(async () => {
    cluster = await Cluster.start()
    upstream = await startUpstream()
    const config = { providers: { 'bank-of-canada': { url: upstream.url } } }
    a = await cluster.node('a', { config })
    b = await cluster.node('b', { config })
  })
  beforeEach(() => {
    upstream.requests.length = 0
    upstream.routes = { '*': series }
  })
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]()
    await upstream?.close()
  })

  const get = (node: Node, id: string) => node.ask('GET', `/providers/bank-of-canada/series/${id}`)
  const database = () => a.server.engine.database

  it('is not asked for again by another that is asked at the same time, or later', async () => {
    const both = await Promise.all(Array.from({ length: 20 }, (_, n) => get(n % 2 ? a : b, 'TOGETHER')))
    const bodies = await Promise.all(both.map((answer) => answer.json()))
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200]))
    expect(bodies[0]).toMatchObject({ observations: [{ value: 1.25 }, { value: 1.5 }] })
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
    expect(upstream.requests).toHaveLength(1)

    await get(a, 'LATER')
    const later = await get(b, 'LATER')
    expect(later.status).toBe(200)
    expect(Number(later.headers.get('age'))).toBeLessThan(60)
    expect(upstream.requests).toHaveLength(2)
  })

  it('is asked for by the other if the first gets an error', async () => {
    upstream.routes = { '*': { status: 404, body: { message: 'no such series' } } }
    expect((await get(a, 'ABSENT')).status).toBe(404)
    upstream.routes = { '*': series }
    expect((await get(b, 'ABSENT')).status).toBe(200)
    const left = await database().all('SELECT name FROM provider_answers WHERE value IS NULL')
    expect(left).toEqual([])
  })

  it('is asked for by the other if the first dies meanwhile, or if it is no longer fresh', async () => {
    expect((await get(a, 'OLD')).status).toBe(200)
    const dead = (sql: string) => database().run(`UPDATE provider_answers SET ${sql}`)
    await dead("fetched_at = 0, taken_by = 'a node that is gone', taken_until = taken_until + 9e15")
    const waiting = get(b, 'OLD')
    await sleep(2 * ANSWER_MS)
    expect(upstream.requests).toHaveLength(1)
    await dead('taken_until = 1')
    expect((await waiting).status).toBe(200)
    expect(upstream.requests).toHaveLength(2)
  })

  it('is kept under a hash of what was asked', async () => {
    const rows = await database().all<{ name: string }>('SELECT name FROM provider_answers')
    expect(rows.length).toBeGreaterThan(0)
    for (const { name } of rows) expect(name).toMatch(/^[\w-]{43}$/)
  })
})

async function series({ path }: Hit) {
  await sleep(ANSWER_MS)
  const id = path.split('/')[2]!
  const row = (d: string, v: string) => ({ d, [id]: { v } })
  return {
    body: {
      seriesDetail: { [id]: { label: id, description: id, dimension: { key: 'd' } } },
      observations: [row('2024-01-02', '1.25'), row('2024-01-03', '1.5')],
    },
  }
}
