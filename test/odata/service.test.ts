import { afterAll, describe, expect, test, vi } from 'vitest'
import { dataset, platform } from '../server/platform.ts'
import { encoded, openFeed } from './feed.ts'

const feed = await openFeed()
const { at, key, id, root, get, value } = feed
afterAll(() => feed[Symbol.asyncDispose]())

describe('the service document and metadata', () => {
  test('name the datasets as entity sets', async () => {
    for (const path of ['', '/']) {
      const response = await get(path)
      expect(response.json()).toEqual({
        '@odata.context': `http://localhost:80${root}/$metadata`,
        value: [{ name: 'my_table', title: 'my table', kind: 'EntitySet', url: 'my_table' }],
      })
    }
  })

  test('the service over everything puts the repository before the name', async () => {
    const response = await at.call(key, 'GET', '/odata/')
    expect(response.json().value.map((one: { name: string }) => one.name)).toContain('my_table_my_table')
  })

  test('are in the version that the client takes, said in one header', async () => {
    expect((await get('/$metadata')).headers['odata-version']).toBe('4.01')
    const old = await get('/$metadata', { 'odata-maxversion': '4.0' })
    expect(old.headers['odata-version']).toBe('4.0')
    expect(old.headers['content-type']).toBe('application/xml;charset=utf-8')
    expect(old.body).toContain('Version="4.0"')
    const json = await get('/$metadata?$format=json')
    expect(json.json().Parquetry.my_tableRow.Row_1).toMatchObject({ '@Self.OriginalName': 'Row' })
  })

  test('are the same until a dataset changes', async () => {
    for (const query of ['', '?$format=json']) {
      const first = await get(`/$metadata${query}`)
      const again = await get(`/$metadata${query}`)
      expect(again.body).toBe(first.body)
      for (const name of ['etag', 'content-type', 'odata-version'])
        expect(again.headers[name]).toBe(first.headers[name])
      const description = `described ${query}`
      await at.call(key, 'PATCH', `/datasets/${id}`, { json: { description } })
      const changed = await get(`/$metadata${query}`)
      expect(changed.body).toContain(description)
      expect(changed.headers['etag']).not.toBe(first.headers['etag'])
      await at.call(key, 'PATCH', `/datasets/${id}`, { json: { description: '' } })
    }
  })
})

describe('rows', () => {
  test('have the key, identifiers as names, and a context', async () => {
    const response = await get('/my_table')
    expect(response.headers['content-type']).toBe(
      'application/json;odata.metadata=minimal;odata.streaming=true;charset=utf-8',
    )
    expect(response.json()).toEqual({
      '@odata.context': `http://localhost:80${root}/$metadata#my_table`,
      value: [
        { Row: 1, Body_Mass__g_: 1.5, Row_1: 'a', day: '2020-01-01' },
        { Row: 2, Body_Mass__g_: null, Row_1: 'b', day: null },
        { Row: 3, Body_Mass__g_: 3, Row_1: null, day: '2021-02-03' },
      ],
    })
  })

  test('are filtered, ordered, windowed and counted under those names', async () => {
    expect(await value('/my_table?$filter=Body_Mass__g_ gt 2&$select=Row_1,Row')).toEqual([
      { Row_1: null, Row: 3 },
    ])
    expect(await value('/my_table?$orderby=Row desc&$top=1&$skip=1&$select=Row')).toEqual([{ Row: 2 }])
    expect(await value('/my_table?$filter=Row ge 2&$select=Row')).toEqual([{ Row: 2 }, { Row: 3 }])
    const counted = (await get('/my_table?$count=TRUE&$top=1&$filter=day ne null')).json()
    expect(counted['@odata.count']).toBe(2)
    expect(counted.value).toHaveLength(1)
    const context = (await get('/my_table?$select=day')).json()['@odata.context']
    expect(context).toBe(`http://localhost:80${root}/$metadata#my_table(day)`)
  })

  test('are filtered by parameter aliases, on every page and when they are counted', async () => {
    const question = '$filter=Body_Mass__g_ gt @least and day in @days&@least=1&@days=(2020-01-01,2021-02-03)'
    expect(await value(`/my_table?$select=Row&${question}`)).toEqual([{ Row: 1 }, { Row: 3 }])
    expect((await get(`/my_table/$count?${question}`)).body).toBe('2')
    const first = await get(`/my_table?$select=Row&${question}`, { prefer: 'maxpagesize=1' })
    const { pathname, search } = new URL(first.json()['@odata.nextLink'])
    const second = await at.call(key, 'GET', pathname + search, {})
    expect(second.json().value).toEqual([{ Row: 3 }])
    expect((await get(`/my_table(1)?@least=1`)).statusCode).toBe(400)
  })

  test('without a next page release their version, and so does a query that is wrong', async () => {
    const before = (await at.engine.stats()).readers
    expect((await get('/my_table?$filter=Row gt 1')).statusCode).toBe(200)
    expect((await get('/my_table?$filter=nothing gt 1')).statusCode).toBe(400)
    await vi.waitFor(async () => expect((await at.engine.stats()).readers).toBe(before))
  })

  test('carry as much metadata as is asked for', async () => {
    const full = (await get('/my_table?$top=1', { accept: 'application/json;odata.metadata=full' })).json()
    expect(full.value[0]).toEqual({
      '@odata.type': '#Parquetry.my_tableRow',
      '@odata.id': 'my_table(1)',
      'Row@odata.type': '#Int64',
      Row: 1,
      Body_Mass__g_: 1.5,
      Row_1: 'a',
      'day@odata.type': '#Date',
      day: '2020-01-01',
    })
    const none = await get(
      '/my_table?$top=1&$format=application/json;odata.metadata=none;IEEE754Compatible=true',
    )
    expect(none.json()).toEqual({ value: [{ Row: '1', Body_Mass__g_: 1.5, Row_1: 'a', day: '2020-01-01' }] })
  })

  test('are found by key, down to one value', async () => {
    expect((await get('/my_table(3)')).json()).toMatchObject({
      '@odata.context': `http://localhost:80${root}/$metadata#my_table/$entity`,
      Row: 3,
      Body_Mass__g_: 3,
    })
    expect((await get('/my_table/2?$select=Row_1')).json().Row_1).toBe('b')
    expect((await get('/my_table(1)/Body_Mass__g_')).json().value).toBe(1.5)
    const raw = await get('/my_table(1)/day/$value')
    expect([raw.body, raw.headers['content-type']]).toEqual(['2020-01-01', 'text/plain;charset=utf-8'])
    expect((await get('/my_table(2)/day')).statusCode).toBe(204)
    expect((await get('/my_table/$count', { accept: 'text/plain' })).body).toBe('3')
    expect((await get('/my_table/$count?$filter=day eq null')).body).toBe('1')
  })

  test('answer a question that comes as a body', async () => {
    const response = await at.call(key, 'POST', `${root}/my_table/$query`, {
      body: '$filter=Row eq 2&$select=Row',
      headers: { 'content-type': 'text/plain' },
    })
    expect(response.json().value).toEqual([{ Row: 2 }])
    const wrong = await at.call(key, 'POST', `${root}/my_table/$query`, { json: {} })
    expect(wrong.statusCode).toBe(415)
  })

  test('are not sent again to who has them, and headers alone for HEAD', async () => {
    const first = await get('/my_table')
    const again = await get('/my_table', { 'if-none-match': String(first.headers['etag']) })
    expect(again.statusCode).toBe(304)
    const full = await get('/my_table?$format=application/json;odata.metadata=full')
    expect(full.headers['etag']).not.toBe(first.headers['etag'])
    const head = await at.call(key, 'HEAD', `${root}/my_table`)
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })
})

describe('calculated properties and groups', () => {
  test('say their types where JSON does not, because no metadata declares them', async () => {
    const grouped = (
      await get(
        '/my_table?$apply=groupby((day),aggregate($count as n,Body_Mass__g_ with sum as mass))&$orderby=n desc',
      )
    ).json()
    expect(grouped['@odata.context']).toBe(`http://localhost:80${root}/$metadata#my_table(day,n,mass)`)
    expect(grouped.value).toHaveLength(3)
    expect(grouped.value[0]).toEqual({
      'day@odata.type': '#Date',
      day: '2020-01-01',
      'n@odata.type': '#Int64',
      n: 1,
      mass: 1.5,
    })
    const computed = (await get('/my_table?$compute=Row mul 2 as twice&$select=Row,twice&$top=1')).json()
    expect(computed.value).toEqual([{ Row: 1, 'twice@odata.type': '#Int64', twice: 2 }])
    const none = await get(
      '/my_table?$apply=aggregate($count as n)&$format=application/json;odata.metadata=none',
    )
    expect(none.json()).toEqual({ value: [{ n: 3 }] })
  })

  test('are in one row, too', async () => {
    const entity = (await get('/my_table(2)?$compute=Row mul @n as x&$select=Row,x&@n=5')).json()
    expect(entity).toMatchObject({ Row: 2, x: 10 })
    expect((await get('/my_table(3)?$compute=Row mul 2 as x')).json()).toMatchObject({
      Body_Mass__g_: 3,
      x: 6,
    })
  })

  test.each([
    'groupby((day),aggregate(Body_Mass__g_ with sum as Body_Mass__g_))',
    'aggregate($count as Row)',
    'groupby((Row_1))/compute(1 as day)',
    'concat(aggregate($count as day),aggregate($count as day))',
  ])('have no name of a property: %s', async (apply) => {
    const response = await get(`/my_table?$apply=${apply}`)
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toMatchObject({ code: 'badRequest', target: '$apply' })
    expect(response.json().error.message).toContain('is the name of a property.')
  })

  test('are counted by what they calculate, without a window', async () => {
    const counted = await get('/my_table/$count?$compute=Row mul 2 as x&$filter=x gt 2&$top=1&$orderby=x')
    expect([counted.statusCode, counted.body]).toEqual([200, '2'])
  })

  test('are counted, searched and paged like rows', async () => {
    expect((await get('/my_table/$count?$apply=groupby((day))')).body).toBe('3')
    expect(await value('/my_table?$search=b&$select=Row')).toEqual([{ Row: 2 }])
    const url = '/my_table?$apply=groupby((Row))&$orderby=Row'
    const first = (await get(url, { prefer: 'maxpagesize=2' })).json()
    const second = await at.call(key, 'GET', first['@odata.nextLink'].replace('http://localhost:80', ''))
    expect(second.json().value.map((row: { Row: number }) => row.Row)).toEqual([3])
  })

  test('are refused in words where they are wrong', async () => {
    for (const query of [
      '$apply=groupby((nothing))',
      '$compute=Row add',
      '$apply=nonsense(x)',
      '$search="',
    ]) {
      const response = await get(`/my_table?${query}`)
      expect(response.statusCode, response.body).toBe(400)
      expect(response.json().error.message).not.toBe('')
    }
  })
})

describe('pages', () => {
  const page = { prefer: 'odata.maxpagesize=2' }
  const path = (link: string) => link.replace('http://localhost:80', '')

  test('lead from one to the next with the same question', async () => {
    const first = await get('/my_table?$select=Row&$filter=Row ge 1', page)
    expect(first.headers['preference-applied']).toBe('odata.maxpagesize=2')
    const link = first.json()['@odata.nextLink']
    const second = await at.call(key, 'GET', path(link), { headers: page })
    expect(second.json()).toEqual({
      '@odata.context': `http://localhost:80${root}/$metadata#my_table(Row)`,
      value: [{ Row: 3 }],
    })
  })

  test('keep the size that was preferred for the first one', async () => {
    const first = await get('/my_table?$select=Row', { prefer: 'maxpagesize=1' })
    const second = await at.call(key, 'GET', path(first.json()['@odata.nextLink']))
    expect(second.json().value).toEqual([{ Row: 2 }])
    const third = await at.call(key, 'GET', path(second.json()['@odata.nextLink']))
    expect(third.json().value).toEqual([{ Row: 3 }])
    expect(third.json()['@odata.nextLink']).toBeUndefined()
  })

  test('end where $top ends, and are reached with the key of the address', async () => {
    const url = encoded(`${root}/my_table?$top=3&$skip=0&$select=Row&apikey=${key}`)
    const first = await at.app.inject({ url, headers: { prefer: 'maxpagesize=2' } })
    expect(first.headers['preference-applied']).toBe('maxpagesize=2')
    const link: string = first.json()['@odata.nextLink']
    expect(link).toContain(`apikey=${key}`)
    const second = await at.app.inject({ url: encoded(path(link)), headers: page })
    expect(second.json().value).toEqual([{ Row: 3 }])
    expect(second.json()['@odata.nextLink']).toBeUndefined()
    const full = await at.call(key, 'GET', `${root}/my_table?$top=2`, { headers: page })
    expect(full.json().value).toHaveLength(2)
    expect(full.json()['@odata.nextLink']).toBeUndefined()
  })

  test('end with a delta link for who prefers to track changes, which gives the rows that were appended', async () => {
    const made = await dataset(at, key, { name: 'followed', csv: 'n\n1\n2\n3\n' })
    const base = `/repositories/${made.repository}/odata/followed`
    const write = (method: 'PUT' | 'POST', body: string) =>
      at.call(key, method, `/datasets/${made.id}/data`, { body, headers: { 'content-type': 'text/csv' } })
    const follow = async (link: string) => (await at.call(key, 'GET', path(link))).json()
    const headers = { prefer: 'odata.track-changes,odata.maxpagesize=2' }
    const first = await at.call(key, 'GET', `${base}?$filter=n gt 2 or n eq 0`.replaceAll(' ', '%20'), {
      headers,
    })
    expect(first.headers['preference-applied']).toBe('odata.maxpagesize=2, odata.track-changes')
    expect(first.json()).not.toHaveProperty('@odata.nextLink')
    const link: string = first.json()['@odata.deltaLink']
    expect(await follow(link)).toMatchObject({ value: [], '@odata.deltaLink': link })
    await write('POST', 'n\n4\n1\n5\n')
    const all = await at.call(key, 'GET', base, { headers })
    const last = await follow((await follow(all.json()['@odata.nextLink']))['@odata.nextLink'])
    expect(last['@odata.deltaLink']).toBe(`http://localhost:80${base}?$deltatoken=2`)
    await write('POST', 'n\n6\n')
    const added = await follow(link)
    expect(added).toEqual({
      '@odata.context': `http://localhost:80/repositories/${made.repository}/odata/$metadata#followed/$delta`,
      value: [
        { Row: 4, n: 4 },
        { Row: 6, n: 5 },
        { Row: 7, n: 6 },
      ],
      '@odata.deltaLink': link.replace('token=1', 'token=3'),
    })
    expect((await follow(`${base}?$deltatoken=x`)).error.message).toContain('use @odata.deltaLink unchanged')
    expect((await follow(`${base}?$deltatoken=1&$top=1`)).error.message).toContain('does not go with')
    await write('PUT', 'n\n9\n')
    expect((await follow(added['@odata.deltaLink'])).error).toEqual({
      code: 'gone',
      message: 'Since version 3 rows were not only appended. Read the entity set again, without $deltatoken.',
      target: '$deltatoken',
    })
    const part = await at.call(key, 'GET', `${base}?$top=1`, { headers: { prefer: 'track-changes' } })
    expect(part.json()).not.toHaveProperty('@odata.deltaLink')
  })

  test('are reached by links that carry the API key of the address, which delta links do not', async () => {
    const made = await dataset(at, key, { name: 'byaddress', csv: 'n\n1\n2\n3\n' })
    const base = `/repositories/${made.repository}/odata/byaddress?apiKey=${key}`
    const prefer = { ...page, prefer: `${page.prefer},track-changes` }
    const first = (await at.call(undefined, 'GET', base, { headers: prefer })).json()
    const second = await at.call(undefined, 'GET', path(first['@odata.nextLink']))
    expect(second.json()).toMatchObject({ value: [{ n: 3 }] })
    expect(second.json()['@odata.deltaLink']).not.toContain(key)
    const plain = (await at.call(key, 'GET', base.split('?')[0]!, { headers: page })).json()[
      '@odata.nextLink'
    ]
    expect(plain).not.toContain(key)
    const added = await at.call(undefined, 'GET', `${path(plain)}&apiKey=${key}`)
    expect(added.json().value).toEqual([{ Row: 3, n: 3 }])
  })

  test('belong to one version while others write; a version that is gone is 410', async () => {
    const made = await dataset(at, key, { name: 'paged', csv: 'n\n1\n2\n3\n' })
    const base = `/repositories/${made.repository}/odata/paged`
    const first = await at.call(key, 'GET', base, { headers: page })
    await at.call(key, 'PUT', `/datasets/${made.id}/data`, {
      body: 'n\n9\n',
      headers: { 'content-type': 'text/csv' },
    })
    await at.engine.settled()
    const second = await at.call(key, 'GET', path(first.json()['@odata.nextLink']), { headers: page })
    expect(second.json().value).toEqual([{ Row: 3, n: 3 }])
    const gone = await at.call(key, 'GET', `${base}?$skiptoken=77-2`)
    expect(gone.statusCode).toBe(410)
    expect(gone.json().error.message).toMatch('no longer kept')
    expect((await at.call(key, 'GET', `${base}?$skiptoken=x`)).statusCode).toBe(400)
  })
})

test('rows of the feed count against the plan', async () => {
  const free = await at.account('free', 'free')
  await at.call(free, 'GET', `${root}/my_table`)
  expect((await at.call(free, 'GET', '/account')).json().usage.exportedRows).toBe(3)
})

test('a dataset is there as soon as it is made, under its name of now, and not when it was deleted', async () => {
  const names = async () => (await value('')).map((one: { name: string }) => one.name)
  const made = { name: 'now', repositoryId: Number(root.split('/')[2]) }
  const { id: fresh } = (await at.call(key, 'POST', '/datasets', { json: made })).json()
  expect(await names()).toEqual(['my_table', 'now'])
  await at.call(key, 'PUT', `/datasets/${fresh}`, { json: { name: 'later' } })
  expect(await names()).toEqual(['my_table', 'later'])
  expect((await get('/now')).statusCode).toBe(404)
  await at.call(key, 'DELETE', `/datasets/${fresh}`)
  expect(await names()).toEqual(['my_table'])
})

test('behind a proxy that is trusted, addresses are those that the client knows', async () => {
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'data.example' }
  const stranger = await get('/', forwarded)
  expect(stranger.json()['@odata.context']).toBe(`http://localhost:80${root}/$metadata`)
  await using behind = await platform({ config: { trustedProxies: ['127.0.0.1'] as never } })
  const response = await behind.call(behind.root, 'GET', '/odata/', { headers: forwarded })
  expect(response.json()['@odata.context']).toBe('https://data.example/odata/$metadata')
  await dataset(behind, behind.root, { name: 'd' })
  const batch = async (headers: Record<string, string>, own: Record<string, string>) => {
    const requests = [{ id: '1', method: 'GET', url: 'd_d?$top=1', headers: own }]
    const answer = await behind.call(behind.root, 'POST', '/odata/$batch', { headers, json: { requests } })
    return answer.json().responses[0].body['@odata.context']
  }
  expect(await batch(forwarded, {})).toBe('https://data.example/odata/$metadata#d_d')
  expect(await batch({}, forwarded)).toBe('http://localhost:80/odata/$metadata#d_d')
})
