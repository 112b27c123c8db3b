import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { elementsOf, FIELD } from '../../engine/parquet/footer.ts'
import { ParquetFile } from '../../engine/parquet/parquet-file.ts'
import type { Struct } from '../../engine/parquet/thrift.ts'
import { column, declared, useBench } from './support/helper.ts'

const bench = useBench()

function rename(element: Struct, name: string): void {
  element.set(FIELD.element.name, { ...element.get(FIELD.element.name)!, value: Buffer.from(name) })
}

async function parquet(select: string, options = ''): Promise<string> {
  const file = bench.path()
  await bench.query(`COPY (${select}) TO '${file}' (FORMAT parquet${options})`)
  return file
}

describe('Parquet', () => {
  test('types beyond ours become the nearest without loss', async () => {
    const file = await parquet(
      `SELECT 1::TINYINT AS small, 18446744073709551615::UBIGINT AS large, 1.5::FLOAT AS f, 1.10::DECIMAL(9,2) AS d,
        'a'::ENUM('a', 'b') AS e, TIMESTAMP_MS '2020-01-01 00:00:00.5' AS ms, TIMESTAMPTZ '2020-01-01 10:00:00+02' AS tz,
        TIME '10:20:30' AS t, '\\x00\\xFF'::BLOB AS b, UUID '550e8400-e29b-41d4-a716-446655440000' AS u,
        [1, NULL] AS l, {'k': 'é', 'n': 9007199254740993} AS s, '{"a":1}'::JSON AS j, NULL::INTEGER AS nothing`,
    )
    const { columns, values } = await bench.readFile('parquet', file)
    expect(
      Object.fromEntries(columns.map(({ name, type }, index) => [name, `${type} ${values[0]![index]}`])),
    ).toEqual({
      small: 'integer 1',
      large: 'decimal(20,0) 18446744073709551615',
      f: 'double 1.5',
      d: 'decimal(9,2) 1.10',
      e: 'string a',
      ms: 'timestamp 2020-01-01 00:00:00.5',
      tz: 'timestamptz 2020-01-01 08:00:00+00',
      t: 'time 10:20:30',
      b: 'binary \\x00\\xFF',
      u: 'uuid 550e8400-e29b-41d4-a716-446655440000',
      l: 'json [1,null]',
      s: 'json {"k":"é","n":9007199254740993}',
      j: 'json {"a":1}',
      nothing: 'integer null',
    })
  })

  test('an empty text is null where uuids or JSON are wanted', async () => {
    const uuid = '550e8400-e29b-41d4-a716-446655440000'
    const rows = `SELECT unnest(['', '${uuid}']) AS u, unnest(['', '{"a":""}']) AS j, unnest(['', 'x']) AS t`
    const given = { declared: declared({ u: 'uuid', j: 'json', t: 'string' }) }
    expect((await bench.readFile('parquet', await parquet(rows), given)).values).toEqual([
      [null, null, ''],
      [uuid, '{"a":""}', 'x'],
    ])
    const bad = await parquet(`SELECT unnest(['', 'x']) AS u, '' AS j, '' AS t`)
    expect(await bench.refusal('parquet', readFileSync(bad), given)).toContain('Row 2, column "u"')
    const kept = { ...given, options: { empty: 'text' } } as const
    expect(await bench.refusal('parquet', readFileSync(await parquet(rows)), kept)).toContain(
      'Row 1, column "u"',
    )
  })

  test("days before 15 October 1582 in Spark's former calendar are refused, others are taken", async () => {
    const select = "SELECT unnest([DATE '1582-10-15', DATE '1582-10-14']) AS a, [TIMESTAMP '2020-01-01'] AS b"
    const legacy = ", KV_METADATA {'org.apache.spark.legacyDateTime': ''}"
    const refused = /^400 invalid_upload: Row 2, column "a": the day is before 15 October 1582/
    expect(await bench.refusal('parquet', readFileSync(await parquet(select, legacy)))).toMatch(refused)
    const nested = `SELECT [{'d': DATE '1500-01-01'}] AS a`
    expect(await bench.refusal('parquet', readFileSync(await parquet(nested, legacy)))).toMatch(
      /Row 1, column "a"/,
    )
    const old = ", KV_METADATA {'org.apache.spark.version': '2.4.8'}"
    expect(await bench.refusal('parquet', readFileSync(await parquet(select, old)))).toMatch(refused)
    const recent = ", KV_METADATA {'org.apache.spark.version': '4.3.0'}"
    for (const file of [await parquet(select, recent), await parquet(`${select} LIMIT 1`, legacy)])
      expect((await bench.readFile('parquet', file)).values[0]![0]).toBe('1582-10-15')
  })

  test('moments that Spark wrote as INT96 are in UTC, unless the dataset has them without a zone', async () => {
    const file = readFileSync(join(import.meta.dirname, 'fixtures/spark-moments.parquet'))
    const { shape, values } = await bench.read('parquet', file)
    expect(shape).toEqual(['n: integer', 'value: timestamptz'])
    expect(values).toEqual([
      ['1', '2024-02-29 10:20:30.123456+00'],
      ['2', null],
    ])
    for (const type of ['timestamp', 'timestamptz'] as const) {
      const existing = [column('n', 'integer'), column('value', type)]
      expect((await bench.read('parquet', file, { existing })).shape[1]).toBe(`value: ${type}`)
    }
    const changed = (from: string, to: string) =>
      Buffer.from(file.toString('latin1').replace(from, to), 'latin1')
    for (const other of [
      changed('"timestamp"', '"timest_mp"'),
      changed('{"type":"struct"', '["type":"struct"'),
    ])
      expect((await bench.read('parquet', other)).shape[1]).toBe('value: timestamp')
  })

  test.each<[string, (schema: readonly Struct[]) => void]>([
    [
      'without the annotation LIST',
      ([, list]) => {
        list!.delete(FIELD.element.convertedType)
        list!.delete(FIELD.element.logicalType)
      },
    ],
    ['as thrift wrote them', ([, , group]) => rename(group!, 'array')],
    ['as Avro wrote them', ([, , group]) => rename(group!, 'a_tuple')],
  ])('lists of objects of one field %s are refused, which DuckDB reads as lists of values', async (_, change) => {
    const path = await parquet('SELECT [1, 2] AS a')
    expect((await bench.readFile('parquet', path)).values).toEqual([['[1,2]']])
    {
      await using file = await ParquetFile.open(path)
      change(elementsOf(file.footer))
      await file.save()
    }
    expect(await bench.refusal('parquet', readFileSync(path))).toMatch(
      /^400 invalid_upload: Column "a" has a list of objects with a single field/,
    )
  })

  test('times that are marked as UTC are times of day within other values, too', async () => {
    const file = await parquet("SELECT [TIMETZ '10:20:30.5+02', NULL] AS a, {'b': TIMETZ '10:20:30+00'} AS c")
    expect((await bench.readFile('parquet', file)).values).toEqual([
      ['["08:20:30.5",null]', '{"b":"10:20:30"}'],
    ])
  })

  test('times that are marked as UTC are times of day', async () => {
    const file = await parquet("SELECT unnest([TIMETZ '10:20:30.5+02', NULL]) AS a")
    const { shape, values } = await bench.readFile('parquet', file)
    expect(shape).toEqual(['a: time'])
    expect(values).toEqual([['08:20:30.5'], [null]])
  })

  test('columns whose names differ by case alone keep names and values', async () => {
    const file = await parquet('SELECT 1 AS a, 2 AS "~", [3] AS list, 4 AS z')
    // DuckDB writes no such file itself.
    writeFileSync(file, readFileSync(file).toString('latin1').replaceAll('~', 'A'), 'latin1')
    const { shape, values } = await bench.readFile('parquet', file)
    expect(shape).toEqual(['a: integer', 'A: integer', 'list: json', 'z: integer'])
    expect(values).toEqual([['1', '2', '[3]', '4']])
  })

  test('fields within a column whose names differ by case alone', async () => {
    const file = await parquet("SELECT [{'x': 1, '~': {'x': 2}}] AS a")
    expect((await bench.readFile('parquet', file)).values).toEqual([['[{"x":1,"~":{"x":2}}]']])
    // DuckDB writes no such file itself, and would read the second field as X_1.
    const bytes = readFileSync(file).toString('latin1').replaceAll('~', 'X')
    expect(await bench.refusal('parquet', Buffer.from(bytes, 'latin1'))).toBe(
      '400 invalid_upload: Column "a" has the fields "x" and "X" within it, which differ at most by case. Fields in ' +
        'Parquet need other names; Arrow and JSON may have such fields.',
    )
    // DuckDB ignores the case of A to Z only.
    const accents = await parquet("SELECT {'É': 1, 'é': 2} AS a")
    expect((await bench.readFile('parquet', accents)).values).toEqual([['{"É":1,"é":2}']])
  })

  test('names keep byte order marks', async () => {
    const file = await parquet(`SELECT 1 AS "\ufeffa", {'\ufeffx': 1} AS a`)
    const { shape, values } = await bench.readFile('parquet', file)
    expect(shape).toEqual(['\ufeffa: integer', 'a: json'])
    expect(values).toEqual([['1', '{"\ufeffx":1}']])
  })

  test('order of rows is kept over many row groups', async () => {
    const file = await parquet('SELECT i FROM range(500000) t(i)', ', ROW_GROUP_SIZE 10000')
    const { rows, part } = await bench.ingest('parquet', file)
    expect(rows).toBe(500_000)
    expect(await bench.query(`SELECT count(*) FROM '${part}' WHERE c0 <> file_row_number`)).toEqual([[0n]])
  })

  test('columns go where the dataset has them, and widen without loss', async () => {
    const file = await parquet(`SELECT 1.5::DECIMAL(4,1) AS d, 7 AS i, DATE '2020-01-01' AS day, '[1]' AS j`)
    const existing = [
      column('j', 'json'),
      column('new', 'uuid'),
      column('day', 'timestamp'),
      column('i', 'string'),
      column('d', 'decimal(9,2)'),
    ]
    const { columns, values } = await bench.readFile('parquet', file, { existing })
    expect(columns).toEqual(existing)
    expect(values).toEqual([['[1]', null, '2020-01-01 00:00:00', '7', '1.50']])
  })

  test('another type than that of the dataset is a conflict', async () => {
    const file = readFileSync(await parquet('SELECT 1.5::DOUBLE AS a'))
    expect(await bench.refusal('parquet', file, { existing: [column('a', 'integer')] })).toBe(
      '409 column_conflict: Column "a" is double in the upload; the dataset wants integer. Both can be replaced ' +
        'together (columns=replace).',
    )
    expect(await bench.refusal('parquet', file, { existing: [column('A', 'double')] })).toBe(
      '409 column_conflict: The upload has a column "a" of type double that the dataset does not have. Column names ' +
        'are case-sensitive; declare new columns first, append with columns=add, or replace columns and rows together (columns=replace).',
    )
    expect(await bench.refusal('parquet', file, { declared: declared({ a: 'date' }) })).toMatch(/^409 /)
  })

  test('nulls where none may be, and text that is not JSON', async () => {
    const nulls = readFileSync(
      await parquet('SELECT CASE WHEN i <> 3000 THEN i END AS a FROM range(5000) t(i)'),
    )
    expect(
      await bench.refusal('parquet', nulls, { existing: [column('a', 'integer', { nullable: false })] }),
    ).toBe('400 invalid_upload: Row 3001, column "a": a value is missing, but the column is not nullable.')
    const text = readFileSync(await parquet(`SELECT 'x{' AS a`))
    expect(await bench.refusal('parquet', text, { existing: [column('a', 'json')] })).toBe(
      '400 invalid_upload: Row 1, column "a": the value is not a json.',
    )
    const fine = readFileSync(await parquet(`SELECT TIMESTAMP_NS '2020-01-01 00:00:00.000000001' AS a`))
    expect(await bench.refusal('parquet', fine)).toMatch(
      /^400 invalid_upload: Row 1, column "a": the time is finer than a microsecond/,
    )
  })

  test.each([
    ['not-json', 'Row 2, column "a": the value is not a json.'],
    ['not-json-struct', 'Row 2, column "a": the value is not a json.'],
    ['not-utf8', 'Row 2, column "a": the text is not valid UTF-8.'],
    ['not-utf8-struct', 'Row 2, column "a": the text is not valid UTF-8.'],
    ['millis', 'Row 2, column "a": the value is not a timestamptz of the years 1 to 9999.'],
    ['decimal256-struct', 'Column "a" holds decimals of 39 digits; the most are 38.'],
  ])('values that are not what the schema says, with their row: %s', async (name, message) => {
    const file = readFileSync(new URL(`fixtures/${name}.parquet`, import.meta.url))
    expect(await bench.refusal('parquet', file)).toBe(`400 invalid_upload: ${message}`)
  })

  test('damaged files', async () => {
    const whole = readFileSync(await parquet('SELECT i, md5(i::VARCHAR) AS h FROM range(5000) t(i)'))
    const message =
      '400 invalid_upload: The Parquet file is damaged, or uses an encoding or a compression that is not supported.'
    const other =
      '400 invalid_upload: The file is not a Parquet file, or is cut off: the bytes PAR1 are missing at its end.'
    expect(await bench.refusal('parquet', '')).toBe(other)
    expect(await bench.refusal('parquet', 'a,b\n1,2\n'.repeat(9))).toBe(other)
    expect(await bench.refusal('parquet', whole.subarray(0, whole.length - 100))).toBe(other)
    expect(await bench.refusal('parquet', whole.fill(0xff, 2000, 6000))).toBe(message)
  })

  test('GeoParquet whose metadata is not what its standard says', async () => {
    const file = await parquet('SELECT 1 AS a', `, KV_METADATA {geo: '{"columns": {}}'}`)
    expect(await bench.refusal('parquet', readFileSync(file))).toBe(
      '400 invalid_upload: The metadata "geo" of the Parquet file is not as GeoParquet 1.0 demands. Write the file anew, or without it.',
    )
  })

  test('a file that unpacks to more than the limit', async () => {
    const file = readFileSync(await parquet(`SELECT repeat('x', 1000) || i AS a FROM range(5000) t(i)`))
    expect(await bench.refusal('parquet', file, { limits: { unpackedBytes: 1_000_000 } })).toBe(
      '413 upload_too_large: The upload unpacks to more than 1000000 bytes.',
    )
  })

  test('an empty table', async () => {
    const { shape, rows, values } = await bench.readFile(
      'parquet',
      await parquet('SELECT 1 AS a WHERE false'),
    )
    expect([shape, rows, values]).toEqual([['a: integer'], 0, []])
  })
})

// Root may write all files, so the child is somebody else.
const other = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
const asOther = (code: string) =>
  spawnSync(process.execPath, ['--input-type=module', '-e', code], { ...other, encoding: 'utf8' })
const engine = new URL('../../engine/index.ts', import.meta.url)
const mayRead = asOther(`await import(${JSON.stringify(engine)})`).status === 0

test.skipIf(!mayRead)('a file that its reader may not write is checked as any other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-unwritable-'))
  try {
    chmodSync(folder, 0o777)
    const file = join(folder, 'a.parquet')
    copyFileSync(new URL('fixtures/not-utf8.parquet', import.meta.url), file)
    chmodSync(file, 0o444)
    const { stdout, stderr } = asOther(`
      const { openEngine } = await import(${JSON.stringify(engine)})
      await using engine = await openEngine({ directory: ${JSON.stringify(join(folder, 'data'))} })
      const { id: repositoryId } = await engine.createRepository({ name: 'r' })
      const { id } = await engine.createDataset({ repositoryId, name: 'd' })
      const dataset = await engine.dataset(id)
      await dataset.replace({ format: 'parquet', body: { file: ${JSON.stringify(file)} } }).catch(({ message }) =>
        console.log(message),
      )`)
    expect(stdout, stderr).toBe('Row 2, column "a": the text is not valid UTF-8.\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
