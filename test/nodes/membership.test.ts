import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, openEngine } from '../../engine/index.ts'
import { Cluster, HAS_CLUSTER } from './cluster.ts'

const A_MINUTE = 60_000
const LONG = 1_000_000

describe.runIf(HAS_CLUSTER)('nodes of a cluster', () => {
  let cluster: Cluster
  let names = 0
  beforeAll(async () => {
    cluster = await Cluster.start()
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  /** A database and a prefix with two nodes. */
  async function two() {
    const name = `members${++names}`
    const database = await cluster.postgres.database(name)
    const open = (node: number) =>
      openEngine({
        directory: join(cluster.folder, `${name}-${node}`),
        role: 'server',
        threads: 1,
        workers: 1,
        keep: { versions: 1 },
        database,
        store: {
          address: cluster.store.address(name),
          endpoint: cluster.store.endpoint,
          cacheBytes: 50_000_000,
        },
      })
    const [a, b] = [await open(1), await open(2)]
    return {
      a,
      b,
      /** The parts in the store. */
      stored: () =>
        readdirSync(join(cluster.store.folder, 'data', cluster.store.bucket, name), { recursive: true })
          .map(String)
          .filter((file) => file.endsWith('.parquet')),
      async dataset(csv: string) {
        const { id: repositoryId } = await a.createRepository({ name: 'r' })
        const { id } = await a.createDataset({ repositoryId, name: 'd' })
        await (await a.dataset(id)).replace(upload(csv))
        return id
      },
      async [Symbol.asyncDispose]() {
        await a.close()
        await b.close()
      },
    }
  }

  function upload(csv: string) {
    async function* body() {
      yield Buffer.from(csv)
    }
    return { body: body(), format: 'csv' as const }
  }

  async function rows(engine: Engine, id: number): Promise<unknown[]> {
    using query = await (await engine.dataset(id)).query()
    return await Array.fromAsync(query.rows())
  }

  /** As if versions had been replaced a while ago. */
  const later = (engine: Engine) =>
    engine.database.run('UPDATE versions SET retired_at = retired_at - ?', LONG)
  /** A node tells what it reads; it does so every ten seconds, too. */
  const tell = (engine: Engine) => engine.gc()

  it('keep a version that another one reads, and remove it when nobody does', async () => {
    await using at = await two()
    const id = await at.dataset('n\n1\n')
    const snapshot = await (await at.b.dataset(id)).snapshot()
    await (await at.a.dataset(id)).replace(upload('n\n2\n'))
    // Not told yet, so the time for which versions stay protects it.
    await at.a.gc()
    expect(at.stored()).toHaveLength(2)
    await tell(at.b)
    await later(at.a)
    await at.a.gc()
    expect(at.stored()).toHaveLength(2)
    using query = snapshot.query()
    expect(await Array.fromAsync(query.rows())).toEqual([{ n: 1 }])
    query[Symbol.dispose]()
    snapshot[Symbol.dispose]()
    await tell(at.b)
    await at.a.gc()
    expect(at.stored()).toHaveLength(1)
    expect(await rows(at.b, id)).toEqual([{ n: 2 }])
    expect((await at.b.verify()).problems).toEqual([])
  })

  it('take up what a dead one leaves: its readers, the parts that it was writing, its work', async () => {
    await using at = await two()
    const id = await at.dataset('n\n1\n')
    await at.a.settled()
    const { database } = at.a
    await database.run("INSERT INTO nodes (id, name, seen) VALUES ('gone', 'gone', 0)")
    await database.run("INSERT INTO leases SELECT version_id, 'gone' FROM datasets WHERE id = ?", id)
    const part = await database.insert("INSERT INTO parts (process, hash) VALUES ('gone', 'blake2b:none')")
    await database.run(
      "INSERT INTO jobs (kind, subject, due, taken_by) VALUES ('merge', ?, 1e15, 'gone')",
      id,
    )
    await (await at.a.dataset(id)).replace(upload('n\n2\n'))
    expect((await at.b.gc()).processes).toBe(1)
    await later(at.a)
    await at.b.gc()
    expect(at.stored()).toHaveLength(1)
    expect(await database.all('SELECT 1 FROM parts WHERE id = ?', part)).toEqual([])
    expect(await database.all("SELECT 1 FROM leases WHERE process = 'gone'")).toEqual([])
    expect(await database.get("SELECT due, taken_by FROM jobs WHERE kind = 'merge'")).toEqual({
      due: 0,
      taken_by: null,
    })
  })

  it('refuse the change of one that was taken for dead while it wrote', async () => {
    await using at = await two()
    const id = await at.dataset('n\n1\n')
    const { database } = at.b
    let silent = false
    const slow = (await at.a.dataset(id)).append({
      ...upload('n\n2\n'),
      accept: async () => {
        // Between writing its part and showing it, the node is silent for a minute.
        if (silent) return
        silent = true
        await database.run('UPDATE nodes SET seen = seen - ?', A_MINUTE)
        await at.b.gc()
      },
    })
    await expect(slow).rejects.toMatchObject({ code: 'catalog_unavailable' })
    expect(await rows(at.b, id)).toEqual([{ n: 1 }])
    await at.a.settled()
    await at.b.gc()
    expect(at.stored()).toHaveLength(1)
  })

  it('merge the parts of a dataset one at a time', async () => {
    await using at = await two()
    const id = await at.dataset('n\n0\n')
    const both = [await at.a.dataset(id), await at.b.dataset(id)]
    for (let n = 0; n < 20; n++) {
      await Promise.all(both.map((dataset, node) => dataset.append(upload(`n\n${2 * n + node + 1}\n`))))
    }
    await at.a.settled()
    await at.b.settled()
    const found = (await rows(at.a, id)) as { n: number }[]
    expect(found.map(({ n }) => n).toSorted((x, y) => x - y)).toEqual(Array.from({ length: 41 }, (_, n) => n))
    const { parts } = (await at.a.database.get<{ parts: number }>(
      'SELECT count(*) AS parts FROM version_parts vp JOIN datasets d ON d.version_id = vp.version_id WHERE d.id = ?',
      id,
    ))!
    expect(parts).toBeLessThan(24)
    expect(await at.a.database.all("SELECT * FROM jobs WHERE kind = 'merge'")).toEqual([])
  })
})
