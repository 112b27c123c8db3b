import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../crash/client.ts'
import { LONG } from '../long.ts'
import { basic } from '../server/platform.ts'
import { Cluster, HAS_CLUSTER, ROOT } from './cluster.ts'
import { NodeProcess } from './node-process.ts'
import { NodeProxy } from './proxy.ts'

const ROUNDS = LONG ? 20 : 2
const READERS = 4
const WRITERS = 2
/** Longer than the proxy needs to see that a node is not ready. */
const LEAVING_MS = 2_000
const NEWLINE = 10
const ROWS = 1_000_000

describe.runIf(HAS_CLUSTER)('nodes behind a proxy that asks whether they are ready', () => {
  let cluster: Cluster
  let nodes: NodeProcess[]
  let proxy: NodeProxy
  beforeAll(async () => {
    cluster = await Cluster.start()
    const config = { timeouts: { leaving: LEAVING_MS } }
    nodes = [new NodeProcess(cluster, 'a', config), new NodeProcess(cluster, 'b', config)]
    for (const node of nodes) await node.start()
    proxy = await NodeProxy.before(() => nodes.map(({ url }) => url), true)
  })
  afterAll(async () => {
    for (const node of nodes ?? []) await node.kill()
    await proxy?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  async function request(method: string, path: string, body?: object | string): Promise<string> {
    const answer = await ask(proxy.url, ROOT, method, path, body)
    if (answer.outcome === 'done') return answer.body
    throw new Error(`${method} ${path}: status ${answer.status} ${answer.body}`)
  }

  async function table(name: string, repositoryId: number, csv: string): Promise<number> {
    const { id } = JSON.parse(await request('POST', '/datasets', { name, repositoryId }))
    await request('PUT', `/datasets/${id}/data`, csv)
    return id
  }

  /** Reads an answer so slowly that the node has to wait for it when it ends; gives the number of lines. */
  async function slowly(path: string): Promise<number> {
    const answer = await fetch(proxy.url + path, { headers: { authorization: basic(ROOT) } })
    let lines = 0
    for await (const chunk of answer.body!) {
      for (const byte of chunk) if (byte === NEWLINE) lines += 1
      await sleep(5)
    }
    return lines
  }

  it(
    `are restarted in turn ${ROUNDS} times without a failed request`,
    async () => {
      const { id: repositoryId } = JSON.parse(
        await request('POST', '/repositories', { name: 'r', private: false }),
      )
      const small = await table('small', repositoryId, 'n\n0\n')
      const rows = Array.from({ length: ROWS }, (_, n) => `${n},row ${n}\n`).join('')
      const large = await table('large', repositoryId, `n,text\n${rows}`)
      let done = false
      let requests = 0
      const failures: string[] = []
      const repeat = async (work: () => Promise<unknown>) => {
        while (!done) {
          requests += 1
          await work().catch((error: Error) => failures.push(error.message))
        }
      }
      const appended: number[] = []
      let next = 0
      const append = async () => {
        const n = ++next
        await request('POST', `/datasets/${small}/data`, `n\n${n}\n`)
        appended.push(n)
      }
      const load = [
        ...Array.from({ length: READERS }, () => repeat(() => request('GET', `/datasets/${small}/data`))),
        repeat(async () => {
          const lines = await slowly(`/datasets/${large}/data`)
          if (lines !== ROWS + 1) failures.push(`an export of ${lines} lines`)
        }),
        ...Array.from({ length: WRITERS }, () => repeat(append)),
      ]
      for (let round = 0; round < ROUNDS; round++) {
        for (const node of nodes) {
          expect(await node.stop()).toBe(0)
          await node.start()
          await sleep(LEAVING_MS)
        }
      }
      done = true
      await Promise.all(load)
      expect(failures).toEqual([])
      const found = (await request('GET', `/datasets/${small}/data`)).trim().split('\n').slice(1).map(Number)
      expect(found.toSorted((x, y) => x - y)).toEqual([0, ...appended.toSorted((x, y) => x - y)])
      console.log(
        `${2 * ROUNDS} restarts, ${requests} requests, ${appended.length} of them appends, none failed`,
      )
    },
    ROUNDS * 60_000 + 60_000,
  )
})
