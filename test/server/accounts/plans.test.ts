import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database, SqlValue } from '../../../engine/index.ts'
import { Access } from '../../../server/accounts/access.ts'
import { Plans, Usage } from '../../../server/accounts/plans.ts'
import { dataset, NO_LIMITS, NUMBERS, type Platform, platform } from '../platform.ts'

let at: Platform
let now = new Date('2026-11-30T23:59:00Z')
beforeAll(async () => {
  at = await platform({
    now: () => now,
    config: {
      plans: {
        free: { ...NO_LIMITS, privateRepositories: 1, publicRepositories: 2, exportedRows: 25 },
        pro: { ...NO_LIMITS, privateRepositories: 3, paidProviders: true, exportedRows: 1000 },
      },
    },
  })
})
afterAll(() => at[Symbol.asyncDispose]())

const usage = async (key: string) => (await at.call(key, 'GET', '/account')).json().usage

describe('GET /account', () => {
  it('tells usage and limits, null where there is none', async () => {
    const key = await at.account('ada', 'free')
    expect((await at.call(key, 'GET', '/account')).json()).toEqual({
      id: expect.any(Number),
      name: 'ada',
      plan: 'free',
      apiKeyHint: `pq_…${key.slice(-4)}`,
      usage: { privateRepositories: 0, publicRepositories: 0, exportedRows: 0, month: '2026-11' },
      limits: {
        ...NO_LIMITS,
        privateRepositories: 1,
        publicRepositories: 2,
        exportedRows: 25,
      },
    })
    expect((await at.call(at.root, 'GET', '/account')).json().limits).toEqual({
      ...NO_LIMITS,
      paidProviders: true,
    })
  })
})

describe('private repositories', () => {
  const make = (key: string, name: string) =>
    at.call(key, 'POST', '/repositories', { json: { name, private: true } })

  it('work up to the limit and are 402 past it, with nothing half-made', async () => {
    const key = await at.account('grace', 'free')
    expect((await make(key, 'first')).statusCode).toBe(201)
    const before = (await at.call(key, 'GET', '/repositories')).json()
    const second = await make(key, 'second')
    expect(second.statusCode).toBe(402)
    expect(second.json()).toEqual({
      error: expect.stringMatching(/private repositories.*free.*allows 1; one with `"private": false`/),
      code: 'plan_limit',
    })
    expect((await at.call(key, 'GET', '/repositories')).json()).toEqual(before)
    expect(
      (await at.call(key, 'POST', '/repositories', { json: { name: 'public', private: false } })).statusCode,
    ).toBe(201)
  })

  it('count when a public one becomes private', async () => {
    const key = await at.account('edsger', 'free')
    const open = (
      await at.call(key, 'POST', '/repositories', { json: { name: 'open', private: false } })
    ).json()
    const closed = (await make(key, 'closed')).json()
    const change = (id: number, isPrivate: boolean) =>
      at.call(key, 'PUT', `/repositories/${id}`, { json: { private: isPrivate, name: 'changed' } })
    expect((await change(open.id, true)).statusCode).toBe(402)
    expect((await at.call(key, 'GET', `/repositories/${open.id}`)).json()).toEqual(open)
    expect((await change(closed.id, true)).statusCode).toBe(200)
    expect((await change(closed.id, false)).statusCode).toBe(200)
    expect((await change(open.id, true)).statusCode).toBe(200)
    expect((await usage(key)).privateRepositories).toBe(1)
  })

  it('are free again when one is deleted', async () => {
    const key = await at.account('barbara', 'free')
    const { id } = (await make(key, 'a')).json()
    await at.call(key, 'DELETE', `/repositories/${id}`)
    expect((await make(key, 'b')).statusCode).toBe(201)
  })

  it('can not be passed by many requests at once', async () => {
    const key = await at.account('tony', 'pro')
    const codes = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => (await make(key, `r${i}`)).statusCode),
    )
    expect(codes.filter((code) => code === 201)).toHaveLength(3)
    expect(codes.filter((code) => code === 402)).toHaveLength(9)
  })

  it("count against the owner's plan, whoever makes one private", async () => {
    const key = await at.account('donald', 'free')
    await make(key, 'a')
    const { id } = (
      await at.call(key, 'POST', '/repositories', { json: { name: 'b', private: false } })
    ).json()
    const byAdmin = await at.call(at.root, 'PUT', `/repositories/${id}`, { json: { private: true } })
    expect(byAdmin.statusCode).toBe(402)
    expect(byAdmin.json().error).toContain('donald')
  })
})

describe('public repositories', () => {
  it('work up to the limit of the plan and are 402 past it, also where a private one becomes public', async () => {
    const key = await at.account('squatter', 'free')
    const make = (fields: object) => at.call(key, 'POST', '/repositories', { json: fields })
    for (const name of ['a', 'b']) expect((await make({ name, private: false })).statusCode).toBe(201)
    const refused = {
      error: 'The limit of public repositories is reached: the plan free of account squatter allows 2.',
      code: 'plan_limit',
    }
    const third = await make({ name: 'c', private: false })
    expect([third.statusCode, third.json()]).toEqual([402, refused])
    const { id } = (await make({ name: 'd' })).json()
    const opened = await at.call(key, 'PATCH', `/repositories/${id}`, { json: { private: false } })
    expect([opened.statusCode, opened.json()]).toEqual([402, refused])
    expect((await usage(key)).publicRepositories).toBe(2)
  })
})

describe('exported rows', () => {
  it('work up to the limit and are 402 past it, before the first byte', async () => {
    const key = await at.account('niklaus', 'free')
    const { id } = await dataset(at, key)
    const get = (query = '') => at.call(key, 'GET', `/datasets/${id}/data${query}`)
    expect((await get()).statusCode).toBe(200)
    expect((await get('?$filter=n gt 0')).statusCode).toBe(200)
    expect((await usage(key)).exportedRows).toBe(20)
    const past = await get()
    expect(past.statusCode).toBe(402)
    expect(past.json().error).toMatch(/25 a month, 5 are left in 2026-11 \(UTC\), and this download has 10/)
    expect(past.headers['content-disposition']).toBeUndefined()
    expect((await get('?$filter=n gt 2')).statusCode).toBe(402)
    // As many as are left are still given, however they are cut out.
    expect((await get('?$filter=n gt 8')).body).toBe('n,word\n9,w9\n10,\n')
    expect((await get('?$top=2')).statusCode).toBe(200)
    expect((await get('?$last=2')).statusCode).toBe(402)
    expect((await get('?$skip=9')).statusCode).toBe(200)
    expect((await usage(key)).exportedRows).toBe(25)
    expect((await get('?$top=1')).statusCode).toBe(402)
    const piece = await at.call(key, 'GET', `/datasets/${id}/data`, { headers: { range: 'bytes=0-5' } })
    expect([piece.statusCode, piece.headers['content-range']]).toEqual([402, undefined])
    expect((await get('?$top=0')).statusCode).toBe(200)
    expect((await at.call(key, 'HEAD', `/datasets/${id}/data`)).statusCode).toBe(200)
  })

  it('count by month, UTC', async () => {
    const key = await at.account('ole', 'free')
    const { id } = await dataset(at, key)
    const get = async () => (await at.call(key, 'GET', `/datasets/${id}/data`)).statusCode
    expect([await get(), await get(), await get()]).toEqual([200, 200, 402])
    now = new Date('2026-12-01T00:00:01Z')
    expect(await usage(key)).toMatchObject({ exportedRows: 0, month: '2026-12' })
    expect(await get()).toBe(200)
    now = new Date('2026-11-30T23:59:00Z')
  })

  it('are not counted for a 304, a HEAD, an error or an upload', async () => {
    const key = await at.account('john', 'free')
    const { id } = await dataset(at, key)
    const url = `/datasets/${id}/data`
    const { etag } = (await at.call(key, 'HEAD', url)).headers
    expect((await at.call(key, 'GET', url, { headers: { 'if-none-match': String(etag) } })).statusCode).toBe(
      304,
    )
    await at.call(key, 'GET', `${url}?$filter=nope eq 1`)
    await at.call(key, 'PUT', url, { body: NUMBERS, headers: { 'content-type': 'text/csv' } })
    expect((await usage(key)).exportedRows).toBe(0)
  })

  it('of downloads at once are set aside, so that together they can not pass the limit', async () => {
    const key = await at.account('alan', 'free')
    const { id } = await dataset(at, key)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => at.call(key, 'GET', `/datasets/${id}/data?$filter=n ge 1`)),
    )
    expect(answers.filter((one) => one.statusCode === 200)).toHaveLength(2)
    expect(answers.filter((one) => one.statusCode === 402)).toHaveLength(6)
    expect((await usage(key)).exportedRows).toBe(20)
  })

  it('are written down, and survive', async () => {
    const key = await at.account('kay', 'pro')
    const { id } = await dataset(at, key)
    await at.call(key, 'GET', `/datasets/${id}/data`)
    await at.services.usage.flush()
    const account = await at.services.accounts.byName('kay')
    const sql = 'SELECT rows FROM exported_rows WHERE account_id = ? AND month = ?'
    const row = await at.engine.database.get(sql, account.id, '2026-11')
    expect(row).toMatchObject({ rows: 10 })
    expect((await usage(key)).exportedRows).toBe(10)
  })

  /** The counter, over a database that does something after its first read of the counted rows. */
  const counting = (afterRead: () => Promise<void>) => {
    const { database } = at.engine
    const late = once(afterRead)
    const proxy: Partial<Database> = {
      get: async <Row>(sql: string, ...values: SqlValue[]) => {
        const row = await database.get<Row>(sql, ...values)
        await late()
        return row
      },
      transaction: (work, how) => database.transaction(work, how),
    }
    return new Usage(
      proxy as Database,
      at.services.plans,
      () => undefined,
      () => now,
    )
  }
  const once = (work: () => Promise<void>) => {
    let done = false
    return async () => {
      if (done) return
      done = true
      await work()
    }
  }

  it('are counted once, however often a download ends', async () => {
    await at.account('edgar', 'free')
    const account = await at.services.accounts.byName('edgar')
    const usage = counting(async () => undefined)
    const reservation = await usage.reserve(account, 10)
    expect(await usage.remaining(account)).toBe(15)
    for (let n = 0; n < 2; n++) reservation.settle(4)
    expect([await usage.exportedRows(account.id), await usage.remaining(account)]).toEqual([4, 21])
    await usage.flush()
  })

  it('are neither missed nor counted twice if they are written down while they are read', async () => {
    await at.account('frances')
    const account = await at.services.accounts.byName('frances')
    const usage = counting(() => usage.flush())
    const reservation = await usage.reserve(account, 0)
    reservation.settle(7)
    expect(await usage.exportedRows(account.id)).toBe(7)
  })
})

it('what an account owns is counted behind its lock, so that two nodes can not both take the last place', async () => {
  await at.account('hedy', 'free')
  const account = await at.services.accounts.byName('hedy')
  const limited = new Plans({
    free: { ...at.services.plans.limits('free'), datasets: 1, storedBytes: 1 },
  } as never)
  const content = { columns: 1, bytes: 1 }
  for (const allow of [
    (access: Access) => limited.allowOneMore('datasets', account, access),
    (access: Access) => limited.allowOneMore('privateRepositories', account, access),
    (access: Access) => limited.allowContent(account, access, content),
  ]) {
    const done: string[] = []
    await at.engine.transaction(async (t) => {
      const watched = new Proxy(t, {
        get(target, name) {
          const value = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          return (...given: unknown[]) => {
            done.push(name === 'lock' ? `lock ${given.join(' ')}` : String(name))
            return value.apply(target, given)
          }
        },
      })
      await allow(new Access(watched))
    })
    expect(done).toEqual([`lock accounts ${account.id}`, 'get'])
  }
})
