import { expect, test } from 'vitest'
import type { DeclaredColumn } from '../../engine/index.ts'
import { openWorkplace, textOf } from '../engine/workplace.ts'

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
    ['9007199254740993', '1.50', 0.5, '2024-05-06T07:08:09.5', '~~?>>>', '{"a":"\\u0001"}'],
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
