import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExecutorParts } from '../../engine/export/dispatch.ts'
import { openExecutor } from '../../engine/export/index.ts'
import { exportCopied } from '../../engine/export/parquet.ts'
import type { JoinedColumn } from '../../engine/parquet/joined.ts'
import { bytesOf, newDataset, openWorkplace } from '../engine/workplace.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-joined-'))
let connection: DuckDBConnection
let instance: DuckDBInstance
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true, force: true })
})

let made = 0
async function fileOf(sql: string, options = "CODEC 'zstd', PARQUET_VERSION 'V2', ROW_GROUP_SIZE 20480") {
  const file = join(folder, `${++made}.parquet`)
  await connection.run(`COPY (${sql}) TO '${file}' (FORMAT parquet, ${options})`)
  return file
}

/** Texts that hardly pack, so that files are large enough to be worth copying, beside others that have dictionaries. */
const rows = (from: number, to: number) =>
  `SELECT i AS c0, md5(i::VARCHAR) AS c1, '{"a":' || i || '}' AS c2, CASE WHEN i % 3 > 0 THEN 'kind ' || (i % 5) END AS c3,
    CAST(i / 7 AS DECIMAL(18,3)) AS c4, i / 3 AS c5, TIMESTAMP '2020-01-01' + INTERVAL (i) SECOND AS c6
   FROM range(${from}, ${to}) t(i)`
const COLUMNS: JoinedColumn[] = [
  { name: 'Id', type: 'integer', stored: 0 },
  { name: 'id', type: 'string', stored: 1 },
  { name: 'größe "x"', type: 'json', stored: 2 },
  { name: 'kind', type: 'string', stored: 3 },
  { name: 'price', type: 'decimal(18,3)', stored: 4 },
  { name: 'ratio', type: 'double', stored: 5 },
  { name: 'at', type: 'timestamp', stored: 6 },
]

async function copied(
  files: readonly string[],
  columns: readonly JoinedColumn[],
): Promise<string | undefined> {
  const parts = { running: new Set(), directory: folder } as unknown as ExecutorParts
  const slices = files.map((file) => ({ file, first: 0 }))
  const statement = () => {
    throw new Error('nothing is written anew')
  }
  const stream = await exportCopied(parts, { slices, columns, statement }, {})
  if (!stream) return undefined
  const pieces: Buffer[] = []
  for await (const bytes of stream) {
    pieces.push(Buffer.from(bytes))
    stream.recycle(bytes)
  }
  expect(parts.running.size).toBe(0)
  const file = join(folder, `joined-${++made}.parquet`)
  writeFileSync(file, Buffer.concat(pieces))
  return file
}

const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()

test('several files become one with the same rows in the same order', async () => {
  const files = await Promise.all([
    fileOf(rows(0, 50_000)),
    fileOf(rows(50_000, 90_000)),
    fileOf(rows(90_000, 120_000)),
  ])
  const file = (await copied(files, COLUMNS))!
  const list = files.map((one) => `'${one}'`).join(', ')
  expect(await read(`SELECT count(*) FROM '${file}'`)).toEqual([['120000']])
  const different = `SELECT count(*) FROM (FROM read_parquet([${list}]) POSITIONAL JOIN
    (SELECT #1 AS d0, #2 AS d1, #3 AS d2, #4 AS d3, #5 AS d4, #6 AS d5, #7 AS d6 FROM '${file}'))
    WHERE ${[0, 1, 2, 3, 4, 5, 6].map((n) => `c${n}::VARCHAR IS DISTINCT FROM d${n}::VARCHAR`).join(' OR ')}`
  expect(await read(different)).toEqual([['0']])
  const described = await read(
    `SELECT name, logical_type FROM parquet_schema('${file}') WHERE type IS NOT NULL`,
  )
  expect(described.map(([name]) => name)).toEqual(COLUMNS.map(({ name }) => name))
  expect(described[2]![1]).toMatch(/^Json/)
})

test('an engine that is closed while a copy is being opened leaves none behind', async () => {
  const executor = await openExecutor({ tempDirectory: join(folder, 'closed'), allowedDirectories: [folder] })
  const files = await Promise.all([fileOf(rows(0, 50_000)), fileOf(rows(50_000, 90_000))])
  const statement = () => ({ sql: 'SELECT 1', parameters: [], columns: [] })
  const copies = { slices: files.map((file) => ({ file, first: 0 })), columns: COLUMNS, statement }
  const opened = executor.bytes(statement(), 'parquet', { copies }).catch((error) => error)
  await executor.close()
  expect(await opened).toMatchObject({ code: 'cancelled' })
  expect(executor.stats().exports).toBe(0)
})

test('row groups can be found by their statistics and their places', async () => {
  const file = (await copied([await fileOf(rows(0, 50_000)), await fileOf(rows(50_000, 90_000))], COLUMNS))!
  expect(await read(`SELECT id_1 FROM '${file}' WHERE "Id" = 61234`)).toEqual(
    await read(`SELECT md5('61234')`),
  )
  const groups = await read(
    `SELECT row_group_id, min(stats_min_value::BIGINT), min(data_page_offset) FROM parquet_metadata('${file}')
     WHERE path_in_schema = 'Id' GROUP BY ALL ORDER BY ALL`,
  )
  expect(groups.map(([, least]) => least)).toEqual(['0', '20480', '40960', '50000', '70480'])
})

test('some columns, in another order, without the bytes of the others', async () => {
  const files = [await fileOf(rows(0, 60_000)), await fileOf(rows(60_000, 100_000))]
  const file = (await copied(files, [COLUMNS[4]!, COLUMNS[0]!]))!
  expect(await read(`SELECT count(*), sum("Id"), sum(price)::VARCHAR FROM '${file}'`)).toEqual(
    await read(`SELECT count(*), sum(c0), sum(c4)::VARCHAR FROM read_parquet(['${files.join("', '")}'])`),
  )
  expect(readFileSync(file).length).toBeLessThan(readFileSync(files[0]!).length)
})

test('a reader of another make agrees', async () => {
  const options = "CODEC 'snappy', PARQUET_VERSION 'V1', ROW_GROUP_SIZE 20480"
  const sql = (from: number, to: number) => `SELECT c0, c1, c3, c5 FROM (${rows(from, to)})`
  const files = [await fileOf(sql(0, 50_000), options), await fileOf(sql(50_000, 90_000), options)]
  const columns = [COLUMNS[0]!, COLUMNS[1]!, COLUMNS[3]!, COLUMNS[5]!].map((column, stored) => ({
    ...column,
    stored,
  }))
  const file = (await copied(files, columns))!
  const parquetjs = createRequire(import.meta.url)('parquetjs-lite')
  const reader = await parquetjs.ParquetReader.openFile(file)
  try {
    const cursor = reader.getCursor()
    let count = 0
    for (let row = await cursor.next(); row; row = await cursor.next()) {
      if (count % 9_999 === 0) expect([Number(row.Id), row.ratio]).toEqual([count, count / 3])
      count += 1
    }
    expect(count).toBe(90_000)
  } finally {
    await reader.close()
  }
})

test('files that are not alike, hard to read for others or tiny are not copied', async () => {
  const large = await fileOf(rows(0, 50_000))
  const wider = await fileOf(`SELECT * REPLACE (c0::INTEGER AS c0) FROM (${rows(0, 50_000)})`)
  expect(await copied([large, wider], COLUMNS)).toBeUndefined()
  const lz4 = await fileOf(rows(0, 50_000), "CODEC 'lz4_raw'")
  expect(await copied([lz4], COLUMNS)).toBeUndefined()
  const tiny = await Promise.all([0, 10, 20].map((from) => fileOf(rows(from, from + 10))))
  expect(await copied(tiny, COLUMNS)).toBeUndefined()
  expect(await copied([large], [COLUMNS[0]!, COLUMNS[0]!])).toBeUndefined()
})

/** Integers in pages of version 2, which parts have, are differences; what is written anew has pages of version 1. */
const COPIED = 'DELTA_BINARY_PACKED'
const WRITTEN = 'PLAIN'

test('an export of all rows is a copy of the part, one of some rows is written anew', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const text = `n,Name\n${Array.from({ length: 3_000 }, (_, n) => `${n},name ${n}`).join('\n')}`
  await dataset.replace({ body: bytesOf(text), format: 'csv' })
  const encodings = async (options: Parameters<typeof dataset.query>[0]) => {
    using query = await dataset.query(options)
    const file = join(folder, `export-${++made}.parquet`)
    const { rows: count } = await query.toFile(file, 'parquet')
    expect(await read(`SELECT count(*) FROM '${file}'`)).toEqual([[String(count)]])
    return await read(
      `SELECT DISTINCT path_in_schema, encodings FROM parquet_metadata('${file}') ORDER BY ALL`,
    )
  }
  expect(await encodings({})).toEqual([
    ['Name', 'DELTA_LENGTH_BYTE_ARRAY'],
    ['n', COPIED],
  ])
  expect(await encodings({ select: ['Name'] })).toEqual([['Name', 'DELTA_LENGTH_BYTE_ARRAY']])
  expect(await encodings({ filter: 'n lt 100' })).toEqual([
    ['Name', WRITTEN],
    ['n', WRITTEN],
  ])
})

test('an export of a window copies whole row groups, and writes only the rows around them anew', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const text = `n,Name,kind\n${Array.from({ length: 400_000 }, (_, n) => `${n},name ${n},${n % 7}\n`).join('')}`
  await dataset.replace({ body: bytesOf(text), format: 'csv' })
  const exported = async (options: Parameters<typeof dataset.query>[0]) => {
    using query = await dataset.query(options)
    const file = join(folder, `export-${++made}.parquet`)
    await query.toFile(file, 'parquet')
    const [found] = await read(
      `SELECT count(*), min(n), max(n), bool_and(n = file_row_number + ${options?.skip ?? 0} AND "Name" = 'name ' || n)
       FROM read_parquet('${file}', file_row_number = true)`,
    )
    const encodings = await read(
      `SELECT encodings, sum(num_values) FROM parquet_metadata('${file}') WHERE path_in_schema = 'n' GROUP BY ALL
       ORDER BY min(row_group_id)`,
    )
    return { found, encodings: encodings.map(([encoding]) => encoding) }
  }
  const columns = ['Name', 'n']
  expect(await exported({ select: columns, skip: 100_000, top: 290_000 })).toEqual({
    found: ['290000', '100000', '389999', true],
    encodings: [WRITTEN, COPIED],
  })
  expect(await exported({ select: columns, top: 200_000 })).toEqual({
    found: ['200000', '0', '199999', true],
    encodings: [COPIED, WRITTEN],
  })
  // Less than a row group: there is nothing to copy.
  expect(await exported({ skip: 10, top: 1_000 })).toEqual({
    found: ['1000', '10', '1009', true],
    encodings: [WRITTEN],
  })
  const files = readdirSync(place.directory, { recursive: true, encoding: 'utf8' })
  expect(files.filter((name) => /export/.test(name))).toEqual([])
})

test('what was written anew is removed where nobody reads the export', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace({
    body: bytesOf(`n\n${Array.from({ length: 200_000 }, (_, n) => `${n}\n`).join('')}`),
    format: 'csv',
  })
  using query = await dataset.query({ top: 150_000 })
  const left = () =>
    readdirSync(place.directory, { recursive: true, encoding: 'utf8' }).filter((name) => /export/.test(name))
  const stream = await query.bytes('parquet')
  expect(left()).toHaveLength(1)
  await stream[Symbol.asyncDispose]()
  expect(left()).toEqual([])
})
