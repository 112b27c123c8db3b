import { Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DeclaredColumn } from '../../engine/types/columns.ts'
import { declared, useBench } from './support/helper.ts'
import { raw } from './xlsx/workbooks.ts'

const bench = useBench()
const runs = Number(process.env['PARQUETRY_PROPERTY_RUNS'] ?? 40)

/** A value of each type as csv has it, and as DuckDB shows it. */
const VALUES = [
  ['boolean', 'true', 'true'],
  ['integer', '-7', '-7'],
  ['double', '5.5', '5.5'],
  ['decimal(38,0)', '99999999999999999999', '99999999999999999999'],
  ['date', '2024-02-29', '2024-02-29'],
  ['timestamp', '2024-01-31T12:00', '2024-01-31 12:00:00'],
  ['timestamptz', '2024-01-31T12:00:01+01:00', '2024-01-31 11:00:01+00'],
  ['time', '12:30:00.5', '12:30:00.5'],
] as const

const DECLARED_ONLY = [
  ['decimal(10,2)', '1.50', '1.50'],
  ['timestamptz', '2024-01-31T12:00Z', '2024-01-31 12:00:00+00'],
  ['uuid', '550e8400-e29b-41d4-a716-446655440000', '550e8400-e29b-41d4-a716-446655440000'],
  ['json', '7', '7'],
] as const

describe('an empty text is null in columns that do not hold text', () => {
  test.each(VALUES)('csv, found: %s', async (type, value, shown) => {
    const { shape, values, reasons } = await bench.read('csv', `"k","v"\n"1","${value}"\n"2",""\n"3",\n`)
    expect(shape).toEqual(['k: integer', `v: ${type}`])
    expect(values).toEqual([
      ['1', shown],
      ['2', null],
      ['3', null],
    ])
    expect(reasons).toEqual([undefined, undefined])
  })

  test.each([...VALUES, ...DECLARED_ONLY])('csv, declared: %s', async (type, value, shown) => {
    const { shape, values } = await bench.read('csv', `v,t\n"",""\n"${value}",x\n`, {
      declared: declared({ v: type, t: 'string' }),
    })
    expect(shape).toEqual([`v: ${type}`, 't: string'])
    expect(values).toEqual([
      [null, ''],
      [shown, 'x'],
    ])
  })

  test.each([
    ...VALUES,
    ...DECLARED_ONLY,
  ])('csv of another dialect, declared: %s', async (type, value, shown) => {
    const { values } = await bench.read('csv', `v;t\n"";""\n"${value}";x\n`, {
      declared: declared({ v: type, t: 'string' }),
      options: { delimiter: ';' },
    })
    expect(values).toEqual([
      [null, ''],
      [shown, 'x'],
    ])
  })

  test.each(VALUES)('tsv of another dialect, found: %s', async (type, value, shown) => {
    const text = `t\tv\n""\t""\nx\t"${value}"\n`
    const { shape, values, reasons } = await bench.read('tsv', text, { options: { nulls: ['-'] } })
    expect(shape).toEqual(['t: string', `v: ${type}`])
    expect(values).toEqual([
      ['', null],
      ['x', shown],
    ])
    expect(reasons).toEqual([{ row: 2, value: 'x' }, undefined])
  })

  test.each([
    ['integer', '1', '1'],
    ['double', '1.5', '1.5'],
    ['boolean', 'true', 'true'],
    ['date', '"2024-01-31"', '2024-01-31'],
    ['timestamp', '"2024-01-31T12:00:00"', '2024-01-31 12:00:00'],
  ] as const)('JSON and ndjson, found and declared: %s', async (type, value, shown) => {
    const rows = [`{"v":${value},"t":""}`, '{"v":"","t":"x"}', '{"t":"x"}']
    for (const [format, text] of [
      ['json', `[${rows.join(',')}]`],
      ['ndjson', rows.join('\n')],
    ] as const) {
      for (const columns of [[], declared({ v: type, t: 'string' })]) {
        const { shape, values } = await bench.read(format, text, { declared: columns })
        expect(shape).toEqual([`v: ${type}`, 't: string'])
        expect(values).toEqual([
          [shown, ''],
          [null, 'x'],
          [null, 'x'],
        ])
      }
    }
  })

  test('JSON, first, and in arrays of values', async () => {
    expect((await bench.read('json', '[{"v":""},{"v":1}]')).values).toEqual([[null], ['1']])
    const text =
      '{"columns":[{"name":"v","type":"uuid"},{"name":"n","type":"decimal(4,1)"}],"rows":[["",""],["",2.5]]}'
    expect((await bench.read('json', text)).values).toEqual([
      [null, null],
      [null, '2.5'],
    ])
  })

  test('but not within nested values, nor in columns of text or bytes', async () => {
    const nested = await bench.read('json', '[{"v":"","b":""},{"v":[""],"b":"AA=="}]', { declared: [] })
    expect(nested.shape).toEqual(['v: json', 'b: string'])
    expect(nested.values[0]).toEqual(['""', ''])
    const types = declared({ s: 'string', b: 'binary' })
    expect((await bench.read('csv', 's,b\n"",""\n,\n', { declared: types })).values).toEqual([
      ['', ''],
      [null, null],
    ])
    expect((await bench.read('json', '[{"s":"","b":""}]', { declared: types })).values).toEqual([['', '']])
  })

  test('a column of nothing else is text, and keeps them', async () => {
    for (const [format, text] of [
      ['csv', 'k,v\n1,""\n2,\n'],
      ['json', '[{"k":1,"v":""},{"k":2}]'],
    ] as const) {
      const { shape, values } = await bench.read(format, text)
      expect(shape).toEqual(['k: integer', 'v: string'])
      expect(values).toEqual([
        ['1', ''],
        ['2', null],
      ])
    }
  })

  test('cells of a workbook', async () => {
    const cell = (reference: string) => `<c r="${reference}" t="str"><f>""</f><v></v></c>`
    const rows =
      '<row r="1"><c r="A1" t="inlineStr"><is><t>v</t></is></c><c r="B1" t="inlineStr"><is><t>t</t></is></c></row>' +
      `<row r="2"><c r="A2"><v>1.5</v></c>${cell('B2')}</row>` +
      `<row r="3">${cell('A3')}<c r="B3" t="inlineStr"><is><t>x</t></is></c></row>`
    for (const columns of [[], declared({ v: 'double', t: 'string' })]) {
      const { shape, values } = await bench.read('xlsx', await raw(rows), { declared: columns })
      expect(shape).toEqual(['v: double', 't: string'])
      expect(values).toEqual([
        ['1.5', ''],
        [null, 'x'],
      ])
    }
  })

  test('text of Arrow that is declared as uuid or json', async () => {
    const id = '550e8400-e29b-41d4-a716-446655440000'
    const texts = (...values: string[]) => vectorFromArray(values, new Utf8())
    const bytes = tableToIPC(
      new Table({ u: texts(id, ''), j: texts('', '[1]'), s: texts('', 'x') }),
      'stream',
    )
    const types = declared({ u: 'uuid', j: 'json', s: 'string' })
    expect((await bench.read('arrow', bytes, { declared: types })).values).toEqual([
      [id, null, ''],
      [null, '[1]', 'x'],
    ])
    expect(await bench.refusal('arrow', bytes, { declared: types, options: { empty: 'text' } })).toBe(
      '400 invalid_upload: Row 1, column "j": "" is not a json.',
    )
  })
})

test.each([
  ['csv', 'v\n1\n""\n', {}],
  ['csv', 'v;w\n1;\n"";\n', { delimiter: ';' }],
  ['json', '[{"v":1},{"v":""}]', {}],
] as const)('a column that is not nullable lacks a value where the text is empty: %s', async (format, text, options) => {
  const columns: DeclaredColumn[] = [{ name: 'v', type: 'integer', nullable: false }]
  expect(await bench.refusal(format, text, { declared: columns, options })).toBe(
    '400 invalid_upload: Row 2, column "v": a value is missing, but the column is not nullable.',
  )
})

test.each([
  ['csv', '"v","w"\n"1",x\n"",y\n'],
  ['tsv', '"v"\t"w"\n"1"\tx\n""\ty\n'],
  ['json', '[{"v":1},{"v":""}]'],
  ['ndjson', '{"v":1}\n{"v":""}\n'],
] as const)('empty=text keeps an empty text text: %s', async (format, text) => {
  const options = { empty: 'text' } as const
  expect(await bench.refusal(format, text, { declared: declared({ v: 'integer' }), options })).toBe(
    '400 invalid_upload: Row 2, column "v": "" is not an integer.',
  )
  const { shape, values } = await bench.read(format, text, { options })
  expect(shape[0]).toBe('v: string')
  expect(values.map(([v]) => v)).toEqual(['1', ''])
  const same = await bench.read(format, text, { options: { empty: 'null' } })
  expect(same.values.map(([v]) => v)).toEqual(['1', null])
})

describe('words for nothing in quotes', () => {
  const text = '"n","s","d","only"\n"1.5","NA","2024-01-31","NA"\n"NA","x","NA",\n'

  test.each([
    undefined,
    'keep',
  ] as const)('are null, but in columns of text: textNulls %s', async (textNulls) => {
    const { shape, values } = await bench.read('csv', text, {
      options: { nulls: ['NA'], ...(textNulls && { textNulls }) },
    })
    expect(shape).toEqual(['n: double', 's: string', 'd: date', 'only: string'])
    expect(values).toEqual([
      ['1.5', 'NA', '2024-01-31', 'NA'],
      [null, 'x', null, null],
    ])
  })

  test('in declared columns', async () => {
    const types = declared({ n: 'decimal(5,1)', s: 'string', d: 'timestamp', only: 'integer' })
    const { values } = await bench.read('csv', text, { declared: types, options: { nulls: ['NA'] } })
    expect(values).toEqual([
      ['1.5', 'NA', '2024-01-31 00:00:00', null],
      [null, 'x', null, null],
    ])
    const bytes = await bench.read('csv', 'b\n"NULL"\nNULL\n', {
      declared: declared({ b: 'binary' }),
      options: { nulls: ['NULL'] },
    })
    expect(bytes.values.map(([b]) => b === null)).toEqual([false, true])
    const columns: DeclaredColumn[] = [{ name: 'n', type: 'integer', nullable: false }]
    expect(await bench.refusal('csv', 'n\n"NA"\n', { declared: columns, options: { nulls: ['NA'] } })).toBe(
      '400 invalid_upload: Row 1, column "n": a value is missing, but the column is not nullable.',
    )
  })
})

test('quotes around every field make no difference in columns that do not hold text', async () => {
  const column = fc
    .constantFrom(...VALUES)
    .map(([, value]) => fc.constantFrom(value, ''))
    .chain((value) => fc.array(value, { minLength: 6, maxLength: 6 }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(column, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom({}, { header: 'present' } as const),
      async (columns, end, options) => {
        // A column of nulls alone has no type.
        const filled = columns.filter((values) => values.some((value) => value !== ''))
        fc.pre(filled.length > 0)
        const table = [0, 1, 2, 3, 4, 5].map((row) => filled.map((values) => values[row]!))
        const header = filled.map((_, index) => `c${index}`)
        const written = (quote: string) =>
          [header, ...table].map((row) => row.map((value) => quote + value + quote).join(',') + end).join('')
        const [bare, quoted] = [
          await bench.read('csv', written(''), { options }),
          await bench.read('csv', written('"'), { options }),
        ]
        expect(quoted.shape).toEqual(bare.shape)
        expect(quoted.values).toEqual(bare.values)
        expect(quoted.nulls).toEqual(bare.nulls)
      },
    ),
    { numRuns: runs },
  )
})

test.each([
  ['csv', 'v\n99999999999999999999\n', '99999999999999999999', 'decimal(38,0)'],
  ['json', '[{"v":-9223372036854775809}]', '-9223372036854775809', 'decimal(38,0)'],
  ['ndjson', '{"v":"9223372036854775808"}', '9223372036854775808', 'decimal(38,0)'],
  ['tsv', 'v\n9223372036854775808.0\n', '9223372036854775808.0', 'decimal(38,0)'],
  ['csv', `v\n${'9'.repeat(39)}\n`, '9'.repeat(39), 'string'],
] as const)('a whole number beyond 64 bits in a column of integers: %s, %#', async (format, text, value, type) => {
  expect(await bench.refusal(format, text, { declared: declared({ v: 'integer' }) })).toBe(
    `400 invalid_upload: Row 1, column "v": "${value}" is out of range of a 64-bit integer (-9223372036854775808 to ` +
      `9223372036854775807). Declare the column as ${type}.`,
  )
  const { values } = await bench.read(format, text, { declared: declared({ v: type }) })
  expect(values).toEqual([[value.replace('.0', '')]])
})

test('the ends of the range of integers are integers', async () => {
  const { values } = await bench.read('csv', 'v\n9223372036854775807\n-9223372036854775808\n', {
    declared: declared({ v: 'integer' }),
  })
  expect(values.flat()).toEqual(['9223372036854775807', '-9223372036854775808'])
})
