import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Platform, platform } from '../server/platform.ts'
import { attributesOf, schemaProblems } from './csdl-facts.ts'

/** Names that are no identifiers, differ only in case or in what an identifier can't hold, or mean something elsewhere. */
const COLUMNS: readonly (readonly string[])[] = [
  ['a b', 'a_b', 'A_B', 'a-b', 'a_b_1', 'a/b'],
  ['1', '2020', '_1', '-1', '1.5', ''.padEnd(3, '0')],
  ['é', 'e\u0301', 'É', '日本', 'größe', 'GRÖSSE'],
  ['"q"', "o'k", '`t`', '[x]', '{y}', '(z)'],
  ['$x', '@y', '#z', '%2B', 'a+b', '&amp;'],
  ['Row', 'ROW', 'row', 'Row_1', ' Row', 'Row '],
  ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'prototype'],
  ['😀', '😁', '👩‍👩‍👧', '\u200d', '\u{1D4B3}', '\ufeffbom'],
  ['and', 'not', 'null', 'TRUE', 'NaN', 'desc'],
  ['<a>', ']]>', '<!--', 'tab\there', 'x'.repeat(300), `${'x'.repeat(300)}y`],
]
const DATASETS = [
  'hostile/名前 & co',
  'a b',
  'a_b',
  'A_B',
  '$metadata',
  "o'neil",
  'Container',
  '<b>"&amp;"</b>',
  '😀',
  '...',
]

let at: Platform
let base: string
let sets: readonly { readonly name: string; readonly url: string }[]
const ids: number[] = []
const get = async (path: string) => {
  const response = await at.call(at.root, 'GET', base + path)
  expect(response.statusCode, response.body).toBe(200)
  return response
}
const query = (options: Record<string, string>) =>
  Object.entries(options)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')

beforeAll(async () => {
  at = await platform()
  const repository = await at.call(at.root, 'POST', '/repositories', {
    json: { name: 'hostile', private: false },
  })
  base = `/repositories/${repository.json().id}/odata/`
  for (const [index, name] of DATASETS.entries()) {
    const columns = COLUMNS[index]!.map((column) => ({
      name: column,
      type: 'integer',
      description: `about <${column}>`,
    }))
    const json = { name, repositoryId: repository.json().id, description: `"${name}" & more`, columns }
    const made = await at.call(at.root, 'POST', '/datasets', { json })
    ids.push(made.json().id)
    const rows = [10, 20, 30].map((start) => columns.map((_, position) => start + position))
    const put = await at.call(at.root, 'PUT', `/datasets/${made.json().id}/data`, { json: { rows } })
    expect(put.statusCode, put.body).toBe(200)
  }
  sets = (await get('')).json().value
})
afterAll(() => at[Symbol.asyncDispose]())

test('a service with such names has metadata as the schema of CSDL 4.01 has it', async () => {
  for (const path of ['$metadata', '../../../odata/$metadata']) {
    const xml = (await get(path)).body
    expect(schemaProblems(xml)).toEqual([])
    const names = attributesOf(xml, 'EntitySet').map(({ Name }) => Name!.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
  }
})

describe.each(DATASETS.map((name, index) => [name, index] as const))('dataset %j', (_name, index) => {
  const columns = COLUMNS[index]!
  /** Name of each property, by the metadata in XML. */
  const properties = async () => {
    const xml = (await get('$metadata')).body
    const { EntityType } = attributesOf(xml, 'EntitySet').find(({ Name }) => Name === sets[index]!.name)!
    const json = (await get('$metadata?$format=json')).json()
    const type = json.Parquetry[EntityType!.split('.').pop()!]
    return Object.keys(type)
      .filter((one) => !/^[$@]/.test(one) && one !== 'Row')
      .map((one) => ({
        property: one,
        column: (type[one]['@Self.OriginalName'] ?? one) as string,
        description: type[one]['@Org.OData.Core.V1.Description'],
      }))
  }

  test('keeps its names and descriptions as annotations', async () => {
    expect(await properties()).toEqual(
      columns.map((column) => expect.objectContaining({ column, description: `about <${column}>` })),
    )
  })

  test('has the rows of its csv', async () => {
    const rows = (await get(sets[index]!.url)).json().value as Record<string, number>[]
    const csv = (await at.call(at.root, 'GET', `/datasets/${ids[index]}/data`)).body
    const cells = csv.trimEnd().split('\n').slice(-3)
    const names = (await properties()).map(({ property }) => property)
    expect(rows.map((row) => names.map((name) => row[name]).join())).toEqual(cells)
  })

  test('is filtered, selected, ordered and found by each of them', async () => {
    for (const [position, { property }] of (await properties()).entries()) {
      const options = {
        $filter: `${property} ge ${20 + position}`,
        $select: property,
        $orderby: `${property} desc`,
      }
      const found = (await get(`${sets[index]!.url}?${query(options)}`)).json().value
      expect(found).toEqual([{ [property]: 30 + position }, { [property]: 20 + position }])
      const one = await get(`${sets[index]!.url}(2)/${encodeURIComponent(property)}/$value`)
      expect(one.body).toBe(String(20 + position))
    }
  })
})
