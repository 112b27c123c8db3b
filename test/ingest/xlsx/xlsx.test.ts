import { describe, expect, test } from 'vitest'
import { column, useBench } from '../support/helper.ts'
import { raw, workbook } from './workbooks.ts'

const bench = useBench()

describe('xlsx', () => {
  test('titles above the header are left out, and names are numbered', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['Sales by region'])
      sheet.addRow([])
      sheet.addRow(['region', '', 'sales', 'sales'])
      sheet.addRow(['North', 1, 2, 3])
    })
    const { shape, rows } = await bench.read('xlsx', file, { options: { skip: 2, names: 'number' } })
    expect(shape.map((one) => one.split(':')[0])).toEqual(['region', 'column_2', 'sales', 'sales_2'])
    expect(rows).toBe(1)
  })

  test('columns behind the header are numbered where names are, however many rows have them', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['a', 'b'])
      sheet.addRow([1, 2])
      sheet.addRow([3, 4, 5])
      sheet.addRow([6])
      sheet.addRow([7, null, null, 8])
    })
    const { shape, values } = await bench.read('xlsx', file, { options: { names: 'number' } })
    expect(shape).toEqual(['a', 'b', 'column_3', 'column_4'].map((name) => `${name}: integer`))
    expect(values).toEqual([
      ['1', '2', null, null],
      ['3', '4', '5', null],
      ['6', null, null, null],
      ['7', null, null, '8'],
    ])
    expect(await bench.refusal('xlsx', file)).toContain(
      'has a value in column 3, but the header names only 2',
    )
  })

  test('hidden sheets are read only by name, and the result says which sheet was read', async () => {
    const hidden = await workbook((first, book) => {
      first.state = 'hidden'
      first.addRows([['h'], [1]])
      book.addWorksheet('very', { state: 'veryHidden' }).addRows([['v'], [2]])
      book.addWorksheet('data').addRows([['d'], [3]])
    })
    const read = async (options: object) => {
      const { shape, sheet, sheets } = await bench.read('xlsx', hidden, { options })
      expect(sheets).toEqual(['first', 'very', 'data'])
      return [sheet, ...shape]
    }
    expect(await read({})).toEqual(['data', 'd: integer'])
    expect(await read({ sheet: 'first' })).toEqual(['first', 'h: integer'])
    expect(await read({ sheet: 'very' })).toEqual(['very', 'v: integer'])
  })

  test('percentages are the fractions that the cells hold, which a warning says', async () => {
    const rates = async (numFmt: string) => {
      const file = await workbook((sheet) => {
        sheet.addRows([
          ['region', 'rate'],
          ['North', null],
          ['South', 0.125],
          ['East', 0.07],
        ])
        for (const cell of ['B3', 'B4']) sheet.getCell(cell).numFmt = numFmt
      })
      const { values, warnings } = await bench.read('xlsx', file)
      expect(values.map(([, rate]) => rate)).toEqual([null, '0.125', '0.07'])
      return warnings
    }
    const warning = 'Column "rate" has percentages as the fractions that the workbook holds: 12.5% is 0.125.'
    expect(await rates('0.0%')).toEqual([warning])
    expect(await rates('0%')).toEqual([warning])
    expect(await rates('0.00')).toBeUndefined()
  })

  test('amounts in several currencies are numbers, with a warning that names the first of each', async () => {
    const amounts = async (...formats: string[]) => {
      const file = await workbook((sheet) => {
        sheet.addRows([['amount'], ...formats.map((_, n) => [n + 1.5])])
        for (const [n, code] of formats.entries()) sheet.getCell(`A${n + 2}`).numFmt = code
      })
      const { values, warnings } = await bench.read('xlsx', file)
      expect(values.flat()).toEqual(formats.map((_, n) => String(n + 1.5)))
      return warnings
    }
    const euro = '#,##0.00 [$€-407]'
    expect(await amounts(euro, '0.00', '"US$"0.00', euro, '[$CHF] 0.00')).toEqual([
      'Column "amount" has amounts in several currencies, of which only the numbers are kept: 1.5 in €, 3.5 in US$, 5.5 in CHF.',
    ])
    expect(await amounts(euro, '0.00', '#,##0.00\\ "€";[Red]-#,##0.00\\ "$"')).toBeUndefined()
    // It only leaves the room of the sign.
    expect(await amounts('$0.00', '_-* #,##0.00\\ _€_-')).toBeUndefined()
  })

  test('a first sheet without rows is read with a warning that others may have some', async () => {
    const book = (rows: unknown[][]) =>
      workbook((first, book) => {
        first.addRows(rows)
        book.addWorksheet('data').addRows([['d'], [3]])
      })
    const warnings = async (rows: unknown[][], options = {}) =>
      (await bench.read('xlsx', await book(rows), { options })).warnings
    expect(await warnings([['Report of 2024']])).toEqual([
      expect.stringMatching(/^The sheet "first" has no rows below its header, .*sheet=.* such as "data"\.$/),
    ])
    expect(await warnings([['Report of 2024']], { sheet: 'first' })).toBeUndefined()
    expect(await warnings([['a'], [1]])).toBeUndefined()
  })

  test('a workbook whose sheets are all hidden lists them', async () => {
    const file = await workbook((first, book) => {
      first.state = 'hidden'
      first.addRows([['h'], [1]])
      book.addWorksheet('very', { state: 'veryHidden' }).addRows([['v'], [2]])
    })
    expect(await bench.refusal('xlsx', file)).toBe(
      '400 invalid_upload: All sheets of the workbook are hidden: name one of "first", "very" with sheet=.',
    )
  })

  test('a sheet that is named and missing is refused, in place of reading the next one', async () => {
    const rows = '<row r="1"><c t="inlineStr"><is><t>n</t></is></c></row><row r="2"><c><v>1</v></c></row>'
    for (const type of ['worksheet', '']) {
      expect(await bench.refusal('xlsx', await raw(rows, 'a', [{ id: 'Sales', type }]))).toBe(
        '400 invalid_upload: The workbook is damaged: its sheet "Sales" is missing.',
      )
    }
    const charted = await raw(rows, 'a', [{ id: 'Chart', type: 'chartsheet' }])
    expect((await bench.read('xlsx', charted)).values).toEqual([['1']])
  })

  test('values without content are missing', async () => {
    const cells = ['s', 'b', 'n', 'd'].map((type) => `<c t="${type}"><v></v></c>`).join('')
    const head = ['a', 'b', 'c', 'd', 'e'].map((name) => `<c t="str"><v>${name}</v></c>`).join('')
    const file = await raw(`<row>${head}</row><row>${cells}<c><v>1</v></c></row>`)
    expect((await bench.read('xlsx', file)).values).toEqual([[null, null, null, null, '1']])
  })

  test('booleans as numbers and as words', async () => {
    const rows = (...values: readonly string[]) =>
      `<row><c t="str"><v>b</v></c></row>${values.map((value) => `<row><c t="b"><v>${value}</v></c></row>`).join('')}`
    const { shape, values } = await bench.read('xlsx', await raw(rows('1', '0', 'true', 'FALSE')))
    expect(shape).toEqual(['b: boolean'])
    expect(values).toEqual([['true'], ['false'], ['true'], ['false']])
    expect(await bench.refusal('xlsx', await raw(rows('yes')))).toBe(
      '400 invalid_upload: Sheet row 2, column 1: "yes" is not a boolean.',
    )
  })

  test('cells of text without text, as pandas writes missing values, are nulls', async () => {
    const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`
    const blank = '<c t="inlineStr" />'
    const file = await raw(
      `<row r="1">${text('n')}${text('d')}${text('s')}</row><row r="2"><c><v>1.5</v></c><c ` +
        `t="d"><v>2020-01-01</v></c>${text('')}</row><row r="3">${blank}${blank}${blank}</row><row ` +
        `r="4"><c><v>3</v></c>${blank}${text('c')}</row>`,
    )
    const { shape, values } = await bench.read('xlsx', file)
    expect(shape).toEqual(['n: double', 'd: date', 's: string'])
    expect(values).toEqual([
      ['1.5', '2020-01-01', ''],
      [null, null, null],
      ['3.0', null, 'c'],
    ])
  })

  test('formulas that hold 0 until the workbook is opened are named, and the text of nothing is null', async () => {
    const rows = `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>
      <row r="2"><c r="A2"><f>1+1</f><v>0</v></c><c r="B2" t="str"><f>""</f><v></v></c></row>
      <row r="3"><c r="A3"><f>1+1</f><v>2</v></c><c r="B3"><v>0</v></c></row>`
    const later = await bench.read('xlsx', await raw(rows, 'a', [], '<calcPr fullCalcOnLoad="1"/>'))
    expect(later.warnings).toEqual([expect.stringContaining('some hold 0 or nothing until then: A2. ')])
    expect(later.values).toEqual([
      ['0', null],
      ['2', '0'],
    ])
    expect((await bench.read('xlsx', await raw(rows))).warnings).toBeUndefined()
  })

  test('formulas that hold 0 are counted, however many there are', async () => {
    const zero = '<row><c><f>1+1</f><v>0</v></c></row>'
    const rows = `<row><c t="inlineStr"><is><t>a</t></is></c></row>${zero.repeat(200_000)}`
    const later = await bench.read('xlsx', await raw(rows, 'a', [], '<calcPr fullCalcOnLoad="1"/>'))
    expect([later.values.length, ...later.warnings!]).toEqual([
      200_000,
      expect.stringContaining(' and 199990 more. '),
    ])
  })

  test('a sheet may be named like an attribute', async () => {
    for (const name of ['my id=5', 'r:id=&quot;x&quot;', " id='r2' ", 'a=b']) {
      const { values } = await bench.read('xlsx', await raw('<row r="1"><c><v>1</v></c></row>', name))
      expect(values, name).toHaveLength(0)
    }
  })

  test('cells keep their types', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['n', 'x', 'ok', 'day', 'when', 'clock', 'text', 'rich', 'formula', 'link'])
      sheet.addRow([
        1,
        1.1,
        true,
        new Date('2020-02-29'),
        new Date('2020-01-01T10:20:30.123Z'),
        0.5,
        '007',
        { richText: [{ text: 'a' }, { text: ' <b>', font: { bold: true } }] },
        { formula: 'A2*2', result: 2 },
        { text: 'here', hyperlink: 'https://example.org' },
      ])
      sheet.addRow([
        -5,
        0.1 + 0.2,
        false,
        null,
        null,
        null,
        '',
        null,
        { formula: 'X', result: { error: '#N/A' } },
        null,
      ])
      sheet.getColumn(4).numFmt = 'dd/mm/yyyy'
      sheet.getColumn(5).numFmt = 'yyyy-mm-dd hh:mm:ss.000'
      sheet.getColumn(6).numFmt = 'hh:mm'
    })
    const { shape, values } = await bench.read('xlsx', file)
    expect(shape).toEqual([
      'n: integer',
      'x: double',
      'ok: boolean',
      'day: date',
      'when: timestamp',
      'clock: time',
      'text: string',
      'rich: string',
      'formula: integer',
      'link: string',
    ])
    expect(values).toEqual([
      ['1', '1.1', 'true', '2020-02-29', '2020-01-01 10:20:30.123', '12:00:00', '007', 'a <b>', '2', 'here'],
      ['-5', '0.30000000000000004', 'false', null, null, null, '', null, null, null],
    ])
  })

  test('empty rows in the middle are rows of nulls, those at the end are not', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['a', 'b'])
      sheet.addRow([1, 'x'])
      sheet.getCell('B5').value = 'y'
      sheet.getCell('A9').numFmt = '0.00'
    })
    expect((await bench.read('xlsx', file)).values).toEqual([
      ['1', 'x'],
      [null, null],
      [null, null],
      [null, 'y'],
    ])
  })

  test('only the first sheet is read', async () => {
    const file = await workbook((sheet, book) => {
      sheet.addRow(['a'])
      sheet.addRow([1])
      book.addWorksheet('second').addRow(['other'])
    })
    expect((await bench.read('xlsx', file)).values).toEqual([['1']])
  })

  test('into a dataset that has columns', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['when', 'id', 'big'])
      sheet.addRow([new Date('2020-01-01'), '7', '9007199254740993'])
      sheet.getColumn(1).numFmt = 'yyyy-mm-dd hh:mm'
    })
    const existing = [column('id', 'integer'), column('big', 'integer'), column('when', 'date')]
    expect((await bench.read('xlsx', file, { existing })).values).toEqual([
      ['7', '9007199254740993', '2020-01-01'],
    ])
    expect(await bench.refusal('xlsx', file, { existing: [column('id', 'integer')] })).toMatch(
      /^409 column_conflict: The upload has a column "when"/,
    )
  })

  test('whole numbers keep the digits that other programs than Excel write', async () => {
    const cell = (value: string) => `<row><c><v>${value}</v></c></row>`
    const digits = ['9007199254740993', '-1234567890123456789', '12345678901234567890123']
    const rows = ['<row><c t="inlineStr"><is><t>n</t></is></c></row>', ...[...digits, '1.2345E+18'].map(cell)]
    const { shape, values } = await bench.read('xlsx', await raw(rows.join('')))
    expect(shape).toEqual(['n: decimal(38,0)'])
    expect(values.flat()).toEqual([...digits, '1234500000000000000'])
  })

  test('whole numbers that a program may have rounded to doubles are refused, but not in columns of doubles', async () => {
    const sheet = (...values: string[]) =>
      raw(
        `<row><c t="inlineStr"><is><t>n</t></is></c></row>${values.map((one) => `<row><c><v>${one}</v></c></row>`).join('')}`,
      )
    // openpyxl writes 9007199254740993 with "%.16g".
    const written = [
      '9007199254740992',
      '1.234567890123457E+16',
      '12345678901234568',
      '1.152921504606847E+18',
    ]
    for (const value of written) {
      const text = String(Number(value))
      const refusal =
        `400 invalid_upload: Row 2, column "n": ${text} may have lost its last digits. A sheet holds numbers as ` +
        'doubles, and programs write 15 to 17 digits of them. Write such numbers as text.'
      expect(await bench.refusal('xlsx', await sheet('1', value))).toBe(refusal)
      for (const type of ['integer', 'decimal(38,0)'] as const) {
        const existing = [column('n', type)]
        expect(await bench.refusal('xlsx', await sheet('1', value), { existing })).toBe(refusal)
      }
      const existing = [column('n', 'double')]
      const { values } = await bench.read('xlsx', await sheet(value), { existing })
      expect(values.flat().map(Number)).toEqual([Number(value)])
      expect((await bench.read('xlsx', await sheet(value, '0.5'))).shape).toEqual(['n: double'])
    }
    // The second number is no double, so this program writes all digits.
    const { values } = await bench.read('xlsx', await sheet('9007199254740992', '9007199254740993'))
    expect(values.flat()).toEqual(['9007199254740992', '9007199254740993'])
    const kept = ['9007199254740991', '123456789012345000']
    expect((await bench.read('xlsx', await sheet(...kept))).values.flat()).toEqual(kept)
  })

  test('a number where bytes are due, and half a character', async () => {
    const rows = (cell: string) => `<row><c t="inlineStr"><is><t>a</t></is></c></row><row>${cell}</row>`
    const existing = [column('a', 'binary')]
    expect(await bench.refusal('xlsx', await raw(rows('<c><v>1234</v></c>')), { existing })).toBe(
      '400 invalid_upload: Row 1, column "a": "1234" is not a binary. Bytes are sent as text in base64.',
    )
    expect(await bench.refusal('xlsx', await raw(rows('<c t="inlineStr"><is><t>_xD800_</t></is></c>')))).toBe(
      '400 invalid_upload: Sheet row 2, column 1: the text holds half a character.',
    )
  })

  test('the sheet that is asked for', async () => {
    const file = await workbook((first, book) => {
      first.addRow(['a'])
      first.addRow([1])
      const second = book.addWorksheet('Größe & "more"')
      second.addRow(['z'])
      second.addRow([9])
      book.addWorksheet('empty')
    })
    const sheet = 'Größe & "more"'
    expect((await bench.read('xlsx', file)).values).toEqual([['1']])
    expect((await bench.read('xlsx', file, { options: { sheet } })).values).toEqual([['9']])
    expect(await bench.refusal('xlsx', file, { options: { sheet: 'First' } })).toBe(
      '400 invalid_upload: The workbook has no sheet "First"; it has "first", "Größe & \\"more\\"", "empty".',
    )
    expect(await bench.refusal('xlsx', file, { options: { sheet: 'empty' } })).toMatch(
      /^400 invalid_upload: The sheet "empty" is empty: /,
    )
    const behind = await workbook((_, book) => book.addWorksheet('second').addRow(['z']))
    expect(await bench.refusal('xlsx', behind)).toMatch(
      /: The first sheet is empty, and sheet= does not say which of "first", "second" to read: /,
    )
  })

  test('ten thousand rows with shared strings', async () => {
    const file = await workbook((sheet) => {
      sheet.addRow(['i', 's'])
      for (let i = 0; i < 10_000; i++) sheet.addRow([i, `text ${i % 100} é`])
    })
    const { rows, values } = await bench.read('xlsx', file)
    expect(rows).toBe(10_000)
    expect(values.every(([i, s], at) => i === String(at) && s === `text ${at % 100} é`)).toBe(true)
  })
})
