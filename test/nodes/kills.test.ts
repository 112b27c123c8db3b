import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Line } from '../cluster/line.ts'
import { PostgresLine } from '../cluster/postgres-line.ts'
import { ask, patiently } from '../crash/client.ts'
import { Edited } from '../crash/edited.ts'
import { COLUMNS, type Table, Writer } from '../crash/writer.ts'
import { LONG } from '../long.ts'
import { Cluster, HAS_CLUSTER, ROOT } from './cluster.ts'
import { NodeProcess } from './node-process.ts'
import { NodeProxy } from './proxy.ts'
import { remains, untilDone } from './remains.ts'

/** How often something is killed while four accounts write; PARQUETRY_NODE_KILLS says otherwise. */
const KILLS = Number(process.env['PARQUETRY_NODE_KILLS'] ?? (LONG ? 200 : 4))
const WRITERS = ['anna', 'bert', 'cora', 'dirk']
/** How long the writers write before a kill, and after it, at most. */
const LONGEST_RUN_MS = 1_000
/** Within this time after a kill, rows can be read again. */
const READS_GO_ON_MS = 10_000

/** Something that is killed and starts again. */
interface Victim {
  readonly name: string
  kill(): Promise<void>
  start(): Promise<void>
}

/** Something that happens to the lines between the nodes and what they use, from a kill until what was killed is back. */
type Fault = (line: Line) => void
const FAULTS: readonly Fault[] = [
  () => {},
  (line) => line.reset(),
  (line) => line.halfOpen(),
  (line) => (line.delay = 20),
  (line) => (line.silent = true),
]

function mend(line: Line): void {
  // What was sent in the silence is lost, so these connections can't go on.
  if (line.silent) line.cut()
  line.silent = false
  line.delay = 0
}

describe.runIf(HAS_CLUSTER)('two nodes behind a proxy, on lines that fail', () => {
  let cluster: Cluster
  let lines: readonly Line[]
  let nodes: [NodeProcess, NodeProcess]
  let proxy: NodeProxy
  beforeAll(async () => {
    cluster = await Cluster.start()
    const catalog = await PostgresLine.before(cluster.postgres.url)
    const rows = await Line.to({ host: '127.0.0.1', port: cluster.store.port })
    lines = [catalog, rows]
    const over = {
      PARQUETRY_DATABASE: catalog.url(cluster.postgres.url),
      PARQUETRY_S3_ENDPOINT: `http://127.0.0.1:${rows.port}`,
    }
    nodes = [new NodeProcess(cluster, 'a', {}, over), new NodeProcess(cluster, 'b', {}, over)]
    for (const node of nodes) await node.start()
    proxy = await NodeProxy.before(() => nodes.map(({ url }) => url))
  })
  afterAll(async () => {
    for (const node of nodes ?? []) await node.kill()
    await proxy?.[Symbol.asyncDispose]()
    for (const line of lines ?? []) await line[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  it(
    `lose nothing that was acknowledged by ${KILLS} kills of nodes, of the database and of the store`,
    async () => {
      const writers = await settle(proxy.url)
      const shared = writers[0]!.shared
      const { postgres, store } = cluster
      let hard = false
      const victims: readonly Victim[] = [
        nodes[0],
        {
          name: 'the database',
          kill: () => postgres.kill((hard = !hard) ? 'SIGKILL' : 'SIGQUIT'),
          start: postgres.start,
        },
        nodes[1],
        { name: 'the store', kill: () => store.kill(), start: () => store.start() },
      ]
      let longest = 0
      for (let kills = 0; kills < KILLS; kills++) {
        const victim = victims[kills % victims.length]!
        const stop = new AbortController()
        const working = Promise.all(writers.map((writer) => writer.work(proxy.url, Math.random, stop.signal)))
        await sleep(Math.random() * LONGEST_RUN_MS)
        await victim.kill()
        for (const line of lines) FAULTS[kills % FAULTS.length]!(line)
        const readable = readableAgain(proxy.url, shared.id)
        await sleep(Math.random() * LONGEST_RUN_MS)
        for (const line of lines) mend(line)
        await victim.start()
        longest = Math.max(longest, await readable)
        stop.abort()
        await working
        await untilDone(cluster)
        for (const writer of writers) await writer.check(proxy.url, false, (name) => renew(proxy.url, name))
        await writers[0]!.checkTable(proxy.url, shared)
        expect(
          writers.flatMap(({ broken }) => broken),
          `after kill ${kills + 1}, of ${victim.name}`,
        ).toEqual([])
        if ((kills + 1) % 20 === 0)
          console.log(`${kills + 1} kills, ${acknowledged(writers)} changes acknowledged`)
      }
      for (const node of nodes) expect(await node.stop()).toBe(0)
      expect(await remains(cluster)).toEqual([])
      console.log(
        `cluster: ${KILLS} kills, ${acknowledged(writers)} changes acknowledged, 0 lost, reads went on within ${Math.round(longest)} ms`,
      )
      expect(acknowledged(writers)).toBeGreaterThan(KILLS)
    },
    KILLS * 60_000 + 60_000,
  )
})

/** What POST answers, as JSON. */
async function make<T>(url: string, key: string, path: string, body?: object): Promise<T> {
  const answer = await patiently(url, key, 'POST', path, body)
  if (answer.outcome !== 'done') throw new Error(`POST ${path}: ${answer.status} ${answer.body}`)
  return JSON.parse(answer.body)
}

async function settle(url: string): Promise<Writer[]> {
  const keys = new Map<string, string>()
  for (const name of WRITERS) {
    const made = await make<{ apiKey: string }>(url, ROOT, '/accounts', { name, plan: 'unlimited' })
    keys.set(name, made.apiKey)
  }
  const table = async (key: string, name: string, repositoryId: number): Promise<Table> => {
    const { id } = await make<{ id: number }>(url, key, '/datasets', { name, repositoryId, columns: COLUMNS })
    return { id, before: [], writes: [] }
  }
  const common = await make<{ id: number }>(url, ROOT, '/repositories', { name: 'common' })
  const shared = await table(ROOT, 'shared', common.id)
  const writers: Writer[] = []
  for (const [at, account] of WRITERS.entries()) {
    await ask(url, ROOT, 'PUT', `/repositories/${common.id}/members/${account}`, { permission: 'Write' })
    const key = keys.get(account)!
    const { id: repositoryId } = await make<{ id: number }>(url, key, '/repositories', { name: account })
    const own = await table(key, 'own', repositoryId)
    const friend = WRITERS[(at + 1) % WRITERS.length]!
    const fields = Edited.fields(repositoryId, 'edited')
    const { id } = await make<{ id: number }>(url, key, '/datasets', fields)
    const edited = new Edited(id, repositoryId)
    writers.push(new Writer({ account, key, repositoryId, own, shared, edited, friend, countedLate: true }))
  }
  return writers
}

/** A new key for an account of which nobody knows the key. */
async function renew(url: string, account: string): Promise<string> {
  return (await make<{ apiKey: string }>(url, ROOT, `/accounts/${account}/api-key`)).apiKey
}

function acknowledged(writers: readonly Writer[]): number {
  return writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
}

/** Resolves with the milliseconds after which rows could be read. @throws if that takes too long */
async function readableAgain(url: string, dataset: number): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const { status } = await ask(url, ROOT, 'GET', `/datasets/${dataset}/data`)
    const passed = performance.now() - begun
    if (status === 200) return passed
    if (passed > READS_GO_ON_MS) throw new Error(`no read has succeeded for ${passed} ms: status ${status}`)
    await sleep(50)
  }
}
