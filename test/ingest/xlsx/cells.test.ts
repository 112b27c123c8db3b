import { describe, expect, test } from 'vitest'
import { column, useBench } from '../support/helper.ts'
import { workbook } from './workbooks.ts'

const bench = useBench()

/** A sheet of one column `d` with its format, beside the column `n`. */
const formatted = (format: string, values: readonly unknown[], date1904 = false) =>
  workbook((sheet, book) => {
    book.properties.date1904 = date1904
    sheet.addRow(['n', 'd'])
    for (const [at, value] of values.entries()) sheet.addRow([at, value]).getCell(2).numFmt = format
  })

describe('numbers in cells formatted as dates', () => {
  const FROM_1900 = 'those of this workbook go from 1900-01-01 (1) to 9999-12-31'
  test.each([
    [-213, false, `-213 in a cell formatted as a date is not a day: ${FROM_1900}.`],
    [0, false, `0 in a cell formatted as a date is not a day: ${FROM_1900}.`],
    [2958466, false, `2958466 in a cell formatted as a date is not a day: ${FROM_1900}.`],
    [60, false, '60 in a cell formatted as a date stands for 29 February 1900, a day that never existed.'],
    [
      -1,
      true,
      '-1 in a cell formatted as a date is not a day: those of this workbook go from 1904-01-01 (0) to 9999-12-31.',
    ],
  ])('%d is refused with its row where it is no day (from 1904: %s)', async (value, date1904, message) => {
    const file = await formatted('yyyy-mm-dd', [45000, value, 45001], date1904)
    expect(await bench.refusal('xlsx', file)).toBe(
      `400 invalid_upload: Row 2, column "d": ${message} Write other days as text, such as 1899-12-31, and clear ` +
        'cells that have none (cell B3).',
    )
  })

  test('are days from 1900-01-01 on, or from 1904-01-01, and text among them is a day, too', async () => {
    const days = async (...given: Parameters<typeof formatted>) =>
      (await bench.read('xlsx', await formatted(...given))).values.map(([, day]) => day)
    expect(await days('yyyy-mm-dd', [1, 59, 61, '1850-01-01', null])).toEqual([
      ...['1900-01-01', '1900-02-28', '1900-03-01', '1850-01-01', null],
    ])
    expect(await days('yyyy-mm-dd', [0, 60, 42428], true)).toEqual(['1904-01-01', '1904-03-01', '2020-02-29'])
    expect((await bench.read('xlsx', await formatted('yyyy-mm-dd', ['1850-01-01']))).shape).toContain(
      'd: date',
    )
  })

  test('are left out as titles and notes are', async () => {
    const file = await formatted('yyyy-mm-dd', [45000, 0])
    expect((await bench.read('xlsx', file, { options: { footer: 1 } })).values).toEqual([['0', '2023-03-15']])
    expect((await bench.read('xlsx', file, { options: { skip: 2, names: 'number' } })).rows).toBe(0)
  })
})

test('cells with a format such as [h]:mm are durations', async () => {
  const file = await formatted('[h]:mm', [1.5, 1 / 24, -0.25, 45000.000000005, null])
  const { shape, values } = await bench.read('xlsx', file)
  expect(shape).toEqual(['n: integer', 'd: string'])
  expect(values.map(([, text]) => text)).toEqual([
    ...['PT129600S', 'PT3600S', 'PT-21600S', 'PT3888000000.000432S', null],
  ])
})

test('formulas without a value or with an error count only in rows that are read', async () => {
  const file = await workbook((sheet) => {
    sheet.addRow([{ formula: '1/0', result: { error: '#DIV/0!' } }])
    sheet.addRow(['a', 'b'])
    sheet.addRow([1, 2])
    sheet.addRow([3, 4])
    sheet.addRow(['Total', { formula: 'SUM(B3:B4)' }])
  })
  expect((await bench.read('xlsx', file, { options: { skip: 1, footer: 1 } })).values).toEqual([
    ['1', '2'],
    ['3', '4'],
  ])
  const refused = await bench.refusal('xlsx', file, { options: { skip: 1 } })
  expect(refused).toContain('Row 3, column "b": the formula has no value')
  expect(refused).toContain('footer= (cell B5)')
})

describe('nulls', () => {
  const file = workbook((sheet) =>
    sheet.addRows([
      ['n', 's', 'day'],
      [1, 'NA', new Date('2024-01-01')],
      ['NA', 'b', 'n/a'],
      [-9, 'c', new Date('2024-01-02')],
    ]),
  )
  const read = async (options: object, more: object = {}) => {
    const { shape, values } = await bench.read('xlsx', await file, { options, ...more })
    return { shape, values }
  }

  test('are missing values, be they text or numbers', async () => {
    expect(await read({ nulls: ['NA', 'n/a', '-9'] })).toEqual({
      shape: ['n: integer', 's: string', 'day: date'],
      values: [
        ['1', null, '2024-01-01'],
        [null, 'b', null],
        [null, 'c', '2024-01-02'],
      ],
    })
  })

  test('stay as they are in columns of text with textNulls=keep', async () => {
    const kept = { nulls: ['NA', 'n/a'], textNulls: 'keep' }
    const { shape, values } = await read(kept)
    expect(shape).toEqual(['n: integer', 's: string', 'day: date'])
    expect(values.map(([n, s]) => [n, s])).toEqual([
      ['1', 'NA'],
      [null, 'b'],
      ['-9', 'c'],
    ])
    const existing = [column('n', 'string'), column('s', 'string'), column('day', 'date')]
    expect((await read(kept, { existing })).values[1]).toEqual(['NA', 'b', null])
  })

  test('are found by dialect=auto among cells that are not text, which says so', async () => {
    const { shape, values, options, why, reasons } = await bench.read('xlsx', await file, {
      options: { dialect: 'auto' },
    })
    expect(shape).toEqual(['n: integer', 's: string', 'day: date'])
    expect(values[1]).toEqual([null, 'b', null])
    expect(options).toEqual({ nulls: ['NA', 'n/a'], textNulls: 'keep' })
    expect(why).toEqual([{ option: 'nulls', row: 2, value: 'NA' }])
    expect((await bench.read('xlsx', await file)).reasons?.[0]).toMatchObject({ row: 2, try: 'nulls=NA' })
    expect(reasons?.[0]).toBeUndefined()
  })
})
