import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEngine } from '../../../engine/index.ts'
import { Accounts, generateKey, isMistyped } from '../../../server/accounts/accounts.ts'
import { basic, type Platform, platform } from '../platform.ts'

let at: Platform
let key: string
beforeAll(async () => {
  at = await platform()
  key = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string, authorization?: string) =>
  at.app.inject({ url, headers: authorization === undefined ? {} : { authorization } })

describe('a request is let in', () => {
  it('with the key as the user name of Basic authentication', async () => {
    expect((await get('/account', basic(key))).json().name).toBe('ada')
  })

  it('with the name of the scheme in any case', async () => {
    expect((await get('/account', basic(key).replace('Basic', 'bAsIc'))).statusCode).toBe(200)
  })

  it('with the key as the query parameter apiKey', async () => {
    expect((await get(`/account?apiKey=${key}`)).json().name).toBe('ada')
  })

  it('with apiKey in any case', async () => {
    expect((await get(`/account?apikey=${key}`)).statusCode).toBe(200)
  })

  it('with any password, because some programs demand one', async () => {
    expect((await get('/account', basic(key, 'anything'))).statusCode).toBe(200)
    expect((await get('/account', basic(key, key))).statusCode).toBe(200)
  })

  it('with the key as a Bearer token', async () => {
    expect((await get('/account', `Bearer ${key}`)).json().name).toBe('ada')
  })

  it('with any blanks between the scheme and the key', async () => {
    for (const given of [basic(key), `Bearer ${key}`])
      expect((await get('/account', given.replace(' ', '   '))).statusCode).toBe(200)
  })

  it('with the key in X-API-Key', async () => {
    expect((await at.app.inject({ url: '/account', headers: { 'x-api-key': key } })).statusCode).toBe(200)
  })

  it('with a key that was chosen, also percent-encoded in the URL', async () => {
    const chosen = 'a key with blanks & signs+%'
    await at.services.accounts.create({ name: 'chosen', plan: 'free', key: chosen })
    expect((await get('/account', basic(chosen))).json().name).toBe('chosen')
    expect((await get(`/account?apiKey=${encodeURIComponent(chosen)}`)).json().name).toBe('chosen')
  })
})

describe('401', () => {
  const refused = async (url: string, authorization?: string) => {
    const response = await get(url, authorization)
    expect(response.statusCode, url).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Basic realm="parquetry"')
    expect(response.json()).toEqual({ error: expect.stringMatching(/API key|header/), code: 'unauthorized' })
    return response.json().error as string
  }

  it('without a key', async () => void (await refused('/datasets')))
  it('with an unknown key', async () => void (await refused('/datasets', basic(generateKey()))))
  it('with an empty key', async () => void (await refused('/datasets', basic(''))))
  it('with a key that has a typo', async () => {
    const typo = key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11)
    expect(isMistyped(typo)).toBe(true)
    await refused('/datasets', basic(typo))
  })
  it('with the key in the password field', async () => {
    expect(await refused('/datasets', basic('', key))).toMatch(/user name/)
  })
  it('with another user name and the key as password', async () =>
    void (await refused('/datasets', basic('ada', key))))
  it.each([
    'Basic',
    'Basic ',
    'Basic !!!',
    'Basic YWJj',
    'Basic YWJj YWJj',
    'Basic =',
  ])('with the malformed header %j', async (header) => {
    expect(await refused('/datasets', header)).toMatch(/^The Authorization header is malformed\./)
  })
  it('with anything behind the credentials', async () => {
    expect(await refused('/datasets', `${basic(key)} YWJj`)).toMatch(/malformed/)
  })
  it('with another scheme, or none', async () => {
    for (const given of [`Digest ${key}`, key, ''])
      for (const url of ['/datasets', `/datasets?apiKey=${key}`])
        expect(await refused(url, given)).toMatch(/neither Basic nor Bearer/)
  })
  it('with a wrong Bearer token or X-API-Key', async () => {
    expect(await refused('/datasets', 'Bearer')).toMatch(/^The API key is not valid/)
    await refused(`/datasets?apiKey=${key}`, `Bearer ${generateKey()}`)
    const response = await at.app.inject({ url: '/datasets', headers: { 'x-api-key': generateKey() } })
    expect(response.statusCode).toBe(401)
  })
  it('with a bad Basic header, although apiKey is right: the header decides alone', async () => {
    await refused(`/datasets?apiKey=${key}`, basic('nonsense'))
    await refused(`/datasets?apiKey=${key}`, 'Basic !!!')
  })
  it('with apiKey given twice, empty, or malformed', async () => {
    await refused(`/datasets?apiKey=${key}&apiKey=${key}`)
    await refused(`/datasets?apiKey=${key}&apikey=${key}`)
    await refused('/datasets?apiKey=')
    await refused(`/datasets?apiKey=%zz`)
  })
  it('on paths that do not exist and with methods that are not known', async () => {
    await refused('/nowhere')
    expect((await at.app.inject({ method: 'PATCH', url: '/datasets' })).statusCode).toBe(401)
  })
  it('before the body is looked at', async () => {
    const response = await at.call(undefined, 'POST', '/repositories', {
      body: '{',
      headers: { 'content-type': 'application/json' },
    })
    expect(response.statusCode).toBe(401)
  })
})

describe('a rotated key', () => {
  it('is dead at once, and the new one works', async () => {
    const old = await at.account('rotating')
    const response = await at.call(old, 'POST', '/account/api-key')
    expect(response.statusCode).toBe(201)
    expect(response.headers['cache-control']).toBe('no-store')
    const { apiKey } = response.json()
    expect((await at.call(old, 'GET', '/account')).statusCode).toBe(401)
    expect((await at.app.inject({ url: `/account?apiKey=${old}` })).statusCode).toBe(401)
    expect((await at.call(apiKey, 'GET', '/account')).json()).toMatchObject({
      name: 'rotating',
      apiKeyHint: `pq_…${apiKey.slice(-4)}`,
    })
  })

  it('is dead at once also when it was rotated over another connection, as the command does', async () => {
    const old = await at.account('elsewhere')
    expect((await at.call(old, 'GET', '/account')).statusCode).toBe(200)
    const elsewhere = await openEngine({ directory: at.directory })
    const accounts = new Accounts(elsewhere.database)
    await accounts.rotateKey((await accounts.byName('elsewhere')).id)
    await elsewhere.close()
    expect((await at.call(old, 'GET', '/account')).statusCode).toBe(401)
  })
})

describe('keys', () => {
  it('have a prefix, 190 random bits and a checksum, and are stored as a hash alone', async () => {
    const keys = new Set(Array.from({ length: 200 }, generateKey))
    expect(keys.size).toBe(200)
    for (const one of keys) {
      expect(one).toMatch(/^pq_[0-9A-Za-z]{38}$/)
      expect(isMistyped(one)).toBe(false)
    }
    const rows = JSON.stringify(await at.engine.database.all('SELECT * FROM accounts'))
    expect(rows).not.toContain(key)
    expect(rows).not.toContain(key.slice(3, 30))
  })

  it('that are mistyped are refused for a new account, which names them and not the account', async () => {
    const [last] = key.slice(-1)
    const typo = key.slice(0, -1) + (last === 'a' ? 'b' : 'a')
    const made = at.services.accounts.create({ name: 'eve', plan: 'free', key: typo })
    await expect(made).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/\bkey\b.*PARQUETRY_ROOT_KEY/),
    })
  })

  it('are in no line of the log', async () => {
    await get(`/datasets?apiKey=${key}&$top=1`)
    await get('/datasets', basic(key))
    await get(`/datasets?APIKEY=${key}`)
    await get(`/%zz?apiKey=${key}`)
    await get(`/datasets/${key}`, basic(key))
    expect(JSON.stringify(at.log)).not.toContain(key)
    expect(at.log.length).toBeGreaterThan(2)
  })
})

it('public paths need no key', async () => {
  for (const url of ['/healthz', '/readyz', '/openapi.json', '/docs', '/']) {
    expect((await get(url)).statusCode, url).toBeLessThan(400)
  }
  expect((await get('/healthz')).json()).toEqual({ status: 'ok' })
})

it('metrics are for admins', async () => {
  expect((await get('/metrics')).statusCode).toBe(401)
  expect((await get('/metrics', basic(key))).statusCode).toBe(403)
  const response = await get('/metrics', basic(at.root))
  expect(response.statusCode).toBe(200)
  expect(response.body).toContain('parquetry_http_requests_total')
})
