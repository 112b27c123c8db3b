import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
let ann: string
let id: number

beforeAll(async () => {
  at = await platform()
  ann = await at.account('ann')
  const csv = 'n,word,"a ""b"" c",day\n1,x,1.5,2020-01-01\n2,y,,2020-01-02\n3,x,2.5,\n4,,4.5,2021-05-05\n'
  ;({ id } = await dataset(at, ann, { name: 'odd "name"', csv }))
})
afterAll(() => at[Symbol.asyncDispose]())

test('columns may have the names that SQL of ours might use', async () => {
  const names = ['b', 'n', 'w', 'o', 'p0', 'b0', 'n0']
  const odd = await dataset(at, ann, { name: 'names', csv: `${names}\n1,2,3,4,5,6,7\n2,1,3,4,5,6,7\n` })
  for (const apply of [
    'concat(top(1),top(1))/concat(identity,identity,skip(1))',
    'groupby((b),topsum(1,n))/groupby((n0,b0),aggregate(p0 with sum as o))',
  ]) {
    const rows = await at.call(ann, 'GET', `/datasets/${odd.id}/data?$apply=${apply}`)
    expect(rows.statusCode, rows.body).toBe(200)
    const { sql } = (
      await at.call(ann, 'GET', `/datasets/${odd.id}/data?$apply=${apply}&$explain=sql`)
    ).json()
    expect((await at.call(ann, 'POST', '/sql', { json: { sql } })).body, sql).toBe(rows.body)
  }
})

const get = (query: string) => at.call(ann, 'GET', `/datasets/${id}/data?${query}`)

test.each([
  '',
  "$filter=word eq 'x' and n ge 2",
  '$filter=word ne null&$orderby=n desc&$select=n,word&$top=1',
  '$search=x&$skip=1',
  '$compute=n mul 2 as twice&$filter=twice gt 4',
  '$apply=filter(n gt 1)/groupby((word),aggregate(n with sum as total,$count as rows))',
  '$filter=year(day) eq 2020&$version=1',
  '$apply=topsum(5,n)/orderby(word)',
])('/sql answers the same as /data?%s', async (query) => {
  const asked = await get(`${query}&$explain=sql`)
  const { sql } = asked.json()
  expect(sql).toContain('."odd ""name"""')
  const answer = await at.call(ann, 'POST', '/sql', { json: { sql } })
  expect(answer.body, sql).toBe((await get(query)).body)
})

test('a query that SQL can not say is refused, and so are other values of $explain', async () => {
  expect((await get('$explain=sql&$last=2')).json()).toEqual({
    code: 'invalid_option',
    error: 'last can not be said in SQL: order the rows the other way round.',
  })
  expect((await get('$explain=yes')).json().error).toBe(
    '$explain must be one of true, false, sql; it is "yes".',
  )
})
