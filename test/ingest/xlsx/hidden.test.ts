import { expect, test } from 'vitest'
import { useBench } from '../support/helper.ts'
import { workbook } from './workbooks.ts'

const bench = useBench()

async function warnings(rows: readonly number[], columns: readonly number[], options = {}) {
  const file = await workbook((sheet) => {
    sheet.addRows([
      ['name', 'price', 'cost'],
      ['a', 1, 2],
      ['b', 3, 4],
      ['c', 5, 6],
      ['total', 9, 12],
    ])
    for (const row of rows) sheet.getRow(row).hidden = true
    for (const column of columns) sheet.getColumn(column).hidden = true
  })
  const { values, warnings } = await bench.read('xlsx', file, { options })
  expect(values[1]).toEqual(['b', '3', '4'])
  return warnings
}

test('hidden rows and columns are read, which a warning says', async () => {
  expect(await warnings([3, 4], [2, 3])).toEqual([
    'Hidden rows were read as well (2): 3, 4.',
    'Hidden columns were read as well (2): "price", "cost".',
  ])
  expect(await warnings([], [2])).toEqual(['Hidden columns were read as well (1): "price".'])
})

test('hidden rows that are not read, and what no cell is in, are not named', async () => {
  expect(await warnings([1, 5, 7], [5], { footer: 1 })).toBeUndefined()
  expect(await warnings([], [])).toBeUndefined()
})

test('notes on cells of the table are named, as they are not read', async () => {
  const file = await workbook((sheet) => {
    sheet.addRows([
      ['name', 'price'],
      ['a', 1],
      ['b', 2],
      ['total', 3],
    ])
    for (const cell of ['A1', 'B3', 'A3', 'B4']) sheet.getCell(cell).note = 'estimated'
  })
  const { warnings } = await bench.read('xlsx', file, { options: { footer: 1 } })
  expect(warnings).toEqual(['Notes on cells were not read (2): A3, B3.'])
})
