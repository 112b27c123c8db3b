import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FilesOptions, openFiles, type QueryOptions } from '../../engine/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-files-'))
let duckdb: DuckDBInstance

beforeAll(async () => {
  duckdb = await DuckDBInstance.create(':memory:')
})
afterAll(() => {
  duckdb.closeSync()
  rmSync(folder, { recursive: true })
})

/** Has DuckDB write the rows of a SELECT. */
async function write(path: string, select: string, options = ''): Promise<string> {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  const connection = await duckdb.connect()
  await connection.run(
    `COPY (${select}) TO '${file.replaceAll("'", "''")}' (FORMAT parquet, ROW_GROUP_SIZE 2048${options})`,
  )
  connection.closeSync()
  return file
}

/** Has parquetjs write columns of text under names that DuckDB would change. */
async function writeNames(path: string, names: readonly string[]): Promise<string> {
  const { ParquetSchema, ParquetWriter } = createRequire(import.meta.url)('parquetjs-lite')
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  const schema = new ParquetSchema(Object.fromEntries(names.map((name) => [name, { type: 'UTF8' }])))
  const writer = await ParquetWriter.openFile(schema, file)
  await writer.appendRow(Object.fromEntries(names.map((name) => [name, `${path} ${name}`])))
  await writer.close()
  return file
}

async function ask(path: string | readonly string[], options?: QueryOptions, how: FilesOptions = {}) {
  await using files = await openFiles(path, { workers: 1, ...how })
  const rows: Record<string, unknown>[] = []
  for await (const row of files.query(options).rows()) rows.push(row)
  return rows
}

const code = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error.code,
  )

test('a file is asked as a dataset is', async () => {
  const file = await write('numbers.parquet', "SELECT i::INTEGER AS n, 'r' || i AS name FROM range(5) t(i)")
  await using files = await openFiles(file)
  expect(files.rowCount).toBe(5)
  expect(files.columns.map(({ name, type }) => [name, type])).toEqual([
    ['n', 'integer'],
    ['name', 'string'],
  ])
  const query = files.query({ filter: 'n ge 2', select: ['name'], orderBy: 'n desc', top: 2 })
  expect(await query.count()).toBe(3)
  const rows: unknown[] = []
  for await (const row of query.rows()) rows.push(row)
  expect(rows).toEqual([{ name: 'r4' }, { name: 'r3' }])
  const csv: Uint8Array[] = []
  for await (const chunk of await files.query({ last: 1 }).bytes('csv')) csv.push(chunk)
  expect(Buffer.concat(csv).toString()).toBe('n,name\n4,r4\n')
  const batches: number[] = []
  for await (const batch of files.query().batches()) batches.push(batch.numRows)
  expect(batches).toEqual([5])
  expect(await query.explain()).toContain('name')
})

test('types of all kinds become those of the closed set', async () => {
  const file = await write(
    'types.parquet',
    "SELECT 18446744073709551615::UBIGINT AS u, 1.5::FLOAT AS f, {'a': [1, 2]} AS s, DATE '2024-02-29' AS d, " +
      "TIMESTAMPTZ '2024-01-01 12:00:00+02' AS z, 'x'::BLOB AS b",
  )
  expect(await ask(file)).toEqual([
    {
      u: '18446744073709551615',
      f: 1.5,
      s: '{"a":[1,2]}',
      d: '2024-02-29',
      z: '2024-01-01T10:00:00Z',
      b: new Uint8Array([0x78]),
    },
  ])
})

test('ranges of rows are the right ones, in one file and in many', async () => {
  const one = await write('many/1.parquet', 'SELECT i FROM range(5000) t(i)')
  const two = await write('many/2.parquet', 'SELECT i FROM range(5000, 10000) t(i)')
  for (const paths of [[one], [one, two]]) {
    const end = paths.length * 5000
    for (const [options, first, length] of [
      [{ top: 3 }, 0, 3],
      [{ last: 3 }, end - 3, 3],
      [{ skip: 4000, top: 2000 }, 4000, Math.min(2000, end - 4000)],
      [{ skip: end }, end, 0],
      [{}, 0, end],
    ] as const) {
      const rows = await ask(paths, options)
      expect(rows.map((row) => row['i'])).toEqual(Array.from({ length }, (_, index) => first + index))
    }
  }
})

test('ties of an order stay in the order of the files', async () => {
  await write('ties/b.parquet', 'SELECT i % 2 AS k, i FROM range(4000, 8000) t(i)')
  await write('ties/a.parquet', 'SELECT i % 2 AS k, i FROM range(4000) t(i)')
  const rows = await ask(join(folder, 'ties'), { orderBy: 'k', select: ['i'] })
  expect(rows.map((row) => row['i'])).toEqual(
    [0, 1].flatMap((odd) => Array.from({ length: 4000 }, (_, index) => index * 2 + odd)),
  )
})

test('a folder is one table; its folders may be columns', async () => {
  await write('trips/year=2025/x.parquet', "SELECT 1 AS n, 'a' AS t")
  await write('trips/year=2026/x.parquet', 'SELECT 2 AS n, 0.5 AS extra')
  await write('trips/_temporary/x.parquet', 'SELECT 9 AS nonsense')
  writeFileSync(join(folder, 'trips/_SUCCESS'), '')
  writeFileSync(join(folder, 'trips/readme.txt'), 'not rows')
  expect(await ask(join(folder, 'trips'))).toEqual([
    { n: 1, t: 'a', extra: null, year: 2025 },
    { n: 2, t: null, extra: '0.5', year: 2026 },
  ])
  expect(await ask(join(folder, 'trips'), { filter: 'year eq 2026', select: ['n'] })).toEqual([{ n: 2 }])
})

test('names that differ only by case are kept apart', async () => {
  const file = await writeNames('case.parquet', ['a', 'A', 'A_1', 'b'])
  expect(await ask(file, { filter: "A eq 'case.parquet A'" })).toEqual([
    { a: 'case.parquet a', A: 'case.parquet A', A_1: 'case.parquet A_1', b: 'case.parquet b' },
  ])
  const same = await writeNames('same.parquet', ['a', 'A', 'A_1', 'b'])
  expect((await ask([file, same], { select: ['A'] })).map((row) => row['A'])).toEqual([
    'case.parquet A',
    'same.parquet A',
  ])
  const other = await writeNames('other.parquet', ['A', 'a', 'A_1', 'b'])
  expect(await code(openFiles([file, other]))).toBe('column_conflict')
  const lower = await writeNames('lower.parquet', ['x'])
  const upper = await writeNames('upper.parquet', ['X'])
  expect(await code(openFiles([lower, upper]))).toBe('column_conflict')
})

test('columns may be named as DuckDB names positions, files as it writes patterns', async () => {
  const file = await write(
    "we[i]r*d 'name?.parquet",
    'SELECT 10 - i AS file_row_number, i AS file_index FROM range(10) t(i)',
  )
  expect(await ask(file, { skip: 2, top: 2 })).toEqual([
    { file_row_number: 8, file_index: 2 },
    { file_row_number: 7, file_index: 3 },
  ])
  expect(await ask(file, { orderBy: 'file_row_number', top: 1 })).toEqual([
    { file_row_number: 1, file_index: 9 },
  ])
})

test('an empty table is one', async () => {
  const file = await write('empty.parquet', 'SELECT 1 AS a WHERE false')
  expect(await ask(file)).toEqual([])
})

test('all formats are written, also into a file that appears when it is whole', async () => {
  const file = await write('source.parquet', 'SELECT i FROM range(100) t(i)')
  await using files = await openFiles(file)
  const target = join(folder, 'copy.arrow')
  expect(await files.query({ filter: 'i lt 10' }).toFile(target, 'arrow')).toMatchObject({ rows: 10 })
  expect(tableFromIPC(readFileSync(target)).numRows).toBe(10)
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('what can not be read says so', async () => {
  const text = join(folder, 'text.parquet')
  writeFileSync(text, 'a,b\n1,2\n')
  mkdirSync(join(folder, 'nothing'), { recursive: true })
  expect(await code(openFiles(text))).toBe('invalid_file')
  expect(await code(openFiles(join(folder, 'missing.parquet')))).toBe('invalid_file')
  expect(await code(openFiles(join(folder, 'nothing')))).toBe('invalid_file')
  expect(await code(openFiles([]))).toBe('invalid_file')
  await expect(openFiles([])).rejects.toThrow('No path is given: name a file or a folder.')
  for (const path of [{ path: text }, [text, 1], undefined]) {
    await expect(openFiles(path as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'openFiles takes the path of a file or a folder, or a list of paths.',
    })
  }
  const file = await write('plain.parquet', 'SELECT 1 AS a')
  expect(await code(ask(file, { filter: 'b eq 1' }))).toBe('invalid_columns')
  expect(await code(ask(file, { top: -1 }))).toBe('invalid_option')
})

test('times that are marked as UTC are times of day', async () => {
  const file = await write('utc-times.parquet', "SELECT TIMETZ '10:20:30+02' AS t")
  await using files = await openFiles(file)
  expect(files.columns).toMatchObject([{ name: 't', type: 'time' }])
  using query = files.query({ filter: 't lt 09:00:00' })
  expect(await Array.fromAsync(query.rows())).toEqual([{ t: '08:20:30' }])
})

test('what shows only in the rows is an error of ours, too', async () => {
  const fine = await write(
    'fine.parquet',
    "SELECT 1 AS a, '2024-01-01 00:00:00.000000001'::TIMESTAMP_NS AS t",
  )
  expect(await code(ask(fine))).toBe('not_representable')
  expect(await ask(fine, { select: ['a'] })).toEqual([{ a: 1 }])
  const damaged = await write('damaged.parquet', 'SELECT hash(i) AS h FROM range(5000) t(i)')
  const bytes = readFileSync(damaged)
  writeFileSync(damaged, bytes.fill(0xff, 4, 60))
  expect(await code(ask(damaged))).toBe('invalid_file')
})

test('an aborted signal ends a query', async () => {
  const file = await write('long.parquet', 'SELECT i FROM range(3000000) t(i)')
  await using files = await openFiles(file)
  const abort = new AbortController()
  const read = async () => {
    for await (const _ of files.query().batches({ signal: abort.signal })) abort.abort()
  }
  expect(await code(read())).toBe('cancelled')
})

test('the tag changes with the question and with the file', async () => {
  const file = await write('tag.parquet', 'SELECT 1 AS a')
  const tag = async (options?: QueryOptions) => {
    await using files = await openFiles(file)
    return files.query(options).etag
  }
  const first = await tag()
  expect(await tag()).toBe(first)
  expect(await tag({ top: 1 })).not.toBe(first)
  await write('tag.parquet', 'SELECT 1 AS a, 2 AS b')
  expect(await tag()).not.toBe(first)
})

test('NaN is found in files whose bounds leave it out, as the format has it', async () => {
  const plain = ", CODEC 'uncompressed', DICTIONARY_SIZE_LIMIT 1"
  const file = await write('nan.parquet', 'SELECT unnest([1e0, 2e0, 3e0, NULL]) AS x', plain)
  // DuckDB writes no bounds beside NaN, so a value between the bounds becomes NaN afterwards.
  const bytes = readFileSync(file)
  const value = Buffer.alloc(8)
  value.writeDoubleLE(2)
  bytes.writeDoubleLE(Number.NaN, bytes.indexOf(value))
  writeFileSync(file, bytes)
  const found = async (filter: string) => (await ask(file, { filter })).map(({ x }) => x)
  expect(await found('x lt 10')).toEqual([1, 3])
  expect(await found('x lt 10 or x eq 6')).toEqual([1, 3])
  expect(await found('x gt 2 and x ne 7')).toEqual([3])
  expect(await found('not (x lt 10)')).toEqual([Number.NaN, null])
  expect(await found('x ne 1 or x eq 1')).toEqual([1, Number.NaN, 3, null])
  const bounds = await ask(file, { apply: 'aggregate(x with min as low,x with max as high)' })
  expect(bounds).toEqual([{ low: 1, high: 3 }])
})
