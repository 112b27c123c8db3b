import { describe, expect, test } from 'vitest'
import { declared, useBench } from './support/helper.ts'

const bench = useBench()
const AUTO = { options: { dialect: 'auto' } } as const

/** A csv file whose first 1,500 rows are `first`, and after them `later`. */
const file = (header: string, first: string, later: readonly string[]) =>
  `${header}\n${`${first}\n`.repeat(1500)}${later.map((line) => `${line}\n`).join('')}`

async function read(header: string, first: string, later: readonly string[]) {
  const { shape, values, reasons } = await bench.read('csv', file(header, first, later), AUTO)
  return { shape, later: values.slice(1500), first: values[0], reasons }
}

describe('values below the sample are read only with evidence', () => {
  test('whole numbers, then a point with three digits after it', async () => {
    const { shape, later, reasons } = await read('a,b', '12,x', ['2.500,x', '13,x'])
    expect(shape).toEqual(['a: string', 'b: string'])
    expect(later).toEqual([
      ['2.500', 'x'],
      ['13', 'x'],
    ])
    expect(reasons?.[0]).toEqual({ row: 1501, value: '2.500', try: 'decimal=,&thousands=.', or: 'decimal=.' })
  })

  test('a round number of thousands is no evidence either', async () => {
    expect((await read('a,b', '12,x', ['2.000,x'])).shape).toEqual(['a: string', 'b: string'])
  })

  test('versions in another column, which stay text, do not show what the point is for', async () => {
    const lines = Array.from({ length: 1500 }, (_, row) => `12;5.${row % 2 === 0 ? 9 : 10}\n`).join('')
    const { shape, values } = await bench.read('csv', `a;b\n${lines}2.500;5.9\n`, AUTO)
    expect(shape).toEqual(['a: string', 'b: string'])
    expect(values[1500]).toEqual(['2.500', '5.9'])
  })

  test.each([
    ['in the column', 'a,b', '12,x', ['2.500,x', '3.75,x']],
    ['in another column', 'a,b', '12,7', ['2.500,8', '3,0.125']],
    ['in the sample', 'a,b', '12,1.5', ['2.500,8.5']],
  ])('other decimals show what the point is for: %s', async (_, header, first, later) => {
    const { shape, later: values } = await read(header, first, later)
    expect(shape[0]).toBe('a: double')
    expect(values[0]![0]).toBe('2.5')
  })

  test('numbers with spaces around them, then a point with three digits after it', async () => {
    const { shape, later, reasons } = await read('a,b', ' 12,x', [' 2.500,x'])
    expect([shape[0], later]).toEqual(['a: string', [[' 2.500', 'x']]])
    expect(reasons?.[0]).toMatchObject({ row: 1501, try: 'decimal=,&thousands=.', or: 'decimal=.' })
    expect((await read('a,b', ' 12,x', ['7,x', ' 3.75,x'])).later).toEqual([
      ['7.0', 'x'],
      ['3.75', 'x'],
    ])
  })

  test('whole numbers, then a code with an E', async () => {
    const { shape, later, reasons } = await read('a,b', '12,x', ['12e4,x'])
    expect([shape[0], later]).toEqual(['a: string', [['12e4', 'x']]])
    expect(reasons?.[0]).toEqual({ row: 1501, value: '12e4', try: 'decimal=.' })
    expect((await read('a,b', '1.5,x', ['12e4,x'])).later).toEqual([['120000.0', 'x']])
  })

  test('an option says what the point is for', async () => {
    const { shape } = await bench.read('csv', file('a,b', '12,x', ['2.500,x']), {
      options: { dialect: 'auto', decimal: '.' },
    })
    expect(shape[0]).toBe('a: double')
    expect((await bench.read('csv', file('a,b', '12,x', ['2.500,x']))).shape[0]).toBe('a: double')
  })

  test('a column that is declared as one of numbers is an error with row, column and options', async () => {
    for (const type of ['double', 'decimal(12,3)'] as const) {
      const given = { ...AUTO, declared: declared({ a: type }) }
      expect(await bench.refusal('csv', file('a,b', '12,x', ['2.500,x']), given)).toBe(
        '400 invalid_upload: Row 1501, column "a": "2.500" may mean several things. Add decimal=,&thousands=. or decimal=. to say which.',
      )
      expect(
        (await bench.read('csv', file('a,b', '12,x', ['2.500,x', '0.5,x']), given)).values.at(-2),
      ).toEqual([type === 'double' ? '2.5' : '2.500', 'x'])
    }
  })

  test('a symbol before such a number does not say what its point is for', async () => {
    const { shape, later } = await read('a,b', '€12,x', ['€2.500,x'])
    expect(shape[0]).toBe('a: string')
    expect(later[0]![0]).toBe('€2.500')
  })

  test('words for nothing of such a column stay', async () => {
    const { shape, later } = await read('a,b', 'NA,x\n12,x', ['2.500,x', 'NA,x'])
    expect(shape[0]).toBe('a: string')
    expect(later.slice(-2).map(([a]) => a)).toEqual(['2.500', 'NA'])
  })

  test('whole numbers, then a comma with three digits after it, which another column has between thousands', async () => {
    const lists = await read('a,b', '101,"1,234.5"', ['"101,102","1,234.5"', '"103,104","1,234.5"'])
    expect(lists.shape).toEqual(['a: string', 'b: double'])
    expect(lists.later.map(([a]) => a)).toEqual(['101,102', '103,104'])
    expect(lists.reasons?.[0]).toMatchObject({ row: 1501, value: '101,102' })
    const numbers = await read('a,b', '101,"1,234.5"', ['"1,102","1,234.5"', '-5,"1,234.5"'])
    expect(numbers.shape).toEqual(['a: integer', 'b: double'])
    expect(numbers.later[0]![0]).toBe('1102')
  })

  test('whole numbers, then decimal commas', async () => {
    const prices = await read('a;b', '12;1.234,50', ['2,5;1', '0,25;2'])
    expect(prices.shape).toEqual(['a: double', 'b: double'])
    expect(prices.later.map(([a]) => a)).toEqual(['2.5', '0.25'])
    const pairs = await read('a;b', '12;1.234,50', ['1,2;1', '3,4;2', '4,5;2'])
    expect(pairs.shape).toEqual(['a: string', 'b: double'])
    expect(pairs.later.map(([a]) => a)).toEqual(['1,2', '3,4', '4,5'])
  })

  test('ISO dates, then days in the form of another column', async () => {
    const { shape, later, reasons } = await read('a;b', '2024-01-05;31/12/2024', ['01/02/2024;01/02/2024'])
    expect(shape).toEqual(['a: string', 'b: date'])
    expect(later).toEqual([['01/02/2024', '2024-02-01']])
    expect(reasons?.[0]).toMatchObject({ row: 1501, value: '01/02/2024', try: 'dates=D/M/YYYY' })
    const shown = await read('a;b', '2024-01-05;31/12/2024', ['01/02/2024;01/02/2024', '31/01/2024;'])
    expect(shown.shape).toEqual(['a: date', 'b: date'])
    const given = { ...AUTO, declared: declared({ a: 'date' }) }
    const content = file('a;b', '2024-01-05;31/12/2024', ['01/02/2024;01/02/2024'])
    expect(await bench.refusal('csv', content, given)).toMatch(
      /^400 invalid_upload: Row 1501, column "a": "01\/02\/2024" may mean several things. Add dates=D\/M\/YYYY or /,
    )
  })

  test('words for nothing count in columns of numbers only', async () => {
    const { shape, later } = await read('a,b,c', '1,NA,x\n1,7,x', ['NA,2,NA', '2,3,y'])
    expect(shape).toEqual(['a: integer', 'b: integer', 'c: string'])
    expect(later.slice(-2)).toEqual([
      [null, '2', 'NA'],
      ['2', '3', 'y'],
    ])
    const late = await read('a,c', '1,x', ['NA,NA', '2,y'])
    expect(late.shape).toEqual(['a: string', 'c: string'])
    expect(late.reasons?.[0]).toEqual({ row: 1501, value: 'NA', above: 'integer', try: 'nulls=NA' })
  })

  test('a column that is empty in the sample, then a name that is also one for no number', async () => {
    expect((await read('a,b', ',x', ['Nan,x'])).shape).toEqual(['a: string', 'b: string'])
    expect((await read('a,b', '1.5,x', ['NaN,x'])).shape).toEqual(['a: double', 'b: string'])
  })
})
