import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bytesOf, openTestExecutor, statement, type TestExecutor } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

const ID = '00112233-4455-6677-8899-aabbccddeeff'

it('uuid and json are extension types in Arrow, over storage that older readers show', async () => {
  const query = statement(
    `SELECT * FROM (VALUES ('${ID}'::UUID, '{"a":1}'), (NULL, NULL), ('ffffffff-FFFF-ffff-ffff-ffffffffffff'::UUID, '[]')) v(u, j)`,
    { u: 'uuid', j: 'json' },
  )
  const table = tableFromIPC(await bytesOf(executor, query, 'arrow'))
  const [uuid, json] = table.schema.fields
  expect([uuid!.metadata.get('ARROW:extension:name'), String(uuid!.type)]).toEqual([
    'arrow.uuid',
    'FixedSizeBinary[16]',
  ])
  expect([json!.metadata.get('ARROW:extension:name'), String(json!.type)]).toEqual(['arrow.json', 'Utf8'])
  const hex = Array.from(table.getChild('u')!, (value) => value && Buffer.from(value).toString('hex'))
  expect(hex).toEqual([ID.replaceAll('-', ''), null, 'f'.repeat(32)])
  expect([...table.getChild('j')!]).toEqual(['{"a":1}', null, '[]'])
})

it('uuid, json and time are text with the plain encoding', async () => {
  const query = statement(
    `SELECT * FROM (VALUES ('${ID}'::UUID, '[]', TIME '10:20:30.000001'), (NULL, NULL, NULL), (NULL, '1', TIME '00:00:00')) v(u, j, t)`,
    { u: 'uuid', j: 'json', t: 'time' },
  )
  const table = tableFromIPC(await bytesOf(executor, query, 'arrow', { encoding: 'plain' }))
  expect(table.schema.fields.map(({ type, metadata }) => [String(type), metadata.size])).toEqual(
    Array.from({ length: 3 }, () => ['Utf8', 0]),
  )
  expect(['u', 'j', 't'].map((name) => [...table.getChild(name)!])).toEqual([
    [ID, null, null],
    ['[]', null, '1'],
    ['10:20:30.000001', null, '00:00:00'],
  ])
})

it('record batches of the library have uuids as text', async () => {
  const query = statement(`SELECT '${ID}'::UUID`, { u: 'uuid' })
  const table = tableFromIPC(await bytesOf(executor, query, 'arrow', { plainTypes: true }))
  expect(String(table.schema.fields[0]!.type)).toBe('Utf8')
  expect([...table.getChildAt(0)!]).toEqual([ID])
})
