import { describe, expect, test } from 'vitest'
import { inferType, kindOf } from '../../engine/ingest/text/text-kinds.ts'
import { column, declared, useBench } from './support/helper.ts'

const bench = useBench()

/** The type that a csv column of these values gets. */
const typeOf = (values: readonly string[]) =>
  inferType(values.reduce((mask, value) => mask | kindOf(value), 0))

test('whole numbers beyond 64 bits are exact', async () => {
  const { values, shape } = await bench.read('csv', `n\n${'9'.repeat(38)}\n-${'9'.repeat(38)}\n-0\n\n7\n`)
  expect(shape).toEqual(['n: decimal(38,0)'])
  expect(values.flat()).toEqual(['9'.repeat(38), `-${'9'.repeat(38)}`, '0', null, '7'])
})

test('in JSON, whole numbers that no double is make a column of fractions text, and others do not', async () => {
  const read = async (...numbers: string[]) => {
    const { shape, values } = await bench.read('ndjson', numbers.map((n) => `{"n":${n}}\n`).join(''))
    return [...shape, ...values.flat()]
  }
  for (const number of ['9007199254740993', '-12345678901234567890', '9223372036854775807']) {
    expect(await read('1.5', number)).toEqual(['n: string', '1.5', number])
    expect((await read('1', number))[0]).not.toBe('n: string')
  }
  for (const number of ['9007199254740992', '12345678901234567000', '100000000000000000000'])
    expect((await read('1.5', number))[0]).toBe('n: double')
})

describe('inferred types', () => {
  test.each([
    ['integer', ['0', '-5', '9223372036854775807', '-9223372036854775808']],
    ['string', ['007', '12']],
    ['string', ['+49301234', '+49891234']],
    ['string', ['1_000']],
    ['string', [' 1']],
    ['decimal(38,0)', ['9223372036854775808', '1']],
    ['decimal(38,0)', ['9'.repeat(38)]],
    ['string', ['9'.repeat(39)]],
    ['double', ['1', '2.5', '.5', '7.', '-1e-7', '1E5']],
    [
      'double',
      ['9007199254740992.0', '12345678901234567168.00', '12345678901234567000.', '1234567890123456.7'],
    ],
    ['string', ['9007199254740993.0', '1.5']],
    ['string', ['-9007199254740993.', '1.5']],
    ['string', ['12345678901234567.89', '1.5']],
    ['double', ['1.5', 'NaN', 'INF', '-INF', 'nan', '-inf', 'Infinity']],
    ['string', ['1e400']],
    ['string', ['1e-400']],
    ['double', ['0e-400', '1E-320']],
    ['string', ['1.5', '00.5']],
    ['boolean', ['true', 'FALSE', 'True']],
    ['string', ['true', '1']],
    ['string', ['yes', 'no']],
    ['date', ['2020-02-29', '0001-01-01', '9999-12-31']],
    ['string', ['2021-02-29']],
    ['string', ['1900-02-29']],
    ['string', ['0001-02-29']],
    ['string', ['9999-02-29']],
    ['string', ['9999-02-29T12:00Z']],
    ['string', ['2021-02-29T12:00:00Z']],
    ['timestamptz', ['2020-02-29T12:00Z', '0001-01-01T12:00Z']],
    ['string', ['2020-04-31']],
    ['string', ['01/02/2020']],
    ['string', ['2020-1-1']],
    ['timestamp', ['2020-01-01T10:20', '2020-01-01 10:20:30.123456', '2020-01-01']],
    ['timestamp', ['2020-02-29 10:20:30.123456000']],
    ['string', ['2020-01-01 10:20:30.123456789']],
    ['string', ['2020-01-01 24:00:00']],
    ['timestamptz', ['2020-01-01T10:20:30Z', '2020-01-01 10:20+02:00', '2020-02-29T10:20:30-0530']],
    ['string', ['2020-01-01T10:20:30Z', '2020-01-01T10:20:30']],
    ['time', ['10:20', '23:59:59.5']],
    ['string', ['25:00']],
    ['string', ['550e8400-e29b-41d4-a716-446655440000']],
    ['string', ['1', 'x']],
  ])('%s of %j', (type, values) => {
    expect(typeOf(values)).toBe(type)
  })

  test.each([
    ['timestamp', '2024-01-02 03:04:05.1234560'],
    ['timestamp', '2024-01-02T00:00:00.00000000'],
    ['timestamp', '0001-01-01 00:00:00.123456000'],
    ['timestamp', '2024-02-29 00:00:00.1234560'],
    ['timestamptz', '2024-01-02T03:04:05.1234560+01:00'],
    ['timestamptz', '9999-12-31T03:04:05.1234560Z'],
  ])('%s of %s, with zeros behind its microseconds, in every format', async (type, value) => {
    for (const [format, text] of [
      ['csv', `a,b\n${value},1\n`],
      ['csv', `a,b\n"${value}",1\n`],
      ['csv', `a,b\r\n${value},1\r\n`],
      ['ndjson', `{"a":"${value}","b":1}\n{"a":"${value}","b":1}\n`],
    ] as const) {
      const { shape } = await bench.read(format, text)
      expect(shape, `${format} ${text}`).toEqual([`a: ${type}`, 'b: integer'])
      await bench.read(format, text, { declared: declared({ a: type as 'timestamp', b: 'integer' }) })
    }
  })

  test('a column without any value is text', async () => {
    expect((await bench.read('csv', 'a,b\n1,\n2,\n')).shape).toEqual(['a: integer', 'b: string'])
  })

  test('the last value of a large file counts as much as the first', async () => {
    const lines = Array.from({ length: 900_000 }, (_, index) => `${index},${index % 7}.5`).join('\n')
    const whole = await bench.ingest('csv', bench.file(`a,b\n${lines}\n`))
    expect(whole.columns.map(({ type }) => type)).toEqual(['integer', 'double'])
    expect(whole.rows).toBe(900_000)
    expect(await bench.query(`SELECT count(*) FROM '${whole.part}' WHERE c0 <> file_row_number`)).toEqual([
      [0n],
    ])
    const late = await bench.ingest('csv', bench.file(`a,b\n${lines}\n007,"x\ny"\n`))
    expect(late.columns.map(({ type }) => type)).toEqual(['string', 'string'])
    const last = await bench.query(`SELECT c0, c1 FROM '${late.part}' WHERE file_row_number >= 899999`)
    expect(last).toEqual([
      ['899999', '2.5'],
      ['007', 'x\ny'],
    ])
  })

  test('values come out as they went in', async () => {
    const { shape, values } = await bench.read(
      'csv',
      [
        'i,big,d,b,day,ts,tz,t',
        '9223372036854775807,123456789012345678901234567890,1.10,TRUE,2020-02-29,2020-01-01T10:20:30.000001,2020-01-01T10:20+02:00,10:20',
        '-1,-5,NaN,false,1999-12-31,2020-01-01,2020-06-01 00:00:00Z,00:00:00.5',
      ].join('\n'),
    )
    expect(shape).toEqual([
      'i: integer',
      'big: decimal(38,0)',
      'd: double',
      'b: boolean',
      'day: date',
      'ts: timestamp',
      'tz: timestamptz',
      't: time',
    ])
    expect(values).toEqual([
      [
        '9223372036854775807',
        '123456789012345678901234567890',
        '1.1',
        'true',
        '2020-02-29',
        '2020-01-01 10:20:30.000001',
        '2020-01-01 08:20:00+00',
        '10:20:00',
      ],
      [
        '-1',
        '-5',
        'nan',
        'false',
        '1999-12-31',
        '2020-01-01 00:00:00',
        '2020-06-01 00:00:00+00',
        '00:00:00.5',
      ],
    ])
  })
})

describe('declared types', () => {
  test.each([
    [
      'integer',
      ['007', '+7', '7.00', '-9223372036854775808', '9007199254740993.0'],
      ['7', '7', '7', '-9223372036854775808', '9007199254740993'],
    ],
    [
      'double',
      // JavaScript writes the double 1.2345678901234567e+19 as the fourth, C as the fifth.
      ['007', '+1.5', '1', '12345678901234567000', '12345678901234567168', '9007199254740993.5', 'INF'],
      ['7.0', '1.5', '1.0', '1.2345678901234567e+19', '1.2345678901234567e+19', '9007199254740994.0', 'inf'],
    ],
    [
      'decimal(5,2)',
      ['1.1', '999.99', '007.10', '1.500', '12e-1', '-0'],
      ['1.10', '999.99', '7.10', '1.50', '1.20', '0.00'],
    ],
    ['string', ['007', 'true', '2020-01-01', '""'], ['007', 'true', '2020-01-01', '']],
    ['boolean', ['true', 'FALSE', '1', '0'], ['true', 'false', 'true', 'false']],
    [
      'timestamp',
      ['2020-01-01', '2020-01-01T10:20+00:00', '2020-01-01 10:20:30Z'],
      ['2020-01-01 00:00:00', '2020-01-01 10:20:00', '2020-01-01 10:20:30'],
    ],
    [
      'timestamptz',
      ['2020-01-01', '2020-01-01T10:20Z', '2020-01-01T10:20+02'],
      ['2020-01-01 00:00:00+00', '2020-01-01 10:20:00+00', '2020-01-01 08:20:00+00'],
    ],
    [
      'decimal(5,2)',
      ['1200e-2', '1e2', '.5', '12345.00e-2', '0e9', '-0.000', '12.5e+1'],
      ['12.00', '100.00', '0.50', '123.45', '0.00', '0.00', '125.00'],
    ],
    ['uuid', ['550E8400-E29B-41D4-A716-446655440000'], ['550e8400-e29b-41d4-a716-446655440000']],
    ['binary', ['AAEC/w==', '""', 'aGk='], ['\\x00\\x01\\x02\\xFF', '', 'hi']],
    ['json', ['1', '"{""a"":[1,2]}"', 'null'], ['1', '{"a":[1,2]}', 'null']],
  ] as const)('%s takes %j', async (type, texts, expected) => {
    const { shape, values } = await bench.read(
      'csv',
      `a,b\n${texts.map((text) => `${text},x`).join('\n')}\n`,
      {
        declared: declared({ a: type }),
      },
    )
    expect(shape[0]).toBe(`a: ${type}`)
    expect(values.map(([value]) => value)).toEqual(expected)
  })

  test.each([
    ['integer', ['1.5', 'x', '1e3']],
    ['double', ['x', '1_0', '1e999', ' 1']],
    ['decimal(5,2)', ['1.239', '1000', 'NaN', '1e-3']],
    ['decimal(5,2)', ['100e1', '1234e-3', '1.2e-2000']],
    ['decimal(38,30)', [`${'9'.repeat(9)}e-5`, '1e8']],
    ['boolean', ['2', 'yes']],
    ['date', ['2020-01-01T00:00:00', '01/02/2020', '2020-02-30']],
    ['timestamp', ['10:20', '2020-13-01 10:00']],
    ['time', ['2020-01-01', '24:00']],
    ['uuid', ['550e8400', '{550e8400-e29b-41d4-a716-446655440000}']],
    ['binary', ['abc', 'a b=']],
    ['json', ['{', 'nan']],
  ] as const)('%s refuses %j', async (type, texts) => {
    for (const text of texts) {
      const refusal = await bench.refusal('csv', `a,b\n,x\n${text},x\n`, { declared: declared({ a: type }) })
      const article = type === 'integer' ? 'an' : 'a'
      const hints = [
        type === 'binary' ? ' Bytes are sent in base64, padded with =.' : '',
        text.startsWith(' ') ? ' dialect=auto would read the file (symbols=%20).' : '',
      ]
      expect(refusal).toBe(
        `400 invalid_upload: Row 2, column "a": ${JSON.stringify(text)} is not ${article} ${type}.${hints.join('')}`,
      )
    }
  })

  test.each([
    ['csv', (text: string) => `a,b\n9007199254740992,x\n${text},x\n`],
    ['tsv', (text: string) => `a\tb\n9007199254740992\tx\n${text}\tx\n`],
    ['ndjson', (text: string) => `{"a":9007199254740992,"b":"x"}\n{"a":"${text}"}`],
  ] as const)('no whole number becomes another one in a column of doubles: %s', async (format, content) => {
    for (const text of [
      '9007199254740993',
      '-9007199254740993',
      '09007199254740993',
      '9007199254740993.00',
      '12345678901234567890',
    ]) {
      const nearest = BigInt(Number(text))
      expect(
        await bench.refusal(format, content(text), {
          existing: [column('a', 'double'), column('b', 'string')],
        }),
      ).toBe(
        `400 invalid_upload: Row 2, column "a": "${text}" is not a double: the nearest one is ${nearest}. Send that, ` +
          'or declare the column as decimal(p,s), which keeps all digits.',
      )
    }
  })

  test.each([
    'csv',
    'ndjson',
  ] as const)('a timestamp takes no other offset than that of UTC: %s', async (format) => {
    for (const text of ['2024-01-01T10:00:00+05:30', '2024-01-01T10:00-01', '2024-01-01 10:00:00.5+0530']) {
      const content =
        format === 'csv' ? `a\n2024-01-01T00:00Z\n${text}\n` : `{"a":"2024-01-01T00:00Z"}\n{"a":"${text}"}`
      expect(await bench.refusal(format, content, { existing: [column('a', 'timestamp')] })).toBe(
        `400 invalid_upload: Row 2, column "a": "${text}" is not a timestamp. A timestamp has no offset: declare the ` +
          'column as timestamptz, or send the time without the offset.',
      )
    }
  })

  test('types that are not declared are inferred', async () => {
    const { columns } = await bench.read('csv', 'a,b\n1,2\n', {
      declared: [{ name: 'b', type: 'string', nullable: false, description: 'code' }],
    })
    expect(columns).toEqual([
      column('a', 'integer'),
      column('b', 'string', { nullable: false, description: 'code' }),
    ])
  })

  test('a declared column has to be there', async () => {
    expect(await bench.refusal('csv', 'a\n1\n', { declared: declared({ b: 'string' }) })).toBe(
      '400 invalid_upload: Column "b" is declared, but the upload does not have it.',
    )
  })

  test('a long value is shortened in the message', async () => {
    const refusal = await bench.refusal('csv', `a\n${'x'.repeat(500)}\n`, {
      declared: declared({ a: 'double' }),
    })
    expect(refusal).toBe(`400 invalid_upload: Row 1, column "a": "${'x'.repeat(60)}"… is not a double.`)
  })
})
