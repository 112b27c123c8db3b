import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FaultyLine } from '../cluster/faulty-line.ts'
import { Line } from '../cluster/line.ts'
import { PostgresLine } from '../cluster/postgres-line.ts'
import { LONG } from '../long.ts'
import { Cluster, HAS_CLUSTER, json, type Node } from '../nodes/cluster.ts'

/** For slow machines, on top of what is promised. */
const SLOWLY_MS = 3_000
const READY_MS = 2_000 + SLOWLY_MS
/** A connection to hear of changes, one statement. */
const CATALOG_MS = 2_000 + 5_000 + SLOWLY_MS
const STORE_MS = 15_000 + SLOWLY_MS
/** More of them in the long form, to tell one in a hundred. */
const APPENDS = LONG ? 400 : 80
const AT_ONCE = 4

describe.runIf(HAS_CLUSTER)('a network that says nothing', () => {
  let cluster: Cluster
  let catalog: PostgresLine
  let store: Line
  let faulty: FaultyLine
  let node: Node
  let id: number
  beforeAll(async () => {
    cluster = await Cluster.start()
    catalog = await PostgresLine.before(cluster.postgres.url)
    faulty = await FaultyLine.before(cluster.store.port)
    store = await Line.to({ host: '127.0.0.1', port: Number(new URL(faulty.endpoint).port) })
    node = await cluster.node('node', {
      database: catalog.url(cluster.postgres.url),
      config: { s3Endpoint: `http://127.0.0.1:${store.port}` },
    })
    id = await cluster.dataset(node, 'rows', 'n\n1\n')
  })
  afterAll(async () => {
    for (const line of [catalog, store]) if (line) line.silent = false
    await node?.close()
    for (const line of [catalog, store, faulty]) await line?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  const read = () => node.ask('GET', `/datasets/${id}/data`)
  const append = () => node.ask('POST', `/datasets/${id}/data`, 'n\n2\n')
  const ready = () => node.ask('GET', '/readyz')
  async function refused(ask: () => Promise<Response>, code: string, within: number): Promise<void> {
    const begun = performance.now()
    const answer = await ask()
    expect({ status: answer.status, code: ((await answer.json()) as { code: string }).code }).toEqual({
      status: 503,
      code,
    })
    expect(answer.headers.get('retry-after')).not.toBeNull()
    expect(performance.now() - begun).toBeLessThan(within)
  }

  it('of the catalog gives 503 after seconds to reads, writes and probes; then all goes on', async () => {
    catalog.silent = true
    await Promise.all([
      refused(ready, 'catalog_unavailable', READY_MS),
      refused(read, 'catalog_unavailable', CATALOG_MS),
      refused(append, 'catalog_unavailable', CATALOG_MS),
    ])
    // As often as there are connections.
    for (let n = 0; n < 3; n++) await refused(ready, 'catalog_unavailable', READY_MS)
    catalog.silent = false
    await expect.poll(async () => (await ready()).status, { timeout: 15_000 }).toBe(200)
    await json(append())
    expect((await read()).status).toBe(200)
  })

  it('of the store gives 503 after seconds to writes and probes; what is cached is read', async () => {
    await read()
    store.silent = true
    await Promise.all([
      refused(append, 'storage_unavailable', STORE_MS),
      read().then(({ status }) => expect(status).toBe(200)),
    ])
    await refused(ready, 'storage_unavailable', READY_MS)
    store.silent = false
    store.cut()
    await expect.poll(async () => (await ready()).status, { timeout: 15_000 }).toBe(200)
    await json(append())
  })

  it(`of slow and reset connections, and of a store that refuses three requests in ten, costs hardly a write`, async () => {
    let asked = 0
    faulty.fault = () => {
      asked += 1
      return Math.random() < 0.3 ? { status: Math.random() < 0.5 ? 500 : 503 } : undefined
    }
    catalog.delay = 1
    let failed = 0
    const worker = async () => {
      for (let n = 0; n < APPENDS / AT_ONCE; n++) {
        if (!(await append()).ok) failed += 1
        if (n === 5) store.reset()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    faulty.fault = () => undefined
    catalog.delay = 0
    console.log(`${failed} of ${APPENDS} appends failed in ${asked} requests`)
    expect(failed / APPENDS).toBeLessThan(LONG ? 0.01 : 0.05)
  }, 900_000)
})
