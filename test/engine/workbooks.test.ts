import ExcelJS from 'exceljs'
import { expect, test } from 'vitest'
import { bytesOf, newDataset, openWorkplace } from './workplace.ts'

test('a column of a workbook is text in all rows if one of them has to be, of the rows that are written', async () => {
  await using place = await openWorkplace()
  const columns = [
    { name: 'id', type: 'integer' },
    { name: 'x', type: 'double' },
    { name: 'n', type: 'integer' },
  ] as const
  const dataset = await newDataset(place.engine, columns)
  const body = bytesOf('id,x,n\n1,-1e-18,1\n9007199254740993,0.5,2\n2,NaN,3\n')
  await dataset.replace({ format: 'csv', body })
  const cells = async (filter?: string) => {
    using query = await dataset.query({ filter })
    const bytes = Buffer.concat(await Array.fromAsync(await query.bytes('xlsx')))
    const workbook = new ExcelJS.Workbook()
    await workbook.xlsx.load(bytes as unknown as ArrayBuffer)
    return workbook.worksheets[0]!.getSheetValues()
      .slice(2)
      .map((row) => (row as unknown[]).slice(1))
  }
  expect(await cells()).toEqual([
    ['1', '-1e-18', 1],
    ['9007199254740993', '0.5', 2],
    ['2', 'NaN', 3],
  ])
  expect(await cells('n eq 1')).toEqual([[1, -1e-18, 1]])
})
