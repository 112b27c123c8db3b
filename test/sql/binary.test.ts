import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Dataset, type Engine, openEngine, type SqlOptions } from '../../engine/index.ts'
import { newDataset, openWorkplace } from '../engine/workplace.ts'

/** Of 10,000 rows each tenth has the byte 255, and the others one of seven values with a byte that is no ASCII. */
const ROWS = `SELECT CASE WHEN n % 10 = 0 THEN '\\xFF'::BLOB ELSE ('\\xFE' || (n % 7)::VARCHAR)::BLOB END AS k,
  (n % 10)::VARCHAR AS t, n % 10 AS i FROM range(10000) t(n)`

const folder = mkdtempSync(join(tmpdir(), 'parquetry-binary-'))
const directory = join(folder, 'data')
const parts = join(directory, 'parts')
const upload = join(folder, 'rows.parquet')
let engine: Engine
let duck: DuckDBConnection
const datasets = {} as Record<'new' | 'old', Dataset>

beforeAll(async () => {
  duck = await (await DuckDBInstance.create(':memory:')).connect()
  await duck.run(`COPY (${ROWS}) TO '${upload}'`)
  engine = await open()
  for (const age of ['new', 'old'] as const) {
    datasets[age] = await newDataset(engine)
    await datasets[age].replace({ format: 'parquet', body: { file: upload } })
  }
  await engine.close()
  await writeAsBefore(2)
  engine = await open()
  for (const age of ['new', 'old'] as const) datasets[age] = await engine.dataset(datasets[age].id)
}, 60_000)
afterAll(async () => {
  duck.closeSync()
  await engine.close()
  rmSync(folder, { recursive: true })
})

const open = () => openEngine({ directory, threads: 2, workers: 1 })

/** Writes a part as DuckDB does, with its Bloom filters, as older versions did. */
async function writeAsBefore(id: number): Promise<void> {
  const copy = join(folder, 'old.parquet')
  const part = partFile(id)
  await duck.run(`COPY (FROM read_parquet('${part}')) TO '${copy}'`)
  copyFileSync(copy, part)
  using catalog = new DatabaseSync(join(directory, 'catalog.sqlite'))
  catalog.prepare('UPDATE parts SET hash = NULL, bytes = ? WHERE id = ?').run(statSync(part).size, id)
}

function partFile(id: number): string {
  return join(parts, readdirSync(parts).find((name) => Number.parseInt(name, 10) === id)!)
}

async function filtersIn(file: string): Promise<unknown[]> {
  const rows = await duck.runAndReadAll(
    `SELECT DISTINCT path_in_schema FROM parquet_metadata('${file}') WHERE bloom_filter_offset IS NOT NULL ORDER BY ALL`,
  )
  return rows.getRows().map(([name]) => name)
}

async function countOf(sql: string, values?: Parameters<Engine['sql']>[1], options?: SqlOptions) {
  using query = await engine.sql(sql, values, options)
  for await (const row of query.rows()) return Number(Object.values(row)[0])
}

test('parts and exports have Bloom filters for other columns only', async () => {
  expect(await filtersIn(partFile(1))).toEqual(['c1', 'c2'])
  expect(await filtersIn(partFile(2))).toEqual(['c0', 'c1', 'c2'])
  for (const query of [{}, { filter: 'i ge 0' }]) {
    for (const dataset of [datasets.new, datasets.old]) {
      const file = join(folder, 'export.parquet')
      await (await dataset.query(query)).toFile(file, 'parquet')
      expect(await filtersIn(file)).toEqual(['i', 't'])
    }
  }
})

describe.each(['new', 'old'] as const)('a part with binary values (%s)', (age) => {
  const table = () => `dataset_${datasets[age].id}`

  test.each([
    ['a constant', "k = from_base64('/w==')", 1000],
    ['a list', "k IN (from_base64('/w=='), from_base64('AA=='))", 1000],
    ['another value', "k = '\\xFE6'::BLOB", 1285],
    ['a value that no row has', "k = '\\xFD'::BLOB", 0],
    ['a text', "k = 'a'", 0],
    ['a range', "k >= '\\xFF'::BLOB", 1000],
    ['a difference', "k <> '\\xFF'::BLOB", 9000],
    ['a subquery', "k IN (SELECT from_base64('/w=='))", 1000],
  ])('SQL finds them by %s', async (_, condition, count) => {
    expect(await countOf(`SELECT count(*) FROM ${table()} WHERE ${condition}`)).toBe(count)
  })

  test('SQL joins by them', async () => {
    const sql = `SELECT count(*) FROM ${table()} JOIN (SELECT from_base64('/w==') AS k) o USING (k)`
    expect(await countOf(sql)).toBe(1000)
    const self = `SELECT count(*) FROM ${table()} a JOIN (SELECT DISTINCT k FROM ${table()} WHERE i = 0) b ON a.k = b.k`
    expect(await countOf(self)).toBe(1000)
  })

  test('a saved query finds them, and so do filters and SQL over it', async () => {
    const repository = (await engine.repositories())[0]!
    const sql = `SELECT k, i FROM ${table()} WHERE k = from_base64('/w==')`
    const { saved, columns } = await engine.defineQuery({ sql })
    const { id } = await engine.createDataset({
      repositoryId: repository.id,
      name: `saved ${age}`,
      columns,
      query: saved,
    })
    using query = await (await engine.dataset(id)).query({
      filter: 'i eq 0 and k ne null',
    })
    expect(await query.count()).toBe(1000)
    expect(await countOf(`SELECT count(*) FROM dataset_${id} WHERE k = '\\xFF'::BLOB`)).toBe(1000)
  })

  test('pipelines group by them', async () => {
    using query = await datasets[age].query({
      apply: 'filter(k ne null)/groupby((k),aggregate($count as n))/filter(n eq 1000)',
    })
    const found: unknown[] = []
    for await (const row of query.rows()) found.push(row)
    expect(found).toEqual([{ k: new Uint8Array([0xff]), n: 1000 }])
  })

  test('upserts by a binary key replace its rows', async () => {
    await using other = await openWorkplace()
    const file = join(other.directory, 'keys.parquet')
    await duck.run(`COPY (SELECT DISTINCT k, 1 AS i FROM (${ROWS})) TO '${file}'`)
    const dataset = await newDataset(other.engine)
    await dataset.replace({ format: 'parquet', body: { file } })
    await dataset.declareKey(['k'])
    await duck.run(`COPY (SELECT DISTINCT k, 2 AS i FROM (${ROWS})) TO '${file}'`)
    await dataset.upsert({ format: 'parquet', body: { file } })
    using query = await dataset.query({ apply: 'filter(i eq 2)/aggregate($count as n)' })
    for await (const row of query.rows()) expect(row).toEqual({ n: 8 })
    expect((await dataset.record()).rowCount).toBe(8)
  })
})

test('the files at /parquet have no such filters, whatever the part has', async () => {
  for (const dataset of [datasets.new, datasets.old]) {
    using snapshot = await dataset.snapshot()
    const [shown] = await snapshot.files()
    const bytes: Uint8Array[] = []
    for await (const piece of shown!.read(0, shown!.bytes)) bytes.push(piece)
    const file = join(folder, 'shown.parquet')
    writeFileSync(file, Buffer.concat(bytes))
    expect(await filtersIn(file)).toEqual(['i', 't'])
    const rows = await duck.runAndReadAll(`SELECT count(*) FROM '${file}' WHERE k = '\\xFF'::BLOB`)
    expect(rows.getRows()).toEqual([[1000n]])
  }
})

test('verify names parts that have them, which is no problem', async () => {
  const report = await engine.verify()
  expect(report.problems).toEqual([])
  expect(report.notes).toEqual([
    {
      dataset: datasets.old.id,
      part: 2,
      note: expect.stringMatching(/Bloom filters for binary columns \("k"\)/),
    },
  ])
})

test('a part that is written again is written without them', async () => {
  await datasets.old.deleteRows({ filter: 'i eq 9' })
  using snapshot = await datasets.old.snapshot()
  const [file] = await snapshot.files()
  expect(await filtersIn(partFile(file!.number))).toEqual(['c1', 'c2'])
  expect(await countOf(`SELECT count(*) FROM dataset_${datasets.old.id} WHERE k = '\\xFF'::BLOB`)).toBe(1000)
})
