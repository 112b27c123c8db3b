import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster, HAS_CLUSTER, type Node, ROOT } from '../nodes/cluster.ts'

/** What version 0.2.0 left behind: its tables as pg_dump writes them, and the objects of its store. */
const FIXTURE = join(import.meta.dirname, 'fixtures/0.2.0-postgres')
/** Keys of the accounts in the fixture. They open nothing else. */
const ADA = 'pq_rcunA0QCc24uIKcZa1Uzm39Jq8v0M5A841gVLz'
const ROBOT = 'pq_PBpLS3fp2RneojlfUAFmYaJINbIK7wyQ3bOLmp'
const ROWS = 'n,t,d\n1,é,2020-01-31\n2,,2021-02-28\n3,x,\n'
const MIGRATED = /^The catalog of an older version was migrated from step \d+ to step \d+\./

describe.runIf(HAS_CLUSTER)('a PostgreSQL catalog of version 0.2.0', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.start()
    const { folder, bucket } = cluster.store
    cpSync(join(FIXTURE, 'store'), join(folder, 'data', bucket, 'rows'), { recursive: true })
    await sql(readFileSync(join(FIXTURE, 'catalog.sql'), 'utf8'))
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  async function sql(text: string) {
    const client = new pg.Client({ connectionString: cluster.postgres.url })
    await client.connect()
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  }

  const migrated = ({ log }: Node) => log.filter(({ msg }) => MIGRATED.test(String(msg)))

  it('has its rows, rights and keys on every node, and one line says that it was migrated', async () => {
    const nodes = await Promise.all(['one', 'two'].map((name) => cluster.node(name)))
    for (const node of nodes) {
      const rows = async (key: string) => (await node.ask('GET', '/datasets/1/data', undefined, key)).text()
      for (const key of [ROOT, ADA, ROBOT]) expect(await rows(key)).toBe(ROWS)
      const write = (key: string) => node.ask('POST', '/datasets/1/data', 'n,t,d\n4,,\n', key)
      for (const key of [ADA, ROBOT]) expect((await write(key)).status).toBe(403)
      expect((await write('a-key-of-nobody-at-all')).status).toBe(401)
      const [first] = (await (await node.ask('GET', '/datasets/1/versions')).json()) as object[]
      expect(first).toMatchObject({ number: 2, rowCount: 3, operation: null })
    }
    expect(nodes.flatMap(migrated)).toHaveLength(1)
    const [node, other] = nodes
    expect((await node!.ask('POST', '/datasets/1/data', 'n,t,d\n4,,\n')).status).toBe(200)
    expect(await (await other!.ask('GET', '/datasets/1/data')).text()).toBe(`${ROWS}4,,\n`)
    expect(await (await other!.ask('GET', '/datasets/1/data?$version=2')).text()).toBe(ROWS)
    expect((await node!.server.engine.verify()).problems).toEqual([])
    await Promise.all(nodes.map((one) => one.close()))
    const again = await cluster.node('one')
    expect(migrated(again)).toEqual([])
    await again.close()
  })

  it('that a newer version has migrated is refused with a sentence', async () => {
    await sql("UPDATE migrations SET step = step + 1 WHERE namespace = 'catalog'")
    await expect(cluster.node('one')).rejects.toThrow(
      /^The catalog was written by a newer version \(catalog step/,
    )
  })
})
