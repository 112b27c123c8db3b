import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, HAS_CLUSTER, ROOT } from '../nodes/cluster.ts'
import { NodeProcess } from '../nodes/node-process.ts'
import { NodeProxy } from '../nodes/proxy.ts'
import { basic } from '../server/platform.ts'
import { askTrino } from './ask.ts'
import { TRINO_PROGRAM, TrinoServer } from './trino-server.ts'

const ROWS = 400_000
const TOP = 60_000
/** When a node is killed, after the question: while Trino plans, while it reads, and while rows come back. */
const MOMENTS = [0, 150, 500, 1_000, 2_000]

describe.runIf(TRINO_PROGRAM && HAS_CLUSTER)(
  'a node that is killed while Trino works',
  {
    timeout: 300_000,
  },
  () => {
    let cluster: Cluster
    let trino: TrinoServer
    /** Its catalog is Trino's, at an address that stays. */
    let catalog: NodeProcess
    let proxy: NodeProxy
    /** It is asked, and asks Trino. */
    let asked: NodeProcess
    let path: string
    let expected: string

    beforeAll(async () => {
      if (!TRINO_PROGRAM || !HAS_CLUSTER) return
      cluster = await Cluster.start()
      catalog = new NodeProcess(cluster, 'catalog')
      await catalog.start()
      proxy = await NodeProxy.before(() => [catalog.url])
      const { endpoint, bucket } = cluster.store
      const uri = `${proxy.url}/iceberg`
      trino = await TrinoServer.start({ catalog: uri, key: ROOT, store: { endpoint, bucket } })
      // Without a cache of answers, every question goes to Trino.
      const limits = { cachedAnswerBytes: 0 }
      const config = { trino: { minBytes: 0 }, limits }
      asked = new NodeProcess(cluster, 'asked', config, { PARQUETRY_TRINO_URL: trino.url })
      await asked.start()
      path = `/datasets/${await table(asked.url)}/data?${new URLSearchParams({
        $filter: "matchesPattern(word,'w.*(1|2|3)+.*') and n mod 3 ne 1",
        $orderby: 'word desc,n',
        $top: String(TOP),
        $format: 'csv',
      })}`
      // The other node has no Trino.
      expected = await read(catalog.url, path)
      expect(expected.split('\n').length).toBe(TOP + 2)
      expect(await read(asked.url, path)).toBe(expected)
      expect(await queries(trino.url)).toBeGreaterThan(0)
    }, 300_000)

    afterAll(async () => {
      await asked?.kill()
      await catalog?.kill()
      await trino?.[Symbol.asyncDispose]()
      await proxy?.[Symbol.asyncDispose]()
      await cluster?.[Symbol.asyncDispose]()
    })

    test.each(
      MOMENTS,
    )('is the one whose catalog Trino reads, after %i ms: the answer is whole, or an error', async (moment) => {
      const before = await queries(trino.url)
      const asking = fetch(`${asked.url}${path}`, { headers: { authorization: basic(ROOT) } })
      await wait(moment)
      await catalog.kill()
      try {
        const answer = await asking
        const text = await answer.text()
        if (answer.status === 200) expect(text === expected).toBe(true)
        else {
          expect([503, 504], text).toContain(answer.status)
          expect(text).not.toMatch(/trino/i)
        }
        expect(await queries(trino.url)).toBeGreaterThan(before)
      } finally {
        await catalog.start()
      }
    })

    test('is the one that gives the answer: it breaks off where it can be told, and another node gives all of it', async () => {
      const outcomes = []
      for (const moment of MOMENTS) {
        const asking = read(asked.url, path).catch(() => undefined)
        await wait(moment)
        await asked.kill()
        const text = await asking
        expect(text === undefined || text === expected, `after ${moment} ms`).toBe(true)
        outcomes.push(text === undefined ? 'broken' : 'whole')
        expect((await read(catalog.url, path)) === expected).toBe(true)
        await asked.start()
      }
      expect(outcomes).toContain('broken')
    })
  },
)

/** How many questions of ours a Trino has had. */
async function queries(url: string): Promise<number> {
  const sql = "SELECT count(*) FROM system.runtime.queries WHERE source = 'parquetry'"
  return Number((await askTrino(url, sql))[0]![0])
}

/** The whole text of an answer. It throws where the connection is cut. */
async function read(url: string, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: basic(ROOT) } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text}`)
  return text
}

/** Puts a dataset of two parts there, and gives its id. */
async function table(url: string): Promise<number> {
  const call = async (method: string, to: string, body: string | object): Promise<{ id: number }> => {
    const type = typeof body === 'string' ? 'text/csv' : 'application/json'
    const answer = await fetch(url + to, {
      method,
      headers: { authorization: basic(ROOT), 'content-type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { id: number }
  }
  const repository = await call('POST', '/repositories', { name: 'tables', private: false })
  const columns = [
    { name: 'n', type: 'integer' },
    { name: 'word', type: 'string' },
  ]
  const { id } = await call('POST', '/datasets', { name: 'table', repositoryId: repository.id, columns })
  for (const half of [0, 1]) {
    const lines = Array.from({ length: ROWS / 2 }, (_, index) => {
      const n = index + (half * ROWS) / 2
      return `${n},w${(n * 7_919) % 1_000_003}\n`
    })
    await call('POST', `/datasets/${id}/data`, `n,word\n${lines.join('')}`)
  }
  return id
}
