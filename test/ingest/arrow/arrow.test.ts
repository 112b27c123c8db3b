import { readFileSync } from 'node:fs'
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Dictionary,
  DurationMillisecond,
  Field,
  Float64,
  Int32,
  Int64,
  LargeUtf8,
  List,
  Map_,
  makeData,
  makeVector,
  type RecordBatch,
  Schema,
  Struct,
  Table,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  tableFromArrays,
  tableToIPC,
  Uint64,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { column, useBench } from '../support/helper.ts'

const bench = useBench()

const stream = (columns: Record<string, Vector>) => tableToIPC(new Table(columns), 'stream')
const vector = (values: readonly unknown[], type: DataType) =>
  vectorFromArray(values as never[], type as never)

describe('Arrow', () => {
  test('values of every type, exactly', async () => {
    const decimals = makeVector(
      makeData({
        type: new Decimal(2, 38, 128),
        data: Uint32Array.from([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 105, 0, 0, 0]),
      }),
    )
    const { shape, values } = await bench.read(
      'arrow',
      stream({
        i: vector([9007199254740993n, null], new Int64()),
        u: vector([18446744073709551615n, 0n], new Uint64()),
        f: vector([0.1, Number.NaN], new Float64()),
        inf: vector([Number.POSITIVE_INFINITY, -0], new Float64()),
        d: decimals,
        s: vector(['é"\n,', null], new Utf8()),
        e: vector(['x', 'x'], new Dictionary(new Utf8(), new Int32())),
        b: vector([true, false], new Bool()),
        day: vector([new Date('2020-02-29'), null], new DateDay()),
        ts: makeVector(
          makeData({
            type: new TimestampMicrosecond(),
            data: BigInt64Array.from([1_577_836_800_000_001n, -1n]),
          }),
        ),
        tz: makeVector(
          makeData({ type: new TimestampNanosecond('Europe/Berlin'), data: BigInt64Array.from([1000n, 0n]) }),
        ),
        t: makeVector(
          makeData({ type: new TimeMicrosecond(), data: BigInt64Array.from([1n, 86_399_000_000n]) }),
        ),
        bin: vector([Uint8Array.of(0, 255), Uint8Array.of()], new Binary()),
        dur: makeVector(
          makeData({ type: new DurationMillisecond(), data: BigInt64Array.from([1500n, -1n]) }),
        ),
      }),
    )
    expect(shape).toEqual([
      'i: integer',
      'u: decimal(20,0)',
      'f: double',
      'inf: double',
      'd: decimal(38,2)',
      's: string',
      'e: string',
      'b: boolean',
      'day: date',
      'ts: timestamp',
      'tz: timestamptz',
      't: time',
      'bin: binary',
      'dur: string',
    ])
    expect(values).toEqual([
      [
        '9007199254740993',
        '18446744073709551615',
        '0.1',
        'inf',
        '-0.01',
        'é"\n,',
        'x',
        'true',
        '2020-02-29',
        '2020-01-01 00:00:00.000001',
        '1970-01-01 00:00:00.000001+00',
        '00:00:00.000001',
        '\\x00\\xFF',
        'PT1.5S',
      ],
      [
        null,
        '0',
        'nan',
        '-0.0',
        '1.05',
        null,
        'x',
        'false',
        null,
        '1969-12-31 23:59:59.999999',
        '1970-01-01 00:00:00+00',
        '23:59:59',
        '',
        'PT-0.001S',
      ],
    ])
  })

  test('nested values as JSON', async () => {
    const { shape, values } = await bench.read(
      'arrow',
      stream({
        l: vector([[1n, null], null], new List(new Field('item', new Int64(), true))),
        s: vector(
          [
            { a: 'x"', b: Number.NaN },
            { a: null, b: 1.5 },
          ],
          new Struct([new Field('a', new Utf8(), true), new Field('b', new Float64(), true)]),
        ),
        m: vector(
          [new Map([['k', 1]]), new Map()],
          new Map_<Utf8, Int32>(
            new Field(
              'entries',
              new Struct([new Field('key', new Utf8()), new Field('value', new Int32(), true)]),
            ),
          ),
        ),
      }),
    )
    expect(shape).toEqual(['l: json', 's: json', 'm: json'])
    expect(values).toEqual([
      ['[1,null]', '{"a":"x\\"","b":"NaN"}', '{"k":1}'],
      [null, '{"a":null,"b":1.5}', '{}'],
    ])
  })

  test('a stream of several batches, and the file form', async () => {
    const table = tableFromArrays({ a: Int32Array.from({ length: 10_000 }, (_, i) => i) })
    const twice = new Table(table.schema, [...table.batches, ...table.batches])
    const bytes = tableToIPC(twice, 'stream')
    for (const file of [bytes, Buffer.concat([Buffer.from('ARROW1\0\0'), bytes, Buffer.from('directory')])]) {
      const { rows, values } = await bench.read('arrow', file)
      expect(rows).toBe(20_000)
      expect(values[19_999]).toEqual(['9999'])
    }
    expect((await bench.read('arrow', tableToIPC(twice, 'file'))).rows).toBe(20_000)
  })

  test('a stream without a batch is a table without rows', async () => {
    const list = new List(new Field('item', new Int32()))
    const struct = new Struct([new Field('l', list)])
    const empty = new Table(
      new Schema([new Field('a', list), new Field('s', struct), new Field('t', new Utf8())]),
      [],
    )
    const { shape, values } = await bench.read('arrow', tableToIPC(empty, 'stream'))
    expect(shape).toEqual(['a: json', 's: json', 't: string'])
    expect(values).toEqual([])
  })

  test('a stream may end without a marker, but not within a message; a file may not', async () => {
    const table = new Table({ a: vector([1, 2], new Int32()) })
    const bytes = tableToIPC(new Table(table.schema, [...table.batches, ...table.batches]), 'stream')
    const rowsOf: Record<number, number> = {}
    const cuts = Array.from({ length: bytes.length / 4 + 1 }, (_, index) => index * 4)
    for (const to of [...cuts, ...cuts.slice(0, -1).map((cut) => cut + 1)]) {
      const refusal = await bench.refusal('arrow', bytes.subarray(0, to))
      if (refusal !== 'taken') expect(refusal).toMatch(/^400 invalid_upload: The Arrow stream is damaged/)
      else rowsOf[to] = (await bench.read('arrow', bytes.subarray(0, to))).rows
    }
    // The schema and each of the batches are messages; the marker has eight bytes.
    expect(Object.values(rowsOf)).toEqual([0, 2, 4, 4])
    expect(Object.keys(rowsOf).map(Number).slice(-2)).toEqual([bytes.length - 8, bytes.length])
    const file = Buffer.concat([Buffer.from('ARROW1\0\0'), bytes.subarray(0, -8)])
    expect(await bench.refusal('arrow', file)).toBe(
      '400 invalid_upload: The Arrow file is cut off: it has no footer at its end.',
    )
  })

  test.each(['stream', 'file'] as const)('names keep byte order marks: %s', async (form) => {
    const struct = vector([{ '\ufeffx': 1 }], new Struct([new Field('\ufeffx', new Int32(), true)]))
    const table = new Table({ '\ufeffa': vector([1], new Int32()), a: struct })
    const { shape, values } = await bench.read('arrow', tableToIPC(table, form))
    expect(shape).toEqual(['\ufeffa: integer', 'a: json'])
    expect(values).toEqual([['1', '{"\ufeffx":1}']])
  })

  test('a name that is not UTF-8', async () => {
    const bytes = Buffer.from(stream({ naïve: vector([1], new Int32()) }))
    bytes[bytes.indexOf('naïve') + 3] = 0xff
    expect(await bench.refusal('arrow', bytes)).toBe(
      '400 invalid_upload: A name in the schema of the Arrow stream is not valid UTF-8.',
    )
  })

  test.each([
    ['a text', new Utf8()],
    ['a large text', new LargeUtf8()],
  ])('%s that is not UTF-8', async (_, type) => {
    const offsets = type instanceof Utf8 ? Int32Array.of(0, 1, 3) : BigInt64Array.of(0n, 1n, 3n)
    const data = makeData({ type, valueOffsets: offsets, data: Uint8Array.of(0x61, 0xe2, 0x82) } as never)
    expect(await bench.refusal('arrow', stream({ a: makeVector(data) }))).toBe(
      '400 invalid_upload: Row 2, column "a": the text is not valid UTF-8.',
    )
  })

  test('names may differ by case alone', async () => {
    const { shape } = await bench.read(
      'arrow',
      stream({ a: vector([1], new Int32()), A: vector([2], new Int32()) }),
    )
    expect(shape).toEqual(['a: integer', 'A: integer'])
  })

  test('into a dataset: widened, or a conflict', async () => {
    const file = stream({ a: vector([1], new Int32()), j: vector(['[1]'], new Utf8()) })
    const existing = [column('j', 'json'), column('a', 'decimal(20,1)')]
    expect((await bench.read('arrow', file, { existing })).values).toEqual([['[1]', '1.0']])
    expect(await bench.refusal('arrow', file, { existing: [column('a', 'date'), column('j', 'json')] })).toBe(
      '409 column_conflict: Column "a" is integer in the upload; the dataset wants date. Both can be replaced together (columns=replace).',
    )
    const text = stream({ j: vector(['x{'], new Utf8()) })
    expect(await bench.refusal('arrow', text, { existing: [column('j', 'json')] })).toBe(
      '400 invalid_upload: Row 1, column "j": "x{" is not a json.',
    )
  })

  test('times in a column of text are as exports write them', async () => {
    const at = makeVector(
      makeData({ type: new TimestampMicrosecond('UTC'), data: BigInt64Array.of(500_000n, 1n, 0n) }),
    )
    const { values } = await bench.read('arrow', stream({ a: at }), { existing: [column('a', 'string')] })
    expect(values.flat()).toEqual([
      '1970-01-01T00:00:00.5Z',
      '1970-01-01T00:00:00.000001Z',
      '1970-01-01T00:00:00Z',
    ])
  })

  test.each([
    ['list-view', 'ListView'],
    ['run-end', 'RunEndEncoded'],
    ['struct-list-view', 'LargeListView'],
  ])('a type that is not read, with the column: %s', async (file, type) => {
    const bytes = readFileSync(new URL(`../fixtures/${file}.arrow`, import.meta.url))
    expect(await bench.refusal('arrow', bytes)).toBe(
      `400 invalid_upload: Column "odd" has the Arrow type ${type}, which is not supported.`,
    )
  })

  test('a decimal without digits', async () => {
    const data = makeData({ type: new Decimal(0, 0, 128), data: Uint32Array.of(1, 0, 0, 0) })
    expect(await bench.refusal('arrow', stream({ a: makeVector(data) }))).toBe(
      '400 invalid_upload: Column "a" holds decimals of 0 digits; the least is 1.',
    )
  })

  test('a dictionary that says it has more buffers of text than there are', async () => {
    const bytes = readFileSync(new URL('../fixtures/polars-too-many-views.arrow', import.meta.url))
    expect(await bench.refusal('arrow', bytes)).toMatch(/^400 invalid_upload: The Arrow stream is damaged/)
  })

  test.each([-1, 2])('a dictionary that has no value %i', async (index) => {
    const dictionary = vector([10, 20], new Int32())
    const type = new Dictionary(dictionary.type, new Int32())
    const data = makeData({ type, data: Int32Array.from([1, index]), dictionary })
    expect(await bench.refusal('arrow', stream({ a: makeVector(data) }))).toBe(
      '400 invalid_upload: A dictionary of the Arrow stream has no value for an index.',
    )
  })

  test('what is damaged, cut off, or finer than a microsecond', async () => {
    const whole = stream({
      a: vector(
        Array.from({ length: 1000 }, (_, i) => `text ${i}`),
        new Utf8(),
      ),
    })
    const message =
      '400 invalid_upload: The Arrow stream is damaged, or compressed with something other than lz4 or zstd.'
    expect(await bench.refusal('arrow', whole.subarray(0, 600))).toBe(message)
    expect(await bench.refusal('arrow', 'nonsense and more of it')).toBe(message)
    expect(await bench.refusal('arrow', '')).toMatch(/^400 /)
    const fine = makeVector(makeData({ type: new TimestampNanosecond(), data: BigInt64Array.from([1n]) }))
    expect(await bench.refusal('arrow', stream({ a: fine }))).toBe(
      '400 invalid_upload: Row 1, column "a": the time is finer than a microsecond. Columns hold microseconds: send those, or ask for nanoseconds=truncate.',
    )
    expect(
      await bench.refusal('arrow', tableToIPC(new Table(new Schema([]), [] as RecordBatch[]), 'stream')),
    ).toMatch(/^400 /)
  })
})
