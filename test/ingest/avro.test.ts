import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import avsc from 'avsc'
import { describe, expect, test } from 'vitest'
import { column, useBench } from './support/helper.ts'

const bench = useBench()
const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name))

const CODECS = ['null', 'deflate', 'snappy', 'zstandard']
/** What fastavro reads in these files. */
const READ = JSON.parse(fixture('values-avro.json').toString()) as Record<string, string | null>[]
const SHAPE = [
  ...['whole: integer', 'long: integer', 'single: double', 'real: double', 'yes: boolean', 'name: string'],
  ...['raw: binary', 'fixed: binary', 'colour: string', 'price: decimal(20,4)', 'id: uuid', 'day: date'],
  ...['clock: time', 'fine: time', 'moment: timestamptz', 'local: timestamp'],
  ...['list: json', 'map: json', 'inner: json', 'either: json', 'nothing: string'],
]

/** A file of one column as avsc writes it; its values are as they are stored. */
async function written(type: object | string, ...values: unknown[]): Promise<Buffer> {
  const schema = { type: 'record', name: 'R', fields: [{ name: 'v', type }] }
  const encoder = new avsc.streams.BlockEncoder(schema as never)
  for (const v of values) encoder.write({ v })
  encoder.end()
  return Buffer.concat(await encoder.toArray())
}

/** A file of one column of whole numbers, as they are stored, which avsc writes only up to 2^53. */
function longs(type: object, ...values: bigint[]): Buffer {
  const long = (value: bigint | number) => {
    const bytes: number[] = []
    let left = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n))
    for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80)
    return Buffer.from([...bytes, Number(left)])
  }
  const text = (some: string) => Buffer.concat([long(some.length), Buffer.from(some)])
  const schema = JSON.stringify({ type: 'record', name: 'R', fields: [{ name: 'v', type }] })
  const [data, sync] = [Buffer.concat(values.map(long)), Buffer.alloc(16)]
  const head = [Buffer.from('Obj\x01'), long(1), text('avro.schema'), text(schema), long(0), sync]
  return Buffer.concat([...head, long(values.length), long(data.length), data, sync])
}

const logical = (type: string, logicalType: string) => ({ type, logicalType })

describe('an Avro file that fastavro wrote', () => {
  test.each(CODECS)('has the values that fastavro reads, compressed with %s', async (codec) => {
    const { shape, values } = await bench.read('avro', fixture(`values-${codec}.avro`))
    expect(shape).toEqual(SHAPE)
    const nested = SHAPE.map((one) => one.endsWith('json'))
    const parsed = (value: string | null, at: number) =>
      value !== null && nested[at] ? JSON.parse(value) : value
    expect(values.map((row) => row.map(parsed))).toEqual(READ.map((row) => Object.values(row).map(parsed)))
  })

  test('keeps all digits of numbers in nested values', async () => {
    const { values } = await bench.read('avro', fixture('values-null.avro'))
    expect(values[0]!.slice(16, 18)).toEqual(['[null,9007199254740993,0]', '{"a b":1.10}'])
  })
})

describe('an Avro file', () => {
  test('takes the types of the dataset that hold its own', async () => {
    const id = '00000000-0000-0000-0000-000000000007'
    const existing = [column('v', 'uuid')]
    expect((await bench.read('avro', await written('string', id), { existing })).values).toEqual([[id]])
    expect(await bench.refusal('avro', await written('int', 1), { existing })).toContain(
      'Column "v" is integer in the upload; the dataset wants uuid.',
    )
  })

  test('has values within json in the form that they have in other formats', async () => {
    const values = { type: 'map', values: 'string' }
    const file = await written(values, { b: '\u000b', 10: 'x', 9: 'y\\u000b' })
    const [[json] = []] = (await bench.read('avro', file)).values
    expect(json).toContain('"b":"\\u000B"')
    expect(json).toContain('"9":"y\\\\u000b"')
    const record = { type: 'record', name: 'P', fields: [{ name: 'm', type: ['null', values] }] }
    const inner = [{ m: null }, { m: { k: '"' } }]
    expect((await bench.read('avro', await written(record, ...inner))).values.flat()).toEqual([
      '{"m":null}',
      '{"m":{"k":"\\""}}',
    ])
  })

  test('keeps each entry of a map, in their order, also those that would be lost in an object', async () => {
    const entries = Buffer.from([3, 30, 18, ...Buffer.from('__proto__'), 2, 4, ...Buffer.from('10'), 4, 0])
    const header = await written({ type: 'map', values: 'int' }, {})
    // The block of the one row `{}` is its count, its length, the row and the marker.
    const marker = header.subarray(-16)
    const block = Buffer.from([2, 2 * entries.length, ...entries])
    const file = Buffer.concat([header.subarray(0, -16 - 3), block, marker])
    expect((await bench.read('avro', file)).values).toEqual([['{"__proto__":1,"10":2}']])
  })

  test('has durations as ISO 8601', async () => {
    const duration = { type: 'fixed', name: 'D', size: 12, logicalType: 'duration' }
    const of = (...parts: number[]) => Buffer.from(Uint32Array.from(parts).buffer)
    const file = await written(duration, of(14, 3, 1500), of(0, 0, 0), of(0, 2, 0))
    expect((await bench.read('avro', file)).values.flat()).toEqual(['P14M3DT1.5S', 'PT0S', 'P2D'])
  })

  test('has times of the years 1 to 9999, and all digits of numbers whose type is an object', async () => {
    const bounds = [-62_135_596_800_000_000n, 253_402_300_799_999_999n]
    const local = longs(logical('long', 'local-timestamp-micros'), ...bounds)
    expect((await bench.read('avro', local)).values).toEqual([
      ['0001-01-01 00:00:00'],
      ['9999-12-31 23:59:59.999999'],
    ])
    const nanos = longs(logical('long', 'timestamp-nanos'), 1_000_000_000_000_001_000n)
    expect((await bench.read('avro', nanos)).values).toEqual([['2001-09-09 01:46:40.000001+00']])
    for (const type of [{ type: 'long' }, logical('long', 'unheard-of')])
      expect((await bench.read('avro', longs(type, -(2n ** 63n)))).values).toEqual([['-9223372036854775808']])
  })

  test('has times up to the microsecond, unless finer ones are cut off', async () => {
    const file = await written(logical('long', 'timestamp-nanos'), 1_500, 2_000, -1)
    expect(await bench.refusal('avro', file)).toContain(
      'Row 1, column "v": the time is finer than a microsecond',
    )
    const { values } = await bench.read('avro', file, { options: { nanoseconds: 'truncate' } })
    expect(values).toEqual([
      ['1970-01-01 00:00:00.000001+00'],
      ['1970-01-01 00:00:00.000002+00'],
      ['1969-12-31 23:59:59.999999+00'],
    ])
  })

  test.each<[string, object | string, unknown, string]>([
    [
      'a day',
      logical('int', 'date'),
      9_999_999,
      'Row 1, column "v": the value is not a date of the years 1 to',
    ],
    ['a time', logical('int', 'time-millis'), 86_400_000, 'is not a time from 00:00:00'],
    ['a uuid', logical('string', 'uuid'), 'x', 'Row 1, column "v": "x" is not a uuid.'],
    [
      'a decimal',
      { type: 'bytes', logicalType: 'decimal', precision: 2, scale: 1 },
      Buffer.from([100]),
      'is not a decimal(2,1)',
    ],
  ])('with %s out of range is refused with row and column', async (_, type, value, message) => {
    expect(await bench.refusal('avro', await written(type, value))).toContain(message)
  })

  test.each<[string, object | string, (value: unknown) => unknown]>([
    ['plain', 'string', (value) => value],
    ['with its class in Java', { type: 'string', 'avro.java.string': 'String' }, (value) => value],
    ['within others', { type: 'array', items: ['null', 'string'] }, (value) => [value]],
  ])('with text that is not UTF-8 is refused, %s', async (_, type, wrapped) => {
    const file = await written(type, wrapped('good'), wrapped('ex\ufffdt'), wrapped('exact'))
    expect((await bench.read('avro', file)).rows).toBe(3)
    file.write('\xff', file.indexOf('exact'), 'latin1')
    expect(await bench.refusal('avro', file)).toBe(
      '400 invalid_upload: Row 3: a text in it is not valid UTF-8.',
    )
  })

  test('without records is refused, and so are others that rows are not made of', async () => {
    const encoder = new avsc.streams.BlockEncoder('int')
    encoder.end(5)
    const file = Buffer.concat(await encoder.toArray())
    expect(await bench.refusal('avro', file)).toContain('holds no records')
    expect(await bench.refusal('avro', 'a,b\n')).toContain('The Avro file is damaged, or cut off.')
  })

  test('that is cut off or damaged is refused, whatever is missing', async () => {
    const whole = fixture('values-deflate.avro')
    const damaged = '400 invalid_upload: The Avro file is damaged, or cut off.'
    for (const length of [3, 500, whole.length - 100, whole.length - 1]) {
      expect(await bench.refusal('avro', whole.subarray(0, length))).toBe(damaged)
    }
    for (const codec of CODECS) {
      const bytes = fixture(`values-${codec}.avro`)
      const other = Buffer.from(bytes)
      other[other.length - 10]! ^= 0xff
      expect(await bench.refusal('avro', other)).toBe(damaged)
    }
    const block = fixture('values-snappy.avro')
    block[block.length - 60]! ^= 0xff
    expect(await bench.refusal('avro', block)).toBe(damaged)
  })
})
