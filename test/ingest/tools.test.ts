import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { unpackLz4 } from '../../engine/ingest/arrow/lz4.ts'
import { elementsOf, FIELD, groupsOf, metasOf } from '../../engine/parquet/footer.ts'
import { ParquetFile } from '../../engine/parquet/parquet-file.ts'
import { i32, nested, type Struct } from '../../engine/parquet/thrift.ts'
import { useBench } from './support/helper.ts'
import { mutate, randomness } from './support/mutations.ts'

const bench = useBench()
const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url))

describe('files as other programs write them', () => {
  test.each(['polars-lz4.arrow', 'polars-stream-zstd.arrow'])('%s', async (name) => {
    const { shape, values } = await bench.read('arrow', fixture(name))
    expect(shape).toEqual(['a: integer', 's: string', 'n: string', 'd: string', 'c: string'])
    expect(values).toEqual([
      ['1', 'x', null, 'PT1S', 'u'],
      ['2', 'a text of more than twelve characters, '.repeat(4), null, 'PT1S', 'v'],
      [null, null, null, 'PT1S', 'u'],
    ])
  })

  test('a Feather file of pandas, which is lz4', async () => {
    const { rows, values } = await bench.read('arrow', fixture('pandas.feather'))
    expect(rows).toBe(3_000)
    expect(values).toEqual(Array.from({ length: 3_000 }, (_, n) => [String(n), `text ${n % 7}`.repeat(5)]))
  })

  test('UUIDs and JSON that say so', async () => {
    const { shape, values } = await bench.read('arrow', fixture('extensions.arrow'))
    expect(shape).toEqual(['id: uuid', 'doc: json'])
    expect(values).toEqual([['00000000-0000-0000-0000-000000000005', '{"a":1}']])
  })

  test.each([
    [
      'arrow',
      'polars-int128.arrow',
      'Column "wide" holds integers of 128 bits, which neither Arrow nor Parquet has: send decimals of up to 38 digits, or text.',
    ],
    ['parquet', 'decimal256.parquet', 'Column "wide" holds decimals of 39 digits; the most are 38.'],
  ] as const)('what no type holds is refused by its column: %s', async (format, name, message) => {
    expect(await bench.refusal(format, fixture(name))).toBe(`400 invalid_upload: ${message}`)
  })

  test.each([
    'parquet',
    'arrow',
  ] as const)('periods of pandas become their first days: %s', async (format) => {
    const { shape, values, reasons } = await bench.read(format, fixture(`periods.${format}`))
    const first: Readonly<Record<string, readonly string[]>> = {
      M: ['1969-12-01', '1970-01-01'],
      Q: ['1969-10-01', '1970-01-01'],
      'Q-MAR': ['1969-10-01', '1970-01-01'],
      Y: ['1969-01-01', '1970-01-01'],
      'Y-JUN': ['1969-07-01', '1970-07-01'],
      W: ['1969-12-29', '1970-01-05'],
      'W-WED': ['1969-12-25', '1970-01-01'],
      D: ['1969-12-31', '1970-01-01'],
      '2M': ['1969-12-01', '1970-02-01'],
      h: ['1969-12-31 23:00:00', '1970-01-01 00:00:00'],
      B: ['-1', '0'],
    }
    const type = (name: string) => ({ h: 'timestamp', B: 'integer' })[name] ?? 'date'
    expect(shape).toEqual(Object.keys(first).map((name) => `${name}: ${type(name)}`))
    expect(values).toEqual([0, 1].map((row) => Object.values(first).map((days) => days[row])))
    expect([reasons?.[0], reasons?.[2], reasons?.[10]]).toEqual([
      { row: 1, value: 'period[M]' },
      { row: 1, value: 'period[Q-MAR]' },
      undefined,
    ])
  })

  test.each(['parquet', 'arrow'] as const)('booleans of eight bits are booleans: %s', async (format) => {
    const { shape, values } = await bench.read(format, fixture(`bool8.${format}`))
    expect([shape, values.flat()]).toEqual([['b: boolean'], ['false', 'true', null, 'true']])
  })

  test.each(['parquet', 'arrow'] as const)('durations are text: %s', async (format) => {
    const file = fixture(`durations.${format}`)
    expect(await bench.refusal(format, file)).toContain('Row 4, column "ns": the time is finer')
    const { values } = await bench.read(format, file, { options: { nanoseconds: 'truncate' } })
    expect(values).toEqual([
      ['PT3600S', 'PT1.5S', 'PT0.000001S', 'PT0.000001S'],
      [null, null, null, null],
      ['PT-1S', 'PT-0.001S', 'PT-0.000001S', 'PT-0.000001S'],
      [
        'PT9223372036854775807S',
        'PT9223372036854775.807S',
        'PT9223372036854.775807S',
        'PT9223372036.854775S',
      ],
    ])
  })

  test('durations in lists of Parquet, which have no unit there, are refused', async () => {
    const refusal = await bench.refusal('parquet', fixture('durations-within.parquet'))
    expect(refusal).toContain('Column "in" has durations within it')
  })

  test('intervals of months, days and nanoseconds are text', async () => {
    const { values } = await bench.read('arrow', fixture('intervals.arrow'))
    expect(values.map(([, text]) => text)).toEqual(['P14M3DT1.5S', null, 'PT0S', 'P-1MT-0.000001S'])
    const fine = fixture('month-day-nano.arrow')
    expect(await bench.refusal('arrow', fine)).toContain('Row 1, column "odd": the time is finer')
    const cut = await bench.read('arrow', fine, { options: { nanoseconds: 'truncate' } })
    expect(cut.values[0]?.[1]).toBe('P1M2D')
  })

  test.each([
    'parquet',
    'arrow',
  ] as const)('values and keys within JSON have one form: %s', async (format) => {
    const { shape, values } = await bench.read(format, fixture(`nested.${format}`))
    expect(new Set(shape.map((one) => one.split(': ')[1]))).toEqual(new Set(['json']))
    const inside = {
      ...{ boolean: 'true', integer: '1152921504606846976', unsigned: '18446744073709551615', whole: '5' },
      ...{ large: '1e+300', float: '0.10000000149011612', decimal: '1.50', string: '"\\"é"' },
      ...{ date: '"2024-01-31"', time: '"10:20:30.5"', timestamp: '"2024-01-31T10:20:30"' },
      ...{ timestamptz: '"2024-01-31T10:20:30Z"', nanoseconds: '"1969-12-31T23:59:59.999999"' },
      binary: '"AP8="',
    }
    const pairs = Object.entries(inside).map(([name, text]) => `"${name}":${text}`)
    const key = (text: string) => `{${text.startsWith('"') ? text : `"${text}"`}:1}`
    expect(values[0]).toEqual([
      `{${pairs.join()}}`,
      '["NaN","-INF",-0,null]',
      ...Object.values(inside).map(key),
    ])
  })

  test.each([
    'parquet',
    'arrow',
  ] as const)('nanoseconds within other values are cut only if that is asked for: %s', async (format) => {
    const file = fixture(`nested-nanoseconds.${format}`)
    expect(await bench.refusal(format, file)).toContain('Row 1, column "a": the time is finer')
    const { values } = await bench.read(format, file, { options: { nanoseconds: 'truncate' } })
    expect(values).toEqual([['{"t":"1969-12-31T23:59:59.999999","l":["1970-01-01T00:00:00.000001"]}']])
  })

  test('files of DuckDB 2.0 with VARIANT, TIME_NS and GEOMETRY', async () => {
    const read = async (name: string) => {
      const { shape, values } = await bench.read('parquet', fixture(`duckdb-2-${name}.parquet`))
      return [...shape, ...values.flat()]
    }
    expect(await read('variant')).toEqual([
      ...['a: json', '{"a":1,"b":[true,null]}', '5', '"text"', null, '1.50', '"2024-01-31"'],
      '"2024-01-31T10:20:30"',
    ])
    expect(await read('geometry')).toEqual(['a: string', 'POINT (1 2)', null])
    expect(await read('time-ns-whole')).toEqual(['a: time', '10:20:30.123456', null])
    expect(await bench.refusal('parquet', fixture('duckdb-2-time-ns.parquet'))).toContain(
      'Row 1, column "a": the time is finer than a microsecond.',
    )
  })

  test('files of DuckDB 1.5 with VARIANT', async () => {
    const write = async (value: string) => {
      const file = bench.path()
      await bench.query(`COPY (SELECT (${value})::VARIANT AS a FROM range(2)) TO '${file}' (FORMAT parquet)`)
      return readFileSync(file)
    }
    const { shape, values } = await bench.read(
      'parquet',
      await write("{'t': TIMESTAMP '2024-01-31 10:20:30', 'x': [5::DOUBLE, 'NaN'], 'b': '\\x00\\xFF'::BLOB}"),
    )
    expect(shape).toEqual(['a: json'])
    expect(values.flat()).toEqual(Array(2).fill('{"b":"AP8=","t":"2024-01-31T10:20:30","x":[5,"NaN"]}'))
    const deep = `'${'['.repeat(17)}${']'.repeat(17)}'::JSON`
    expect(await bench.refusal('parquet', await write(deep))).toContain(
      'The Parquet file holds a VARIANT with more than 16 levels of lists and objects. Write the column as JSON text.',
    )
  })

  const split = (kind: string, is = 'Column "split" is') =>
    `${is} in the encoding BYTE_STREAM_SPLIT, which DuckDB reads only for float and double, and not for ${kind}. Write ` +
    'the file with the encoding PLAIN or with dictionaries.'

  test.each([
    [
      'polars-int128',
      'Column "wide" holds integers of 128 bits, which neither Arrow nor Parquet has: send decimals of up to 38 digits, or text.',
    ],
    ['split-integer', split('integers')],
    ['split-uuid', split('bytes of fixed length')],
    ['split-float16', split('bytes of fixed length')],
    ['split-bytes', split('bytes of fixed length')],
    ['split-inside', split('integers', 'Column "a" has a field "split"')],
    [
      'nameless',
      'Column "a" has a field without a name within it, which DuckDB does not read. Give it a name.',
    ],
    ['encrypted-column', 'Column "secret" is encrypted.'],
  ])('Parquet that DuckDB does not read is refused by its column: %s', async (name, message) => {
    expect(await bench.refusal('parquet', fixture(`${name}.parquet`))).toBe(`400 invalid_upload: ${message}`)
  })

  test('the encoding BYTE_STREAM_SPLIT is read for doubles', async () => {
    const { values } = await bench.read('parquet', fixture('split-double.parquet'))
    expect(values).toEqual([['1.5'], ['2.5']])
  })

  test.each([
    [
      'is BSON. Send it as JSON, or as bytes without that annotation.',
      (element: Struct) => void element.set(FIELD.element.convertedType, i32(20)),
    ],
    [
      'is BSON. Send it as JSON, or as bytes without that annotation.',
      (element: Struct) => void element.set(FIELD.element.logicalType, nested({ 13: nested() })),
    ],
    [
      'is compressed with LZO. Write the file with zstd or snappy.',
      (_: Struct, meta: Struct) => void meta.set(FIELD.meta.codec, i32(3)),
    ],
  ])('a column of Parquet that %s', async (message, change) => {
    const path = bench.file(fixture('split-double.parquet'))
    await using file = await ParquetFile.open(path)
    change(elementsOf(file.footer)[1]!, metasOf(groupsOf(file.footer)[0]!)[0]!)
    await file.save()
    expect(await bench.refusal('parquet', readFileSync(path))).toBe(
      `400 invalid_upload: Column "split" ${message}`,
    )
  })

  test('a column without values is text in every format', async () => {
    expect((await bench.read('parquet', fixture('nulls.parquet'))).shape).toEqual(['none: string'])
    expect((await bench.read('csv', 'none,b\n,1\n')).shape[0]).toBe('none: string')
    expect((await bench.read('json', '[{"none":null,"b":1}]')).shape[0]).toBe('none: string')
  })
})

test('damaged lz4 is refused, and never more than is allowed', () => {
  const feather = fixture('pandas.feather')
  const frame = feather.subarray(feather.indexOf(Buffer.from([4, 0x22, 0x4d, 0x18])))
  expect(unpackLz4(frame, 1 << 20).length).toBeGreaterThan(20_000)
  expect(() => unpackLz4(frame, 1_000)).toThrow(RangeError)
  for (let seed = 0; seed < 3_000; seed++) {
    const random = randomness(seed)
    try {
      expect(
        unpackLz4(mutate(frame.subarray(0, 1_000 + random(4_000)), random), 1 << 20).length,
      ).toBeLessThanOrEqual(1 << 20)
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError)
    }
  }
})
