import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresLine } from '../cluster/postgres-line.ts'
import { startUpstream, type Upstream } from '../connectors/support/upstream.ts'
import { Cluster, HAS_CLUSTER, json, type Node } from './cluster.ts'

describe.runIf(HAS_CLUSTER)('two nodes are one service', () => {
  let cluster: Cluster
  let upstream: Upstream
  let a: Node
  let b: Node
  beforeAll(async () => {
    cluster = await Cluster.start()
    upstream = await startUpstream({ '*': { body: { observations: [], seriesDetail: {} } } })
    const limits = { windows: [{ requests: 25, perSeconds: 86_400 }] }
    const config = { providers: { 'bank-of-canada': { url: upstream.url, limits } } }
    // Both begin at once, on an empty database.
    ;[a, b] = await Promise.all([cluster.node('a', { config }), cluster.node('b', { config })])
  })
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]()
    await upstream?.close()
  })

  const rows = async (node: Node, id: number, query = '') =>
    (await node.ask('GET', `/datasets/${id}/data${query}`)).text()
  const account = (name: string, plan: string) =>
    json<{ apiKey: string }>(a.ask('POST', '/accounts', { name, plan })).then(({ apiKey }) => apiKey)

  it('what is written on one is read on the other at once', async () => {
    const id = await cluster.dataset(a, 'shared', 'n\n0\n')
    let expected = 'n\n0\n'
    for (let n = 1; n <= 25; n++) {
      const [writer, reader] = n % 2 ? [b, a] : [a, b]
      await json(writer.ask('POST', `/datasets/${id}/data`, `n\n${n}\n`))
      expected += `${n}\n`
      expect(await rows(reader, id)).toBe(expected)
      expect(await json(reader.ask('GET', `/datasets/${id}`))).toMatchObject({ rowCount: n + 1 })
    }
    await json(b.ask('PUT', `/datasets/${id}`, { name: 'renamed' }))
    expect(await json(a.ask('GET', `/datasets/${id}`))).toMatchObject({ name: 'renamed' })
  })

  it('appends over both arrive once each, in the order in which they were acknowledged', async () => {
    const id = await cluster.dataset(a, 'appended', 'n\n0\n')
    const append = async (node: Node, from: number) => {
      for (let n = from; n < from + 10; n++) await json(node.ask('POST', `/datasets/${id}/data`, `n\n${n}\n`))
    }
    const writers = [a, b, a, b].map((node, writer) => append(node, 10 * writer + 1))
    await Promise.all(writers)
    const found = (await rows(b, id)).trim().split('\n').slice(1).map(Number)
    expect(found.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 41 }, (_, n) => n))
    for (let writer = 0; writer < 4; writer++) {
      const own = found.filter((n) => n > 10 * writer && n <= 10 * writer + 10)
      expect(own).toEqual(own.toSorted((x, y) => x - y))
    }
    await a.server.engine.settled()
    await b.server.engine.settled()
    expect(await rows(a, id)).toBe(await rows(b, id))
  })

  it('keys that are rotated or disabled, and rights that are taken away, on one are refused on the other at once', async () => {
    const id = await cluster.dataset(a, 'private', 'n\n1\n')
    const { repositoryId } = await json<{ repositoryId: number }>(a.ask('GET', `/datasets/${id}`))
    await json(a.ask('PUT', `/repositories/${repositoryId}`, { private: true }))
    for (let n = 0; n < 10; n++) {
      const [here, there] = n % 2 ? [a, b] : [b, a]
      const key = await account(`rotating${n}`, 'free')
      const member = `/repositories/${repositoryId}/members/rotating${n}`
      expect((await there.ask('GET', `/datasets/${id}`, undefined, key)).status).toBe(403)
      expect((await here.ask('PUT', member, { permission: 'Read' })).status).toBe(200)
      expect((await there.ask('GET', `/datasets/${id}`, undefined, key)).status).toBe(200)
      expect((await here.ask('DELETE', member)).status).toBe(204)
      expect((await there.ask('GET', `/datasets/${id}`, undefined, key)).status).toBe(403)
      const { apiKey } = await json<{ apiKey: string }>(here.ask('POST', '/account/api-key', undefined, key))
      expect((await there.ask('GET', '/account', undefined, key)).status).toBe(401)
      expect((await there.ask('GET', '/account', undefined, apiKey)).status).toBe(200)
      await json(here.ask('PUT', `/accounts/rotating${n}`, { disabled: true }))
      expect((await there.ask('GET', '/account', undefined, apiKey)).status).toBe(401)
    }
  })

  it('25 a day of a provider are 25 for both under 500 askers', async () => {
    const asked = Array.from({ length: 500 }, (_, n) =>
      (n % 2 ? a : b).ask('GET', `/providers/bank-of-canada/series/S${n}`),
    )
    const answers = await Promise.all(asked)
    expect(upstream.requests.length).toBe(25)
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(475)
    for (const { status } of answers) expect([200, 404, 429, 500]).toContain(status)
  }, 120_000)

  it('what an account downloads is counted together', async () => {
    const id = await cluster.dataset(a, 'counted', `n\n${'1\n'.repeat(100)}`)
    const key = await account('counted', 'free')
    for (let n = 0; n < 10; n++) {
      const answer = await (n % 2 ? a : b).ask('GET', `/datasets/${id}/data`, undefined, key)
      expect((await answer.text()).length).toBe(202)
    }
    for (const node of [a, b]) {
      const exported = async () =>
        (await json<{ usage: { exportedRows: number } }>(node.ask('GET', '/account', undefined, key))).usage
          .exportedRows
      await expect.poll(exported, { timeout: 10_000 }).toBe(1_000)
    }
  })

  it('a read that was answered before takes one statement, also of who reads at the same time', async () => {
    await using line = await PostgresLine.before(cluster.postgres.url)
    const node = await cluster.node('warm', { database: line.url(cluster.postgres.url) })
    const id = await cluster.dataset(node, 'warm', 'n\n1\n')
    const counts: number[] = []
    // Heartbeats and the like come in between.
    for (let n = 0; n < 10; n++) {
      const before = line.statements
      expect(await rows(node, id)).toBe('n\n1\n')
      counts.push(line.statements - before)
    }
    expect(Math.min(...counts)).toBe(1)
    const before = line.statements
    await Promise.all(Array.from({ length: 50 }, () => rows(node, id)))
    expect(line.statements - before).toBeLessThanOrEqual(50)
    await node.close()
  })

  it('writes to other datasets, downloads and sources make no node read again what it knows', async () => {
    const [id, other] = [
      await cluster.dataset(a, 'read', 'n\n1\n'),
      await cluster.dataset(a, 'busy', 'n\n1\n'),
    ]
    await using line = await PostgresLine.before(cluster.postgres.url)
    const node = await cluster.node('reading', { database: line.url(cluster.postgres.url) })
    const counts: number[] = []
    for (let n = 0; n < 10; n++) {
      await json(b.ask('POST', `/datasets/${other}/data`, 'n\n2\n'))
      await rows(b, other)
      const before = line.statements
      expect(await rows(node, id)).toBe('n\n1\n')
      counts.push(line.statements - before)
    }
    expect(counts.toSorted((x, y) => x - y)[5]).toBe(1)
    await node.close()
  })
})
