import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let key: string
let data: string
let odata: string

beforeAll(async () => {
  at = await platform()
  key = await at.account('ada')
  const csv = 'Body Mass (g),Beak Length (mm),Species\n6300,49.2,Gentoo\n'
  const { id, repository } = await dataset(at, key, { name: 'penguins', csv })
  data = `/datasets/${id}/data`
  odata = `/repositories/${repository}/odata/penguins`
})
afterAll(() => at[Symbol.asyncDispose]())

async function refusal(method: string, path: string, query: Record<string, string> = {}, json?: unknown) {
  const url = `${path}?${new URLSearchParams(query)}`
  const answer = await at.call(key, method, url, json === undefined ? {} : { json })
  expect(answer.statusCode).toBeGreaterThanOrEqual(400)
  const { error } = answer.json()
  return { status: answer.statusCode, message: error.message ?? error }
}

test.each([
  [{ $limit: '5' }, 'Did you mean $top?'],
  [{ limit: '5' }, 'Did you mean $top?'],
  [{ OFFSET: '5' }, 'Did you mean $skip?'],
  [{ order_by: 'a' }, 'Did you mean $orderby?'],
  [{ where: 'a' }, 'Did you mean $filter?'],
  [{ fields: 'a' }, 'Did you mean $select?'],
  [{ $format: 'excel' }, 'Did you mean xlsx?'],
  [{ $format: 'jsonl' }, 'Did you mean ndjson?'],
  [{ $format: 'parqet' }, 'Did you mean parquet?'],
  [{ $apply: 'aggregate("Body Mass (g)" with mean as M)' }, 'Did you mean average?'],
  [{ $filter: 'SELECT * FROM penguins' }, 'a statement of SQL'],
  [{ $filter: 'select Species from penguins' }, 'a statement of SQL'],
  [{ $filter: 'Body Mass (g) gt 6000' }, 'stands in double quotes: "Body Mass (g)"'],
  [{ $filter: 'Beak Length (mm) gt 40' }, 'stands in double quotes: "Beak Length (mm)"'],
])('%j', async (query, hint) => {
  expect(await refusal('GET', data, query)).toMatchObject({
    status: 400,
    message: expect.stringContaining(hint),
  })
})

test('a column named select is no SQL', async () => {
  const { id } = await dataset(at, key, { csv: 'select\n1\n' })
  expect((await at.call(key, 'GET', `/datasets/${id}/data?$filter=select%20eq%201`)).body).toBe('select\n1\n')
})

test('hints of one route are no hints of another', async () => {
  expect((await refusal('GET', '/datasets', { where: 'a' })).message).not.toContain('Did you mean')
})

test('OData says how a column is called there', async () => {
  for (const query of [
    { $filter: 'Body Mass (g) gt 6000' },
    { $filter: '"Body Mass (g)" gt 6000' },
    { $select: 'Body Mass (g)' },
  ] as Record<string, string>[]) {
    expect((await refusal('GET', odata, query)).message).toContain(
      '"Body Mass (g)" is called Body_Mass__g_ here.',
    )
  }
})

test('a path whose beginning is misspelt is named, with what is behind it', async () => {
  expect((await refusal('GET', '/dataset/3')).message).toContain('Did you mean /datasets/3?')
  expect((await refusal('GET', '/repository/3/members')).message).toBe('There is nothing at this path.')
  expect((await refusal('GET', '/nothing/at/all')).message).toBe('There is nothing at this path.')
})

test('a method that is not there is 405, whatever the query and the body are', async () => {
  expect(await refusal('PATCH', '/providers', { foo: '1' })).toMatchObject({ status: 405 })
  expect(await refusal('DELETE', '/datasets', { $top: 'x' })).toMatchObject({ status: 405 })
  expect(await refusal('GET', '/nothing', { foo: '1' })).toMatchObject({ status: 404 })
})

test('providers: a slug that is none, a key that is missing, and one that is not taken', async () => {
  expect((await refusal('GET', '/providers/fed')).message).toContain('fred')
  const missing = await refusal('GET', '/providers/fred/series/GDP')
  expect(missing.message).toContain('https://fred.stlouisfed.org/docs/api/api_key.html')
  expect(await refusal('PUT', '/user-keys/ecb', {}, { key: 'a-key' })).toMatchObject({
    status: 400,
    message: expect.stringContaining('takes no key'),
  })
  expect((await at.call(key, 'GET', '/user-keys')).json()).toEqual([])
})
