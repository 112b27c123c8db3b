import { expect, test } from 'vitest'
import type { Cell, Engine } from '../../engine/index.ts'
import type { ColumnType } from '../../engine/types/index.ts'
import { useWorkplace } from './workplace.ts'

const place = useWorkplace()

async function rowsOf(
  engine: Engine,
  types: readonly ColumnType[],
  rows: readonly (readonly Cell[])[],
  top?: number,
): Promise<unknown[][]> {
  const columns = types.map((type, index) => ({ name: `c${index}`, type }))
  const found: object[] = []
  using query = engine.relation(columns, rows).query(top === undefined ? {} : { top })
  for await (const row of query.rows()) found.push(row)
  return found.map((row) => Object.values(row))
}

test('values of every type come back as they were given', async () => {
  const types: ColumnType[] = [
    ...(['integer', 'integer', 'double', 'decimal(20,3)', 'string', 'boolean', 'date', 'time'] as const),
    ...(['timestamp', 'timestamptz', 'uuid', 'binary', 'json'] as const),
  ]
  const uuid = '3fa85f64-5717-4562-b3fc-2c963f66afa6'
  const row: Cell[] = [
    ...[9007199254740993n, -5, -0, '12345678901234567.125', 'a"\u0000😀', true, '0001-01-01'],
    ...['10:20:30.000001', '9999-12-31T23:59:59.999999', '1900-01-01T00:00:00Z', uuid],
    ...[Uint8Array.of(0, 255), '{"a":1.10}'],
  ]
  expect(await rowsOf(place.engine, types, [row, types.map(() => null)])).toEqual([
    row,
    types.map(() => null),
  ])
})

test('numbers that are not finite are kept in any part of the rows', async () => {
  const rows = [[Number.NaN], [-Infinity], [1]]
  expect(await rowsOf(place.engine, ['double'], rows)).toEqual(rows)
  expect(await rowsOf(place.engine, ['double'], rows, 2)).toEqual(rows.slice(0, 2))
})

test('offsets are converted to UTC', async () => {
  const given = ['2024-01-01T10:00:00+02:00', '2024-01-01T10:00-01:30', '2024-01-01']
  const rows = given.map((text) => [text])
  expect(await rowsOf(place.engine, ['timestamptz'], rows)).toEqual([
    ['2024-01-01T08:00:00Z'],
    ['2024-01-01T11:30:00Z'],
    ['2024-01-01T00:00:00Z'],
  ])
  expect(await rowsOf(place.engine, ['timestamp'], [['2024-01-01T10:00Z']])).toEqual([
    ['2024-01-01T10:00:00'],
  ])
})

test.each<[ColumnType, Cell, RegExp?]>([
  ['integer', 1.5],
  ['integer', '1.5'],
  ['integer', 2n ** 63n, /is out of range of a 64-bit integer/],
  ['integer', Number.NaN],
  ['integer', true],
  ['double', '1e400'],
  ['decimal(10,2)', 1.005],
  ['decimal(10,2)', '123456789.12'],
  ['boolean', 'yes'],
  ['date', '2024-02-30'],
  ['timestamp', '2024-01-01T10:00:00.123456789'],
  ['timestamp', '2024-01-01T10:00:00+02:00'],
  ['timestamptz', '2024-01-01T10:00:00'],
  ['time', '25:00:00'],
  ['uuid', 'x'],
  ['json', 'x'],
  ['binary', 'x!'],
  ['binary', 1234],
  ['uuid', 12345678901234567890123456789012n],
])('%s refuses %s instead of changing it', async (type, cell, message = /is not an? /) => {
  expect(() => place.engine.relation([{ name: 'n', type }], [[null], [cell]])).toThrow(
    expect.objectContaining({
      code: 'invalid_upload',
      message: expect.stringMatching(new RegExp(`^Row 2, column "n": ".*" ${message.source}`)),
    }),
  )
})

test('rows of another length, objects, half characters and missing values are refused', async () => {
  const { engine } = place
  const column = { name: 'n', type: 'string' } as const
  expect(() => engine.relation([column], [['a', 'b']])).toThrow('Row 1 has 2 values for 1 column.')
  expect(() => engine.relation([column], [[]])).toThrow('Row 1 has 0 values for 1 column.')
  expect(() => engine.relation([column], [{ a: 'x' }] as never)).toThrow(
    'Row 1 is no list of values in the order of the columns.',
  )
  expect(() => engine.relation([column], [[new Date(0) as never]])).toThrow(
    'Row 1, column "n": values of type string are given as text, numbers, true, false or null.',
  )
  expect(() => engine.relation([column], [[Uint8Array.of(1)]])).toThrow(
    'values of type string are given as text',
  )
  expect(() => engine.relation([column], [['\ud83d']])).toThrow('the text holds half a character')
  expect(() => engine.relation([{ ...column, nullable: false }], [[null]])).toThrow('a value is missing')
})
