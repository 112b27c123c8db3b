import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

const CSV = { 'content-type': 'text/csv' }

let tables = 0
async function table(body: string): Promise<string> {
  const name = `r${++tables}`
  const { id: repositoryId } = (await at.call(ada, 'POST', '/repositories', { json: { name } })).json()
  const { id } = (await at.call(ada, 'POST', '/datasets', { json: { name: 'd', repositoryId } })).json()
  const data = `/datasets/${id}/data`
  const put = await at.call(ada, 'PUT', `${data}?dialect=auto&columns=replace`, { body, headers: CSV })
  expect(put.statusCode).toBe(200)
  return data
}

it('the option for a new word for nothing keeps those that the dataset has', async () => {
  const data = await table('k,v\nNA,1\n2,NA\n')
  const body = 'k,v\nNA,1\n-,NA\n'
  const refused = (await at.call(ada, 'POST', data, { body, headers: CSV })).json()
  expect(refused.hints[0]).toBe('nulls=NA,-')
  const followed = await at.call(ada, 'POST', `${data}?${refused.hints[0]}`, { body, headers: CSV })
  expect(followed.statusCode).toBe(200)
  expect((await at.call(ada, 'GET', data)).body).toBe('k,v\n,1\n2,\n,1\n,\n')
})

it('the option for a column of words for nothing keeps those of other columns', async () => {
  const preview = async (query: string) =>
    (
      await at.call(ada, 'POST', `/preview?dialect=auto${query}`, {
        body: 'a,b\n1,NA\nn/a,NA\n',
        headers: CSV,
      })
    ).json()
  const { because } = (await preview('')).columns[1]
  expect(because.try).toBe('nulls=n%2Fa,NA')
  const followed = await preview(`&${because.try}`)
  expect(followed.rows).toEqual([
    { a: 1, b: null },
    { a: null, b: null },
  ])
})

it('the options for a column that is stored as text read it when the file is sent again', async () => {
  const { id: repositoryId } = (
    await at.call(ada, 'POST', '/repositories', { json: { name: 'again' } })
  ).json()
  const { id } = (await at.call(ada, 'POST', '/datasets', { json: { name: 'd', repositoryId } })).json()
  const body = 'a;b\n1;1.234,50\n2;7,25\n'
  const put = async (query: string) =>
    (await at.call(ada, 'PUT', `/datasets/${id}/data?delimiter=;&${query}`, { body, headers: CSV })).json()
  const { because } = (await put('')).columns[1]
  expect(because.try).toBe('decimal=,&thousands=.&columns=replace')
  expect((await put(because.try)).columns[1]).toMatchObject({ name: 'b', type: 'double' })
})

it('a file without a header is refused with the option that appends it', async () => {
  const data = await table('k,v\n1,a\n')
  for (const [query, body] of [
    ['', '2,b\n'],
    ['delimiter=;', '2;b\n'],
  ]) {
    const refused = await at.call(ada, 'POST', `${data}?${query}`, { body, headers: CSV })
    expect([refused.statusCode, refused.json().hints?.at(2)]).toEqual([409, 'header=absent'])
    const followed = await at.call(ada, 'POST', `${data}?${query}&header=absent`, { body, headers: CSV })
    expect(followed.statusCode).toBe(200)
    await at.call(ada, 'PUT', `${data}?dialect=standard`, { body: 'k,v\n1,a\n', headers: CSV })
  }
  const other = await at.call(ada, 'POST', data, { body: 'x,y\n2,b\n', headers: CSV })
  expect(other.json().error).not.toContain('header=absent')
})

it('no form of dates is suggested for a moment that is written as one', async () => {
  const body = 'a,b,c\n2024-01-31T10:00:00Z,2024-01-31T24:00:00,31/1/2024 10:00\n2024-01-31T10:00:00,x,y\n'
  const { columns } = (await at.call(ada, 'POST', '/preview', { body, headers: CSV })).json()
  expect(columns.map(({ because }: { because: { try?: string } }) => because.try)).toEqual([
    undefined,
    undefined,
    'dates=D/M/YYYY',
  ])
})

it('what is wrong has options as they are written, also in problem', async () => {
  const data = await table('k\n1\n')
  const refused = await at.call(ada, 'POST', `${data}?dialect=auto`, { body: 'k\n3.500\n', headers: CSV })
  expect(refused.json().problem).toBe(
    '"3.500" may mean several things. Add decimal=,&thousands=. or decimal=. to say which.',
  )
})

it('NaN in JSON is refused with what to send', async () => {
  const body = '[{"a": NaN}]'
  const headers = { 'content-type': 'application/json' }
  const { errors } = (await at.call(ada, 'POST', '/preview', { body, headers })).json()
  expect(errors[0].error).toContain('send null, or the texts "NaN", "INF" and "-INF".')
})

it('a replacement with If-None-Match: * leaves what is there', async () => {
  const data = await table('k\n1\n')
  const headers = { ...CSV, 'if-none-match': '*' }
  const refused = await at.call(ada, 'PUT', data, { body: 'k\n2\n', headers })
  expect([refused.statusCode, refused.json().code]).toEqual([412, 'changed_meanwhile'])
  expect((await at.call(ada, 'GET', data)).body).toBe('k\n1\n')
})

it.each([
  ['application/json', 'PAR1\x15\x04 and so on', 'send it as parquet'],
  ['application/json', '{"a":1}\n{"a":2}\n', 'send it as ndjson'],
])('a file that is called %s is refused as what it is', async (type, body, expected) => {
  const data = await table('a\n1\n')
  const refused = await at.call(ada, 'PUT', data, { body, headers: { 'content-type': type } })
  expect([refused.statusCode, refused.json().error]).toEqual([400, expect.stringContaining(expected)])
})

it('a change that has a name twice is refused, and one whose texts look like that is not', async () => {
  const data = await table('k,v\n1,a\n')
  const patch = (body: string) =>
    at.call(ada, 'PATCH', `${data}?$filter=true`, { body, headers: { 'content-type': 'application/json' } })
  const refused = await patch('{"v": "b", "v" : "c"}')
  expect([refused.statusCode, refused.json().error]).toEqual([400, 'The body has "v" twice in one object.'])
  expect((await patch('{"v": "{\\"v\\":1,\\"v\\":2}", "k": 2}')).statusCode).toBe(200)
  expect((await at.call(ada, 'GET', `${data}?$format=json`)).json()).toEqual([{ k: 2, v: '{"v":1,"v":2}' }])
})

it('a change of a double to a whole number that is none is refused', async () => {
  const data = await table('v\n1.5\n')
  const refused = await at.call(ada, 'PATCH', `${data}?$filter=true`, { json: { v: '9007199254740993' } })
  expect(refused.json().error).toContain('is not a double: the nearest one is 9007199254740992')
  expect((await at.call(ada, 'PATCH', `${data}?$filter=true`, { json: { v: 0.1 } })).statusCode).toBe(200)
})

it('a change without a field is refused', async () => {
  const data = await table('k\n1\n')
  const refused = await at.call(ada, 'PATCH', `${data}?$filter=true`, { json: {} })
  expect(refused.json().error).toBe('The body must have at least one field.')
})
