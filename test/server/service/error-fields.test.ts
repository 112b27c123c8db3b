import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { zipOf } from '../../ingest/support/zips.ts'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ann: string
let id: number

beforeAll(async () => {
  at = await platform()
  ann = await at.account('ann')
  ;({ id } = await dataset(at, ann, { name: 'prices', csv: 'n,Unit price\n1,2.5\n2,3.5\n' }))
})
afterAll(() => at[Symbol.asyncDispose]())

/** What an error says as data: its answer without the sentences. */
async function fields(method: string, url: string, more: object = {}) {
  const answer = await at.call(ann, method as 'GET', url, more)
  const { error, errors: _, ...known } = answer.json()
  expect([answer.statusCode, typeof error]).toEqual([answer.statusCode === 409 ? 409 : 400, 'string'])
  return known
}

const data = (query: string) => fields('GET', `/datasets/${id}/data?${query}`)
const csv = { 'content-type': 'text/csv' }

describe('an error of a query says as data', () => {
  test('where the fault is in the text that was sent, counted from 0, and which option it is in', async () => {
    const filter = 'n eq 1 and  eqq 5'
    expect(await data(`$filter=${encodeURIComponent(filter)}`)).toMatchObject({
      code: 'invalid_filter',
      option: '$filter',
      position: filter.indexOf('5'),
      problem: expect.not.stringContaining('position'),
    })
    const apply = 'filter(n gt 1)/aggregate(n with summ as s)'
    expect(await data(`$apply=${encodeURIComponent(apply)}`)).toMatchObject({
      option: '$apply',
      position: apply.indexOf('summ'),
    })
    expect(await data(`$filter=${encodeURIComponent("n eq 'a'")}`)).toMatchObject({
      code: 'filter_type_error',
      option: '$filter',
      position: expect.any(Number),
    })
  })

  test('which columns do not exist, and the position of the first', async () => {
    expect(await data(`$filter=${encodeURIComponent('n gt 1 and foo eq Bar')}`)).toMatchObject({
      code: 'invalid_columns',
      columns: ['foo', 'Bar'],
      option: '$filter',
      position: 11,
    })
    expect(await data('$select=n,nope')).toMatchObject({ columns: ['nope'], option: '$select' })
    expect(await data('$orderby=nope')).toMatchObject({ columns: ['nope'], option: '$orderby' })
  })

  test.each([
    ['$top=-1', '$top'],
    ['$count=maybe', '$count'],
    ['$topp=1', '$topp'],
    ['$top=1&$last=1', '$top'],
    ['$format=csv&$delimiter=ab', '$delimiter'],
    ['$top=1&top=2', '$top'],
  ])('which option is wrong: %s', async (query, option) => {
    expect(await data(query)).toMatchObject({ option })
  })

  test('where SQL is wrong', async () => {
    const sql = 'SELECT nope FROM prices'
    const answer = await fields('POST', '/sql', { body: sql, headers: { 'content-type': 'text/plain' } })
    expect(answer).toMatchObject({ code: 'invalid_sql', position: sql.indexOf('nope') })
  })
})

describe('an error of an upload says as data', () => {
  test('row, column and value, and what is wrong with it', async () => {
    const body = 'n,Unit price\n1,2\nx,3\n'
    expect(await fields('PUT', `/datasets/${id}/data`, { body, headers: csv })).toMatchObject({
      code: 'invalid_upload',
      row: 2,
      column: 'n',
      value: 'x',
    })
  })

  test('which options its message names, so that others can word them', async () => {
    const body = 'a;b\n1;2\n'
    const answer = await at.call(ann, 'PUT', `/datasets/${id}/data?columns=replace`, { body, headers: csv })
    const { error, hints } = answer.json()
    expect(hints).toContain('delimiter=;')
    for (const one of hints) expect(error).toContain(one)
    expect(error).not.toContain('\u0001')
  })

  test('the files in an archive, of which an option chooses one', async () => {
    const body = await zipOf({ 'a.csv': 'n\n1\n', 'b.csv': 'n\n2\n' })
    const headers = { 'content-type': 'application/octet-stream' }
    const { id } = await dataset(at, ann, { name: 'zipped', csv: 'n\n0\n' })
    const put = (query: string) => fields('PUT', `/datasets/${id}/data${query}`, { body, headers })
    const expected = { option: 'entry', entries: ['a.csv', 'b.csv'] }
    expect(await put('')).toMatchObject({ code: 'invalid_upload', ...expected, hints: ['entry=', 'entry=*'] })
    const url = `/datasets/${id}/data?entry=b.csv`
    expect((await at.call(ann, 'PUT', url, { body, headers })).json()).toMatchObject({
      entry: 'b.csv',
      uploadOptions: { entry: 'b.csv' },
    })
    const preview = await at.call(ann, 'POST', '/preview', { body, headers })
    expect(preview.json()).toMatchObject({ entries: ['a.csv', 'b.csv'], columns: [] })
  })

  test('the rows with one key, and its columns', async () => {
    const { id: keyed } = await dataset(at, ann, { name: 'keyed', csv: 'k,v\n1,a\n' })
    await at.call(ann, 'PATCH', `/datasets/${keyed}`, { json: { key: ['k'] } })
    const answer = await at.call(ann, 'POST', `/datasets/${keyed}/data`, { body: 'k,v\n1,b\n', headers: csv })
    expect(answer.json()).toMatchObject({
      code: 'duplicate_key',
      row: 1,
      columns: ['k'],
      hints: ['mode=upsert'],
    })
    expect(JSON.stringify(answer.json().errors)).not.toContain('\\u0001')
  })
})

test('an API key in the text of an error is removed from its fields, too', async () => {
  const key = `pq_${'a'.repeat(38)}`
  const answer = await at.call(ann, 'GET', `/datasets/${id}/data?$select=${key}`)
  expect(answer.statusCode).toBe(400)
  expect(answer.body).not.toContain(key)
})

test('$explain says which columns the result has, without reading rows', async () => {
  const apply = encodeURIComponent('groupby((n),aggregate("Unit price" with sum as Total))')
  const answer = await at.call(ann, 'GET', `/datasets/${id}/data?$explain=true&$top=0&$apply=${apply}`)
  expect(answer.json().columns).toEqual([
    { name: 'n', type: 'integer' },
    { name: 'Total', type: 'double' },
  ])
})
