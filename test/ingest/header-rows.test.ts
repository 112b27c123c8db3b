import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { useBench } from './support/helper.ts'

const bench = useBench()
const { utils, write } = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx')

const YEARS = ['Region', '2023 Q1', '2023 Q2', '2024 Q1', '2024 Q2']
const AUTO = { options: { dialect: 'auto' } } as const
const namesOf = (shape: readonly string[]) => shape.map((one) => one.replace(/: \S+$/, ''))

describe('a header of several rows', () => {
  test.each<[string, string, string[], object?]>([
    ['years over quarters', 'Region,2023,,2024,\n,Q1,Q2,Q1,Q2\nN,1,2,3,4\nS,5,6,7,8\n', YEARS],
    [
      'below a title',
      'Sales\nRegion,2023,,2024,\n,Q1,Q2,Q1,Q2\nN,1,2,3,4\n\nSource: us, May\n',
      YEARS,
      { skip: 1, footer: 1 },
    ],
    [
      'below a title that fills its row',
      'Sales,,,,\n\nRegion,2023,,2024,\n,Q1,Q2,Q1,Q2\nN,1,2,3,4\n',
      YEARS,
      { skip: 2 },
    ],
    ['with groups that are repeated', 'Region,2023,2023,2024,2024\n,Q1,Q2,Q1,Q2\nN,1,2,3,4\n', YEARS],
    [
      'with years below',
      'R;Pop;;GDP;\n;2020;2021;2020;2021\nN;1;2;3,5;4\n',
      ['R', 'Pop 2020', 'Pop 2021', 'GDP 2020', 'GDP 2021'],
      { delimiter: ';', decimal: ',' },
    ],
    [
      'of three rows',
      ',DE,,FR,\n,2023,2024,2023,2024\nk,a,a,a,a\nx,1,2,3,4\n',
      ['k', 'DE 2023 a', 'DE 2024 a', 'FR 2023 a', 'FR 2024 a'],
      { headerRows: 3 },
    ],
    [
      'with an empty column',
      'k,A,,,B,\n,x,y,,x,y\nr,1,2,,3,4\n',
      ['k', 'A x', 'A y', 'column_4', 'B x', 'B y'],
      { names: 'number' },
    ],
  ])('is found by dialect=auto: %s', async (_, text, names, others = {}) => {
    const { shape, options, why } = await bench.read('csv', text, AUTO)
    expect([namesOf(shape), options]).toEqual([names, { headerRows: 2, ...others }])
    expect(why).toContainEqual({ option: 'headerRows', row: 0, value: expect.stringMatching(/[A-Z]/) })
  })

  test.each([
    ['name,name,score\nAda,Bob,\nCid,Dan,3\n', 2],
    ['city,,pop,area\nBonn,NRW,,n.a.\nKyiv,UA,5,6\n', 2],
    ['city,,pop,area\nBonn,NRW,,unknown\nKyiv,UA,5,6\n', 2],
    [',figures,\nregion,sales,cost\nN,1,2\nS,3,4\n', 2],
  ])('is no header above one that names all columns, nor a row: %j', async (text, rows) => {
    const { values, options } = await bench.read('csv', text, AUTO)
    expect([values.length, options?.headerRows]).toEqual([rows, undefined])
  })

  test('is read as headerRows says', async () => {
    const text = 'Name,Address,,Age\n,Street,City,\nAda,Main St,Bonn,36\n'
    const { shape, values } = await bench.read('csv', text, { options: { headerRows: 2 } })
    expect(shape).toEqual(['Name: string', 'Address Street: string', 'Address City: string', 'Age: integer'])
    expect(values).toEqual([['Ada', 'Main St', 'Bonn', '36']])
    const both = await bench.read('csv', text, { options: { headerRows: 2, dialect: 'auto' } })
    expect([both.shape, both.options]).toEqual([shape, { headerRows: 2 }])
    expect(await bench.refusal('csv', 'a,b\n', { options: { headerRows: 2 } })).toBe(
      '400 invalid_upload: The file has fewer rows than the 2 of headerRows.',
    )
    expect(await bench.refusal('csv', 'Region,2023,\n,Q1,Q2\nN,1,2\nS,3,4\n')).toContain(
      'dialect=auto would read the file (headerRows=2).',
    )
  })

  test.each([
    'xlsx',
    'xls',
    'xlsb',
    'ods',
  ] as const)('of merged cells over text alone is read in %s', async (bookType) => {
    const rows = [
      ['Person', null, 'Address', null],
      ['First', 'Last', 'Street', 'Town'],
      ['Ada', 'L', 'Way 1', 'Ulm'],
    ]
    const fileOf = (ranges: readonly string[]): Buffer => {
      const sheet = utils.aoa_to_sheet(rows)
      sheet['!merges'] = ranges.map((range) => utils.decode_range(range))
      const book = utils.book_new()
      utils.book_append_sheet(book, sheet, 'first')
      return write(book, { bookType, type: 'buffer' })
    }
    const { shape, options, why } = await bench.read(bookType, fileOf(['A1:B1', 'C1:D1']), AUTO)
    const names = ['Person First', 'Person Last', 'Address Street', 'Address Town']
    expect([namesOf(shape), options]).toEqual([names, { headerRows: 2 }])
    expect(why).toEqual([{ option: 'headerRows', row: 0, value: names.join() }])
    // Rows below the header may have merged cells, too.
    const { options: others } = await bench.read(bookType, fileOf(['A3:B3']), AUTO)
    expect(others).toEqual({ names: 'number' })
  })

  test.each([
    'xlsx',
    'xls',
    'xlsb',
    'ods',
  ] as const)('is above merged cells, which are named, in %s', async (bookType) => {
    const rows = [
      ['Region', null, 'Sales'],
      ['Name', 'Town', 'Q1'],
      ['North', 'Ulm', 1],
      [null, 'Bonn', null],
      [null, 'Kiel', 3],
      ['Source: a note'],
    ]
    const sheet = utils.aoa_to_sheet(rows)
    const read = (ranges: readonly string[], skip: number) => {
      sheet['!merges'] = ranges.map((range) => utils.decode_range(range))
      const book = utils.book_new()
      utils.book_append_sheet(book, sheet, 'first')
      const file: Buffer = write(book, { bookType, type: 'buffer' })
      return bench.read(bookType, file, { options: { skip, footer: 1 } })
    }
    const { values, warnings } = await read(['A1:B1', 'A3:A5', 'B4:C4', 'A6:C6'], 1)
    expect(values).toEqual([
      ['North', 'Ulm', '1'],
      [null, 'Bonn', null],
      [null, 'Kiel', '3'],
    ])
    expect(warnings).toEqual([
      'Of merged cells, the first has the value, and the others are null: A3:A5, B4:C4. If each of them should have it, ' +
        'unmerge and fill them in a spreadsheet program, and upload that.',
    ])
    expect((await read(['A1:B1', 'A6:C6', 'B9:B12'], 1)).warnings).toBeUndefined()
  })

  test.each(['xlsx', 'xls', 'xlsb', 'ods'] as const)('of merged cells is read in %s', async (bookType) => {
    const rows = [
      ['Sales'],
      [],
      ['Region', 2023, null, 2024],
      [null, 'Q1', 'Q2', 'Q1', 'Q2'],
      ['N', 1, 2, 3, 4],
      ['S', 5, 'NA', 7, 8],
    ]
    const sheet = utils.aoa_to_sheet(rows)
    sheet['!merges'] = ['A3:A4', 'B3:C3', 'D3:E3'].map((range) => utils.decode_range(range))
    const book = utils.book_new()
    utils.book_append_sheet(book, sheet, 'first')
    const file: Buffer = write(book, { bookType, type: 'buffer' })
    const { shape, values, options, why } = await bench.read(bookType, file, AUTO)
    expect([namesOf(shape), values]).toEqual([
      YEARS,
      [
        ['N', '1', '2', '3', '4'],
        ['S', '5', null, '7', '8'],
      ],
    ])
    expect(options).toEqual({ skip: 2, headerRows: 2, nulls: ['NA'], textNulls: 'keep' })
    expect(why).toContainEqual({ option: 'nulls', row: 2, value: 'NA' })
    const given = { options: { skip: 2, headerRows: 2, nulls: ['NA'] } }
    expect((await bench.read(bookType, file, given)).shape).toEqual(shape)
    expect(await bench.refusal(bookType, file, { options: { skip: 5, headerRows: 2 } })).toContain(
      'fewer rows than the 2 of headerRows',
    )
  })
})
