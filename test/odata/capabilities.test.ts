import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Platform, platform } from '../server/platform.ts'

/** A value of each type, as csv has it and as it stands in the query part of a URL. */
const VALUES: Readonly<Record<string, readonly [csv: string, literal: string]>> = {
  boolean: ['true', 'true'],
  integer: ['7', '7'],
  double: ['1.5', '1.5'],
  'decimal(10,2)': ['2.25', '2.25'],
  string: ['abc', "'abc'"],
  date: ['2024-02-29', '2024-02-29'],
  time: ['12:30:00', '12:30:00'],
  timestamp: ['2024-02-29T12:30:00', '2024-02-29T12:30:00Z'],
  timestamptz: ['2024-02-29T12:30:00Z', '2024-02-29T12:30:00Z'],
  uuid: ['01234567-89ab-cdef-0123-456789abcdef', '01234567-89ab-cdef-0123-456789abcdef'],
  binary: ['q80=', "binary'q80='"],
  json: ['{}', "'{}'"],
}
const columns = Object.keys(VALUES).map((type, index) => ({ name: `column${index}`, type }))

const BINARY = columns.find(({ type }) => type === 'binary')!.name

const TRANSFORMATIONS: Readonly<Record<string, string>> = {
  aggregate: 'aggregate(column1 with sum as total)',
  bottomcount: 'bottomcount(1,column1)',
  bottompercent: 'bottompercent(50,column1)',
  bottomsum: 'bottomsum(1,column1)',
  compute: 'compute(column1 add 1 as more)',
  concat: 'concat(identity,identity)',
  filter: 'filter(column1 gt 0)',
  groupby: 'groupby((column4),aggregate($count as rows))',
  identity: 'identity',
  orderby: 'orderby(column1 desc)',
  search: 'search(abc)',
  skip: 'skip(1)',
  top: 'top(1)',
  topcount: 'topcount(1,column1)',
  toppercent: 'toppercent(50,column1)',
  topsum: 'topsum(1,column1)',
}

let at: Platform
let key: string
let root: string
/** Of the one entity set, by their terms without the name of the vocabulary. */
let claims: Record<string, unknown>
beforeAll(async () => {
  at = await platform()
  key = await at.account('ada')
  const { id: repositoryId } = (
    await at.call(key, 'POST', '/repositories', { json: { name: 'r', private: false } })
  ).json()
  const made = await at.call(key, 'POST', '/datasets', { json: { repositoryId, name: 'types', columns } })
  const { id } = made.json()
  const row = Object.values(VALUES).map(([csv]) => csv)
  const body = `${columns.map(({ name }) => name).join()}\n${row.join()}\n${row.map(() => '').join()}\n`
  const put = await at.call(key, 'PUT', `/datasets/${id}/data`, {
    body,
    headers: { 'content-type': 'text/csv' },
  })
  expect(put.statusCode, put.body).toBe(200)
  root = `/repositories/${repositoryId}/odata`
  const metadata = (await at.call(key, 'GET', `${root}/$metadata?$format=json`)).json()
  const container = metadata.Parquetry[metadata.$EntityContainer.split('.')[1]]
  claims = Object.fromEntries(
    Object.entries(container.types)
      .filter(([name]) => name.startsWith('@'))
      .map(([name, claim]) => [name.split('.').at(-1), claim]),
  )
})
afterAll(() => at[Symbol.asyncDispose]())

const ask = (path: string) => at.call(key, 'GET', encodeURI(`${root}/types${path}`).replaceAll('+', '%2B'))
const status = async (path: string) => (await ask(path)).statusCode

describe('what the metadata says of a set is so', () => {
  test('every column can be sorted, and filtered unless it is listed', async () => {
    expect(claims).toMatchObject({
      FilterRestrictions: { Filterable: true, NonFilterableProperties: [BINARY] },
      SortRestrictions: { Sortable: true },
    })
    for (const { name, type } of columns) {
      const [, literal] = VALUES[type]!
      const filtered = await ask(`?$filter=${name} eq ${literal}&$select=Row`)
      expect(filtered.statusCode, `${type}: ${filtered.body}`).toBe(name === BINARY ? 400 : 200)
      if (name !== BINARY) expect(filtered.json().value, type).toHaveLength(1)
      expect(await status(`?$filter=${name} ne null`), type).toBe(200)
      expect(await status(`?$orderby=${name} desc`), type).toBe(200)
    }
  })

  test('the same stands in XML', async () => {
    const { body } = await at.call(key, 'GET', `${root}/$metadata`)
    expect(body).toContain(
      `<PropertyValue Property="NonFilterableProperties"><Collection><PropertyPath>${BINARY}</PropertyPath></Collection></PropertyValue>`,
    )
  })

  test('it can be counted, windowed, searched, selected, computed with and addressed by key, not expanded', async () => {
    expect(claims).toMatchObject({
      CountRestrictions: { Countable: true },
      TopSupported: true,
      SkipSupported: true,
      SearchRestrictions: { Searchable: true },
      SelectSupport: { Supported: true },
      ComputeSupported: true,
      IndexableByKey: true,
      ExpandRestrictions: { Expandable: false },
    })
    const window = '?$count=true&$skip=0&$top=1&$search=abc'
    expect(await status(`${window}&$compute=column1 add 1 as more&$select=column1,more`)).toBe(200)
    expect(await status('(1)')).toBe(200)
    expect(await status('?$expand=column1')).toBe(501)
  })

  test('nothing can be written', async () => {
    expect(claims).toMatchObject({
      InsertRestrictions: { Insertable: false },
      UpdateRestrictions: { Updatable: false },
      DeleteRestrictions: { Deletable: false },
    })
    for (const method of ['POST', 'PATCH', 'DELETE'] as const) {
      const refused = await at.call(key, method, `${root}/types${method === 'POST' ? '' : '(1)'}`)
      expect([405, 501], method).toContain(refused.statusCode)
    }
  })

  test('$apply has these transformations, and rolls up several hierarchies', async () => {
    const { Transformations, Rollup } = claims['ApplySupported'] as Record<string, unknown>
    expect(Transformations).toEqual(Object.keys(TRANSFORMATIONS))
    for (const [name, text] of Object.entries(TRANSFORMATIONS)) {
      const answer = await ask(`?$apply=${text}`)
      expect(answer.statusCode, `${name}: ${answer.body}`).toBe(200)
    }
    expect(Rollup).toBe('MultipleHierarchies')
    const both = 'groupby((rollup(column0,column1),rollup(column4,column5)),aggregate($count as rows))'
    expect(await status(`?$apply=${both}`)).toBe(200)
  })
})
