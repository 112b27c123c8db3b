import { createServer, type Server as HttpServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { ReadRows, resumedRows } from '../../server/commands/tables/remote.ts'
import { type Served, serveSamples } from '../client/served.ts'

describe('counting the rows of a stream', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const field = fc.string({ unit: fc.constantFrom('a', '"', '\n', ',', 'ü') })

  test('tells whole rows from one that has begun, however the bytes come', () => {
    const rows = fc.array(fc.array(field, { minLength: 1, maxLength: 3 }), { maxLength: 8 })
    fc.assert(
      fc.property(rows, fc.array(fc.nat(9)), (table, cuts) => {
        const lines = table.map(
          (cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join()}\n`,
        )
        const all = bytes(`head\n${lines.join('')}`)
        const whole = new Set(lines.map((_, at) => bytes(`head\n${lines.slice(0, at + 1).join('')}`).length))
        const read = new ReadRows('csv')
        let at = 0
        for (const step of [...cuts, all.length]) {
          read.add(all.subarray(at, at + step))
          at = Math.min(all.length, at + step)
          const complete = at - read.bytesOfRow
          expect(complete <= 5 || whole.has(complete)).toBe(true)
        }
        expect(read).toMatchObject({ rows: lines.length, headerBytes: 5, bytesOfRow: 0 })
      }),
    )
  })
})

describe('an export over a connection that breaks', () => {
  let served: Served
  let proxy: HttpServer
  /** Bytes of an export that pass before the connection is cut; empty: it holds. */
  let cuts: number[] = []
  let asked: string[] = []
  let client: Client
  let direct: Client

  beforeAll(async () => {
    served = await serveSamples()
    direct = new Client({ url: served.url, key: served.key })
    proxy = createServer((incoming, answer) => {
      const cut = incoming.url!.includes('/data?') ? cuts.shift() : undefined
      if (incoming.url!.includes('/data?')) asked.push(decodeURIComponent(incoming.url!))
      const { host: _, 'accept-encoding': __, ...headers } = incoming.headers
      const onward = request(
        `${served.url}${incoming.url}`,
        { method: incoming.method!, headers },
        (from) => {
          answer.writeHead(from.statusCode!, from.headers)
          let left = cut ?? Number.POSITIVE_INFINITY
          from.on('data', (chunk: Buffer) => {
            if (left > 0) answer.write(chunk.subarray(0, left))
            left -= chunk.length
            if (left <= 0) setTimeout(() => answer.destroy(), 20)
          })
          from.on('end', () => left > 0 && answer.end())
        },
      )
      incoming.pipe(onward)
    })
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    const { port } = proxy.address() as AddressInfo
    client = new Client({ url: `http://127.0.0.1:${port}`, key: served.key, retry: { attempts: 1 } })
  })
  afterAll(async () => {
    proxy.close()
    await served[Symbol.asyncDispose]()
  })

  async function exported(format: 'csv' | 'ndjson', options = {}): Promise<string> {
    asked = []
    let text = ''
    const decoder = new TextDecoder()
    const signal = AbortSignal.timeout(60_000)
    for await (const chunk of resumedRows(client, 2, format, options, signal)) {
      text += decoder.decode(chunk, { stream: true })
    }
    return text
  }

  test.each(['csv', 'ndjson'] as const)('is whole as %s, and no row is sent for twice', async (format) => {
    cuts = [3000, 5000]
    const text = await exported(format)
    expect(text).toBe(await (await direct.datasets.download(2, format)).text())
    expect(asked).toHaveLength(3)
    expect(asked[1]).toMatch(/\$skip=\d\d/)
  })

  test('keeps its window, its filter and its order', async () => {
    const options = { filter: 'temp_max gt 10', skip: 5, top: 400 }
    const order = 'wind desc'
    cuts = [2000, 2500]
    const wanted = await direct.datasets.download(2, 'csv', { ...options, orderBy: order })
    expect(await exported('csv', { ...options, orderBy: order })).toBe(await wanted.text())
    cuts = [2000]
    expect(await exported('csv', { last: 300 })).toBe(
      await (await direct.datasets.download(2, 'csv', { last: 300 })).text(),
    )
  })

  test('that breaks within the line of names begins anew', async () => {
    cuts = [4]
    expect(await exported('csv', { top: 2 })).toBe(
      await (await direct.datasets.download(2, 'csv', { top: 2 })).text(),
    )
  })

  test('fails where the dataset has changed meanwhile', async () => {
    const repository = await direct.repositories.create({ name: 'changing' })
    const { id } = await direct.datasets.create({ name: 'd', repositoryId: repository.id })
    const body = `a\n${Array.from({ length: 5000 }, (_, at) => at).join('\n')}\n`
    await direct.datasets.replace(id, { format: 'csv', body })
    cuts = [1000]
    const read = async () => {
      for await (const _ of resumedRows(client, id, 'csv', {}, AbortSignal.timeout(60_000))) {
        await direct.datasets.replace(id, { format: 'csv', body })
      }
    }
    await expect(read()).rejects.toThrow('The dataset has changed since the export began.')
  })

  test('refusals are not tried again', async () => {
    cuts = []
    await expect(exported('csv', { filter: 'nonsense' })).rejects.toMatchObject({ status: 400 })
    expect(asked).toHaveLength(1)
  })
})
