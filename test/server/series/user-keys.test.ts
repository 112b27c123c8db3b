import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UserKeys, Vault } from '../../../server/accounts/user-keys.ts'
import type { Platform } from '../platform.ts'
import { CANARY, fredPlatform } from './fred.ts'

let at: Platform
let ada: string
beforeAll(async () => {
  at = await fredPlatform()
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string, key = ada, headers: Record<string, string> = {}) =>
  at.call(key, 'GET', url, { headers })

describe('/user-keys', () => {
  const put = (key: string, slug = 'fred', account = ada) =>
    at.call(account, 'PUT', `/user-keys/${slug}`, { json: { key } })

  it('are saved, listed and deleted, slugs in any case, the key never shown', async () => {
    const saved = await put('my-fred-key-4711', 'FRED')
    expect(saved.statusCode).toBe(200)
    expect(saved.json()).toEqual({ provider: 'fred', keyHint: '…4711', updatedAt: expect.any(String) })
    expect((await get('/user-keys')).json()).toEqual([saved.json()])
    expect((await get('/providers/fred')).json().userKey).toBe(true)
    const before = at.upstream.requests.length
    await get('/providers/fred/series/GNPCA?start=1929-06-01')
    const keys = at.upstream.requests.slice(before).map((hit) => hit.query.get('api_key'))
    expect(new Set(keys)).toEqual(new Set(['my-fred-key-4711']))
    expect((await at.call(ada, 'DELETE', '/user-keys/Fred')).statusCode).toBe(204)
    expect((await at.call(ada, 'DELETE', '/user-keys/fred')).statusCode).toBe(404)
    expect((await get('/user-keys')).json()).toEqual([])
  })

  it('never serve another user', async () => {
    const bob = await at.account('bob')
    await put('the-key-of-bob-1', 'fred', bob)
    const before = at.upstream.requests.length
    await get('/providers/fred/series/GNPCA?start=1929-07-01')
    const keys = at.upstream.requests.slice(before).map((hit) => hit.query.get('api_key'))
    expect(new Set(keys)).toEqual(new Set([CANARY]))
  })

  it('are checked with the provider: a rejected one is 400 and not saved', async () => {
    const response = await put('wrong')
    expect(response.statusCode).toBe(400)
    expect(response.json().code).toBe('key_rejected')
    expect((await get('/user-keys')).json()).toEqual([])
  })

  it('are saved while the provider can not check them', async () => {
    const saved = await put('unchecked-key-01')
    expect(saved.statusCode).toBe(200)
    expect((await get('/user-keys')).json()).toEqual([saved.json()])
    await at.call(ada, 'DELETE', '/user-keys/fred')
  })

  it('two changes at the same time: one wins, the other is 409', async () => {
    for (const slug of ['fred', 'alphavantage']) {
      const answers = await Promise.all([put('first-key-000001', slug), put('second-key-000002', slug)])
      expect(answers.map((one) => one.statusCode).sort()).toEqual([200, 409])
      expect(answers.find((one) => one.statusCode === 409)!.json().code).toBe('user_key_conflict')
      const winner = answers.find((one) => one.statusCode === 200)!.json()
      const saved = (await get('/user-keys')).json()
      expect(saved.find((one: { provider: string }) => one.provider === slug)).toEqual(winner)
      expect((await put('third-key-000003', slug)).statusCode).toBe(200)
    }
    const others = await Promise.all([put('key-one-111111', 'fred'), put('key-two-222222', 'alphavantage')])
    expect(others.map((one) => one.statusCode)).toEqual([200, 200])
    for (const slug of ['fred', 'alphavantage']) await at.call(ada, 'DELETE', `/user-keys/${slug}`)
  })

  it('two changes at the same time in two processes: one wins, the other is refused', async () => {
    const account = await at.services.accounts.byName('ada')
    const vault = new Vault('a secret of the tests')
    const keys = [1, 2].map(() => new UserKeys(at.engine.database, vault))
    for (const round of ['of none', 'of one that is there']) {
      const both = Promise.withResolvers<void>()
      let checked = 0
      const check = async () => {
        if (++checked === 2) both.resolve()
        await both.promise
      }
      const answers = await Promise.allSettled(
        keys.map((one, n) => one.save(account, 'fred', `a-key-of-process-${n}`, check)),
      )
      expect(answers.map(({ status }) => status).sort(), round).toEqual(['fulfilled', 'rejected'])
      const winner = answers.findIndex(({ status }) => status === 'fulfilled')
      expect(answers[1 - winner]).toMatchObject({ reason: { code: 'user_key_conflict' } })
      expect(await keys[0]!.reveal(account, 'fred')).toBe(`a-key-of-process-${winner}`)
    }
    await keys[0]!.delete(account, 'fred')
  })

  it.each([
    [{}],
    [{ key: '' }],
    [{ key: 5 }],
    [{ key: 'a b' }],
    [{ key: 'a\r\nb' }],
    [{ key: 'k', more: 1 }],
    [{ apiKey: 'k' }],
  ])('%j is 400', async (json) => {
    expect((await at.call(ada, 'PUT', '/user-keys/fred', { json })).statusCode).toBe(400)
  })

  it('must be of printable ASCII, which the message says in words', async () => {
    expect((await put('a b')).json().error).toBe(
      'key must be ASCII letters, digits and symbols, without spaces.',
    )
  })

  it('may have spaces at the SEC, whose key is a name and an address', async () => {
    const save = (key: string) => at.call(ada, 'PUT', '/user-keys/sec', { json: { key } })
    expect((await save('Jane Doe jane@example.org')).statusCode).toBe(200)
    for (const key of [' jane@example.org', 'jane@example.org ', ' ', 'Jane\tDoe', 'Jane\nDoe', 'José']) {
      expect((await save(key)).statusCode, key).toBe(400)
    }
    expect((await at.call(ada, 'DELETE', '/user-keys/sec')).statusCode).toBe(204)
  })

  it('are encrypted at rest, and useless under another account, provider or secret', async () => {
    await put('plain-text-key-42')
    const database = at.engine.database
    const { id } = await at.services.accounts.byName('ada')
    const sql = 'SELECT sealed FROM provider_keys WHERE account_id = ?'
    const { sealed } = (await database.get<{ sealed: Uint8Array }>(sql, id))!
    expect(Buffer.from(sealed).includes('plain-text-key')).toBe(false)
    const eve = await at.account('eve')
    const eveId = (await at.services.accounts.byName('eve')).id
    await database.run("INSERT INTO provider_keys VALUES (?, 'fred', ?, '…', '')", eveId, sealed)
    const response = await get('/providers/fred/series/GNPCA', eve)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toEqual({
      error: expect.stringMatching(/Save it again/),
      code: 'user_key_unreadable',
    })
    // Nor does it hide the providers.
    const listed = (await get('/providers', eve)).json()
    expect(listed.find((one: { slug: string }) => one.slug === 'fred')).toMatchObject({ userKey: true })
    await at.call(ada, 'DELETE', '/user-keys/fred')
  })

  it('are in no line of the log', () => {
    expect(at.log.length).toBeGreaterThan(10)
    expect(JSON.stringify(at.log)).not.toMatch(/my-fred-key|first-key|plain-text-key/)
  })
})
