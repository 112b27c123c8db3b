import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let time = Date.parse('2026-11-21T12:00:00Z')
beforeAll(async () => {
  at = await platform({ now: () => new Date(time) })
})
afterAll(() => at[Symbol.asyncDispose]())

describe('accounts, for admins', () => {
  const make = (json: unknown) => at.call(at.root, 'POST', '/accounts', { json })

  test('are made with a key that is shown once and works', async () => {
    const made = await make({ name: 'ada', plan: 'pro' })
    expect(made.statusCode).toBe(201)
    expect(made.headers.location).toBe('/accounts/ada')
    const { apiKey, ...record } = made.json()
    expect(record).toMatchObject({ name: 'ada', plan: 'pro', admin: false, disabled: false })
    expect((await at.call(apiKey, 'GET', '/account')).json()).toMatchObject({ name: 'ada', plan: 'pro' })
    expect((await at.call(at.root, 'GET', '/accounts')).json()).toContainEqual(record)
    expect((await at.call(at.root, 'GET', '/accounts/ada')).json()).toEqual(record)
    expect((await make({ name: 'ada' })).statusCode).toBe(409)
    expect((await make({ name: 'a b' })).statusCode).toBe(400)
    expect((await make({ name: 'bea', plan: 'gold' })).statusCode).toBe(400)
  })

  test('have one of the plans that are listed, with its limits', async () => {
    const plans = (await at.call(at.root, 'GET', '/plans')).json()
    expect(plans.map(({ name }: { name: string }) => name)).toEqual(['free', 'pro', 'unlimited'])
    const { apiKey } = (await make({ name: 'planned' })).json()
    const own = (await at.call(apiKey, 'GET', '/account')).json()
    expect({ name: own.plan, limits: own.limits }).toEqual(plans[0])
    expect((await at.call(apiKey, 'GET', '/plans')).statusCode).toBe(403)
  })

  test('move to another plan, and get a new key that ends the old one', async () => {
    const { apiKey } = (await make({ name: 'carl' })).json()
    expect((await at.call(apiKey, 'GET', '/account')).json().plan).toBe('free')
    const changed = await at.call(at.root, 'PUT', '/accounts/carl', { json: { plan: 'unlimited' } })
    expect(changed.json()).toMatchObject({ name: 'carl', plan: 'unlimited' })
    expect((await at.call(apiKey, 'GET', '/account')).json().plan).toBe('unlimited')
    const { apiKey: next } = (await at.call(at.root, 'POST', '/accounts/carl/api-key')).json()
    expect((await at.call(apiKey, 'GET', '/account')).statusCode).toBe(401)
    expect((await at.call(next, 'GET', '/account')).statusCode).toBe(200)
  })

  test('are disabled with all their keys and links, and let in again', async () => {
    const { apiKey } = (await make({ name: 'dora' })).json()
    const named = (await at.call(apiKey, 'POST', '/account/keys', { json: { name: 'n' } })).json().apiKey
    const { id } = await dataset(at, apiKey)
    const link = (await at.call(apiKey, 'POST', '/links', { json: { path: `/datasets/${id}/data` } })).json()
      .url
    const disable = (disabled: boolean) => at.call(at.root, 'PUT', '/accounts/dora', { json: { disabled } })
    expect((await disable(true)).json().disabled).toBe(true)
    for (const key of [apiKey, named]) expect((await at.call(key, 'GET', '/account')).statusCode).toBe(401)
    expect((await at.call(undefined, 'GET', link)).statusCode).toBe(401)
    await disable(false)
    for (const key of [apiKey, named]) expect((await at.call(key, 'GET', '/account')).statusCode).toBe(200)
    expect((await at.call(undefined, 'GET', link)).statusCode).toBe(200)
  })

  test('an admin does not lock the door behind themselves', async () => {
    const own = await at.call(at.root, 'PUT', '/accounts/root', { json: { disabled: true } })
    expect(own).toMatchObject({ statusCode: 400 })
    expect(own.json().error).toContain('another admin')
  })
})

describe('named keys', () => {
  let eve: string
  beforeAll(async () => {
    eve = await at.account('eve')
  })
  const make = (json: unknown, key = eve) => at.call(key, 'POST', '/account/keys', { json })

  test('are listed without the key, and end when they are deleted', async () => {
    const made = await make({ name: 'nightly' })
    expect(made.statusCode).toBe(201)
    const { apiKey, ...record } = made.json()
    expect(record).toMatchObject({ name: 'nightly', readOnly: false, expiresAt: null })
    expect((await at.call(eve, 'GET', '/account/keys')).json()).toEqual([record])
    expect(
      (await at.call(apiKey, 'POST', '/repositories', { json: { name: 'by-named', private: false } }))
        .statusCode,
    ).toBe(201)
    expect(await make({ name: 'nightly' }).then((again) => [again.statusCode, again.json()])).toEqual([
      409,
      { code: 'key_exists', error: 'There is already a key named nightly.' },
    ])
    expect((await at.call(eve, 'DELETE', '/account/keys/nightly')).statusCode).toBe(204)
    expect((await at.call(apiKey, 'GET', '/account')).statusCode).toBe(401)
    expect((await at.call(eve, 'DELETE', '/account/keys/nightly')).statusCode).toBe(404)
  })

  test('that only read, read and no more', async () => {
    const { apiKey } = (await make({ name: 'reader', readOnly: true })).json()
    const { id } = await dataset(at, eve)
    expect((await at.call(apiKey, 'GET', `/datasets/${id}/data`)).statusCode).toBe(200)
    expect(
      (await at.call(apiKey, 'POST', '/links', { json: { path: `/datasets/${id}/data` } })).statusCode,
    ).toBe(201)
    for (const [method, url] of [
      ['POST', '/repositories'],
      ['PUT', `/datasets/${id}/data`],
      ['DELETE', `/datasets/${id}`],
      ['POST', '/account/api-key'],
      ['POST', '/account/keys'],
    ] as const) {
      const refused = await at.call(apiKey, method, url, { json: { name: 'x' } })
      expect(refused.statusCode, `${method} ${url}`).toBe(403)
      expect(refused.json().error).toContain('This key is read-only.')
    }
  })

  test('that expire, end by themselves', async () => {
    const { apiKey, expiresAt } = (await make({ name: 'brief', expiresAt: '2026-11-22' })).json()
    expect(expiresAt).toBe('2026-11-22T00:00:00.000Z')
    expect((await at.call(apiKey, 'GET', '/account')).statusCode).toBe(200)
    time = Date.parse('2026-11-22T00:00:00Z')
    expect((await at.call(apiKey, 'GET', '/account')).statusCode).toBe(401)
    for (const wrong of ['2020-01-01', 'tomorrow', '2026-13-01']) {
      const refused = await make({ name: 'wrong', expiresAt: wrong })
      expect(refused.statusCode, wrong).toBe(400)
      expect(refused.json().error).toContain(wrong)
    }
  })

  test('have a name, and are at most 100', async () => {
    const full = await at.account('full')
    const answers = []
    for (let n = 1; n <= 101; n++) answers.push(await make({ name: `key-${n}` }, full))
    expect(answers.slice(0, -1).map(({ statusCode }) => statusCode)).toEqual(Array(100).fill(201))
    expect([answers.at(-1)!.statusCode, answers.at(-1)!.json()]).toEqual([
      409,
      { code: 'too_many_keys', error: 'An account has at most 100 named keys. Delete one first.' },
    ])
    await at.call(full, 'DELETE', '/account/keys/key-7')
    expect((await make({ name: 'another' }, full)).statusCode).toBe(201)
    const nameless = await make({ name: ' ' })
    expect([nameless.statusCode, nameless.json().code]).toEqual([400, 'invalid_body'])
  })

  test('outlive the first key, which ends alone when it is replaced', async () => {
    const { apiKey } = (await make({ name: 'lasting' })).json()
    const next = (await at.call(eve, 'POST', '/account/api-key')).json().apiKey
    expect((await at.call(eve, 'GET', '/account')).statusCode).toBe(401)
    expect((await at.call(apiKey, 'GET', '/account')).statusCode).toBe(200)
    eve = next
  })
})
