import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'
import { errorOf, type Lake, openLake, read } from './lake.ts'

let lake: Lake

beforeAll(async () => {
  lake = await openLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

/** Columns that can't be read as they are, and the reason that is given. */
const COLUMNS: Readonly<Record<string, string>> = {
  '1::UTINYINT': 'is of type UTINYINT',
  '1::UBIGINT': 'is of type UBIGINT',
  '1::HUGEINT': '',
  "TIMESTAMP_NS '2024-01-01 00:00:00'": 'has timestamps in nanoseconds',
  "TIMESTAMP_MS '2024-01-01 00:00:00'": 'has timestamps in milliseconds',
  '[1, 2]': 'is nested',
  "{'a': 1}": 'is nested',
  "MAP {'a': 1}": 'is nested',
  "'1'::JSON": 'is JSON',
  "INTERVAL '1' DAY": 'has intervals',
  "DATE '20000-01-01'": 'has values beyond those of date',
  "TIMESTAMP '20000-01-01'": 'has values beyond those of timestamp',
}

test.for(Object.entries(COLUMNS))('%s is refused with file, column and reason', async ([sql, reason], {
  task,
}) => {
  const name = `${task.id}.parquet`
  await lake.write(name, `SELECT 1 AS n, ${sql} AS c`)
  const { code, message } = await errorOf(lake.attach(name))
  if (reason === '') return expect([undefined, 'invalid_file']).toContain(code)
  expect(code).toBe('invalid_file')
  expect(message).toContain(`${name}: column "c" ${reason}`)
  expect(message).toContain('Upload it instead.')
})

/** Files whose columns are whole numbers or bytes for DuckDB, and what only Arrow's schema in them says. */
const ARROW = {
  durations: 'has durations as whole numbers',
  periods: 'has periods of pandas as whole numbers',
  bool8: 'has booleans as whole numbers',
  'polars-int128': 'integers of 128 bits',
}

test.for(Object.entries(ARROW))('%s of Arrow are refused, where an upload reads or refuses them', async ([
  fixture,
  reason,
]) => {
  const name = `${fixture}.parquet`
  copyFileSync(join(import.meta.dirname, '../ingest/fixtures', name), join(lake.folder, name))
  const { code, message } = await errorOf(lake.attach(name))
  expect(code).toBe('invalid_file')
  expect(message).toContain(name)
  expect(message).toContain(reason)
})

test('names that DuckDB would change, and those that it gives to rows, are refused', async () => {
  for (const [name, column] of [['reserved', 'file_row_number']]) {
    await lake.write(`${name}.parquet`, `SELECT 1 AS ${column}`)
    expect(await errorOf(lake.attach(`${name}.parquet`))).toMatchObject({ code: 'invalid_file' })
  }
})

test('files must have the same columns in the same order', async () => {
  await lake.write('same/a.parquet', 'SELECT 1::INTEGER AS n, 2 AS m')
  await lake.write('same/b.parquet', 'SELECT 1::INTEGER AS n, 2 AS m')
  for (const other of [
    '2 AS m, 1::INTEGER AS n',
    '1::BIGINT AS n, 2 AS m',
    '1::INTEGER AS n',
    "1::INTEGER AS n, 2 AS m, 'x' AS o",
  ]) {
    await lake.write('same/c.parquet', `SELECT ${other}`)
    const { code, message } = await errorOf(lake.attach('same'))
    expect(code).toBe('invalid_file')
    expect(message).toMatch(/^c\.parquet: column \d is .* in a\.parquet it is /)
  }
})

test('files that are damaged, absent or no Parquet are refused', async () => {
  const whole = await lake.write('whole.parquet', 'SELECT 1 AS n')
  mkdirSync(join(lake.folder, 'bad'))
  const bytes = readFileSync(whole)
  const damaged = Buffer.from(bytes)
  damaged.fill(0xee, bytes.length - 60, bytes.length - 8)
  const files = {
    'text.parquet': Buffer.from('a,b\n1,2\n'),
    'empty.parquet': Buffer.alloc(0),
    'cut.parquet': bytes.subarray(0, bytes.length - 10),
    'damaged.parquet': damaged,
  }
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(lake.folder, 'bad', name), content)
    const { code, message } = await errorOf(lake.attach(`bad/${name}`))
    expect(code).toBe('invalid_file')
    expect(message).toContain(name)
  }
  for (const path of ['nowhere', 'nowhere/*.parquet', 'bad/*.csv']) {
    expect(await errorOf(lake.attach(path))).toMatchObject({ code: 'invalid_file' })
  }
  symlinkSync(whole, join(lake.folder, 'bad/link.parquet'))
  expect((await errorOf(lake.attach('bad/link.parquet'))).code).toBeUndefined()
  expect((await errorOf(lake.attach('bad/l*.parquet'))).message).toContain('is a link')
})

test('only files below the folders that the configuration names are attached', async () => {
  const outside = join(lake.root, 'outside')
  mkdirSync(outside)
  copyFileSync(await lake.write('in.parquet', 'SELECT 1 AS n'), join(outside, 'a.parquet'))
  symlinkSync(outside, join(lake.folder, 'way-out'))
  for (const path of ['../outside', 'way-out', 'way-out/a.parquet', '../data/parts']) {
    expect(await errorOf(lake.attach(path))).toMatchObject({ code: 'invalid_option' })
  }
  const s3 = (await lake.upload([])).attach('s3://bucket/lake')
  expect(await errorOf(s3)).toMatchObject({ code: 'invalid_option' })
  const wrong = [lake.data, lake.root, 'relative', join(lake.data, 'parts'), join(lake.root, 'a*b')]
  for (const folder of wrong) {
    const opened = openEngine({ directory: lake.data, attachable: [folder] })
    expect(await errorOf(opened)).toMatchObject({ code: 'invalid_option' })
  }
})

test('without that setting, files that are attached can not be opened', async () => {
  await lake.write('locked/a.parquet', 'SELECT 1 AS n')
  const { id } = await lake.attach('locked')
  await using other = await openEngine({ directory: lake.data, workers: 1 })
  const error = await errorOf(read(await other.dataset(id)))
  expect(error.code).toBe('file_changed')
  expect(error.message).toContain('"a.parquet" of this dataset is below none of the folders')
})

test('patterns choose files', async () => {
  for (const name of [
    'p/a1.parquet',
    'p/a2.parquet',
    'p/b1.parquet',
    'p/deep/er/a3.parquet',
    'p/_a4.parquet',
    'p/.a5.parquet',
  ])
    await lake.write(name, `SELECT '${name}' AS name`)
  const count = async (pattern: string) => (await (await lake.attach(pattern)).record()).rowCount
  expect(await count('p')).toBe(4)
  expect(await count('p/a?.parquet')).toBe(2)
  expect(await count('p/*.parquet')).toBe(3)
  expect(await count('p/**/a*.parquet')).toBe(3)
  expect(await count('p/b1.parquet')).toBe(1)
})
