import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkedAddress } from '../../server/sources/fetch-address.ts'
import { type Platform, platform } from '../server/platform.ts'

let at: Platform
let now = new Date('2030-01-01T00:00:00Z')
let answer: (request: IncomingMessage, response: ServerResponse) => void
const asked: IncomingMessage['headers'][] = []
const server = createServer((request, response) => {
  asked.push(request.headers)
  answer(request, response)
})
let base: string
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  at = await platform({
    now: () => now,
    config: { sources: { hosts: [], privateHosts: ['127.0.0.1'] } },
  })
})
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  server.close()
})

async function dataset(): Promise<number> {
  const { id: repositoryId } = (
    await at.call(at.root, 'POST', '/repositories', { json: { name: 'r' } })
  ).json()
  return (await at.call(at.root, 'POST', '/datasets', { json: { name: 'd', repositoryId } })).json().id
}
const put = (id: number, json: object) => at.call(at.root, 'PUT', `/datasets/${id}/source`, { json })
const rows = async (id: number) => (await at.call(at.root, 'GET', `/datasets/${id}/data`)).body
const later = async () => {
  now = new Date(now.getTime() + 2 * 86_400_000)
  await at.services.refresher.runDue()
}

describe('a dataset that follows an address', () => {
  it('has the rows of the file, and a version only for other bytes', async () => {
    const id = await dataset()
    answer = (_, response) => response.setHeader('etag', '"1"').end('Title\na;b\n1;x\n')
    const source = await put(id, {
      url: `${base}/x.csv`,
      every: 'day',
      options: { delimiter: ';', skip: '1' },
    })
    expect(source.json()).toMatchObject({
      url: `${base}/x.csv`,
      mode: 'replace',
      options: { delimiter: ';', skip: '1' },
      lastError: null,
      lastVersion: 1,
    })
    expect(await rows(id)).toBe('a,b\n1,x\n')
    expect((await at.call(at.root, 'PUT', `/datasets/${id}/data`, { json: { rows: [] } })).statusCode).toBe(
      409,
    )
    await later()
    expect(asked.at(-1)).toMatchObject({ 'if-none-match': '"1"' })
    answer = (_, response) => response.writeHead(304).end()
    await later()
    answer = (_, response) => response.end('Title\na;b\n2;y\n')
    await later()
    expect(await rows(id)).toBe('a,b\n2,y\n')
    const versions = (await at.call(at.root, 'GET', `/datasets/${id}/versions`)).json()
    expect(versions.map((one: { operation: string }) => one.operation)).toEqual([
      'refresh',
      'refresh',
      'create',
    ])
  })

  it('keeps its rows when the file can not be read, and says why', async () => {
    const id = await dataset()
    answer = (_, response) => response.end('{"a": 1}\n')
    await put(id, { url: `${base}/x.ndjson` })
    const failures: [typeof answer, RegExp][] = [
      [(_, response) => response.writeHead(500).end(), /status 500/],
      [(_, response) => response.end('{"a": 1'), /Row 1/i],
      [(_, response) => response.end('{"a": "text"}\n'), /"a"/],
      [
        (_, response) => response.writeHead(302, { location: 'http://127.0.0.2/x.csv' }).end(),
        /redirects to/,
      ],
      [(request) => request.socket.destroy(), /can't be reached/],
      [
        (_, response) => {
          response.writeHead(200, { 'content-length': '500' })
          response.write('{"a": 2}\n', () => response.destroy())
        },
        /broke off before the end of the file/,
      ],
    ]
    for (const [fails, says] of failures) {
      answer = fails
      await later()
      const { lastError } = (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
      expect(lastError).toMatch(says)
      expect(await rows(id)).toBe('a\n1\n')
    }
  })

  it.each([
    'replace',
    'append',
  ])('keeps its rows when the file has lost a column, and says which: %s', async (mode) => {
    const id = await dataset()
    answer = (_, response) => response.end('k,v\n1,a\n2,b\n')
    await put(id, { url: `${base}/x.csv`, mode })
    answer = (_, response) => response.end('k\n3\n4\n')
    await later()
    const source = (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
    expect(source.lastError).toContain('The upload lacks the column "v" of the dataset.')
    expect(await rows(id)).toBe('k,v\n1,a\n2,b\n')
    await put(id, { url: `${base}/x.csv`, mode, options: { missing: 'null' } })
    expect(await rows(id)).toBe(mode === 'append' ? 'k,v\n1,a\n2,b\n3,\n4,\n' : 'k,v\n3,\n4,\n')
  })

  it('keeps its rows when the numbers of the file may be others, and says which options tell', async () => {
    const id = await dataset()
    answer = (_, response) => response.end('k,n\na,1\nb,2\n')
    const url = `${base}/x.csv`
    expect((await put(id, { url })).json()).toMatchObject({ options: { dialect: 'auto' } })
    answer = (_, response) => response.end('k,n\na,2.000\nb,3.000\n')
    await later()
    const source = (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
    expect(source.lastError).toContain('"2.000" may mean several things')
    expect(await rows(id)).toBe('k,n\na,1\nb,2\n')
    await put(id, { url, options: { decimal: ',', thousands: '.' } })
    expect(await rows(id)).toBe('k,n\na,2000\nb,3000\n')
  })

  it('keeps its rows when a column has other types, and says which option takes them', async () => {
    const id = await dataset()
    const url = `${base}/x.csv`
    answer = (_, response) => response.end('k,n\na,1\nb,2\n')
    await put(id, { url })
    answer = (_, response) => response.end('k,n\na,1\nb,2.5\n')
    await later()
    const source = (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
    expect(source.lastError).toContain('"2.5" is not an integer.')
    expect(source.lastError).toContain('columns=replace takes the types of the file')
    expect(source.hints).toEqual(['columns=replace'])
    expect(await rows(id)).toBe('k,n\na,1\nb,2\n')
    await put(id, { url, options: { columns: 'replace' } })
    expect(await rows(id)).toBe('k,n\na,1\nb,2.5\n')
  })

  it('keeps its rows when a file is UTF-8 that was not before, and says which option reads it', async () => {
    const id = await dataset()
    const url = `${base}/x.csv`
    answer = (_, response) => response.end(Buffer.from('n\né\nü\n', 'latin1'))
    expect((await put(id, { url })).json()).toMatchObject({ options: { encoding: 'windows-1252' } })
    answer = (_, response) => response.end('n\né\nü\nñ\n')
    await later()
    const source = (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
    expect(source.lastError).toContain('The file is UTF-8, not windows-1252: add encoding=utf-8.')
    expect(await rows(id)).toBe('n\né\nü\n')
    await put(id, { url, options: { encoding: 'utf-8' } })
    expect(await rows(id)).toBe('n\né\nü\nñ\n')
  })

  it('keeps the options that are not given when the source is set again', async () => {
    const id = await dataset()
    const file = { url: `${base}/x.csv`, mode: 'upsert' }
    answer = (_, response) => response.end('k;v\n1;k.W.\n2;5\n')
    await put(id, { ...file, options: { on: 'k', nulls: 'k.W.' } })
    answer = (_, response) => response.end('k;v\n2;k.W.\n3;€7\n')
    const again = await put(id, { ...file, options: { symbols: '€' } })
    expect(again.json()).toMatchObject({
      options: { on: 'k', nulls: 'k.W.', delimiter: ';', symbols: '€' },
      lastError: null,
    })
    expect(await rows(id)).toBe('k,v\n1,\n2,\n3,7\n')
    expect((await put(id, { ...file, options: { on: 'k', dialect: 'auto' } })).json().options).toEqual({
      on: 'k',
      dialect: 'auto',
    })
  })

  it('appends or upserts if it says so', async () => {
    const id = await dataset()
    answer = (_, response) => response.end('k,v\n1,a\n')
    await put(id, { url: `${base}/x.csv`, mode: 'append' })
    await later()
    expect(await rows(id)).toBe('k,v\n1,a\n')
    answer = (_, response) => response.end('k,v\n1,b\n')
    await later()
    expect(await rows(id)).toBe('k,v\n1,a\n1,b\n')
  })

  it.each([
    'append',
    'replace',
  ])('is read again by another PUT, but the same bytes not written again: %s', async (mode) => {
    const id = await dataset()
    answer = (_, response) => response.setHeader('etag', '"1"').end('k,v\n1,a\n')
    await put(id, { url: `${base}/x.csv`, mode })
    const before = (await at.call(at.root, 'GET', `/datasets/${id}`)).json().version
    await put(id, { url: `${base}/x.csv`, mode, every: 'hour' })
    expect(asked.at(-1)).toMatchObject({ 'if-none-match': '"1"' })
    answer = (_, response) => response.writeHead(304).end()
    await put(id, { url: `${base}/x.csv`, mode })
    expect((await at.call(at.root, 'GET', `/datasets/${id}`)).json()).toMatchObject({
      version: before,
      rowCount: 1,
    })
    answer = (_, response) => response.end('k,v\n1,b\n')
    await put(id, { url: `${base}/x.csv`, mode })
    expect(await rows(id)).toBe(mode === 'append' ? 'k,v\n1,a\n1,b\n' : 'k,v\n1,b\n')
    await put(id, { url: `${base}/x.csv`, mode, options: { nulls: 'b' }, confirm: true })
    expect(await rows(id)).toBe(mode === 'append' ? 'k,v\n1,a\n1,b\n1,\n' : 'k,v\n1,\n')
  })

  it('upserts by the columns that it names', async () => {
    const id = await dataset()
    answer = (_, response) => response.end('k,v\n1,a\n2,b\n')
    await put(id, { url: `${base}/x.csv`, mode: 'upsert', options: { on: 'k' } })
    answer = (_, response) => response.end('k,v\n2,c\n3,d\n')
    await later()
    expect(await rows(id)).toBe('k,v\n1,a\n2,c\n3,d\n')
    const keyless = await put(await dataset(), { url: `${base}/x.csv`, mode: 'upsert' })
    expect(keyless.statusCode).toBe(400)
    expect(keyless.json().error).toContain('{"on": "date,series"}')
    await at.call(at.root, 'PATCH', `/datasets/${id}`, { json: { key: ['k'] } })
    expect((await put(id, { url: `${base}/x.csv`, mode: 'upsert' })).json()).toMatchObject({
      lastError: null,
    })
    expect((await put(id, { url: `${base}/x.csv`, options: { on: 'k' } })).json().error).toContain(
      'options has on, which is no option of an upload with mode replace.',
    )
  })

  it('is tried again soon where it could not be fetched, and at the schedule where it could not be read', async () => {
    const id = await dataset()
    answer = (_, response) => response.writeHead(503).end()
    const minutes = async (of: { json(): { nextRun: string } }) =>
      (Date.parse(of.json().nextRun) - now.getTime()) / 60_000
    const source = await put(id, { url: `${base}/x.csv`, every: 'month' })
    expect(await minutes(source)).toBe(5)
    expect(at.log).toContainEqual({
      level: 'warn',
      msg: `Dataset ${id} could not be refreshed: 127.0.0.1:${base.split(':')[2]} answered with status 503.`,
    })
    now = new Date(now.getTime() + 6 * 60_000)
    await at.services.refresher.runDue()
    expect(await minutes(await at.call(at.root, 'GET', `/datasets/${id}/source`))).toBe(10)
    answer = (_, response) => response.end('a,b\n1\n')
    now = new Date(now.getTime() + 11 * 60_000)
    await at.services.refresher.runDue()
    expect(await minutes(await at.call(at.root, 'GET', `/datasets/${id}/source`))).toBeGreaterThan(10_000)
  })

  it('takes the place of series of which none ever came', async () => {
    const id = await dataset()
    await put(id, { series: ['fred/NOSUCH'] })
    answer = (_, response) => response.end('k,v\n1,a\n')
    expect((await put(id, { url: `${base}/x.csv` })).json()).toMatchObject({ lastError: null })
    expect(await rows(id)).toBe('k,v\n1,a\n')
  })

  it('is read as a person would without options, and always with those that were chosen first', async () => {
    const id = await dataset()
    answer = (_, response) => response.end('Sales 2026\nday;price\n31.12.2025;1.234,50\n')
    const chosen = { delimiter: ';', decimal: ',', thousands: '.', dates: 'D.M.YYYY' }
    const address = `${base}/messy.csv`
    expect((await put(id, { url: address })).json()).toMatchObject({ lastError: null, options: chosen })
    expect(await rows(id)).toBe('day,price\n2025-12-31,1234.5\n')
    answer = (_, response) => response.end('Sales 2026\nday;price\n01.02.2026;1.000\n')
    await later()
    expect(await rows(id)).toBe('day,price\n2026-02-01,1000\n')
    const again = (await put(id, { url: address, every: 'week' })).json()
    expect(again).toMatchObject({ lastError: null, options: chosen, every: 'week', lastVersion: 2 })
  })

  it('chooses the options that are not given, unless it is to choose none', async () => {
    const id = await dataset()
    answer = (_, response) => response.end('day;price\n31.12.2025;1,50\n01.01.2026;k.A.\n')
    const address = `${base}/some.csv`
    const standard = { delimiter: ';', decimal: ',', dialect: 'standard' }
    const texts = await put(id, { url: address, options: standard })
    expect(texts.json()).toMatchObject({ lastError: null, options: standard })
    expect(await rows(id)).toBe('day,price\n31.12.2025,"1,50"\n01.01.2026,k.A.\n')
    await at.call(at.root, 'DELETE', `/datasets/${id}/source`)
    const other = await dataset()
    const chosen = { nulls: 'k.A.', delimiter: ';', decimal: ',', dates: 'D.M.YYYY', dialect: 'auto' }
    expect((await put(other, { url: address, options: { nulls: 'k.A.' } })).json()).toMatchObject({
      lastError: null,
      options: chosen,
    })
    expect(await rows(other)).toBe('day,price\n2025-12-31,1.5\n2026-01-01,\n')
  })

  it('takes options as numbers and as texts', async () => {
    const id = await dataset()
    answer = (_, response) => response.end('Title\na;b\n1;x\n')
    const source = (await put(id, { url: `${base}/x.csv`, options: { delimiter: ';', skip: 1 } })).json()
    expect(source).toMatchObject({ lastError: null, options: { delimiter: ';', skip: '1' } })
  })

  it.each([
    [{}],
    [{ url: 'ftp://example.org/x.csv' }],
    [{ url: 'https://user:secret@example.org/x.csv' }],
    [{ url: 'http://10.1.2.3/x.csv' }],
    [{ url: 'http://[::1]/x.csv' }],
    [{ url: 'https://example.org/x.csv', series: ['fred/GDP'] }],
    [{ url: 'https://example.org/x.csv', options: { delimeter: ';' } }],
    [{ url: 'https://example.org/x.csv', mode: 'merge' }],
    [{ series: ['fred/GDP'], mode: 'append' }],
  ])('is refused: %j', async (json) => {
    expect((await put(await dataset(), json)).statusCode).toBe(400)
  })

  it('is not in a private network, however its name is resolved', async () => {
    const id = await dataset()
    const { port } = new URL(base)
    const source = (await put(id, { url: `http://localhost:${port}/x.csv` })).json()
    expect(source.lastVersion).toBeNull()
    // Nothing says whether there is such a host.
    const missing = (await put(await dataset(), { url: 'http://nowhere.invalid/x.csv' })).json()
    expect(missing.lastError).toMatch(/^nowhere\.invalid can't be reached/)
    expect(source.lastError).toBe(missing.lastError.replace('nowhere.invalid', `localhost:${port}`))
    const hosts = { hosts: ['example.org'], privateHosts: [] }
    expect(() => checkedAddress('https://example.com/', hosts)).toThrow(/follows no addresses of example.com/)
    for (const host of [
      '127.1',
      '0x7f000001',
      '[::ffff:7f00:1]',
      '192.168.1.1',
      '[fd00::1]',
      '169.254.169.254',
    ]) {
      expect(() => checkedAddress(`http://${host}/`, { hosts: [], privateHosts: [] }), host).toThrow(
        /private/,
      )
    }
  })
})
