import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useBench } from './support/helper.ts'
import { workbook } from './xlsx/workbooks.ts'

const bench = useBench()
const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name))
const { utils, write } = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx')

/** A workbook of these rows as SheetJS writes it. */
function written(bookType: 'xls' | 'xlsb' | 'xlml', rows: unknown[][]): Buffer {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'first')
  return write(book, { bookType, type: 'buffer' })
}

const SHAPE = [
  ...['id: integer', 'price: double', 'name: string', 'day: date', 'moment: timestamp', 'clock: time'],
  ...['yes: boolean', 'share: double', 'length: string', 'big: integer'],
]

/** A sheet in XML as Excel 2003 writes it. */
const xml = (rows: string) => `<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="d"><NumberFormat ss:Format="yyyy\\-mm\\-dd"/></Style></Styles>
<Worksheet ss:Name="A"><Table>${rows}</Table></Worksheet></Workbook>`
const cell = (type: string, value: string, more = '') =>
  `<Cell${more}><Data ss:Type="${type}">${value}</Data></Cell>`

describe('a workbook of the format xls', () => {
  test('has the values that xlrd reads, in the first sheet that is not hidden', async () => {
    const { shape, values, sheet, sheets } = await bench.read('xls', fixture('values.xls'))
    expect([shape, sheet, sheets]).toEqual([SHAPE, 'prices', ['hidden', 'prices', 'second']])
    expect(values).toEqual(JSON.parse(fixture('values-xls.json').toString()))
  })

  test('is refused where its sectors follow each other without an end, be it only those of no stream', async () => {
    // [MS-CFB], 2.2 and 2.3: sectors of 512 bytes, and a table that says of each which one is the next.
    const file = Buffer.concat([fixture('values.xls'), Buffer.alloc(1024)])
    const table = 512 * (file.readInt32LE(76) + 1)
    const unused = file.length / 512 - 3
    expect(unused).toBeLessThan(127)
    const next = (sector: number, following: number) => file.writeInt32LE(following, table + 4 * sector)
    next(unused, unused + 1)
    next(unused + 1, -2)
    expect((await bench.read('xls', file)).values).toEqual(JSON.parse(fixture('values-xls.json').toString()))
    next(unused + 1, unused)
    expect(await bench.refusal('xls', file)).toBe(
      '400 invalid_upload: The workbook is damaged: its sectors follow each other without an end. Save it again.',
    )
  })

  test('is read from another sheet by its name', async () => {
    const second = await bench.read('xls', fixture('values.xls'), { options: { sheet: 'second' } })
    expect(second.values).toEqual([['7']])
    const other = await bench.refusal('xls', fixture('values.xls'), { options: { sheet: 'third' } })
    expect(other).toContain('has no sheet "third"; it has "hidden", "prices", "second"')
  })

  test('has its table found by dialect=auto, as in xlsx', async () => {
    const rows = [['Prices of the year'], [], ['a', 'b'], [1, 2], [3, 4], [], ['Source: us']]
    const { values, options } = await bench.read('xls', written('xls', rows), {
      options: { dialect: 'auto' },
    })
    expect([values, options]).toEqual([
      [
        ['1', '2'],
        ['3', '4'],
      ],
      { skip: 2, footer: 1 },
    ])
  })

  test('is refused with row and column where a formula ended in an error', async () => {
    const rows = [
      ['a', 'b'],
      [1, 2],
      [3, { t: 'e', v: 7 }],
      [4, { t: 'e', v: 42 }],
    ]
    expect(await bench.refusal('xls', written('xls', rows))).toBe(
      '400 invalid_upload: Row 2, column "b": the formula ended in #DIV/0! (cell B3).',
    )
    expect((await bench.read('xls', written('xls', [...rows.slice(0, 2), rows[3]!]))).values).toEqual([
      ['1', '2'],
      ['4', null],
    ])
  })

  test('is refused where it is damaged', async () => {
    const whole = fixture('values.xls')
    for (const length of [600, 3_000]) {
      expect(await bench.refusal('xls', whole.subarray(0, length))).toMatch(
        /^400 invalid_upload: The (?:workbook|first sheet)/,
      )
    }
  })
})

test('xlsb is read as xlsx is', async () => {
  const file = written('xlsb', [
    ['n', 's', 'y'],
    [1.5, '007', true],
    [2, 'é', false],
  ])
  const { shape, values } = await bench.read('xlsb', file)
  expect(shape).toEqual(['n: double', 's: string', 'y: boolean'])
  expect(values).toEqual([
    ['1.5', '007', 'true'],
    ['2.0', 'é', 'false'],
  ])
  expect(await bench.refusal('xlsb', file, { limits: { unpackedBytes: 2_000 } })).toContain(
    '413 upload_too_large',
  )
})

test('XML of Excel 2003 is read, whatever the zone of the server', async () => {
  const moment = cell('DateTime', '2024-03-10T02:30:00.000', ' ss:StyleID="d"')
  const rows = `<Row>${cell('String', 'n')}${cell('String', 'day')}</Row>
    <Row>${cell('Number', '1.5')}${moment}</Row>
    <Row>${cell('String', '007', ' ss:Index="2"')}</Row>`
  const { shape, values } = await bench.read('xls', xml(rows))
  expect(shape).toEqual(['n: double', 'day: string'])
  expect(values).toEqual([
    ['1.5', '2024-03-10T02:30:00'],
    [null, '007'],
  ])
})

test('formulas that no program has calculated are named, and those that make the empty text are not', async () => {
  const { values, warnings } = await bench.read('xls', fixture('uncalculated.xls'))
  expect(values).toEqual([
    ['1', null],
    ['2', null],
  ])
  expect(warnings).toEqual([expect.stringContaining('hold 0 or nothing until then: B2, B3. ')])
  const formula = (type: string, value: string) =>
    `<Cell ss:Formula="=IF(1,2)"><Data ss:Type="${type}">${value}</Data></Cell>`
  const row = (...cells: string[]) => `<Row>${cells.join('')}</Row>`
  const names = row(cell('String', 'a'), cell('String', 'b'))
  const some = xml(names + row(formula('Number', '5'), formula('String', '')))
  expect((await bench.read('xls', some)).warnings ?? []).toEqual([])
})

describe('what is called xls', () => {
  test('may be xlsx, xlsb, or text with tabs or commas', async () => {
    const book = await workbook((sheet) => {
      sheet.addRows([['n'], [7]])
    })
    expect((await bench.read('xls', book)).values).toEqual([['7']])
    expect((await bench.read('xlsx', fixture('values.xls'))).rows).toBe(7)
    expect((await bench.read('xls', 'a\tb\n1\tx,y\n')).values).toEqual([['1', 'x,y']])
    expect((await bench.read('xls', 'a,b\n1,2\n')).shape).toEqual(['a: integer', 'b: integer'])
    expect(await bench.refusal('xls', 'a,b\n', { options: { sheet: 'x' } })).toContain('the format is csv')
    expect(await bench.refusal('xls', book, { options: { decimal: ',' } })).toContain('the format is xlsx')
    const own = await bench.refusal('xls', fixture('values.xls'), { options: { decimal: ',' } })
    expect(own).toContain('decimal is for csv, tsv and html; the format is xls')
  })

  test('is refused where it is a page or locked', async () => {
    expect(await bench.refusal('xls', '<html><body>Sign in</body></html>')).toContain('a web page')
    expect(await bench.refusal('csv', fixture('values.xls'))).toContain(
      'of the old format xls: send it as xls',
    )
  })
})
