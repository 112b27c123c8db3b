import { describe, expect, it } from 'vitest'
import { column, useBench } from '../support/helper.ts'
import { workbook } from './workbooks.ts'

const bench = useBench()

const AUTO = { options: { dialect: 'auto' } } as const

const sheetOf = (...rows: readonly (readonly unknown[])[]) =>
  workbook((sheet) => {
    for (const row of rows) sheet.addRow([...row])
  })

/** Reads a sheet with `dialect=auto`. */
async function read(...rows: readonly (readonly unknown[])[]) {
  const { shape, values, options, why } = await bench.read('xlsx', await sheetOf(...rows), AUTO)
  return { shape, values, options, why }
}

const TABLE = [
  ['region', 'sales', 'day'],
  ['North', 1.5, new Date('2024-01-01')],
  ['South', 2.125, new Date('2024-01-02')],
]
const SHAPE = ['region: string', 'sales: double', 'day: date']
const VALUES = [
  ['North', '1.5', '2024-01-01'],
  ['South', '2.125', '2024-01-02'],
]

describe('dialect=auto in workbooks', () => {
  it('takes a plain sheet as it is', async () => {
    expect(await read(...TABLE)).toEqual({ shape: SHAPE, values: VALUES, options: {}, why: [] })
  })

  it.each([
    ['a title with a blank row below it', [['Sales by region'], []], 2],
    ['a title right above the header', [['Sales by region']], 1],
    ['several titles', [['Sales'], ['Source: office'], [], []], 4],
    ['a header of groups above the header', [['', 'figures']], 1],
  ])('leaves out %s', async (_, titles, skip) => {
    const { shape, values, options, why } = await read(...titles, ...TABLE)
    expect({ shape, values, options }).toEqual({ shape: SHAPE, values: VALUES, options: { skip } })
    expect(why).toEqual([{ option: 'skip', row: 0, value: expect.anything() }])
  })

  it('leaves out columns at the start that have neither a name nor a value', async () => {
    const moved = (rows: readonly (readonly unknown[])[]) => rows.map((row) => [null, null, ...row])
    const table = await read(...moved(TABLE))
    expect(table).toMatchObject({ shape: SHAPE, values: VALUES, options: { names: 'number' } })
    expect(table.why).toEqual([{ option: 'names', row: 0, value: ',,region,sales,day' }])
    const titled = await read(...moved([['Sales'], [], ['a', 'b'], [1, 2], [3, 4]]))
    expect(titled).toMatchObject({
      shape: ['a: integer', 'b: integer'],
      options: { skip: 2, names: 'number' },
    })
    expect((await read(['', 'a', 'b'], ['', 1, 2], ['x', 3, 4])).shape[0]).toBe('index: string')
  })

  it('joins the names of headers of two rows', async () => {
    const found = await read(['', 2023, '', 2024, ''], ['id', 'a', 'b', 'a', 'b'], [1, 2, 3, 4, 5])
    expect(found.options).toEqual({ headerRows: 2 })
    expect(found.shape).toEqual(
      ['id', '2023 a', '2023 b', '2024 a', '2024 b'].map((name) => `${name}: integer`),
    )
  })

  it.each([
    ['notes after a blank row', [[], ['preliminary'], ['see the annex']], 2],
    ['a note that says so', [['Source: office']], 1],
    ['totals that are sums', [['Total', 3.625]], 1],
    ['totals and notes', [['Total', 3.625], [], ['* preliminary']], 2],
  ])('leaves out %s', async (_, end, footer) => {
    const { shape, values, options, why } = await read(...TABLE, ...end)
    expect({ shape, values, options }).toEqual({ shape: SHAPE, values: VALUES, options: { footer } })
    expect(why).toEqual([{ option: 'footer', row: expect.any(Number), value: expect.anything() }])
  })

  it('keeps last rows that may be rows of the table', async () => {
    const { values, options } = await read(...TABLE, ['Total', 7], ['East'])
    expect(options).toEqual({})
    expect(values.slice(2)).toEqual([
      ['Total', '7.0', null],
      ['East', null, null],
    ])
  })

  it('leaves out notes below more rows than the sample', async () => {
    const rows = Array.from({ length: 1500 }, (_, at) => ['x', at])
    const { values, options } = await read(['k', 'n'], ...rows, [], ['Source: office'])
    expect(options).toEqual({ footer: 1 })
    expect([values.length, values.at(-1)]).toEqual([1500, ['x', '1499']])
  })

  it('chooses nothing that is given, and reads cells of text as text', async () => {
    const file = await sheetOf(['Title', 'x'], [], ['a', 'b'], ['2.500', '1,5'], ['01/02/2024', 'NA'])
    const { shape, options } = await bench.read('xlsx', file, { options: { dialect: 'auto', skip: 2 } })
    expect(options).toEqual({ skip: 2 })
    expect(shape).toEqual(['a: string', 'b: string'])
  })
})

it('footer leaves out the last rows of a sheet that have values', async () => {
  const file = await sheetOf(['a'], [1], [], [2], ['total'], [], ['note'], [])
  const { shape, values, warnings } = await bench.read('xlsx', file, { options: { footer: 2 } })
  expect([shape, values]).toEqual([['a: integer'], [['1'], [null], ['2']]])
  expect(warnings).toEqual([
    expect.stringContaining('counts rows that are not blank: the first that it leaves out is "total".'),
  ])
  expect(await bench.refusal('xlsx', file, { options: { footer: 9 } })).toContain(
    'fewer rows than the 9 of footer',
  )
})

it('a workbook that is read as it stands is told what would read it', async () => {
  const file = await sheetOf(['Sales by region'], [], ...TABLE, [], ['Source: office'])
  expect(await bench.refusal('xlsx', file)).toContain('dialect=auto would read the file (skip=2&footer=1).')
  const existing = [column('region', 'string'), column('sales', 'double'), column('day', 'date')]
  expect(await bench.refusal('xlsx', file, { existing })).toContain('dialect=auto would read the file')
  expect((await bench.read('xlsx', file, { ...AUTO, existing })).rows).toBe(2)
})
