import { buffer } from 'node:stream/consumers'
import ExcelJS from 'exceljs'
import { describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { styleOfFormat } from '../../engine/ingest/xlsx/book.ts'
import { serialMoment } from '../../engine/ingest/xlsx/moments.ts'
import { column, useBench } from './support/helper.ts'

const bench = useBench()

async function workbook(
  fill: (sheet: ExcelJS.Worksheet, book: ExcelJS.Workbook) => void,
): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook()
  fill(book.addWorksheet('first'), book)
  return new Uint8Array(await book.xlsx.writeBuffer())
}

/** A workbook of one sheet, whose rows are the XML as some other program writes it; `before` are sheets without rows. */
async function raw(rows: string, name = 'a', before: { id: string; type: string }[] = []): Promise<Buffer> {
  const zip = new ZipFile()
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="http://x/${type}" Target="${target}"/>`
  const relations = (...all: readonly string[]) =>
    Buffer.from(`<Relationships>${all.join('')}</Relationships>`)
  const sheets = [
    ...before.map(({ id }) => `<sheet name="${id}" id="${id}"/>`),
    `<sheet name="${name}" id="r"/>`,
  ]
  zip.addBuffer(relations(relation('r', 'officeDocument', 'xl/workbook.xml')), '_rels/.rels')
  zip.addBuffer(
    relations(
      relation('r', 'worksheet', 'sheet.xml'),
      ...before.flatMap(({ id, type }) => (type === '' ? [] : [relation(id, type, `${id}.xml`)])),
    ),
    'xl/_rels/workbook.xml.rels',
  )
  zip.addBuffer(Buffer.from(`<workbook><sheets>${sheets.join('')}</sheets></workbook>`), 'xl/workbook.xml')
  zip.addBuffer(Buffer.from(`<worksheet><sheetData>${rows}</sheetData></worksheet>`), 'xl/sheet.xml')
  zip.end()
  return buffer(zip.outputStream)
}

describe('xlsx', () => {
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

describe('xlsx that is refused', () => {
  test.each<[string, (sheet: ExcelJS.Worksheet) => void, string]>([
    [
      'an empty sheet',
      () => {},
      'The first sheet is empty: its first row has to be a header with the names of the columns.',
    ],
    ['a header with a gap', (sheet) => sheet.addRow(['a', null, 'c']), 'Column 2 has no name.'],
    [
      'a value beyond the header',
      (sheet) => {
        sheet.addRow(['a'])
        sheet.addRow([1, 2])
      },
      'Sheet row 2 has a value in column 2, but the header has 1 names.',
    ],
    [
      'a formula that failed',
      (sheet) => {
        sheet.addRow(['a'])
        sheet.addRow([{ formula: '1/0', result: { error: '#DIV/0!' } }])
      },
      'Sheet row 2, column 1: the formula ended in #DIV/0!.',
    ],
    [
      'a formula that nobody has calculated, as openpyxl writes it',
      (sheet) => {
        sheet.addRow(['a', 'b'])
        sheet.addRow([1, { formula: 'A2*2' }])
      },
      'Sheet row 2, column 2: the formula has no value, because no program has calculated it; open the workbook in ' +
        'one and save it.',
    ],
  ])('%s', async (_, fill, message) => {
    expect(await bench.refusal('xlsx', await workbook(fill))).toBe(`400 invalid_upload: ${message}`)
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

test.each([
  ['General', 'number'],
  ['0.00', 'number'],
  ['#,##0 "days"', 'number'],
  ['[Red]0.0', 'number'],
  ['[h]:mm', 'number'],
  ['yyyy-mm-dd', 'date'],
  ['d. mmm', 'date'],
  ['mmm', 'date'],
  ['[$-409]m/d/yy h:mm AM/PM;@', 'timestamp'],
  ['yyyy-mm-dd hh:mm:ss"Z"', 'zoned'],
  ['h:mm', 'time'],
  ['mm:ss.0', 'time'],
])('the number format %s shows a %s', (code, style) => {
  expect(styleOfFormat(code)).toBe(style)
})

test.each([
  ['43890', 'date', '2020-02-29'],
  ['43890.5', 'date', '2020-02-29T12:00:00'],
  ['43890', 'timestamp', '2020-02-29T00:00:00'],
  ['1', 'date', '1900-01-01'],
  ['59', 'date', '1900-02-28'],
  ['60', 'date', undefined],
  ['61', 'date', '1900-03-01'],
  ['2958465', 'date', '9999-12-31'],
  ['2958466', 'date', undefined],
  ['-1', 'date', undefined],
  ['0.25', 'time', '06:00:00'],
  // 15 digits, as many programs write: some microseconds beside 10:00:00.
  ['45000.4166666667', 'timestamp', '2023-03-15T10:00:00'],
  ['45000.000000005', 'timestamp', '2023-03-15T00:00:00.000432'],
  ['2958465.9999999884', 'timestamp', '9999-12-31T23:59:59.999'],
  ['0.99999999998843', 'time', '23:59:59.999999'],
  ['45000.999999999999', 'timestamp', '2023-03-16T00:00:00'],
  // As openpyxl and XlsxWriter write a second of the year 9242.
  ['2681968.058055555', 'timestamp', '9242-12-22T01:23:36'],
  // The same, where the sixteenth digit is a zero, which is not written.
  ['2958339.2851561', 'timestamp', '9999-08-27T06:50:37.487'],
  ['2958421.31369213', 'timestamp', '9999-11-17T07:31:43'],
  // Nearer to a whole second than its digits tell, but rounded to the microsecond before.
  ['12785.10100418982', 'timestamp', '1935-01-01T02:25:26.762'],
  ['45000.41666667824', 'timestamp', '2023-03-15T10:00:00.001'],
] as const)('the number %s as %s is %s', (digits, style, text) => {
  expect(serialMoment(digits, style, false)?.text).toBe(text)
})

test('days from 1904', () => {
  expect(serialMoment('0', 'date', true)?.text).toBe('1904-01-01')
  expect(serialMoment('42428', 'date', true)?.text).toBe('2020-02-29')
})
