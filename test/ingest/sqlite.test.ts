import { describe, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { database } from './support/databases.ts'
import { column, useBench } from './support/helper.ts'

const bench = useBench()

const VALUES = `
  CREATE TABLE t (id INTEGER PRIMARY KEY, price REAL, name TEXT, raw BLOB, day DATE, yes BOOLEAN, mixed, "odd ""name" INT);
  INSERT INTO t VALUES (1, 3, 'é', x'0001', '2024-01-01', 1, 1, NULL);
  INSERT INTO t VALUES (2, 1.5, '007', NULL, '2024-02-29', 0, 2.5, 9223372036854775807);
  INSERT INTO t VALUES (9007199254740993, NULL, '', x'', NULL, NULL, NULL, -9223372036854775808);`

describe('a table of an SQLite database', () => {
  test('has the types of its values, of which integers keep all digits', async () => {
    const { shape, values } = await bench.read('sqlite', database(VALUES))
    expect(shape).toEqual([
      'id: integer',
      'price: double',
      'name: string',
      'raw: binary',
      'day: date',
      'yes: boolean',
      'mixed: double',
      'odd "name: integer',
    ])
    expect(values).toEqual([
      ['1', '3.0', 'é', '\\x00\\x01', '2024-01-01', 'true', '1.0', null],
      ['2', '1.5', '007', null, '2024-02-29', 'false', '2.5', '9223372036854775807'],
      ['9007199254740993', null, '', '', null, null, null, '-9223372036854775808'],
    ])
  })

  test('has the types that it declares where it has no values', async () => {
    const sql =
      'CREATE TABLE t (i INT, r DOUBLE PRECISION, s VARCHAR(9), b BLOB, d DATETIME, y BOOL, n NUMERIC, x)'
    const expected = ['integer', 'double', 'string', 'binary', 'timestamp', 'boolean', 'double', 'string']
    const { shape, rows } = await bench.read('sqlite', database(sql))
    expect([rows, shape.map((one) => one.split(': ')[1])]).toEqual([0, expected])
  })

  test('takes the types of the dataset that it is for', async () => {
    const file = database("CREATE TABLE t (yes BOOLEAN, n INT); INSERT INTO t VALUES (1, 5), (0, 'x')")
    const existing = [column('yes', 'integer'), column('n', 'string')]
    expect((await bench.read('sqlite', file, { existing })).values).toEqual([
      ['1', '5'],
      ['0', 'x'],
    ])
    const refusal = await bench.refusal('sqlite', file, { existing: [existing[0]!, column('n', 'integer')] })
    expect(refusal).toBe('400 invalid_upload: Row 2, column "n": "x" is not an integer.')
  })

  test('is read by its name where there are several, and otherwise refused with their names', async () => {
    const file = database('CREATE TABLE a (n INT); CREATE TABLE "b c" (n INT); INSERT INTO "b c" VALUES (7)')
    const { values, tables, table } = await bench.read('sqlite', file, { options: { table: 'b c' } })
    expect([values, tables, table]).toEqual([[['7']], ['a', 'b c'], 'b c'])
    const error = await bench.read('sqlite', file).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EngineError)
    expect(error).toMatchObject({
      message: 'The SQLite database has several tables: name one of "a", "b c" with table=.',
      details: { option: 'table', tables: ['a', 'b c'] },
    })
    expect(await bench.refusal('sqlite', file, { options: { table: 'd' } })).toContain(
      'The SQLite database has no table "d"; it has "a", "b c".',
    )
  })

  test('is found among views, indexes and virtual tables', async () => {
    const file = database(
      'CREATE TABLE t (n INT UNIQUE); CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO t VALUES (1)',
    )
    expect((await bench.read('sqlite', file)).tables).toEqual(['t'])
  })

  test('is read from a database whose log of changes was not sent with it', async () => {
    const file = database('PRAGMA journal_mode = WAL; CREATE TABLE t (n INT); INSERT INTO t VALUES (1)')
    expect((await bench.read('sqlite', file)).values).toEqual([['1']])
  })
})

describe('an SQLite database is refused', () => {
  test('where a column has blobs and other values, or text that is not UTF-8', async () => {
    const blob = database("CREATE TABLE t (x); INSERT INTO t VALUES ('a'), (x'00')")
    expect(await bench.refusal('sqlite', blob)).toBe(
      '400 invalid_upload: Row 2, column "x": the value is a blob, others are not.',
    )
    const text = database("CREATE TABLE t (x TEXT); INSERT INTO t VALUES (CAST(x'ff41' AS TEXT))")
    expect(await bench.refusal('sqlite', text)).toBe(
      '400 invalid_upload: Row 1, column "x": the text is not valid UTF-8.',
    )
    const sign = database('CREATE TABLE t (x TEXT); INSERT INTO t VALUES (char(65533))')
    expect((await bench.read('sqlite', sign)).values).toEqual([['\ufffd']])
  })

  test('where it has no table, or is damaged', async () => {
    expect(await bench.refusal('sqlite', database('CREATE VIEW v AS SELECT 1'))).toContain('has no table')
    const damaged = '400 invalid_upload: The SQLite database is damaged, or cut off.'
    const large = database(
      `CREATE TABLE t (n TEXT); WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9999)
      INSERT INTO t SELECT 'row ' || n FROM r`,
    )
    expect(await bench.refusal('sqlite', large.subarray(0, 20_000))).toBe(damaged)
    expect(await bench.refusal('sqlite', large.subarray(0, 99))).toBe(damaged)
    expect(await bench.refusal('sqlite', Buffer.alloc(4096, 'SQLite format 3\0'))).toBe(damaged)
    expect(await bench.refusal('sqlite', 'a,b\n')).toBe(damaged)
  })
})
