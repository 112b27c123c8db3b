import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openEngine } from '../../../engine/index.ts'
import { basic, dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let url: string
beforeAll(async () => {
  at = await platform({
    config: {
      timeouts: { heartbeat: 20, stall: 400, queue: 20 },
      limits: { streams: 8, streamsPerAccount: 3 },
    },
  })
  url = await at.listen()
})
afterAll(() => at[Symbol.asyncDispose]())

/** A response whose lines can be waited for, one after the other. */
interface Stream extends AsyncDisposable {
  readonly response: IncomingMessage
  /** The next line; undefined at the end. */
  line(): Promise<string | undefined>
  /** The next line that is no sign of life, as JSON. */
  row(): Promise<Record<string, unknown> | undefined>
}

async function follow(
  id: number,
  query: string,
  { key = at.root, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
): Promise<Stream> {
  const request = send(`${url}/datasets/${id}/changes?${query}`, {
    headers: { authorization: basic(key), ...headers },
    agent: false,
  })
  request.on('error', () => {})
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const lines = linesOf(response)
  let last = ''
  const line = async () => (await lines.next()).value ?? undefined
  return {
    response,
    line,
    async row() {
      for (;;) {
        const text = await line()
        if (text === undefined) return undefined
        if (text === last && text.includes('complete')) continue
        last = text
        return JSON.parse(text)
      }
    },
    async [Symbol.asyncDispose]() {
      request.destroy()
    },
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string, undefined> {
  let rest = ''
  try {
    for await (const chunk of response) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      yield* lines
    }
  } catch {}
  if (rest !== '') yield rest
  return undefined
}

async function table(key = at.root, csv = 'n,w\n1,a\n') {
  const { id, repository } = await dataset(at, key, { name: `t${Math.random()}`, csv })
  const write = async (body: string, method = 'POST') => {
    const headers = { 'content-type': 'text/csv' }
    const answer = await at.call(key, method, `/datasets/${id}/data`, { body: `n,w\n${body}\n`, headers })
    expect(answer.statusCode).toBe(200)
  }
  return { id, repository, write }
}

async function* one(text: string) {
  yield Buffer.from(text)
}

const complete = (version: number) => ({ _change: 'complete', _version: version })

describe('changes that are followed', () => {
  it('come as lines of JSON while they happen, each batch with a line that it is complete', async () => {
    const { id, write } = await table()
    await using stream = await follow(id, 'since=0&follow=true')
    expect(stream.response.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
    })
    expect(await stream.row()).toEqual({ _change: 'insert', _version: 1, n: 1, w: 'a' })
    expect(await stream.row()).toEqual(complete(1))
    await write('2,b')
    expect(await stream.row()).toEqual({ _change: 'insert', _version: 2, n: 2, w: 'b' })
    expect(await stream.row()).toEqual(complete(2))
    await write('2,b', 'PUT')
    expect(await stream.row()).toEqual({ _change: 'delete', _version: 3, n: 1, w: 'a' })
    expect(await stream.row()).toEqual(complete(3))
  })

  it('come also when another process makes them', async () => {
    const { id } = await table()
    await using stream = await follow(id, 'since=1&follow=true')
    expect(await stream.row()).toEqual(complete(1))
    await using other = await openEngine({ directory: at.directory, role: 'guest' })
    await (await other.dataset(id)).append({ format: 'csv', body: one('n,w\n2,b\n') })
    expect(await stream.row()).toEqual({ _change: 'insert', _version: 2, n: 2, w: 'b' })
  })

  it('can be filtered and narrowed to columns', async () => {
    const { id, write } = await table()
    await using stream = await follow(id, 'since=1&follow=true&$filter=n gt 5&$select=_change,n')
    expect(await stream.row()).toEqual(complete(1))
    await write('2,b')
    expect(await stream.row()).toEqual(complete(2))
    await write('6,c')
    expect(await stream.row()).toEqual({ _change: 'insert', n: 6 })
  })

  it('say that the connection lives while there are none', async () => {
    const { id } = await table()
    await using lines = await follow(id, 'since=1&follow=true')
    const line = JSON.stringify(complete(1))
    expect([await lines.line(), await lines.line(), await lines.line()]).toEqual([line, line, line])
    await using events = await follow(id, 'since=1&follow=true', { headers: { accept: 'text/event-stream' } })
    expect([await events.line(), await events.line(), await events.line()]).toEqual(['id: 1', '', ':'])
  })

  it('are a server-sent event for each row, the last one with the version, from which Last-Event-ID goes on', async () => {
    const { id, write } = await table()
    const accept = 'text/event-stream'
    {
      await using stream = await follow(id, 'since=0&follow=true', { headers: { accept } })
      expect(stream.response.headers['content-type']).toBe(accept)
      const lines = ['event: change', 'data: {"_change":"insert","_version":1,"n":1,"w":"a"}', 'id: 1', '']
      for (const line of lines) expect(await stream.line()).toBe(line)
    }
    await write('2,b\n3,c')
    const headers = { accept, 'last-event-id': '1' }
    await using again = await follow(id, 'since=0&follow=true', { headers })
    for (const line of [
      'event: change',
      'data: {"_change":"insert","_version":2,"n":2,"w":"b"}',
      '',
      'event: change',
      'data: {"_change":"insert","_version":2,"n":3,"w":"c"}',
      'id: 2',
      '',
    ]) {
      expect(await again.line()).toBe(line)
    }
    const wrong = await at.call(at.root, 'GET', `/datasets/${id}/changes?follow=true`, {
      headers: { ...headers, 'last-event-id': 'x' },
    })
    expect([wrong.statusCode, wrong.json().code]).toEqual([400, 'bad_request'])
  })

  it('are all there, in order and once, however fast versions come and few are kept', async () => {
    const { id, write } = await table()
    await at.call(at.root, 'PATCH', `/datasets/${id}`, { json: { keep: { versions: 1, days: 0 } } })
    await using stream = await follow(id, 'since=1&follow=true&$select=n')
    const writing = (async () => {
      for (let n = 2; n <= 30; n++) await write(`${n},x`)
    })()
    const seen: unknown[] = []
    while (seen.length < 29) {
      const row = await stream.row()
      if (row!['_change'] === undefined) seen.push(row!['n'])
    }
    await writing
    expect(seen).toEqual(Array.from({ length: 29 }, (_, index) => index + 2))
  })

  it('refuse what can not be followed as JSON, before the stream begins', async () => {
    const { id } = await table()
    const get = (query: string) => at.call(at.root, 'GET', `/datasets/${id}/changes?${query}`)
    const answers = await Promise.all(
      [
        'since=9&follow=true',
        'follow=true',
        'since=1&follow=true&$top=1',
        'since=1&follow=true&until=1',
        'since=1&follow=true&$format=csv',
        'since=1&follow=true&$filter=m eq 1',
        'since=1&follow=perhaps',
      ].map(async (query) => {
        const { statusCode, body } = await get(query)
        return [statusCode, JSON.parse(body).code, JSON.parse(body).error]
      }),
    )
    expect(answers).toEqual([
      [404, 'not_found', `Dataset ${id} has no version 9; the newest is 1.`],
      [400, 'invalid_option', 'since is missing: the version that you have, as since=12.'],
      [
        400,
        'invalid_option',
        '$top is not for follow=true, which takes $filter, $search, $compute, $select.',
      ],
      [
        400,
        'invalid_option',
        'until is not for follow=true, which takes $filter, $search, $compute, $select.',
      ],
      [400, 'invalid_option', 'With follow=true, the format is ndjson, or text/event-stream by Accept.'],
      [400, 'invalid_columns', expect.stringContaining('m')],
      [400, 'invalid_query', expect.stringContaining('follow must be true or false')],
    ])
    const head = await at.call(at.root, 'HEAD', `/datasets/${id}/changes?since=1&follow=true`)
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })

  it('end with the reason when the right, the key or the dataset is gone', async () => {
    const owner = await at.account('owner')
    const reader = await at.account('reader')
    const { id, repository } = await table(owner)
    await at.call(owner, 'PATCH', `/repositories/${repository}`, { json: { private: true } })
    const member = `/repositories/${repository}/members/reader`
    await at.call(owner, 'PUT', member, { json: { permission: 'Read' } })
    await using revoked = await follow(id, 'since=1&follow=true', { key: reader })
    expect(await revoked.row()).toEqual(complete(1))
    await at.call(owner, 'DELETE', member)
    expect(await revoked.row()).toMatchObject({ _change: 'end', _version: 1, code: 'forbidden' })
    expect([await revoked.row(), revoked.response.complete]).toEqual([undefined, true])

    const made = await at.call(owner, 'POST', '/account/keys', { json: { name: 'short' } })
    await using keyless = await follow(id, 'since=1&follow=true', { key: made.json().apiKey })
    expect(await keyless.row()).toEqual(complete(1))
    await at.call(owner, 'DELETE', '/account/keys/short')
    expect(await keyless.row()).toMatchObject({ _change: 'end', code: 'unauthorized' })

    const accept = 'text/event-stream'
    await using deleted = await follow(id, 'since=1&follow=true', { key: owner, headers: { accept } })
    await at.call(owner, 'DELETE', `/datasets/${id}`)
    let line = await deleted.line()
    while (line !== 'event: end') line = await deleted.line()
    expect(await deleted.line()).toMatch(/^data: \{.*"code":"not_found"/)
  })

  it('count against the rows and the streams of an account', async () => {
    const key = await at.account('limited', 'free')
    const { id } = await table(key)
    const account = (await at.services.accounts.list()).find(({ name }) => name === 'limited')!
    await using streams = new AsyncDisposableStack()
    const open = async () => streams.use(await follow(id, 'since=0&follow=true', { key }))
    for (const stream of [await open(), await open(), await open()]) {
      for (let row = await stream.row(); row!['_change'] !== 'complete'; ) row = await stream.row()
    }
    expect(await at.services.usage.exportedRows(account.id)).toBe(3)
    const fourth = await open()
    expect([fourth.response.statusCode, JSON.parse((await fourth.line()) ?? '')]).toEqual([
      503,
      {
        code: 'busy',
        error: 'Your account is running 3 streams, the maximum at once. Try again when one has ended.',
        running: 3,
        limit: 3,
      },
    ])
  })

  it('are cut off for a client that stops reading', async () => {
    const rows = Array.from({ length: 200_000 }, (_, n) => `${n},${'x'.repeat(60)}`).join('\n')
    const { id } = await table(at.root, `n,w\n${rows}\n`)
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname)
    const text = `GET /datasets/${id}/changes?since=0&follow=true HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(at.root)}\r\n\r\n`
    socket.write(text)
    const closed = once(socket, 'close')
    await once(socket, 'data')
    socket.pause()
    await vi.waitUntil(() => at.services.changeStreams.slots.running === 0, { timeout: 60_000 })
    await vi.waitUntil(() => at.services.exports.slots.running === 0, { timeout: 60_000 })
    socket.destroy()
    await closed
  })
})
