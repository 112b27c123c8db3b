import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresLine } from '../cluster/postgres-line.ts'
import { Cluster, HAS_CLUSTER, json, type Node } from '../nodes/cluster.ts'

/** What a node may take for anything while another one is cut off. */
const WITHIN_MS = 15_000
/** Longer than the server leaves a silent transaction alone. */
const SILENCE_MS = 7_000

describe.runIf(HAS_CLUSTER)('while one node is cut off in a transaction, the others', () => {
  let cluster: Cluster
  let healthy: Node
  let ids: number[]
  beforeAll(async () => {
    cluster = await Cluster.start()
    healthy = await cluster.node('healthy')
    ids = []
    for (let n = 0; n < 12; n++) ids.push(await cluster.dataset(healthy, `d${n}`, 'n\n0\n'))
    await healthy.server.engine.settled()
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  const append = (id: number) => healthy.ask('POST', `/datasets/${id}/data`, 'n\n1\n')
  async function timed(ask: () => Promise<Response>): Promise<number> {
    const begun = performance.now()
    const answer = await ask()
    await answer.text()
    expect(answer.status).toBeLessThan(300)
    return performance.now() - begun
  }

  /** A transaction that holds locks and says nothing more, and who waits for it. */
  async function silent(...statements: string[]) {
    const holder = new pg.Client({ connectionString: cluster.postgres.url })
    const watcher = new pg.Client({ connectionString: cluster.postgres.url })
    await Promise.all([holder.connect(), watcher.connect()])
    await holder.query('BEGIN')
    for (const statement of statements) await holder.query(statement)
    return {
      async waiting(): Promise<number> {
        const sql = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return (await watcher.query<{ n: number }>(sql)).rows[0]!.n
      },
      async [Symbol.asyncDispose]() {
        await holder.query('ROLLBACK')
        await Promise.all([holder.end(), watcher.end()])
      },
    }
  }

  it('write to the dataset whose merge it was taking, and to others', async () => {
    const [id, ...others] = ids
    await using cut = await silent(
      `INSERT INTO jobs (kind, subject, due, taken_by) VALUES ('merge', ${id}, 1e15, 'cut off')`,
    )
    const most: number[] = []
    const times: number[] = []
    for (let round = 0; round < 5; round++) {
      const asked = [append(id!), append(id!), append(id!), ...others.map(append)]
      most.push(await cut.waiting())
      times.push(...(await Promise.all(asked.map((answer) => timed(() => answer)))))
      times.push(await timed(() => healthy.ask('GET', '/readyz')))
      most.push(await cut.waiting())
    }
    expect(Math.max(...times)).toBeLessThan(WITHIN_MS)
    expect(Math.max(...most)).toBeLessThanOrEqual(1)
  })

  it('read, and write to other datasets, while many wait for the one that it was writing', async () => {
    const [id, ...others] = ids
    const waiting: Promise<Response>[] = []
    {
      await using cut = await silent(`SELECT 1 FROM datasets WHERE id = ${id} FOR UPDATE`)
      for (let n = 0; n < 6; n++) waiting.push(append(id!))
      await expect.poll(() => cut.waiting()).toBe(1)
      for (const other of others.slice(0, 2)) expect(await timed(() => append(other))).toBeLessThan(WITHIN_MS)
      expect(await timed(() => healthy.ask('GET', `/datasets/${id}/data`))).toBeLessThan(WITHIN_MS)
      expect(await timed(() => healthy.ask('GET', '/readyz'))).toBeLessThan(WITHIN_MS)
      expect(await cut.waiting()).toBe(1)
    }
    // On a slow machine it may be too late for some.
    for (const answer of await Promise.all(waiting)) expect([200, 503]).toContain(answer.status)
  })

  it('get the lock of a node that says nothing more, by the time that a request waits', async () => {
    await using line = await PostgresLine.before(cluster.postgres.url)
    const other = await cluster.node('cut-off', { database: line.url(cluster.postgres.url) })
    const id = ids[1]!
    await json(other.ask('POST', `/datasets/${id}/data`, 'n\n2\n'))
    line.cut()
    await expect.poll(async () => (await other.ask('GET', '/readyz')).status).toBe(200)
    line.silentAfter = 'UPDATE datasets SET version_id'
    const lost = other.ask('POST', `/datasets/${id}/data`, 'n\n3\n')
    await expect.poll(() => line.silent).toBe(true)
    expect(await timed(() => append(id))).toBeLessThan(SILENCE_MS)
    const answer = await lost
    expect(answer.status).toBe(503)
    expect(await (await healthy.ask('GET', `/datasets/${id}/data?$filter=n ge 2`)).text()).toBe('n\n2\n')
    line.silentAfter = undefined
    line.silent = false
    line.cut()
    await expect.poll(async () => (await other.ask('GET', '/readyz')).status).toBe(200)
    await other.close()
  })
})
