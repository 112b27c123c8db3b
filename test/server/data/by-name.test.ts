import { afterAll, beforeAll, expect, test } from 'vitest'
import { FORMATS } from '../../../engine/index.ts'
import { dataset, NUMBERS, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let id: number
beforeAll(async () => {
  at = await platform({ config: { anonymous: { requestsPerMinute: 100 } } })
  ada = await at.account('ada', 'pro')
  id = (await dataset(at, ada, { name: 'my tables/2024', csv: 'a\n1\n2\n' })).id
  await dataset(at, ada, { name: 'secret', private: true })
})
afterAll(() => at[Symbol.asyncDispose]())

const NAME = '/d/my%20tables%2F2024/my%20tables%2F2024'

test('a dataset is read, written and described by its name', async () => {
  expect((await at.call(ada, 'GET', NAME)).json()).toMatchObject({ id })
  const rows = await at.call(ada, 'GET', `${NAME}/data?$filter=a%20gt%201`)
  expect(rows.body).toBe('a\n2\n')
  expect(rows.headers['row-count']).toBe('1')
  expect((await at.call(ada, 'HEAD', `${NAME}/data`)).statusCode).toBe(200)
  expect((await at.call(ada, 'GET', `${NAME}/schema.json`)).statusCode).toBe(200)
  const csv = { body: 'a\n3\n', headers: { 'content-type': 'text/csv' } }
  expect((await at.call(ada, 'POST', `${NAME}/data`, csv)).json()).toMatchObject({ id, rowCount: 3 })
  const query = { json: { $top: 1 } }
  expect((await at.call(ada, 'POST', `${NAME}/data/$query`, query)).body).toBe('a\n1\n')
  expect((await at.call(ada, 'GET', `${NAME}/nothing`)).statusCode).toBe(404)
  expect((await at.call(ada, 'POST', NAME)).statusCode).toBe(405)
})

test.each(FORMATS)('a name that ends in .%s is the rows in that format', async (format) => {
  for (const path of [`${NAME}.${format}`, `/d/ada${NAME.slice(2)}.${format}`]) {
    const file = await at.call(ada, 'GET', path)
    const same = await at.call(ada, 'GET', `/datasets/${id}/data?$format=${format}`)
    expect(file.statusCode).toBe(200)
    expect(file.headers['content-type']).toBe(same.headers['content-type'])
    expect(file.headers.etag).toBe(same.headers.etag)
    const disposition = (answer: typeof file) => answer.headers['content-disposition']
    expect(disposition(file)).toBe(disposition(same))
  }
})

test('a name that ends like a file takes options, and gives way to a dataset of that name', async () => {
  expect((await at.call(ada, 'GET', `${NAME}.csv?$filter=a%20gt%201&$top=1`)).body).toBe('a\n2\n')
  expect((await at.call(ada, 'GET', `${NAME}.csv?$format=json`)).json()).toMatchObject({ option: '$format' })
  expect((await at.call(ada, 'GET', `${NAME}.pdf`)).statusCode).toBe(404)
  const mine = await dataset(at, ada, { name: 'prices.csv', csv: 'p\n9\n' })
  expect((await at.call(ada, 'GET', '/d/prices.csv/prices.csv')).json()).toMatchObject({ id: mine.id })
  expect((await at.call(ada, 'GET', '/d/prices.csv/prices.csv.csv')).body).toBe('p\n9\n')
})

test('rights are those of the address with the id', async () => {
  const eve = await at.account('eve')
  const make = (json: object) => at.call(ada, 'POST', '/account/keys', { json })
  const readOnly = (await make({ name: 'reader', readOnly: true })).json().apiKey
  const csv = { body: NUMBERS, headers: { 'content-type': 'text/csv' } }
  expect((await at.call(readOnly, 'PUT', `${NAME}/data`, csv)).statusCode).toBe(403)
  expect((await at.call(readOnly, 'POST', `${NAME}/data/$query`, { json: { $top: 1 } })).statusCode).toBe(200)
  expect((await at.call(eve, 'PUT', `${NAME}/data`, csv)).statusCode).toBe(403)
  expect((await at.call(undefined, 'GET', `${NAME}/data`)).statusCode).toBe(200)
  expect((await at.call(undefined, 'PUT', `${NAME}/data`, csv)).statusCode).toBe(401)
})

test('a name that the key may not read does not exist', async () => {
  const eve = await at.account('mallory')
  const refusal = async (path: string) => {
    const { statusCode, body } = await at.call(eve, 'GET', path)
    return { statusCode, body: body.replaceAll('secret', 'nothing') }
  }
  const hidden = await refusal('/d/secret/secret/data')
  expect(hidden).toMatchObject({ statusCode: 404, body: expect.stringContaining('GET /datasets lists') })
  expect(await refusal('/d/nothing/nothing/data')).toEqual(hidden)
  const { body } = await refusal(NAME.replace(/2024$/, '2025'))
  expect(JSON.parse(body).error).toContain('did you mean "ada/my tables/2024/my tables/2024"?')
  expect((await at.call(undefined, 'GET', '/d/secret/secret')).statusCode).toBe(401)
  expect((await at.call(eve, 'GET', '/d/only')).statusCode).toBe(404)
})

test('a request is logged and counted once, whether or not there is such a name', async () => {
  await using few = await platform({ config: { anonymous: { requestsPerMinute: 3 } } })
  await dataset(few, few.root, { name: 'open', csv: 'a\n1\n' })
  const paths = ['/d/open/open/data', '/d/open/open/data?$top=x', '/d/open/none/data', '/d/open/open/data']
  few.log.length = 0
  const statuses = []
  for (const path of paths) statuses.push((await few.call(undefined, 'GET', path)).statusCode)
  expect(statuses).toEqual([200, 400, 401, 429])
  const routes = few.log.filter(({ msg }) => msg === 'request').map(({ route }) => route)
  expect(routes).toEqual(['/datasets/:id/data', '/datasets/:id/data', '/d/*', '/d/*'])
})

test('a name of several datasets is refused with their ids', async () => {
  const one = await dataset(at, ada, { name: 'twice' })
  const other = await dataset(at, ada, { name: 'twice' })
  expect((await at.call(ada, 'GET', '/d/twice/twice')).json().error).toContain(
    `write /datasets/${one.id} or /datasets/${other.id}.`,
  )
})

test('the message about an unknown id says where ids are listed', async () => {
  expect((await at.call(ada, 'GET', '/datasets/99999')).json().error).toContain('GET /datasets lists')
  expect((await at.call(ada, 'GET', '/datasets/penguins')).json().error).toContain('GET /datasets lists')
  expect((await at.call(ada, 'GET', '/repositories/99999')).json().error).toContain('GET /repositories lists')
})

test('search finds datasets by all that is said about them, and tells of an empty index', async () => {
  const patch = {
    title: 'Heights',
    keywords: ['anatomy'],
    columns: [{ name: 'a', title: 'Stature', unit: 'cm' }],
  }
  expect((await at.call(ada, 'PATCH', `/datasets/${id}`, { json: patch })).statusCode).toBe(200)
  const found = async (q: string, key = ada) => (await at.call(key, 'GET', `/search?q=${q}`)).json()
  for (const q of ['heights', 'anatomy', 'stature', 'tables+stature']) {
    expect(
      (await found(q)).datasets.map((one: { id: number }) => one.id),
      q,
    ).toEqual([id])
  }
  expect((await found('secret')).datasets).toHaveLength(1)
  expect((await found('secret', await at.account('nosy'))).datasets).toEqual([])
  expect((await found('unemployment')).hint).toContain('parquetry providers index')
  // Its catalogue is part of the program, so that nobody has to be asked.
  const connectors = await at.services.connectors()
  const missing = connectors.unindexed().length
  await connectors.index('us-treasury')
  expect((await found('unemployment')).hint).toContain(
    `The catalogues of ${missing - 1} providers are not here`,
  )
})
