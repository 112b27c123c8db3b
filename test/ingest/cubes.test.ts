import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { column, useBench } from './support/helper.ts'

const bench = useBench()
const LABELS = { options: { labels: true } } as const

const DATASET = {
  version: '2.0',
  class: 'dataset',
  label: 'Population by region',
  source: 'An office',
  id: ['region', 'time'],
  size: [2, 3],
  dimension: {
    region: { label: 'Region', category: { index: ['01', '02'], label: { '01': 'Nord', '02': 'Süd' } } },
    time: { category: { index: { '2022': 0, '2020': 2, '2021': 1 }, label: { '2022': '2022*' } } },
  },
  status: { 1: 'c' },
  value: [1.5, null, 3, 4, 0.1, -7],
}
const json = (changes: object = {}) => JSON.stringify({ ...DATASET, ...changes })
const SHAPE = ['region: string', 'time: string', 'value: double', 'status: string']

describe('a dataset of JSON-stat', () => {
  test('is a row for each cell, with codes or labels, and the digits of the file', async () => {
    const { shape, values, columns, metadata } = await bench.read('json', json().replace('1.5', '1.50'))
    expect(shape).toEqual(SHAPE)
    expect(values).toEqual([
      ['01', '2022', '1.5', null],
      ['01', '2021', null, 'c'],
      ['01', '2020', '3.0', null],
      ['02', '2022', '4.0', null],
      ['02', '2021', '0.1', null],
      ['02', '2020', '-7.0', null],
    ])
    expect([columns[0]!.title, metadata]).toEqual([
      'Region',
      { title: 'Population by region', source: 'An office' },
    ])
    const labelled = await bench.read('json', json(), LABELS)
    expect(labelled.values.map((row) => row.slice(0, 2).join())).toEqual([
      ...['Nord,2022*', 'Nord,2021', 'Nord,2020', 'Süd,2022*', 'Süd,2021', 'Süd,2020'],
    ])
    const long = json({ value: [1, 2, 3, 4, 5, 6] }).replace('[1,2,', '[12345678901234567,2,')
    expect((await bench.read('json', long)).values[0]![2]).toBe('12345678901234567')
  })

  test('of single values has rows for these, and for those with a status', async () => {
    const { values } = await bench.read('json', json({ value: { 5: 2, 0: 1 } }))
    expect(values).toEqual([
      ['01', '2022', '1', null],
      ['01', '2021', null, 'c'],
      ['02', '2020', '2', null],
    ])
  })

  test('may be of version 1, and have one status for all', async () => {
    const { id, size, dimension, value } = DATASET
    const old = { dataset: { dimension: { ...dimension, id, size }, value, status: 'e' } }
    const { shape, values } = await bench.read('json', JSON.stringify(old))
    expect([shape, values[5]]).toEqual([SHAPE, ['02', '2020', '-7.0', 'e']])
  })

  test('may begin with its dimensions, as pyjstat writes it', async () => {
    const { dimension, id, size, value } = DATASET
    const first = JSON.stringify({ dimension, id, size, value, version: '2.0', class: 'dataset' })
    expect((await bench.read('json', first)).shape).toEqual(SHAPE)
  })

  test('without any value has the type of numbers, and dimensions may be called as other columns', async () => {
    const one = { category: { label: { a: 'A' } } }
    const { shape, values } = await bench.read(
      'json',
      json({ id: ['value'], size: [1], dimension: { value: one }, value: [null] }),
    )
    expect([shape, values]).toEqual([
      ['value: string', 'value_2: double', 'status: string'],
      [['a', null, 'c']].map(([code]) => [code, null, null]),
    ])
  })

  test('takes the types of the dataset that it is for', async () => {
    const existing = [column('region', 'string'), column('time', 'integer'), column('value', 'double')]
    const all = [...existing, column('status', 'string')]
    expect((await bench.read('json', json(), { existing: all })).values[0]).toEqual([
      '01',
      '2022',
      '1.5',
      null,
    ])
    expect(await bench.refusal('json', json(), { existing })).toContain('has a column "status"')
  })

  test.each([
    [json({ value: [1, 2] }), 'The table has 2 values; its dimensions make 2 × 3 = 6.'],
    [json({ value: { 6: 1 } }), '"value" names the cell "6", of 6.'],
    [json({ value: 'x' }), '"value" must be a list or an object.'],
    [json({ value: [1, 2, 'x', 4, 5, 6] }), 'Row 3, column "value": "x" is not a number.'],
    [json({ size: [2] }), '"id" and "size" must be lists of the same length.'],
    [json({ size: [2, 4] }), 'the dimension "time" must have 4 categories.'],
    [json({ id: ['region', 'place'] }), '"place" must be an object.'],
    [json().slice(0, -1), 'is damaged, or cut off: it is not valid JSON.'],
  ])('is refused where it is %s', async (file, says) => {
    expect(await bench.refusal('json', file)).toContain(says)
  })

  test('is not taken for one where it has rows', async () => {
    const rows = '{"rows":[{"class":"dataset","dataset":{"a":1}}]}'
    expect((await bench.read('json', rows)).shape).toEqual(['class: string', 'dataset: json'])
    expect((await bench.read('json', '[{"class":"dataset"}]')).shape).toEqual(['class: string'])
  })
})

const PX = `CHARSET="ANSI";
AXIS-VERSION="2013";
LANGUAGE="en";
LANGUAGES="en","sv";
TITLE="Population "
"by region";
TITLE[sv]="Befolkning";
SOURCE="An office";
STUB="region","sex";
STUB[sv]="område","kön";
HEADING="year";
VALUES("region")="Nord","Süd; ost";
VALUES[sv]("område")="N","S";
CODES("region")="01","02";
VALUES("sex")="men","women";
VALUES("year")="2020","2021";
TIMEVAL("year")=TLIST(A1,"2020"-"2021");
VALUENOTE("region","Nord")="a; note";
DECIMALS=1;
DATA=
1.50 ".."
-3 "-"
4 5
"." 0;
`

describe('a file of PC-Axis', () => {
  test('is a row for each cell, with codes or values, and its signs for missing ones', async () => {
    const { shape, values, metadata } = await bench.read('px', PX)
    expect(shape).toEqual([
      'region: string',
      'sex: string',
      'year: string',
      'value: double',
      'status: string',
    ])
    expect(values).toEqual([
      ['01', 'men', '2020', '1.5', null],
      ['01', 'men', '2021', null, '..'],
      ['01', 'women', '2020', '-3.0', null],
      ['01', 'women', '2021', '0.0', '-'],
      ['02', 'men', '2020', '4.0', null],
      ['02', 'men', '2021', '5.0', null],
      ['02', 'women', '2020', null, '.'],
      ['02', 'women', '2021', '0.0', null],
    ])
    expect(metadata).toEqual({ title: 'Population by region', source: 'An office' })
    const labelled = await bench.read('px', PX, LABELS)
    expect(labelled.values[4]!.slice(0, 2)).toEqual(['Süd; ost', 'men'])
  })

  test('of the Spanish office has all of its cells, in iso-8859-15', async () => {
    const file = readFileSync(join(import.meta.dirname, 'fixtures', 'ine-27067.px'))
    const { shape, values } = await bench.read('px', file)
    const cells = file
      .toString('latin1')
      .split('DATA=')[1]!
      .match(/"[^"]*"|[^\s;]+/g)!
    expect(cells.length).toBe(812)
    const seen = values.map((row) => row[5] ?? Number(row[4]))
    expect(seen).toEqual(cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1) : Number(cell))))
    expect(shape.slice(0, 2)).toEqual(['Comunidades y Ciudades Autónomas: string', 'Divisiones: string'])
    expect(values.at(-1)!.slice(0, 4)).toEqual([
      ...[
        'CA06',
        '36 Captación, depuración y distribución de agua',
        'Variación en lo que va de año',
        '2018M06',
      ],
    ])
  })

  test('may be in UTF-8 or windows-1252, and otherwise says what to do', async () => {
    const latin = Buffer.from(PX, 'latin1')
    expect((await bench.read('px', latin, LABELS)).values[4]![0]).toBe('Süd; ost')
    const dos = Buffer.from(PX.replace('CHARSET="ANSI";', ''), 'latin1')
    expect(await bench.refusal('px', dos)).toContain('in an encoding that is not known ("of DOS")')
    expect(await bench.refusal('csv', PX)).toContain('The file is a file of PC-Axis (px): send it as px.')
  })

  test.each([
    [PX.replace('"." 0', '0'), 'The table has 7 values; its dimensions make 2 × 2 × 2 = 8.'],
    [PX.replace('-3', '3,x'), 'Row 4, column "value": "x" is not a number.'],
    [PX.replace('"01","02"', '"01"'), 'has 2 VALUES and 1 CODES of "region".'],
    [PX.replace('STUB="region","sex"', 'STUB="region","age"'), 'has 0 VALUES and 0 CODES of "age".'],
    [PX.replace('DECIMALS=1', 'KEYS("region")=CODES'), 'lists its cells by KEYS'],
    [PX.slice(0, 300), 'is damaged, or cut off'],
    [PX.slice(0, PX.indexOf('DATA')), 'it ends before DATA.'],
    ['a,b\n1,2\n', 'there is "a,b\\n1,2\\n" where a keyword or its value is expected.'],
  ])('is refused where it is damaged', async (file, says) => {
    expect(await bench.refusal('px', file)).toContain(says)
  })
})
