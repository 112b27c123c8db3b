import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useBench } from './support/helper.ts'
import { zipOf } from './support/zips.ts'

const bench = useBench()
const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name))
/** What xlrd reads in values.xls, of which two of the fixtures were made. */
const XLS = JSON.parse(fixture('values-xls.json').toString()) as (string | null)[][]
const MIMETYPE = 'application/vnd.oasis.opendocument.spreadsheet'

/** A spreadsheet of one sheet with these rows. */
const written = (rows: string, more: Record<string, string> = {}) =>
  zipOf({
    mimetype: MIMETYPE,
    'content.xml': `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:calcext="c"><office:body>
<office:spreadsheet><table:table table:name="s">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
    ...more,
  })
const row = (cells: string, more = '') => `<table:table-row${more}>${cells}</table:table-row>`
const text = (value: string, more = '') =>
  `<table:table-cell office:value-type="string"${more}><text:p>${value}</text:p></table:table-cell>`
const cell = (type: string, attribute: string, value: string, more = '') =>
  `<table:table-cell office:value-type="${type}" office:${attribute}="${value}"${more}/>`
const column = (...cells: string[]) => written(row(text('a')) + cells.map((one) => row(one)).join(''))

describe('an OpenDocument spreadsheet', () => {
  test.each([
    'libreoffice',
    'gnumeric',
  ])('that %s wrote has the values of the workbook of which it is made', async (program) => {
    const { shape, values, sheet, sheets } = await bench.read('ods', fixture(`values-${program}.ods`))
    expect([sheet, sheets]).toEqual(['prices', ['hidden', 'prices', 'second']])
    expect(shape.slice(0, 6)).toEqual([
      ...['id: integer', 'price: double', 'name: string', 'day: date', 'moment: timestamp', 'clock: time'],
    ])
    // LibreOffice makes numbers of the booleans of xls, and durations have a type of their own: here they are days.
    const same = [0, 2, 3, 4, 5, 7, 9]
    expect(values.map((line) => same.map((at) => line[at]))).toEqual(
      XLS.map((line) => same.map((at) => line[at])),
    )
    expect(values.map((line) => line[1] && Number(line[1]).toFixed(9))).toEqual(
      XLS.map((line) => line[1] && Number(line[1]).toFixed(9)),
    )
    expect(values.map((line) => line[8])).toEqual(
      XLS.map((line) => `${String(Number(line[8]!.slice(2, -1)) / 3600).padStart(2, '0')}:00:00`),
    )
  })

  test.each(['pandas', 'pyexcel'])('that %s wrote has its values', async (program) => {
    const { shape, values } = await bench.read('ods', fixture(`${program}.ods`))
    const isPandas = program === 'pandas'
    const price = ['0.1', '1.5', null, '1e-07', '123456789.125', '-2.0', '3.3']
    const name = ['é', 'a  b', '007', 'tab\there', 'two\nlines', '<&>"', '2024-01-01']
    expect(shape).toEqual([
      ...['id: integer', ...(isPandas ? ['price: double'] : []), 'name: string', 'day: date'],
      ...['moment: timestamp', 'yes: boolean'],
    ])
    expect(values).toEqual(
      name.map((_, at) => [
        ...[String(at + 1), ...(isPandas ? [price[at]] : []), name[at], `${1850 + 17 * at}-02-28`],
        `2024-03-10 02:30:0${at}${isPandas && at % 2 === 1 ? '.123' : ''}`,
        String(at % 2 === 0),
      ]),
    )
  })

  test('has the stored values of formulas, merged cells, comments, and rows without a value', async () => {
    const { shape, values } = await bench.read('ods', fixture('libreoffice.ods'))
    expect(shape).toEqual([
      ...['n: double', 's: string', 't: time', 'd: date', 'm: string', 'b: boolean', 'long: double'],
      ...['merged: integer', 'below: double'],
    ])
    const nulls = (count: number) => Array.from({ length: count }, () => null)
    expect(values).toEqual([
      ...[
        [
          '0.333333333333333',
          'ab',
          '23:59:01',
          '2024-02-29',
          '2024-03-10T02:30:01',
          'true',
          '1.25',
          '7',
          null,
        ],
      ],
      [
        '1.18059162071741e+21',
        'a   bcd\ne f',
        '00:00:00',
        '1850-01-02',
        '45000.123456789',
        'false',
        null,
        null,
        '0.1',
      ],
      ...Array.from({ length: 3 }, () => ['5.0', 'same', ...nulls(7)]),
      ...[nulls(9), nulls(9), [null, '', ...nulls(7)]],
    ])
    expect(await bench.refusal('ods', fixture('libreoffice.ods'), { options: { sheet: 'errors' } })).toBe(
      '400 invalid_upload: Row 1, column "b": the formula ended in #DIV/0! (cell B2).',
    )
  })

  test('has values without a text, spaces, tabs and line ends, and times to the microsecond', async () => {
    const file = await column(
      cell('percentage', 'value', '0.125'),
      cell('currency', 'value', '2'),
      cell('float', 'value', '1E-7'),
    )
    const numbers = await bench.read('ods', file)
    expect(numbers.values).toEqual([['0.125'], ['2.0'], ['1e-07']])
    expect(numbers.warnings).toEqual([expect.stringContaining('12.5% is 0.125')])
    const amount = (code: string) => cell('currency', 'value', '2', ` office:currency="${code}"`)
    const several = await bench.read('ods', await column(amount('EUR'), amount('USD'), amount('EUR')))
    expect(several.warnings).toEqual([expect.stringContaining('several currencies, of which only')])
    expect((await bench.read('ods', await column(amount('EUR'), amount('EUR')))).warnings).toBeUndefined()
    const spaced = await column(text('a<text:s text:c="2"/>b<text:s/><text:tab/>c<text:line-break/>d'))
    expect((await bench.read('ods', spaced)).values).toEqual([['a  b \tc\nd']])
    const moments = ['2024-01-01T10:59:59.9999999', '2024-01-01', '2024-01-02T00:00:00.25']
    const read = await bench.read(
      'ods',
      await column(...moments.map((one) => cell('date', 'date-value', one))),
    )
    expect(read.values.flat()).toEqual([
      '2024-01-01 11:00:00',
      '2024-01-01 00:00:00',
      '2024-01-02 00:00:00.25',
    ])
    const times = ['PT00H00M01.5S', 'PT23H59M59.9999996S', '-PT90M', 'PT1S']
    expect(
      (
        await bench.read('ods', await column(...times.map((one) => cell('time', 'time-value', one))))
      ).values.flat(),
    ).toEqual(['00:00:01.5', '24:00:00', '-01:30:00', '00:00:01'])
  })

  test('has its table found by dialect=auto', async () => {
    const numbers = cell('float', 'value', '1') + cell('float', 'value', '2')
    const file = await written(
      row(text('Prices of the year')) +
        row('<table:table-cell/>') +
        row(text('a') + text('b')) +
        row(numbers),
    )
    const { values, options } = await bench.read('ods', file, { options: { dialect: 'auto' } })
    expect([values, options]).toEqual([[['1', '2']], { skip: 2 }])
  })
})

describe('repeated rows and cells of an OpenDocument spreadsheet', () => {
  test('are as many values, and none where they only pad the sheet', async () => {
    const padding = '<table:table-cell table:number-columns-repeated="16382"/>'
    const file = await written(
      row(text('a') + text('b') + padding) +
        row(
          cell('float', 'value', '7', ' table:number-columns-repeated="2"') + padding,
          ' table:number-rows-repeated="3"',
        ) +
        row(
          '<table:table-cell table:number-columns-repeated="16384"/>',
          ' table:number-rows-repeated="1048572"',
        ),
    )
    expect((await bench.read('ods', file)).values).toEqual([
      ['7', '7'],
      ['7', '7'],
      ['7', '7'],
    ])
  })

  test('make no huge table of a small file', async () => {
    const most = ' table:number-columns-repeated="16384"'
    const wide = row(text('a', most))
    const rows = row(text('a', most), ' table:number-rows-repeated="1048575"')
    const names = { options: { names: 'number' } } as const
    expect(await bench.refusal('ods', await written(wide + rows), names)).toContain(
      '413 upload_too_large: The sheet repeats its cells too often',
    )
    const beyond = row(text('a'), ' table:number-rows-repeated="1048577"')
    expect(await bench.refusal('ods', await written(beyond))).toContain('more than 1048576 rows')
    const negative = row(text('a'), ' table:number-rows-repeated="-1"')
    expect(await bench.refusal('ods', await written(negative))).toContain('number-rows-repeated is "-1"')
  })
})

describe('an OpenDocument spreadsheet is refused', () => {
  test('where a formula has no value, with its cell', async () => {
    const formula = '<table:table-cell table:formula="of:=1+1"/>'
    expect(await bench.refusal('ods', await column(text('x'), formula))).toContain(
      'Row 2, column "a": the formula has no value, because no program has calculated it',
    )
  })

  test.each([
    [cell('float', 'value', 'x'), '"x" is not a number'],
    [cell('float', 'value', ''), '"" is not a number'],
    [cell('time', 'time-value', '12:00'), '"12:00" is not a time'],
    [cell('date', 'date-value', 'today'), '"today" is not a value of its type'],
    [cell('boolean', 'boolean-value', '2'), '"2" is not a value of its type'],
  ])('with the cell %s', async (one, says) => {
    expect(await bench.refusal('ods', await column(one))).toBe(
      `400 invalid_upload: Sheet row 2, column 1: ${says}.`,
    )
  })

  test('where it is protected by a password, empty, or no spreadsheet', async () => {
    const manifest = '<manifest:manifest xmlns:manifest="m"><manifest:encryption-data/></manifest:manifest>'
    const locked = { 'META-INF/manifest.xml': manifest }
    expect(await bench.refusal('ods', await written('', locked))).toContain('protected by a password')
    const later = { mimetype: MIMETYPE, 'encrypted-package': '', ...locked }
    expect(await bench.refusal('xlsx', await zipOf(later))).toContain('protected by a password')
    expect(await bench.refusal('ods', await written(''))).toContain('The first sheet is empty')
    const letter = '<d><body><text><table table:name="t"/></text></body></d>'
    const other = await zipOf({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': letter })
    expect(await bench.refusal('ods', other)).toContain('The workbook has no worksheet.')
    expect(await bench.refusal('csv', fixture('pandas.ods'))).toContain(
      'an OpenDocument spreadsheet (ods): send it as ods',
    )
  })
})

test('what is called xlsx or zip and is ods is read as such', async () => {
  for (const format of ['xlsx', 'xls', 'zip'] as const)
    expect((await bench.read(format, fixture('pandas.ods'))).rows).toBe(7)
})
