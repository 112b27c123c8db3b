import type ExcelJS from 'exceljs'
import { describe, expect, test } from 'vitest'
import { useBench } from '../support/helper.ts'
import { raw, workbook } from './workbooks.ts'

const bench = useBench()

describe('xlsx that is refused', () => {
  test.each<[string, (sheet: ExcelJS.Worksheet) => void, string]>([
    [
      'an empty sheet',
      () => {},
      'The first sheet is empty: its first row has to be a header with the names of the columns.',
    ],
    [
      'a header with a gap',
      (sheet) => sheet.addRow(['a', null, 'c']),
      'Column 2 has no name. dialect=auto would read the file (names=number).',
    ],
    [
      'a value beyond the header',
      (sheet) => {
        sheet.addRow(['a'])
        sheet.addRow([1, 2])
      },
      'Sheet row 2 has a value in column 2, but the header names only 1.',
    ],
    [
      'a formula that failed',
      (sheet) => {
        sheet.addRow(['a'])
        sheet.addRow([{ formula: '1/0', result: { error: '#DIV/0!' } }])
      },
      'Row 1, column "a": the formula ended in #DIV/0! (cell A2).',
    ],
    [
      'a formula that nobody has calculated, as openpyxl writes it',
      (sheet) => {
        sheet.addRow(['a', 'b'])
        sheet.addRow([1, { formula: 'A2*2' }])
      },
      'Row 1, column "b": the formula has no value, because no program has calculated it; open the workbook in ' +
        'one and save it, or leave totals at the end out with footer= (cell B2).',
    ],
  ])('%s', async (_, fill, message) => {
    expect(await bench.refusal('xlsx', await workbook(fill))).toBe(`400 invalid_upload: ${message}`)
  })

  test('a column of formulas that nobody has calculated says once what to do', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['a', 'b'])
      for (const row of [2, 3]) sheet.addRow([1, { formula: `A${row}*2` }])
    })
    const { errors } = (await bench.read('xlsx', file).catch((error) => error)).details
    const fault = 'the formula has no value, because no program has calculated it'
    expect(errors.map(({ error }: { error: string }) => error)).toEqual([
      expect.stringContaining(`${fault}; open the workbook in one and save it`),
      `Row 2, column "b": ${fault} (cell B3).`,
    ])
  })

  test('a formula in the header that failed or that nobody has calculated', async () => {
    for (const [formula, what] of [
      ['<c r="B1" t="e"><f>1/0</f><v>#DIV/0!</v></c>', 'the formula ended in #DIV/0!'],
      ['<c r="B1"><f>A1</f></c>', 'the formula has no value'],
    ]) {
      const file = await raw(`<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c>${formula}</row>`)
      expect(await bench.refusal('xlsx', file)).toContain(`400 invalid_upload: The header: ${what}`)
    }
  })

  test.each(['str', 'b', 'n', 'e', 's', 'd'])('a formula of type %s without a value', async (type) => {
    const head = '<row><c t="inlineStr"><is><t>a</t></is></c></row>'
    const file = await raw(`${head}<row r="2"><c r="A2" t="${type}"><f>B1</f></c></row>`)
    expect(await bench.refusal('xlsx', file)).toMatch(
      /^400 invalid_upload: Row 1, column "a": the formula has no value/,
    )
  })

  test('a million empty rows in a few bytes', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['a', 'b'])
      sheet.getCell('A1000000').value = 1
    })
    expect(await bench.refusal('xlsx', file)).toBe(
      '413 upload_too_large: The table is too sparse: up to row 1000000 it has 1 cells with a value and 1999997 ' +
        'empty ones.',
    )
  })

  test('a value in the last of 16,384 columns, row by row', async () => {
    const head = Array.from({ length: 16_384 }, (_, n) => `<c t="inlineStr"><is><t>c${n}</t></is></c>`)
    const rows = Array.from(
      { length: 3_000 },
      (_, n) => `<row r="${n + 2}"><c r="XFD${n + 2}"><v>1</v></c></row>`,
    )
    expect(
      await bench.refusal('xlsx', await raw(`<row r="1">${head.join('')}</row>${rows.join('')}`)),
    ).toMatch(/^413 upload_too_large: The table is too sparse: up to row 6\d /)
  })

  test('a cell within the value of another', async () => {
    const file = await raw('<row r="1"><c t="str"><v>a<c t="str">b</c></v></c></row>')
    expect(await bench.refusal('xlsx', file)).toBe(
      '400 invalid_upload: Sheet row 1 has a cell within the value of another.',
    )
  })

  test('what is no workbook', async () => {
    const message =
      '400 invalid_upload: The file is not an xlsx workbook: it is not a zip archive, or is cut off.'
    expect(await bench.refusal('xlsx', '')).toBe(message)
    expect(await bench.refusal('xlsx', 'a,b\n1,2\n')).toBe(message)
    const whole = await workbook((sheet) => sheet.addRow(['a']))
    expect(await bench.refusal('xlsx', whole.subarray(0, whole.length - 50))).toBe(message)
    const damaged = Buffer.from(whole)
    const sheet = damaged.indexOf('xl/worksheets/sheet1.xml') + 30
    damaged.fill(0, sheet, sheet + 40)
    expect(await bench.refusal('xlsx', damaged)).toMatch(/^400 invalid_upload: The workbook is damaged/)
  })

  test('a sheet that unpacks to more than the limit', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['a'])
      for (let i = 0; i < 5000; i++) sheet.addRow(['x'.repeat(100)])
    })
    expect(await bench.refusal('xlsx', file, { limits: { unpackedBytes: 50_000 } })).toBe(
      '413 upload_too_large: The upload unpacks to more than 50000 bytes.',
    )
  })
})
