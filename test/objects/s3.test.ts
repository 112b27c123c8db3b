import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseS3Address } from '../../engine/store/objects/address.ts'
import { MissingObject } from '../../engine/store/objects/failures.ts'
import { ONLY_NEW, S3Store } from '../../engine/store/objects/s3.ts'
import { FaultyLine } from '../cluster/faulty-line.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'

const MIB = 2 ** 20
const DEADLINES = { connect: 2_000, idle: 5_000, request: 20_000 }
const folder = mkdtempSync(join(tmpdir(), 'parquetry-objects-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function fileOf(data: Uint8Array): string {
  const file = join(folder, `file-${++files}`)
  writeFileSync(file, data)
  return file
}

const unavailable = expect.objectContaining({ code: 'storage_unavailable' })

describe.each(S3_SERVERS)('a store on $command', (make) => {
  let server: S3Server
  let line: FaultyLine
  let store: S3Store
  beforeAll(async () => {
    server = await S3Server.start({ make })
    line = await FaultyLine.before(server.port)
    store = new S3Store(parseS3Address('s3://tests/some/where', { endpoint: line.endpoint }), DEADLINES)
  })
  afterEach(async () => {
    line.fault = () => undefined
    line.asked.length = 0
  })
  afterAll(async () => {
    store?.close()
    await line?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  async function keys(): Promise<string[]> {
    const found: string[] = []
    for await (const { key } of store.list('')) found.push(key)
    return found.sort()
  }

  it.each([0, 1, 100_000, 16 * MIB, 16 * MIB + 1, 41 * MIB])('keeps %i bytes as they are', async (size) => {
    const data = randomBytes(size)
    expect(await store.put(`kept/${size}`, { file: fileOf(data) })).toBe('stored')
    expect(await store.size(`kept/${size}`)).toBe(size)
    if (size > 0) expect(Buffer.compare(data, await store.get(`kept/${size}`, 0, size))).toBe(0)
    if (size > 100)
      expect(await store.get(`kept/${size}`, 50, 100)).toEqual(new Uint8Array(data.subarray(50, 100)))
  })

  it('lists what begins so, more than a page of it, and removes', async () => {
    const names = Array.from({ length: 1_005 }, (_, index) => `many/${index}`)
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => store.put(name, { data: Buffer.from('x') })))
    }
    const found: string[] = []
    for await (const { key, bytes } of store.list('many/')) {
      expect(bytes).toBe(1)
      found.push(key)
    }
    expect(found.sort()).toEqual(names.sort())
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => store.remove(name)))
    }
    expect((await keys()).filter((key) => key.startsWith('many/'))).toEqual([])
    await store.remove('many/0')
  })

  it('says what is not there, and what is too short', async () => {
    expect(await store.size('nothing')).toBeUndefined()
    await expect(store.get('nothing', 0, 1)).rejects.toThrow(MissingObject)
    await store.put('short', { data: Buffer.from('abc') })
    await expect(store.get('short', 0, 4)).rejects.toThrow(MissingObject)
    await expect(store.get('short', 5, 9)).rejects.toThrow(MissingObject)
  })

  it.runIf(make.conditional)('leaves alone what is there, where that is asked for', async () => {
    for (const size of [3, 17 * MIB]) {
      const [first, second] = [randomBytes(size), randomBytes(size)]
      expect(await store.put(`once/${size}`, { file: fileOf(first) }, ONLY_NEW)).toBe('stored')
      expect(await store.put(`once/${size}`, { file: fileOf(second) }, ONLY_NEW)).toBe('there')
      expect(Buffer.compare(first, await store.get(`once/${size}`, 0, size))).toBe(0)
    }
  })

  it.runIf(make.conditional)('replaces the version that was read, and no other', async () => {
    await store.put('replaced', { data: Buffer.from('first') })
    const first = await store.read('replaced')
    expect(Buffer.from(first!.data).toString()).toBe('first')
    const put = (text: string) => store.put('replaced', { data: Buffer.from(text) }, { IfMatch: first!.tag })
    expect(await put('second')).toBe('stored')
    expect(await put('third')).toBe('there')
    expect(Buffer.from((await store.read('replaced'))!.data).toString()).toBe('second')
    expect(await store.read('nothing')).toBeUndefined()
  })

  it('stores the same without conditions in a store that knows none', async () => {
    const other = new S3Store(parseS3Address('s3://tests/plain', { endpoint: line.endpoint }), DEADLINES)
    line.fault = (asked) => (asked.headers['if-none-match'] ? { status: 501 } : undefined)
    expect(await other.put('a', { data: Buffer.from('a') }, ONLY_NEW)).toBe('stored')
    expect(await other.get('a', 0, 1)).toEqual(new Uint8Array(Buffer.from('a')))
    other.close()
  })

  it('waits for another upload of the same key, but not for ever', async () => {
    let conflicts = 2
    line.fault = (asked) => (asked.headers['if-none-match'] && conflicts-- > 0 ? { status: 409 } : undefined)
    expect(await store.put('contended', { data: Buffer.from('a') }, ONLY_NEW)).toBe('stored')
    line.fault = (asked) => (asked.headers['if-none-match'] ? { status: 409 } : undefined)
    const put = store.put('contended too', { data: Buffer.from('a') }, ONLY_NEW)
    await expect(put).rejects.toMatchObject({ code: 'storage_unavailable' })
  })

  it('comes through errors, cut connections and half answers that pass', async () => {
    const data = randomBytes(40 * MIB)
    const spoiled = new Set<string>()
    const kinds = [
      { status: 503 },
      { status: 500 },
      { cutAnswerAt: 0 },
      { cutRequestAt: 1 },
      { cutAnswerAt: 70_000 },
    ]
    line.fault = (asked) => {
      const what = `${asked.method} ${asked.url} ${asked.headers.range}`
      if (spoiled.has(what)) return undefined
      spoiled.add(what)
      return kinds[spoiled.size % kinds.length]
    }
    await store.put('rough', { file: fileOf(data) })
    const parts = await Promise.all(
      [0, 1, 2, 3, 4].map((part) => store.get('rough', part * 8 * MIB, (part + 1) * 8 * MIB)),
    )
    expect(Buffer.compare(data, Buffer.concat(parts))).toBe(0)
    expect(spoiled.size).toBeGreaterThan(8)
  })

  it('never stores what was changed on its way', async () => {
    for (const size of [1_000, 20 * MIB]) {
      let first = true
      line.fault = (asked) => {
        if (asked.method !== 'PUT' || !first) return undefined
        first = false
        return { flipRequest: true }
      }
      const data = randomBytes(size)
      const stored = await store.put(`flipped/${size}`, { file: fileOf(data) }).catch(() => undefined)
      expect(first).toBe(false)
      if (stored) expect(Buffer.compare(data, await store.get(`flipped/${size}`, 0, size))).toBe(0)
      else expect(await store.size(`flipped/${size}`)).toBeUndefined()
    }
  })

  it('says that the store is not available where it stays so, and leaves nothing of an upload', async () => {
    const before = await keys()
    const file = fileOf(randomBytes(40 * MIB))
    line.fault = () => ({ status: 503 })
    await expect(store.put('down', { file })).rejects.toEqual(unavailable)
    await expect(store.get('short', 0, 1)).rejects.toEqual(unavailable)
    await expect(store.size('short')).rejects.toEqual(unavailable)
    await expect(store.remove('short')).rejects.toEqual(unavailable)
    await expect(keys()).rejects.toEqual(unavailable)
    // The first piece arrives, then nothing does.
    line.fault = (asked) => (/partNumber=[23]/.test(asked.url!) ? { status: 500 } : undefined)
    await expect(store.put('down', { file })).rejects.toEqual(unavailable)
    expect(line.asked.some((asked) => asked.startsWith('DELETE') && asked.includes('uploadId'))).toBe(true)
    line.fault = () => undefined
    expect(await keys()).toEqual(before)
  })

  it('waits for a silent store no longer than its deadlines', async () => {
    const address = parseS3Address('s3://tests/silent', { endpoint: line.endpoint })
    const hasty = new S3Store(address, { ...DEADLINES, idle: 100 })
    line.fault = () => ({ silence: true })
    await expect(hasty.size('a')).rejects.toEqual(unavailable)
    hasty.close()
  })

  it('loses an upload whole when the store dies in the middle, and takes it when it is back', async () => {
    const data = randomBytes(60 * MIB)
    const file = fileOf(data)
    let killed: Promise<void> | undefined
    line.fault = (asked) => {
      if (/partNumber=2/.test(asked.url!)) killed ??= server.kill()
      return undefined
    }
    await expect(store.put('died', { file })).rejects.toEqual(unavailable)
    expect(killed).toBeDefined()
    line.fault = () => undefined
    await server.start()
    expect(await store.size('died')).toBeUndefined()
    await store.put('died', { file })
    expect(Buffer.compare(data, await store.get('died', 0, data.length))).toBe(0)
    expect(await store.endUploads('', new Date(Date.now() + 60_000))).toBeGreaterThanOrEqual(0)
    expect(await store.size('died')).toBe(data.length)
  })

  it('ends at once for who leaves', async () => {
    const leaving = new AbortController()
    line.fault = () => {
      setImmediate(() => leaving.abort(new Error('left')))
      return { silence: true }
    }
    await expect(store.get('short', 0, 1, leaving.signal)).rejects.toThrow('left')
  })

  it('says that its credentials are wrong', async () => {
    const right = process.env['AWS_SECRET_ACCESS_KEY']
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong'
    const wrong = new S3Store(
      parseS3Address('s3://tests/some/where', { endpoint: server.endpoint }),
      DEADLINES,
    )
    try {
      await expect(wrong.read('catalog')).rejects.toThrow(
        /rejects this server's credentials \((SignatureDoesNotMatch|AccessDenied)\)/,
      )
      expect(wrong.requests).toMatchObject({ requests: 1, failedRequests: 1 })
    } finally {
      wrong.close()
      process.env['AWS_SECRET_ACCESS_KEY'] = right
    }
  })

  it('says that a bucket which is not there can not be used', async () => {
    const other = new S3Store(parseS3Address('s3://nowhere', { endpoint: line.endpoint }), DEADLINES)
    await expect(other.get('a', 0, 1)).rejects.toEqual(unavailable)
    await expect(other.put('a', { data: Buffer.from('a') })).rejects.toEqual(unavailable)
    other.close()
  })
})

describe('the address of a store', () => {
  it.each([
    ['s3://bucket', { bucket: 'bucket', prefix: '' }],
    ['s3://bucket/', { bucket: 'bucket', prefix: '' }],
    ['s3://bucket/a', { bucket: 'bucket', prefix: 'a/' }],
    ['s3://bucket/a/b.c/', { bucket: 'bucket', prefix: 'a/b.c/' }],
  ])('%s is read', (text, address) => expect(parseS3Address(text)).toEqual(address))

  it.each([
    '',
    'bucket',
    's3://',
    's3:///a',
    's3://b',
    'https://bucket/a',
    's3://bucket/a b',
    's3://bucket/../a',
    's3://bucket//a',
  ])('%s is refused', (text) => expect(() => parseS3Address(text)).toThrow(/s3:\/\/bucket\/prefix|prefix in/))
})
