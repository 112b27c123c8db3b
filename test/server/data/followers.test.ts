import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Client } from '../../../server/client/index.ts'
import { serveProcess } from '../process.ts'

describe('changes that a client follows', () => {
  it('go on after a restart of the server', async () => {
    const data = await mkdtemp(join(tmpdir(), 'parquetry-follow-'))
    const environment = { PARQUETRY_ROOT_KEY: 'a-root-key-of-this-test' }
    let served = await serveProcess({ data, environment })
    try {
      const { port } = new URL(served.url)
      const client = new Client({ url: served.url, key: environment.PARQUETRY_ROOT_KEY })
      const { id: repositoryId } = await client.repositories.create({ name: 'mine', private: true })
      const { id } = await client.datasets.create({ name: 'events', repositoryId })
      const append = (n: number) => client.datasets.append(id, { rows: [{ n }] })
      await append(1)
      const seen: [number, unknown][] = []
      for await (const { next, rows } of client.datasets.changes(id, 0, { follow: true, select: ['n'] })) {
        for (const row of rows) seen.push([next, row['n']])
        if (seen.length === 4) break
        if (seen.length === 2) {
          expect((await served.stop()).code).toBe(0)
          served = await serveProcess({ data, environment, args: ['--port', port] })
        }
        await append(seen.length + 1)
      }
      expect(seen).toEqual([1, 2, 3, 4].map((n) => [n, n]))
      await expect(client.datasets.changes(id, 99, { follow: true }).next()).rejects.toMatchObject({
        code: 'not_found',
      })
    } finally {
      await served[Symbol.asyncDispose]()
      await rm(data, { recursive: true, force: true })
    }
  })

  it('are 10,000 appended rows in order and once, through a cut connection and a restart of the server', async () => {
    const data = await mkdtemp(join(tmpdir(), 'parquetry-follow-'))
    const environment = { PARQUETRY_ROOT_KEY: 'a-root-key-of-this-test' }
    let served = await serveProcess({ data, environment })
    const { port } = new URL(served.url)
    await using proxy = await cuttable(Number(port))
    const retry = { attempts: 1_000, longestPause: 1 }
    const key = environment.PARQUETRY_ROOT_KEY
    const writer = new Client({ url: served.url, key, retry })
    const reader = new Client({ url: proxy.url, key, retry })
    try {
      const { id: repositoryId } = await writer.repositories.create({ name: 'mine', private: true })
      const columns = [{ name: 'n', type: 'integer' }] as const
      const { id } = await writer.datasets.create({ name: 'events', repositoryId, columns })
      const [APPENDS, ROWS] = [50, 200]
      // Those that are made while the reader is cut off must still be there when it comes again.
      await writer.datasets.patch(id, { keep: { versions: 2 * APPENDS, days: 1 } })
      const writing = (async () => {
        for (let at = 0; at < APPENDS; at++) {
          if (at === 15) proxy.cut()
          if (at === 30) {
            await served.stop()
            served = await serveProcess({ data, environment, args: ['--port', port] })
          }
          const rows = Array.from({ length: ROWS }, (_, row) => ({ n: at * ROWS + row }))
          await writer.datasets.append(id, { rows }, { idempotencyKey: `append-${at}` })
        }
      })()
      const seen: unknown[] = []
      const reading = (async () => {
        for await (const { rows } of reader.datasets.changes(id, 0, { follow: true })) {
          seen.push(...rows.map(({ n }) => n))
          if (seen.length >= APPENDS * ROWS) break
        }
      })()
      await Promise.all([writing, reading])
      expect(seen).toEqual(Array.from({ length: APPENDS * ROWS }, (_, n) => n))
      expect(proxy.connections).toBeGreaterThan(2)
    } finally {
      await served[Symbol.asyncDispose]()
      await rm(data, { recursive: true, force: true })
    }
  })
})
/** A way to a port of this machine on which the connections can be cut. */
async function cuttable(port: number) {
  const open = new Set<Socket>()
  let connections = 0
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    connections += 1
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(one)
      one.on('error', () => {})
      one.once('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    get connections() {
      return connections
    },
    async [Symbol.asyncDispose]() {
      cut()
      proxy.close()
    },
  }
}
