import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic, type Platform, platform } from '../platform.ts'

const MOST = 5

describe('wrong API keys', () => {
  let at: Platform
  beforeAll(async () => {
    at = await platform({ config: { limits: { failedKeys: MOST } as never } })
  })
  afterAll(() => at[Symbol.asyncDispose]())

  const from = (address: string, key: string) =>
    at.app.inject({ url: '/account', remoteAddress: address, headers: { authorization: basic(key) } })

  it('are 429 with Retry-After past the limit of an address, right ones never', async () => {
    const statuses = []
    for (let n = 0; n < MOST + 3; n++) statuses.push((await from('10.0.0.1', `${n}-guess`)).statusCode)
    expect(statuses).toEqual([...Array(MOST).fill(401), 429, 429, 429])
    const refused = await from('10.0.0.1', 'another-guess')
    expect(refused.json().code).toBe('too_many_failures')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect((await from('10.0.0.1', at.root)).statusCode).toBe(200)
    expect((await from('10.0.0.2', 'z-guess')).statusCode).toBe(401)
  })

  it('are counted by their beginning, too, wherever they come from', async () => {
    const statuses = []
    for (let n = 0; n < MOST + 1; n++) statuses.push((await from(`10.1.0.${n}`, `abcdef${n}`)).statusCode)
    expect(statuses.at(-1)).toBe(429)
  })

  it('from one network of IPv6 count together', async () => {
    const statuses = []
    for (let n = 0; n < MOST + 1; n++)
      statuses.push((await from(`2001:db8:1:2:${n}::${n + 1}`, `${n}:six`.padStart(8, 'v'))).statusCode)
    expect(statuses).toEqual([...Array(MOST).fill(401), 429])
    expect((await from('2001:db8:1:2:f:f:f:f', 'whole')).statusCode).toBe(429)
    expect((await from('2001:db8:1:3::1', 'elsewhere')).statusCode).toBe(401)
  })

  it('from one network count together also where zeros are left out', async () => {
    const same = ['::', '::1', ':0:0:a::', '::5:6:7:8', ':0:0:a:b:c:d']
    const others = ['2001:db8::4:5:6:7:8', '2001:db8:0:4::', '2001:db8:4::', '200:1db8::1']
    for (const [n, rest] of same.entries())
      expect((await from(`2001:db8${rest}`, `${n}-zeros`)).statusCode).toBe(401)
    for (const [n, rest] of same.entries())
      expect((await from(`2001:db8${rest}`, `${n}-again`)).statusCode).toBe(429)
    for (const [n, other] of others.entries()) expect((await from(other, `${n}-other`)).statusCode).toBe(401)
  })

  it('from IPv4 addresses that are written as IPv6 count for each address', async () => {
    const statuses = []
    for (let n = 0; n < MOST + 1; n++)
      statuses.push((await from('::ffff:198.51.100.1', `${n}mapped`)).statusCode)
    expect(statuses).toEqual([...Array(MOST).fill(401), 429])
    expect((await from('::ffff:198.51.100.2', 'another')).statusCode).toBe(401)
  })

  it('a missing key is no guess', async () => {
    for (let n = 0; n < MOST + 2; n++) {
      expect((await at.app.inject({ url: '/account', remoteAddress: '10.2.0.1' })).statusCode).toBe(401)
    }
  })
})

it('wrong API keys are not counted where the configuration has no limit for them', async () => {
  await using at = await platform({ config: { limits: { failedKeys: 0 } as never } })
  for (let n = 0; n < MOST; n++) {
    const headers = { authorization: basic('the-same-guess') }
    expect((await at.app.inject({ url: '/account', headers })).statusCode).toBe(401)
  }
})

describe('requests of one account', () => {
  it('are 429 past a configured limit, those of others not', async () => {
    await using at = await platform({ config: { limits: { requestsPerMinute: 3 } as never } })
    const ada = await at.account('ada')
    const get = async (key: string) => (await at.call(key, 'GET', '/account')).statusCode
    expect([await get(ada), await get(ada), await get(ada), await get(ada)]).toEqual([200, 200, 200, 429])
    expect(await get(at.root)).toBe(200)
    const refused = await at.call(ada, 'GET', '/account')
    const seconds = Number(refused.headers['retry-after'])
    expect(seconds).toBeGreaterThan(0)
    expect(refused.json()).toEqual({
      error: `This account sends more than 3 requests a minute. Try again in ${seconds} s.`,
      code: 'too_many_requests',
    })
  })
})
