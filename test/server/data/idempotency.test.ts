import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let repositoryId: number
let id: number
beforeAll(async () => {
  at = await platform()
  ;({ repository: repositoryId, id } = await dataset(at, at.root))
})
afterAll(() => at[Symbol.asyncDispose]())

const json = (url: string, body: object, key: string, who = at.root) =>
  at.call(who, 'POST', url, { json: body, headers: { 'idempotency-key': key } })
const csv = (method: 'POST' | 'PUT', body: string, key?: string, more: Record<string, string> = {}) =>
  at.call(at.root, method, `/datasets/${id}/data`, {
    body,
    headers: { 'content-type': 'text/csv', ...(key && { 'idempotency-key': key }), ...more },
  })
const count = async () => (await at.call(at.root, 'GET', `/datasets/${id}`)).json().rowCount as number

describe('a request that is sent again with its Idempotency-Key', () => {
  it('creates a repository or a dataset once, and gets the same answer', async () => {
    for (const [url, body] of [
      ['/repositories', { name: 'once' }],
      ['/datasets', { name: 'once', repositoryId }],
    ] as const) {
      const answers = [await json(url, body, url), await json(url, body, url)]
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201])
      expect(answers[1]!.json().id).toBe(answers[0]!.json().id)
      expect(answers[1]!.headers['location']).toBe(answers[0]!.headers['location'])
    }
  })

  it('appends rows once, also if both are sent at the same time', async () => {
    const before = await count()
    const one = await csv('POST', 'n,word\n1,a\n', 'append')
    expect(one.statusCode).toBe(200)
    const again = await csv('POST', 'n,word\n1,a\n', 'append')
    expect(again.statusCode).toBe(200)
    expect(again.json().rowCount).toBe(before + 1)
    const both = await Promise.all([1, 2, 3].map(() => csv('POST', 'n,word\n2,b\n', 'together')))
    expect(both.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    expect(await count()).toBe(before + 2)
  })

  it('may be a form with another boundary, as each attempt of a client has', async () => {
    const before = await count()
    const form = (boundary: string, row: string, name = 'a.csv') => {
      const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
      const more = { 'content-type': `multipart/form-data; boundary=${boundary}` }
      return csv('POST', `${head}n,word\n${row}\n\r\n--${boundary}--\r\n`, 'form', more)
    }
    expect((await form('one', '1,a')).statusCode).toBe(200)
    expect((await form('other', '1,a')).statusCode).toBe(200)
    expect(await count()).toBe(before + 1)
    expect((await form('one', '2,a')).statusCode).toBe(422)
    expect((await form('one', '1,a', 'b.tsv')).statusCode).toBe(422)
  })

  it('is 422 with another body or to another address, and changes nothing', async () => {
    const before = await count()
    await csv('POST', 'n,word\n1,a\n', 'taken')
    await json('/repositories', { name: 'first' }, 'named')
    for (const answer of [
      await json('/repositories', { name: 'second' }, 'named'),
      await csv('POST', 'n,word\n2,a\n', 'taken'),
      await csv('PUT', 'n,word\n1,a\n', 'taken'),
      await json('/repositories', { name: 'x' }, 'taken'),
    ]) {
      expect([answer.statusCode, answer.json().code]).toEqual([422, 'idempotency_key_reused'])
    }
    expect(await count()).toBe(before + 1)
  })

  it('is done after it failed, and is something else for another account', async () => {
    const before = await count()
    expect((await csv('POST', 'other\n1\n', 'failed')).statusCode).toBe(409)
    expect((await csv('POST', 'n,word\n1,a\n', 'failed')).statusCode).toBe(200)
    expect(await count()).toBe(before + 1)
    const ada = await at.account('idempotent')
    const [mine, hers] = [
      await json('/repositories', { name: 'r' }, 'k'),
      await json('/repositories', { name: 'r' }, 'k', ada),
    ]
    expect(hers.json().id).not.toBe(mine.json().id)
  })

  it('is kept for a day', async () => {
    await csv('POST', 'n,word\n1,a\n', 'old')
    const before = await count()
    await at.engine.database.run('UPDATE idempotency_keys SET kept_at = kept_at - ?', 86_400_000)
    await csv('POST', 'n,word\n1,a\n', 'old')
    expect(await count()).toBe(before + 1)
  })

  it('is forgotten after that day by a request an hour later', async () => {
    const stored = () => at.engine.database.all("SELECT 1 FROM idempotency_keys WHERE name = 'forgotten'")
    await csv('POST', 'n,word\n1,a\n', 'forgotten')
    await at.engine.database.run('UPDATE idempotency_keys SET kept_at = kept_at - ?', 86_400_000)
    await csv('POST', 'n,word\n1,a\n', 'soon')
    expect(await stored()).toHaveLength(1)
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_600_000)
    await csv('POST', 'n,word\n1,a\n', 'later').finally(() => clock.mockRestore())
    expect(await stored()).toEqual([])
  })

  it('needs a key of 1 to 255 visible characters', async () => {
    for (const key of ['with a blank', 'x'.repeat(256)]) {
      expect((await json('/repositories', { name: 'x' }, key)).statusCode).toBe(400)
    }
  })
})

describe('rows that are sent with If-Match', () => {
  it('are saved if the dataset is as it was seen, else 412', async () => {
    const tag = String((await at.call(at.root, 'GET', `/datasets/${id}`)).headers['etag'])
    const saved = await csv('POST', 'n,word\n1,a\n', undefined, { 'if-match': tag })
    expect(saved.statusCode).toBe(200)
    const before = await count()
    for (const method of ['POST', 'PUT'] as const) {
      const refused = await csv(method, 'n,word\n1,a\n', undefined, { 'if-match': tag })
      expect([refused.statusCode, refused.json().code]).toEqual([412, 'changed_meanwhile'])
    }
    expect(await count()).toBe(before)
    const next = String(saved.headers['etag'])
    const both = await Promise.all(
      [1, 2].map(() => csv('POST', 'n,word\n1,a\n', undefined, { 'if-match': next })),
    )
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 412])
  })
})
