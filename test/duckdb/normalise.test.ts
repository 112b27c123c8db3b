import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseDuckType } from '../../engine/duckdb/duck-type.ts'
import { NOT_MICROSECONDS, normaliseColumn } from '../../engine/duckdb/normalise.ts'
import { isColumnType, sqlType } from '../../engine/types/index.ts'

let instance: DuckDBInstance
let connection: Awaited<ReturnType<DuckDBInstance['connect']>>

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
  await connection.run(`SET TimeZone = 'UTC'`)
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

const rows = async (sql: string): Promise<unknown[][]> => (await connection.runAndReadAll(sql)).getRowsJson()

/** Type and text of one expression after it was normalised. */
async function normalised(expression: string): Promise<{ type: string; duck: string; value: unknown }> {
  const [[, duckType] = []] = await rows(`DESCRIBE SELECT ${expression} AS x`)
  const column = normaliseColumn(String(duckType), 'x')
  const from = `SELECT ${column.sql} AS y FROM (SELECT ${expression} AS x)`
  const [[duck, value] = []] = await rows(`SELECT typeof(y), CAST(y AS VARCHAR) FROM (${from})`)
  return { type: column.type, duck: String(duck), value }
}

describe('every type that DuckDB has', () => {
  it('becomes one of the closed set, with exactly the SQL type that the set says', async () => {
    const columns = await rows('DESCRIBE FROM test_all_types()')
    expect(columns.length).toBeGreaterThan(50)
    for (const [name, duckType] of columns) {
      const { type, sql } = normaliseColumn(String(duckType), `"${name}"`)
      expect(isColumnType(type), `${name}: ${type}`).toBe(true)
      // The largest TIMESTAMP_NS is finer than a microsecond, and the bounds of HUGEINT have 39 digits: errors on purpose.
      const where =
        name === 'timestamp_ns'
          ? 'WHERE year(timestamp_ns) < 2000'
          : name === 'hugeint'
            ? 'WHERE hugeint IS NULL'
            : ''
      const described = await rows(`DESCRIBE SELECT ${sql} AS x FROM test_all_types() ${where}`)
      expect(described[0]![1], String(name)).toBe(
        sqlType(type).replace('TIMESTAMPTZ', 'TIMESTAMP WITH TIME ZONE'),
      )
      await connection.run(`SELECT ${sql} FROM test_all_types() ${where}`)
    }
  })
})

describe('single values', () => {
  it.each([
    ['18446744073709551615::UBIGINT', 'decimal(20,0)', '18446744073709551615'],
    [`-${'9'.repeat(38)}::HUGEINT`, 'decimal(38,0)', `-${'9'.repeat(38)}`],
    [
      '170141183460469231731687303715884105727::UHUGEINT',
      'string',
      '170141183460469231731687303715884105727',
    ],
    ["'0101'::BIT", 'string', '0101'],
    ["'b'::ENUM('a', 'b')", 'string', 'b'],
    ["TIMESTAMP_S '2001-02-03 04:05:06'", 'timestamp', '2001-02-03 04:05:06'],
    ["'2001-02-03 04:05:06.123456'::TIMESTAMP_NS", 'timestamp', '2001-02-03 04:05:06.123456'],
    ["'infinity'::TIMESTAMP_NS", 'timestamp', 'infinity'],
    ["'12:00:00.5+01:30'::TIMETZ", 'string', '12:00:00.5+01:30'],
    ["'POINT(1 2)'::GEOMETRY", 'string', 'POINT (1 2)'],
    ['0.5::FLOAT', 'double', '0.5'],
    ['NULL::INTERVAL', 'string', null],
    ["INTERVAL '0 days'", 'string', 'PT0S'],
    ["INTERVAL '14 months -3 days 100 hours 1.25 seconds'", 'string', 'P14M-3DT360001.25S'],
    ["INTERVAL '-0.5 seconds'", 'string', 'PT-0.5S'],
    ["INTERVAL '-0.000001 seconds'", 'string', 'PT-0.000001S'],
    ['to_microseconds(9007199254740993)', 'string', 'PT9007199254.740993S'],
    ['to_microseconds(-9223372036854775808)', 'string', 'PT-9223372036854.775808S'],
    ["INTERVAL '10 seconds'", 'string', 'PT10S'],
  ])('%s', async (expression, type, value) => {
    const column = await normalised(expression)
    expect(column).toEqual({ type, duck: sqlType(column.type as 'string'), value })
  })

  it.each([
    "'2001-02-03 04:05:06.123456789'::TIMESTAMP_NS",
    "'04:05:06.123456789'::TIME_NS",
  ])('refuses to round %s', async (expression) => {
    await expect(normalised(expression)).rejects.toThrow(NOT_MICROSECONDS)
  })

  it('knows the type that DuckDB 2.0 has for nanoseconds in UTC, of which 1.5 keeps microseconds', async () => {
    const { type, sql } = normaliseColumn('TIMESTAMPTZ_NS', 'x')
    const from = `SELECT ${sql} AS y FROM (SELECT '2001-02-03 04:05:06.5+02'::TIMESTAMPTZ AS x)`
    expect([type, ...(await rows(`SELECT typeof(y), CAST(y AS VARCHAR) FROM (${from})`))]).toEqual([
      'timestamptz',
      ['TIMESTAMP WITH TIME ZONE', '2001-02-03 02:05:06.5+00'],
    ])
    expect(normaliseColumn('STRUCT(x TIMESTAMPTZ_NS)', 'x').sql).toContain('CAST(struct_extract')
  })
})

describe('nested values', () => {
  it.each([
    ["[1.5, 'NaN'::DOUBLE, NULL, '-inf'::DOUBLE]", [1.5, 'NaN', null, '-INF']],
    ['NULL::DOUBLE[]', null],
    ["{'a b': [1, 2], 'c': {'it''s': 'x'}}", { 'a b': [1, 2], c: { "it's": 'x' } }],
    ["{'a': TIMESTAMP '2001-02-03 04:05:06.5', 'b': 'AB'::BLOB}", { a: '2001-02-03T04:05:06.5', b: 'QUI=' }],
    ["[TIMESTAMP '0044-03-15 (BC) 01:02:03']", ['0044-03-15 (BC) 01:02:03']],
    ['NULL::STRUCT(a DOUBLE, b STRUCT(c BLOB))', null],
    ["{'a': NULL::STRUCT(c BLOB)}", { a: null }],
    [
      "['2001-02-03 04:05:06+02'::TIMESTAMPTZ, 'infinity'::TIMESTAMPTZ]",
      ['2001-02-03T02:05:06Z', 'infinity'],
    ],
    ["MAP {'k': INTERVAL '1 day'}", { k: 'P1D' }],
    ['MAP {1: [1.5::DOUBLE]}', { 1: [1.5] }],
    ["union_value(num := 'NaN'::DOUBLE)", { num: 'NaN' }],
    ["[[{'x': 1.5::DOUBLE}], []]", [[{ x: 1.5 }], []]],
    ['[1.5::DOUBLE, 2]::DOUBLE[2]', [1.5, 2]],
    ["{'a': {'b': 1}::VARIANT}", { a: { b: 1 } }],
  ])('%s', async (expression, value) => {
    const column = await normalised(expression)
    expect(column.type).toBe('json')
    expect(column.duck).toBe('VARCHAR')
    expect(column.value === null ? null : JSON.parse(String(column.value))).toEqual(value)
  })
})

describe('values of a VARIANT are written as elsewhere within JSON', () => {
  const levels = (count: number) => '['.repeat(count) + ']'.repeat(count)

  it.each([
    ["'null'", '"null"'],
    [`'{"a":1}'`, String.raw`"{\"a\":1}"`],
    ['18446744073709551615::UBIGINT', '18446744073709551615'],
    ['1.50::DECIMAL(38,2)', '1.50'],
    ['5::DOUBLE', '5'],
    ["['NaN'::DOUBLE, '-inf', NULL, 1e300]", '["NaN","-INF",null,1e+300]'],
    ['0.1::FLOAT', '0.10000000149011612'],
    [String.raw`'\x00\xFF'::BLOB`, '"AP8="'],
    ["INTERVAL '1 day'", '"P1D"'],
    [
      "[TIMESTAMP '2024-01-31 10:20:30', TIMESTAMP '1969-12-31 23:59:59.999999']",
      '["2024-01-31T10:20:30","1969-12-31T23:59:59.999999"]',
    ],
    ["TIMESTAMP_NS '1969-12-31 23:59:59.123456789'", '"1969-12-31T23:59:59.123456789"'],
    ["TIMESTAMPTZ '2024-01-31 10:20:30.5+02'", '"2024-01-31T08:20:30.5Z"'],
    ["{'d': DATE '2024-01-31', 't': TIME '10:20:30.5'}", '{"d":"2024-01-31","t":"10:20:30.5"}'],
    [
      `{'a"': [{'b': [NULL, {'c': 2::DOUBLE}]}, {'b': []}]}`,
      String.raw`{"a\"":[{"b":[null,{"c":2}]},{"b":[]}]}`,
    ],
    ['NULL', null],
    ['[NULL]', '[null]'],
    [`'${levels(16)}'::JSON`, levels(16)],
  ])('%s', async (expression, json) => {
    expect((await normalised(`${expression}::VARIANT`)).value).toBe(json)
  })

  it('are so within other values', async () => {
    expect((await normalised("[{'v': [1::DOUBLE]::VARIANT}, NULL]")).value).toBe('[{"v":[1]},null]')
  })

  it('are an error where there are more levels than can be written', async () => {
    await expect(normalised(`'${levels(17)}'::JSON::VARIANT`)).rejects.toThrow('more than 16 levels')
  })
})

describe('numbers within nested values keep all digits', () => {
  it.each([
    ["{'a': 99999999999999.99999::DECIMAL(19,5), 'b': 1.5::FLOAT}", '{"a":99999999999999.99999,"b":1.5}'],
    [
      "[{'a': -999999999.999999999::DECIMAL(18,9), 'b': NULL::DOUBLE}]",
      '[{"a":-999999999.999999999,"b":null}]',
    ],
    [
      '[-0.5::DECIMAL(19,19), NULL, 0::DECIMAL(19,19)]',
      '[-0.5000000000000000000,null,0.0000000000000000000]',
    ],
    ["{'a': 0.5::DECIMAL(18,18)}", '{"a":0.500000000000000000}'],
    ['MAP {0.5::DECIMAL(19,19): 0.25::DECIMAL(2,2)}', '{"0.5000000000000000000":0.25}'],
    [
      "{'a': 170141183460469231731687303715884105727::HUGEINT, 'b': 'NaN'::DOUBLE}",
      '{"a":170141183460469231731687303715884105727,"b":"NaN"}',
    ],
    [`{'a': '[1.23456789012345678901]'::JSON}`, '{"a":[1.23456789012345678901]}'],
    ['union_value(n := 0.5::DECIMAL(19,19))', '{"n":0.5000000000000000000}'],
    [`MAP {'"': ['a'::BLOB], 'b': NULL}`, String.raw`{"\"":["YQ=="],"b":null}`],
    ['MAP {}::MAP(VARCHAR, DOUBLE)', '{}'],
    ['NULL::MAP(VARCHAR, DOUBLE)', null],
  ])('%s', async (expression, value) => {
    expect((await normalised(expression)).value).toBe(value)
  })
})

describe('the text of a type', () => {
  it('is read with quoted names, nesting and arrays', () => {
    expect(
      parseDuckType("STRUCT(\"a \"\",)\" MAP(VARCHAR, DECIMAL(18,3)), b ENUM('x'')', 'y')[3])[]"),
    ).toEqual({
      kind: 'list',
      of: {
        kind: 'struct',
        fields: [
          {
            name: 'a ",)',
            type: {
              kind: 'map',
              key: { kind: 'scalar', name: 'VARCHAR' },
              value: { kind: 'decimal', precision: 18, scale: 3 },
            },
          },
          { name: 'b', type: { kind: 'list', of: { kind: 'enum' } } },
        ],
      },
    })
  })

  it('names the place where it is malformed', () => {
    expect(() => parseDuckType('MAP(VARCHAR')).toThrow(/position 11/)
    expect(() => parseDuckType('STRUCT(a INTEGER) x')).toThrow(/position 18/)
  })
})
