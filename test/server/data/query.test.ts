import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

const SALES = `ID,Customer,Product,Amount
1,Joe,Paper,1
2,Joe,Sugar,2
3,Joe,Coffee,4
4,Sue,Coffee,8
5,Sue,Paper,4
6,Zoé,Sugar,2
7,Zoé,Paper,1
8,Zoé,Paper,2
`

let at: Platform
let ada: string
let path: string
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  const { repository } = await dataset(at, ada)
  const made = await at.call(ada, 'POST', '/datasets', { json: { name: 'sales', repositoryId: repository } })
  path = `/datasets/${made.json().id}/data`
  await at.call(ada, 'PUT', path, { body: SALES, headers: { 'content-type': 'text/csv' } })
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (options: Record<string, string>, headers: Record<string, string> = {}) =>
  at.call(ada, 'GET', `${path}?${new URLSearchParams(options)}`, { headers })
const ask = (body: string, type: string) =>
  at.call(ada, 'POST', `${path}/$query`, { body, headers: { 'content-type': type } })

describe('$apply, $compute and $search', () => {
  const TOTALS = { $apply: 'groupby((Product),aggregate(Amount with sum as Total))' }

  it('give what the pipeline makes of the table, groups in the order of first appearance', async () => {
    const response = await get(TOTALS)
    expect(response.body).toBe('Product,Total\nPaper,8\nSugar,4\nCoffee,12\n')
  })

  it.each(['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow'])('come out as %s', async ($format) => {
    const response = await get({ ...TOTALS, $format })
    expect(response.statusCode).toBe(200)
    expect(response.rawPayload.length).toBeGreaterThan(30)
  })

  it('are asked as a table is, with Row-Count before the window', async () => {
    const response = await get({ ...TOTALS, $filter: 'Total gt 5', $orderby: 'Total desc', $top: '1' })
    expect(response.body).toBe('Product,Total\nCoffee,12\n')
    expect(response.headers['row-count']).toBe('2')
    const last = await get({ ...TOTALS, $select: 'Total', $last: '2' })
    expect(last.body).toBe('Total\n4\n12\n')
  })

  it('have a tag of their own, and 304 for who has it', async () => {
    const { headers } = await get(TOTALS)
    expect((await get(TOTALS, { 'if-none-match': String(headers['etag']) })).statusCode).toBe(304)
    const other = await get({ $apply: 'groupby((Product),aggregate(Amount with max as Total))' })
    expect(other.headers['etag']).not.toBe(headers['etag'])
  })

  it('compute columns, sort by expressions and search without regard to case and accents', async () => {
    const response = await get({
      $compute: 'Amount mul 2 as double',
      $search: 'zoe AND NOT sugar',
      $select: 'ID,double',
      $orderby: 'double desc',
    })
    expect(response.body).toBe('ID,double\n8,4\n7,2\n')
  })

  it('are refused with the option and the place', async () => {
    const response = await get({ $apply: 'groupby((Product),aggregate(Amount with summ as Total))' })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'invalid_option',
      error: "$apply: At position 41: 'summ' is not an aggregation method. Did you mean sum?",
    })
  })

  it('count the rows that come out against the plan, also those that concat() makes', async () => {
    const twice = await get({ $apply: 'concat(identity,identity)', $count: 'true' })
    expect(twice.headers['row-count']).toBe('16')
  })
})

it('a sum that its type can’t hold is a clear 400', async () => {
  const response = await get({
    $apply: 'compute(Amount add 9223372036854775000 as Large)/aggregate(Large with sum as Total)',
  })
  expect(response.statusCode).toBe(400)
  expect(response.json()).toMatchObject({ code: 'filter_failed' })
})

describe('a calculation that fails on a row is named by its option', () => {
  const LARGE = 'Amount mul 9223372036854775807'
  it.each([
    [{ $filter: `${LARGE} gt ID` }, 'The filter fails on a row: '],
    [{ $orderby: LARGE }, '$orderby fails on a row: '],
    [{ $compute: `${LARGE} as Large` }, '$compute fails on a row: '],
    [{ $apply: `compute(${LARGE} as Large)` }, '$apply fails on a row: '],
    [{ $apply: `filter(${LARGE} gt ID)` }, '$apply fails on a row: '],
    // The database doesn't say which expression failed.
    [{ $filter: 'ID gt 1', $orderby: LARGE }, 'The filter or $orderby fails on a row: '],
    [
      { $filter: 'ID gt 1', $compute: `${LARGE} as Large`, $orderby: 'ID' },
      'The filter or $compute fails on a row: ',
    ],
    [
      { $filter: 'Amount div (ID sub ID) gt 1' },
      'The filter divides by zero: the right operand of the operator ',
    ],
    [{ $filter: 'ID gt 1', $orderby: 'Amount div (ID sub 2)' }, '$orderby divides by zero: '],
    [
      { $compute: 'substring(Product,0 sub ID) as Part' },
      '$compute fails: substring() at position 1 got a negative ',
    ],
    [{ $apply: 'compute(Amount mod (ID sub ID) as Rest)', $filter: 'Rest gt 1' }, '$apply divides by zero: '],
  ])('%j', async (options, said) => {
    const response = await get(options)
    expect(response.statusCode).toBe(400)
    expect(response.json().code).toBe('filter_failed')
    expect(response.json().error.slice(0, said.length)).toBe(said)
  })
})

it('$count=true gives Row-Count where nothing else would', async () => {
  expect((await get({ $filter: 'Amount gt 1' })).headers['row-count']).toBeUndefined()
  expect((await get({ $filter: 'Amount gt 1', $count: 'true' })).headers['row-count']).toBe('6')
})

it('$format takes media types', async () => {
  const response = await get({ $format: 'application/json', $top: '1' })
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect((await get({ $format: 'text/csv' })).body).toBe(SALES)
  expect((await get({ $format: 'text/html' })).statusCode).toBe(400)
})

describe('parameter aliases', () => {
  it('stand for literals and lists', async () => {
    expect((await get({ $filter: 'Amount gt @least', '@least': '4' })).body.split('\n')).toHaveLength(3)
    const listed = await get({ $filter: 'ID in @ids', $select: 'ID', '@ids': '[1,8]' })
    expect(listed.body).toBe('ID\n1\n8\n')
  })

  it('may be one parameter, a JSON object', async () => {
    const aliases = JSON.stringify({ '@ids': '[1,8]', '@least': '0' })
    const asked = { $filter: 'ID in @ids and Amount gt @least', $select: 'ID', aliases }
    expect((await get(asked)).body).toBe('ID\n1\n8\n')
    expect((await get({ ...asked, '@ids': '[1]' })).json().error).toContain('@ids is given twice')
    for (const aliases of ['x', '[]', '{"ids":"1"}', '{"@ids":1}', 'null']) {
      const response = await get({ $filter: 'ID eq @ids', aliases })
      expect(response.statusCode).toBe(400)
      expect(response.json().error).toMatch(/^aliases must be a JSON object/)
    }
  })

  it('that are not used are refused, since a misspelt one would be null', async () => {
    const response = await get({ $filter: 'ID eq @id', '@ids': '1' })
    expect(response.json()).toMatchObject({ code: 'invalid_option', error: 'The query does not use @ids.' })
  })
})

describe('POST …/data/$query', () => {
  it('takes a query string as text', async () => {
    const response = await ask('$filter=Customer eq %27Joe%27&$select=ID&$top=2', 'text/plain')
    expect(response.statusCode).toBe(200)
    expect(response.body).toBe('ID\n1\n2\n')
    expect(response.headers['row-count']).toBe('3')
  })

  it('takes options as JSON, with or without $, and lists behind aliases', async () => {
    const response = await at.call(ada, 'POST', `${path}/$query`, {
      json: { $filter: 'Customer in @names', select: 'ID', $format: 'json', '@names': ['Sue', 'Zoé'] },
    })
    expect(response.json()).toEqual([4, 5, 6, 7, 8].map((ID) => ({ ID })))
  })

  it('takes a list of 100,000', async () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index + 3)
    const response = await ask(`$select=ID&$filter=ID in (${list})`, 'text/plain')
    expect(response.statusCode).toBe(200)
    expect(response.body).toBe('ID\n3\n4\n5\n6\n7\n8\n')
  })

  it.each([
    ['text/plain', '$foo=1', 'Unknown query parameter'],
    ['text/plain', '$top=-1', '$top must be a non-negative integer'],
    ['text/plain', '$format=html', '$format must be one of'],
    ['application/json', '[]', 'The body is an object of options'],
    ['application/json', '{"$filter":["a"]}', '$filter must be a string'],
    ['application/json', '{"$top":{"a":1}}', '$top must be a string'],
  ])('refuses %s %s', async (type, body, message) => {
    const response = await ask(body, type)
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toContain(message)
  })

  it('takes no other type', async () => {
    const wrong = await ask('a,b', 'text/csv')
    expect(wrong.statusCode).toBe(415)
    expect(wrong.json().error).toBe('Send the query as text/plain or as application/json.')
  })
})
