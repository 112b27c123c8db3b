import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Duck } from '../../engine/duckdb/duck.ts'
import { writePart } from '../../engine/ingest/parts/part.ts'

const ROWS = 40_960
/** The size that row groups have where rows are as wide as this test says. */
const GROUP = 2_048
const VALUES = 10_000
const folder = mkdtempSync(join(tmpdir(), 'parquetry-bloom-'))
const part = join(folder, 'part.parquet')
let duck: Duck
/** Reads as queries do; `duck` trusts no statistics. */
let instance: DuckDBInstance
let connection: DuckDBConnection

/** The n-th row's number of `count`, anywhere in the table. */
const scattered = (count: number) => `CAST(hash(i) % ${count} AS BIGINT)`
const COLUMNS = {
  sorted: 'i',
  number: `CASE WHEN i >= ${GROUP} THEN ${scattered(VALUES)} END`,
  text: `'customer ' || ${scattered(VALUES)}`,
  few: scattered(10),
  some: scattered(1_000),
  double: `${scattered(VALUES)} / 7`,
  decimal: `${scattered(VALUES)}::DECIMAL(12, 2)`,
  day: `DATE '2000-01-01' + ${scattered(VALUES)}::INTEGER`,
  long: `repeat(md5(i::VARCHAR), 3)`,
}
/** The types of columns that are no text here. */
const TYPES: Readonly<Partial<Record<string, 'integer' | 'double'>>> = {
  sorted: 'integer',
  number: 'integer',
  few: 'integer',
  some: 'integer',
  double: 'double',
}
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]
const column = (name: keyof typeof COLUMNS) => `c${NAMES.indexOf(name)}`

beforeAll(async () => {
  duck = await Duck.open({ tempDirectory: folder })
  instance = await DuckDBInstance.create()
  connection = await instance.connect()
  await write(part, NAMES, ROWS)
})
afterAll(async () => {
  connection.closeSync()
  instance.closeSync()
  await duck.close()
  rmSync(folder, { recursive: true })
})

async function ask(sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRowsJS()
}

function write(file: string, names: readonly (keyof typeof COLUMNS)[], rows: number) {
  const selected = names.map((name, index) => `${COLUMNS[name]} AS c${index}`).join(', ')
  const columns = names.map(
    (name) => ({ name, type: TYPES[name] ?? 'string', nullable: true, description: '' }) as const,
  )
  const planned = { rows, rawBytes: rows * 2_048, columns }
  return writePart(duck, `SELECT ${selected} FROM range(${rows}) t(i)`, file, planned, {})
}

/** How many row groups have a filter for each column that was not written with a dictionary. */
async function filtersOf(file: string): Promise<Record<string, number>> {
  const rows = await ask(
    `SELECT path_in_schema, count(bloom_filter_offset) FROM parquet_metadata('${file}')
     WHERE NOT contains(encodings, 'DICTIONARY') GROUP BY ALL ORDER BY ALL`,
  )
  return Object.fromEntries(rows.map(([name, count]) => [String(name), Number(count)]))
}

test('unsorted numbers of many values have a filter in each row group with values', async () => {
  const found = await filtersOf(part)
  expect(found).toMatchObject({ [column('number')]: ROWS / GROUP - 1 })
  const others = NAMES.filter((name) => name !== 'number').map(column)
  expect(others.map((name) => found[name] ?? 0)).toEqual(others.map(() => 0))
})

test('a part of one row group needs none', async () => {
  const file = join(folder, 'one.parquet')
  await write(file, ['number', 'sorted'], GROUP)
  expect(Object.values(await filtersOf(file))).toEqual([0, 0, 0])
})

test('every value is found', async () => {
  const [name, text] = [column('number'), column('text')]
  for (let value = 0; value < VALUES; value += 97) {
    const [found] = await ask(
      `SELECT (SELECT count(*) FROM '${part}' WHERE ${name} = ${value}), count(*) FILTER (WHERE ${name} + 0 = ${value}),
         (SELECT count(*) FROM '${part}' WHERE ${text} = 'customer ${value}'),
         count(*) FILTER (WHERE ${text} || '' = 'customer ${value}') FROM '${part}'`,
    )
    expect(found![0], `${value}`).toBe(found![1])
    expect(found![2], `customer ${value}`).toBe(found![3])
  }
})

test('most row groups without a value are not read', async () => {
  const name = column('number')
  const damaged = join(folder, 'damaged.parquet')
  const chunks = await ask(
    `SELECT row_group_id, data_page_offset, total_compressed_size FROM parquet_metadata('${part}')
     WHERE path_in_schema = '${name}' ORDER BY row_group_id`,
  )
  let skipped = 0
  for (const [group, offset, size] of chunks.map((row) => row.map(Number)) as [number, number, number][]) {
    const bytes = readFileSync(part)
    bytes.fill(0xff, offset, offset + size)
    writeFileSync(damaged, bytes)
    const [[value]] = (await ask(
      `SELECT min(${name}) FROM '${part}' WHERE ${name} NOT IN
         (SELECT ${name} FROM '${part}' WHERE file_row_number // ${GROUP} = ${group} AND ${name} IS NOT NULL)`,
    )) as [[bigint]]
    const read = ask(`SELECT count(*) FROM '${damaged}' WHERE ${name} = ${value}`)
    skipped += await read.then(
      () => 1,
      () => 0,
    )
  }
  expect(skipped).toBeGreaterThan(0.7 * chunks.length)
})

test('nothing is left of the file that DuckDB wrote the filters to', () => {
  expect(readdirSync(folder).filter((name) => name.startsWith('ingest-'))).toEqual([])
})
