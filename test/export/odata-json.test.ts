import { expect, test } from 'vitest'
import type { DeclaredColumn } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from '../engine/workplace.ts'

const COLUMNS: readonly DeclaredColumn[] = [
  { name: 'i', type: 'integer' },
  { name: 'd', type: 'decimal(10,2)' },
  { name: 'x', type: 'double' },
  { name: 'at', type: 'timestamp' },
  { name: 'b', type: 'binary' },
  { name: 'j', type: 'json' },
]

async function written(odata: object): Promise<string> {
  await using place = await openWorkplace()
  const rows = place.engine.relation(COLUMNS, [
    ['9007199254740993', '1.50', 0.5, '2024-05-06T07:08:09.5', 'fn4/Pj4+', '{"a":"\\u0001"}'],
    [null, null, Number.NaN, null, null, null],
  ])
  using query = rows.query()
  return await textOf(await query.bytes('json', { odata: odata as never }))
}

test('OData rows have Z behind timestamps, base64 for URLs, and JSON as text', async () => {
  expect(await written({ ieee754: false })).toBe(
    '[{"i":9007199254740993,"d":1.50,"x":0.5,"at":"2024-05-06T07:08:09.5Z","b":"fn4_Pj4-","j":"{\\"a\\":\\"\\\\u0001\\"}"},\n' +
      '{"i":null,"d":null,"x":"NaN","at":null,"b":null,"j":null}]\n',
  )
})

test('integers and decimals are in quotes for clients whose numbers are doubles', async () => {
  const [first, second] = JSON.parse(await written({ ieee754: true }))
  expect(first).toMatchObject({ i: '9007199254740993', d: '1.50', x: 0.5 })
  expect(second).toMatchObject({ i: null, d: null })
})

test('annotations stand before their members, and a number may stand within a text', async () => {
  const odata = {
    ieee754: true,
    before: new Map([['d', '"d@odata.type":"#Decimal",']]),
    within: new Map([['i', ['Tab"le(', ')']]]),
  }
  const [first] = JSON.parse(await written(odata))
  expect(first).toMatchObject({ i: 'Tab"le(9007199254740993)', 'd@odata.type': '#Decimal', d: '1.50' })
})

test('the same columns are written with the annotations and names that each request asks for', async () => {
  for (const type of ['#Decimal', '#Double', '#Decimal']) {
    const before = new Map([['d', `"d@odata.type":"${type}",`]])
    const within = new Map([['i', [`${type}(`, ')']]])
    const [first] = JSON.parse(await written({ ieee754: true, before, within }))
    expect(first).toMatchObject({ i: `${type}(9007199254740993)`, 'd@odata.type': type })
  }
})

test('numbers of rows that are counted are those that are read, in every window', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  for (const from of [0, 3_000, 3_001, 3_002]) {
    const rows = Array.from({ length: 3_000 }, (_, n) => `${from + n},text ${n}`)
    await dataset.append({ body: bytesOf(`n,t\n${rows.join('\n')}\n`), format: 'csv' })
  }
  using snapshot = await dataset.snapshot()
  const view = { names: ['n', 't'], rowNumbers: ['Row', 'id'] }
  const odata = {
    ieee754: true,
    before: new Map([['Row', '"Row@odata.type":"#Int64",']]),
    within: new Map([['id', ['rows(', ')'] as const]]),
  }
  const given = async (options: object) => {
    using query = snapshot.query(options, view)
    return await textOf(await query.bytes('json', { odata }))
  }
  const windows = [
    {},
    { top: 3 },
    { skip: 2_999, top: 2 },
    { skip: 3_500 },
    { last: 4_000 },
    { skip: 9_998, top: 3 },
    { top: 0 },
  ]
  for (const window of windows) {
    for (const select of [undefined, ['id', 'Row', 't'], ['t', 'Row']]) {
      const options = { ...window, ...(select && { select }) }
      // With a filter, the number is a column like others.
      expect(await given(options)).toBe(await given({ ...options, filter: 'Row ge 1' }))
    }
  }
  expect(await given({ skip: 2_999, top: 1 })).toBe(
    '[{"Row@odata.type":"#Int64","Row":"3000","id":"rows(3000)","n":"2999","t":"text 2999"}]\n',
  )
})
