import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { jsonLines } from '../../server/client/download.ts'
import { Client } from '../../server/client/index.ts'
import { startUpstream, type Upstream } from '../connectors/support/upstream.ts'

let server: Upstream
let client: Client

beforeEach(async () => {
  server = await startUpstream()
  client = new Client({ url: server.url, key: 'secret' })
})
afterEach(() => server.close())

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('a download tells the count, the tag and the type, and gives the bytes', async () => {
  const headers = { 'row-count': '7', etag: '"x"' }
  server.routes = { '*': { type: 'text/csv', headers, body: 'a\n1\n' } }
  const download = await client.datasets.download(1, 'csv', { top: 1 })
  expect(download).toMatchObject({ rowCount: 7, etag: '"x"', contentType: 'text/csv', modified: true })
  expect(await new Blob(await collect(download as AsyncIterable<Uint8Array<ArrayBuffer>>)).text()).toBe(
    'a\n1\n',
  )
  expect(await (await client.datasets.download(1, 'csv')).text()).toBe('a\n1\n')
  expect((await (await client.datasets.download(1, 'csv')).arrayBuffer()).byteLength).toBe(4)
})

test('what has not changed is not sent again', async () => {
  server.routes = { '*': { status: 304, headers: { etag: '"x"' } } }
  const download = await client.datasets.download(1, 'csv', { ifNoneMatch: '"x"' })
  expect(server.requests[0]!.headers['if-none-match']).toBe('"x"')
  expect(download.modified).toBe(false)
  expect(await collect(download)).toEqual([])
})

test('counting asks for no rows', async () => {
  server.routes = { '*': { headers: { 'row-count': '42' }, body: 'a\n' } }
  expect(await client.datasets.count(1, { filter: 'a gt 1' })).toBe(42)
  expect(Object.fromEntries(server.requests[0]!.query)).toEqual({
    $format: 'csv',
    $top: '0',
    $filter: 'a gt 1',
  })
})

test('rows come while the server still writes', async () => {
  let goOn = () => {}
  const first = new Promise<void>((resolve) => (goOn = resolve))
  server.routes = {
    '*': {
      raw: async (response) => {
        response.write('{"a":1}\n{"a":')
        await first
        response.end('2}\n')
      },
    },
  }
  const rows = client.datasets.rows<{ a: number }>(1)
  expect((await rows.next()).value).toEqual({ a: 1 })
  goOn()
  expect(await collect(rows)).toEqual([{ a: 2 }])
})

test('changes that are followed go on after the last whole event when the connection breaks, and end where the server refuses', async () => {
  const refusal = { status: 403, body: { code: 'forbidden', error: 'No.' } }
  const parts = [
    ['data: {"a":1}\n', 'id: 1\n\n:\n\ndata: {"a":2}\ndata: {"a"'],
    ['data: {"a":2}\ndata: {"a":3}\nid: 2\n\nid: 3\n\n', 'event: end\ndata: {"code":"forbidden"}\n\n'],
  ]
  const answers = parts.map((texts) => ({
    type: 'text/event-stream',
    raw: (response: ServerResponse) => {
      for (const text of texts) response.write(text)
      setTimeout(() => response.destroy(), 20)
    },
  }))
  server.routes = { '*': () => answers.shift() ?? refusal }
  const seen: unknown[] = []
  const read = async () => {
    for await (const event of client.datasets.changes(1, 0, { follow: true })) seen.push(event)
  }
  await expect(read()).rejects.toMatchObject({ code: 'forbidden' })
  expect(seen).toEqual([
    { next: 1, rows: [{ a: 1 }] },
    { next: 2, rows: [{ a: 2 }, { a: 3 }] },
    { next: 3, rows: [] },
  ])
  expect(server.requests.map(({ query }) => query.get('since'))).toEqual(['0', '1', '3'])
  expect(server.requests[0]!.headers['accept']).toBe('text/event-stream')
})

test('a download that breaks off is an error, with the rows before it given', async () => {
  server.routes = {
    '*': {
      raw: (response) => {
        response.write('{"a":1}\n{"a":2}\n{"a"')
        setTimeout(() => response.destroy(), 20)
      },
    },
  }
  const seen: unknown[] = []
  const read = async () => {
    for await (const row of client.datasets.rows(1)) seen.push(row)
  }
  await expect(read()).rejects.toMatchObject({ name: 'ParquetryError', code: 'interrupted' })
  expect(seen).toEqual([{ a: 1 }, { a: 2 }])
  await expect((await client.datasets.download(1, 'csv')).text()).rejects.toMatchObject({
    code: 'interrupted',
  })
})

test('leaving the loop ends the request', async () => {
  let closed: Promise<unknown> = Promise.resolve()
  server.routes = {
    '*': {
      raw: (response) => {
        closed = once(response, 'close')
        const write = () => response.write('{"a":1}\n'.repeat(1000), (error) => error ?? setTimeout(write, 1))
        write()
      },
    },
  }
  for await (const row of client.datasets.rows(1)) {
    expect(row).toEqual({ a: 1 })
    break
  }
  await closed
})

test('an aborted signal ends a download with its reason', async () => {
  server.routes = { '*': { raw: (response) => response.write('{"a":1}\n') } }
  const abort = new AbortController()
  const rows = client.datasets.rows(1, { signal: abort.signal })
  await rows.next()
  const reason = new Error('enough')
  abort.abort(reason)
  await expect(rows.next()).rejects.toBe(reason)
})

test('lines are put together from any pieces, and long whole numbers keep their digits', async () => {
  const text =
    '{"a":"é€😀"}\n{"a":9007199254740993}\n{"a":[-9223372036854775808,1.5,9007199254740991]}\n{"a":"9007199254740993"}'
  const bytes = new TextEncoder().encode(text)
  for (const size of [1, 2, 3, 7, 1000]) {
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    expect(await collect(jsonLines(pieces()))).toEqual([
      { a: 'é€😀' },
      { a: 9007199254740993n },
      { a: [-9223372036854775808n, 1.5, 9007199254740991] },
      { a: '9007199254740993' },
    ])
  }
})

test('decimals that a double does not hold come as text, all other numbers as numbers', async () => {
  const numbers = [
    '1234567890123456789012345678.0123456789',
    '12345678901234567890.00',
    '0.1000000000000000000',
    '0.10000000000000001',
    '-0.0000001234567890123456',
    '-0.00000012345678901234567',
    '1.7976931348623157e308',
    '9007199254740991.5',
    '4503599627370495.5',
  ]
  const bytes = new TextEncoder().encode(`{"a":[${numbers.join(',')}]}`)
  expect(await collect(jsonLines(readable(bytes)))).toEqual([
    {
      a: [
        '1234567890123456789012345678.0123456789',
        '12345678901234567890.00',
        0.1,
        '0.10000000000000001',
        -1.234567890123456e-7,
        '-0.00000012345678901234567',
        1.7976931348623157e308,
        '9007199254740991.5',
        4503599627370495.5,
      ],
    },
  ])
})

async function* readable(bytes: Uint8Array) {
  yield bytes
}
