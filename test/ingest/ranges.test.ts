import { readFileSync } from 'node:fs'
import {
  type Data,
  DateDay,
  DateMillisecond,
  Decimal,
  Field,
  makeData,
  makeVector,
  Struct,
  Table,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  tableToIPC,
} from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { declared, useBench } from './support/helper.ts'
import { timeOutOfRange } from './support/hostile.ts'

const bench = useBench()
const YEARS = 'of the years 1 to 9999'
const CLOCK = 'from 00:00:00 to 23:59:59.999999'

function bad(row: number, what: string): string {
  return `400 invalid_upload: Row ${row}, column "a": the value is not a ${what}.`
}

async function parquet(sql: string): Promise<Buffer> {
  const file = bench.path()
  await bench.query(`COPY (${sql}) TO '${file}' (FORMAT parquet)`)
  return readFileSync(file)
}

describe('what no value of its type can be is refused with its row: Parquet', () => {
  test.each([
    ["SELECT unnest([DATE '2020-01-01', DATE '10000-01-01']) AS a", bad(2, `date ${YEARS}`)],
    ["SELECT DATE 'infinity' AS a", bad(1, `date ${YEARS}`)],
    ["SELECT unnest([NULL, NULL, DATE '0044-03-15 (BC)']) AS a", bad(3, `date ${YEARS}`)],
    ["SELECT TIMESTAMP '10000-01-01' AS a", bad(1, `timestamp ${YEARS}`)],
    ["SELECT TIMESTAMPTZ '9999-12-31 23:00:00-01' AS a", bad(1, `timestamptz ${YEARS}`)],
    ["SELECT TIMESTAMPTZ '-infinity' AS a", bad(1, `timestamptz ${YEARS}`)],
  ])('%s', async (sql, expected) => {
    expect(await bench.refusal('parquet', await parquet(sql))).toBe(expected)
  })

  test('the first moment in nanoseconds, which DuckDB can not write as text', async () => {
    const first = 'make_timestamp_ns(-9223372036854775000)'
    const { values } = await bench.read('parquet', await parquet(`SELECT ${first} AS a`))
    expect(values).toEqual([['1677-09-21 00:12:43.145225']])
  })

  test('a time of 2^62 microseconds', async () => {
    const file = await timeOutOfRange(bench, false)
    expect(await bench.refusal('parquet', file)).toBe(bad(1, `time ${CLOCK}`).replace('"a"', '"t"'))
  })

  test.each([
    [2, 4, '12.34, 99.99, -100.00', 3],
    [0, 1, '9, 10', 2],
  ])('a decimal with more digits than its type, of which %i are behind the point', async (scale, precision, values, row) => {
    const file = await parquet(`SELECT unnest([${values}]::DECIMAL(9,${scale})[]) AS a`)
    // In Thrift, where whole numbers are doubled: the scale, and the precision 9.
    const written = Buffer.from([0x15, 2 * scale, 0x15, 18])
    for (let at = file.indexOf(written); at >= 0; at = file.indexOf(written, at + 1))
      file[at + 3] = 2 * precision
    expect(await bench.refusal('parquet', file)).toBe(bad(row, `decimal(${precision},${scale})`))
  })

  test.each([
    "{'d': DATE '0044-03-15 (BC)'}",
    "[NULL, TIMESTAMP '10000-01-01']",
    "MAP {'k': {'z': TIMESTAMPTZ '9999-12-31 23:00:00-01'}}",
    "{'d': DATE 'infinity', 'e': DATE '2020-01-01'}",
  ])('within another value: %s', async (value) => {
    const file = await parquet(`SELECT unnest([NULL, ${value}]) AS a`)
    expect(await bench.refusal('parquet', file)).toBe(
      '400 invalid_upload: Row 2, column "a": a value within it is out of range. Dates are of the years 1 to 9999, times ' +
        'from 00:00:00 to 23:59:59.999999, and decimals have no more digits than their type.',
    )
  })

  test('the last values of each type are taken', async () => {
    const last = `SELECT DATE '9999-12-31' AS d, TIME '23:59:59.999999' AS t, TIMESTAMP '0001-01-01' AS ts,
      TIMESTAMPTZ '9999-12-31 23:59:59.999999+00' AS tz, -99999999.99::DECIMAL(10,2) AS n,
      [{'d': DATE '0001-01-01', 't': TIME '23:59:59.999999', 'n': -9.99::DECIMAL(3,2)}, NULL] AS l`
    const { values } = await bench.read('parquet', await parquet(last))
    expect(values).toEqual([
      [
        '9999-12-31',
        '23:59:59.999999',
        '0001-01-01 00:00:00',
        '9999-12-31 23:59:59.999999+00',
        '-99999999.99',
        '[{"d":"0001-01-01","t":"23:59:59.999999","n":-9.99},null]',
      ],
    ])
  })
})

describe('what no value of its type can be is refused with its row: Arrow', () => {
  const arrow = (data: Data) => tableToIPC(new Table({ a: makeVector(data) }), 'stream')
  const words = (value: bigint) =>
    Uint32Array.from({ length: 4 }, (_, at) => Number((value >> BigInt(32 * at)) & 0xffffffffn))

  test.each([
    [new DateDay(), Int32Array.from([0, 2_932_897]), bad(2, `date ${YEARS}`)],
    [new TimeMicrosecond(), BigInt64Array.from([0n, -1n]), bad(2, `time ${CLOCK}`)],
    [new TimeMicrosecond(), BigInt64Array.from([90_000_000_000n]), bad(1, `time ${CLOCK}`)],
    [new TimestampMicrosecond(), BigInt64Array.from([2n ** 62n]), bad(1, `timestamp ${YEARS}`)],
    [
      new TimestampMicrosecond('UTC'),
      BigInt64Array.from([253_402_300_800_000_000n]),
      bad(1, `timestamptz ${YEARS}`),
    ],
    [new Decimal(2, 10, 128), words(10n ** 32n), bad(1, 'decimal(10,2)')],
  ] as const)('%s', async (type, data, expected) => {
    expect(await bench.refusal('arrow', arrow(makeData({ type, data } as never)))).toBe(expected)
  })

  test('a date within another value, and one with a time of day', async () => {
    const day = makeData({ type: new DateDay(), data: Int32Array.from([2_932_897]) })
    const struct = makeData({
      type: new Struct([new Field('d', new DateDay(), true)]),
      children: [day],
      length: 1,
    })
    expect(await bench.refusal('arrow', arrow(struct))).toMatch(
      /^400 invalid_upload: Row 1, column "a": a value within it is out of range\. Dates are of the years 1 to 9999/,
    )
    const millis = (...data: bigint[]) =>
      makeData({ type: new DateMillisecond(), data: BigInt64Array.from(data) })
    expect((await bench.read('arrow', arrow(millis(-86_400_000n)))).values).toEqual([['1969-12-31']])
    expect(await bench.refusal('arrow', arrow(millis(0n, -1n)))).toBe(
      '400 invalid_upload: Row 2, column "a": the date has a time of day. Send it as a timestamp, or at midnight.',
    )
  })

  test('nanoseconds are cut off where that is asked', async () => {
    const fine = arrow(makeData({ type: new TimestampNanosecond(), data: BigInt64Array.from([1_999n, -1n]) }))
    expect(await bench.refusal('arrow', fine)).toMatch(
      /Row 1, column "a": the time is finer than a microsecond/,
    )
    const { values } = await bench.read('arrow', fine, { options: { nanoseconds: 'truncate' } })
    expect(values).toEqual([['1970-01-01 00:00:00.000001'], ['1969-12-31 23:59:59.999999']])
    const same = await parquet(
      "SELECT unnest([TIMESTAMP_NS '1970-01-01 00:00:00.000001999', TIMESTAMP_NS '1969-12-31 23:59:59.999999999']) AS a",
    )
    expect(await bench.refusal('parquet', same)).toMatch(
      /Row 1, column "a": the time is finer than a microsecond/,
    )
    const cut = await bench.read('parquet', same, { options: { nanoseconds: 'truncate' } })
    expect(cut.values).toEqual(values)
  })
})

describe('nanoseconds that DuckDB would cut off are refused in Parquet', () => {
  const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}.parquet`, import.meta.url))

  test.each([
    ['utc', '2024-01-01 00:00:00.123456+00'],
    ['int96', '2024-01-01 00:00:00.123456'],
    ['int96-list', '["2024-01-01T00:00:00.123456"]'],
    ['utc-struct', '{"x":"2024-01-01T00:00:00.123456Z"}'],
    ['utc-map', '{"2024-01-01T00:00:00.123456Z":1}'],
    ['time', '00:00:00.000001'],
    ['time-list', '["00:00:00.000001"]'],
  ])('%s', async (name, cut) => {
    expect(await bench.refusal('parquet', fixture(name))).toBe(
      '400 invalid_upload: Row 2, column "a": the time is finer than a microsecond. Columns hold microseconds: send ' +
        'those, or ask for nanoseconds=truncate.',
    )
    const { values } = await bench.read('parquet', fixture(name), { options: { nanoseconds: 'truncate' } })
    expect(values).toEqual([[cut], [cut]])
  })

  const around = [
    ...['1969-12-31T23:59:59.999999', '1969-12-31T23:59:59.999999', '1969-12-31T23:59:59.999999'],
    ...['1969-12-31T23:59:59.999998', '1970-01-01T00:00:00', '1970-01-01T00:00:00'],
    ...['2262-04-11T23:47:16.854775', '1677-09-21T00:12:43.145224'],
  ]

  test.each([
    'parquet',
    'arrow',
  ] as const)('timestamps around 1970, the first and the last: %s', async (format) => {
    const file = readFileSync(new URL(`fixtures/around-1970.${format}`, import.meta.url))
    const { shape, values } = await bench.read(format, file, { options: { nanoseconds: 'truncate' } })
    expect(shape).toEqual([
      'utc: timestamptz',
      'local: timestamp',
      'number: integer',
      'inside: json',
      'keys: json',
    ])
    const nanos = [-1, -999, -1000, -1001, 0, 1].map(String)
    expect(values.slice(0, 8)).toEqual(
      around.map((text, row) => [
        `${text.replace('T', ' ')}+00`,
        text.replace('T', ' '),
        [...nanos, '9223372036854775807', '-9223372036854775807'][row],
        `{"u":"${text}Z","l":["${text}"],"BIGINT":7}`,
        `{"${text}Z":"${text}"}`,
      ]),
    )
    expect(values[8]).toEqual([null, null, null, '{"u":null,"l":[null],"BIGINT":7}', null])
  })

  test('INT96 around 1970', async () => {
    const file = fixture('around-1970-int96')
    const { values } = await bench.read('parquet', file, { options: { nanoseconds: 'truncate' } })
    expect(values.flat()).toEqual([...around.map((text) => text.replace('T', ' ')), null])
  })

  test.each([
    ['utc-whole', 'timestamptz', '2024-01-01 00:00:00.123456+00'],
    ['time-whole', 'time', '00:00:00.000001'],
  ])('whole microseconds are taken: %s', async (name, type, value) => {
    const { shape, values } = await bench.read('parquet', fixture(name))
    expect(shape).toEqual([`a: ${type}`])
    expect(values).toEqual([[value], [null]])
  })

  test('moments without a zone within other values, too, and whole microseconds there are taken', async () => {
    const list = (nanos: string) => parquet(`SELECT [TIMESTAMP_NS '2024-01-01 00:00:00.123456${nanos}'] AS a`)
    expect(await bench.refusal('parquet', await list('789'))).toContain('finer than a microsecond')
    expect((await bench.read('parquet', await list('000'))).values).toEqual([
      ['["2024-01-01T00:00:00.123456"]'],
    ])
  })
})

test.each([
  ['9999-12-31T23:59:59-01:00', false],
  ['9999-12-31T22:59:59-01:00', true],
  ['9999-12-31T23:59Z', true],
  ['0001-01-01T00:30:00+01:00', false],
  ['0001-01-01T01:00+01', true],
])('an offset at the edge of the calendar: %s', async (text, taken) => {
  const given = { declared: declared({ a: 'timestamptz' }) }
  expect(await bench.refusal('csv', `a\n${text}\n`, given)).toBe(
    taken ? 'taken' : `400 invalid_upload: Row 1, column "a": "${text}" is not a timestamptz.`,
  )
  const { shape } = await bench.read('csv', `a\n${text}\n`)
  expect(shape).toEqual([taken ? 'a: timestamptz' : 'a: string'])
})
