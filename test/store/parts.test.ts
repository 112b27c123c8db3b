import { createReadStream, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Engine, openEngine } from '../../engine/index.ts'

const SIZES = { rows: 4_096, bytes: 2 ** 30 }
let directory: string
let engine: Engine
let id: number

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-parts-'))
  engine = await open()
  const repository = await engine.createRepository({ name: 'r' })
  id = (await engine.createDataset({ repositoryId: repository.id, name: 'd' })).id
})
afterEach(async () => {
  await engine.close()
  rmSync(directory, { recursive: true })
})

const open = (partSizes = SIZES) =>
  openEngine({ directory, role: 'server', threads: 2, workers: 1, partSizes })

/** Rows `from` to `to`, in an order of their own. */
function upload(from: number, to: number) {
  const body = (async function* () {
    yield Buffer.from(
      `n,text\n${Array.from({ length: to - from }, (_, n) => `${from + n},row ${from + n}`).join('\n')}\n`,
    )
  })()
  return { format: 'csv' as const, body }
}

/** Rows of each part, in order. */
async function parts(): Promise<number[]> {
  return (
    await engine.database.all<{ rows: number }>(
      `SELECT p.rows FROM datasets d JOIN version_parts vp ON vp.version_id = d.version_id
       JOIN parts p ON p.id = vp.part_id WHERE d.id = ? ORDER BY vp.position`,
      id,
    )
  ).map(({ rows }) => rows)
}

async function numbers(options = {}): Promise<number[]> {
  using query = await (await engine.dataset(id)).query({ select: ['n'], ...options })
  const found: number[] = []
  for await (const row of query.rows()) found.push(row['n'] as number)
  return found
}

/** What DuckDB finds in the files of parts. */
async function ask(sql: string): Promise<unknown[][]> {
  const duckdb = await DuckDBInstance.create()
  const connection = await duckdb.connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson()
  } finally {
    connection.closeSync()
    duckdb.closeSync()
  }
}

const count = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

describe('a large upload', () => {
  test('becomes parts of bounded size, in its order, and leaves nothing else', async () => {
    await (await engine.dataset(id)).replace(upload(0, 30_000))
    await engine.settled()
    expect(await parts()).toEqual([4_096, 4_096, 4_096, 4_096, 4_096, 4_096, 4_096, 1_328])
    expect(readdirSync(join(directory, 'parts'))).toHaveLength(8)
    expect(await numbers()).toEqual(count(0, 30_000))
    expect((await engine.verify()).problems).toEqual([])
    expect(await engine.gc()).toMatchObject({ files: 0 })
  })

  test('leaves nothing if the dataset is deleted while the rows of an upsert are written', async () => {
    const dataset = await engine.dataset(id)
    await dataset.replace(upload(0, 10))
    let deleted: Promise<void> | undefined
    const onProgress = () => {
      deleted ??= engine.deleteDataset(id)
    }
    const late = dataset.upsert({ ...upload(0, 300_000), on: ['n'], onProgress })
    await expect(late).rejects.toMatchObject({ code: 'not_found' })
    await deleted
    await engine.settled()
    expect(await engine.database.all('SELECT id FROM parts WHERE bytes > 0')).toEqual([])
    expect(readdirSync(join(directory, 'parts'))).toEqual([])
  })

  test('is read in the parts alone that a window or a filter needs', async () => {
    await (await engine.dataset(id)).replace(upload(0, 30_000))
    const scan = async (options: object) => {
      using query = await (await engine.dataset(id)).query(options)
      const { scan } = query.plan
      return scan.kind === 'slices' ? [scan.slices.length, scan.of] : []
    }
    expect(await scan({ skip: 20_000, top: 10 })).toEqual([1, 8])
    expect(await scan({ last: 10 })).toEqual([1, 8])
    expect(await scan({ filter: 'n ge 8191 and n lt 8193' })).toEqual([2, 8])
    expect(await scan({})).toEqual([8, 8])
    expect(await numbers({ skip: 20_000, top: 10 })).toEqual(count(20_000, 20_010))
    expect(await numbers({ filter: 'n ge 8191 and n lt 8193' })).toEqual([8_191, 8_192])
  })

  test('is cut between row groups, which are copied as they are', async () => {
    await engine.close()
    engine = await open({ rows: 200_000, bytes: 2 ** 30 })
    const body = (async function* () {
      yield Buffer.from('n,kind,doc\n')
      for (let from = 0; from < 500_000; from += 10_000) {
        yield Buffer.from(
          count(from, from + 10_000)
            .map((n) => `${n},kind ${n % 7},{}\n`)
            .join(''),
        )
      }
    })()
    const declared = { name: 'doc', type: 'json' as const }
    await (await engine.dataset(id)).replace({ format: 'csv', body, columns: [declared] })
    const sizes = await parts()
    // A row group has up to 122,880 rows or a few more, so the ends of parts are not those that were asked for.
    expect(sizes).toHaveLength(3)
    for (const size of sizes.slice(0, -1)) expect(Math.abs(size - 200_000)).toBeLessThan(125_000)
    expect(await numbers()).toEqual(count(0, 500_000))
    expect(await numbers({ filter: `n gt 499995 or n eq 250000` })).toEqual([
      250_000, 499_996, 499_997, 499_998, 499_999,
    ])
    expect((await engine.verify()).problems).toEqual([])
    const files = join(directory, 'parts', '*.parquet')
    expect(
      await ask(`SELECT count(*), count(*) FILTER (WHERE r = file_row_number AND c1 = 'kind ' || c0 % 7)
        FROM read_parquet('${files}', file_row_number = true)`),
    ).toEqual([['500000', '500000']])
    expect(
      await ask(`SELECT bool_and(bloom_filter_length > 0), bool_and(bloom_filter_excludes) FROM (
        SELECT bloom_filter_length FROM parquet_metadata('${files}') WHERE path_in_schema = 'c1'),
        parquet_bloom_probe('${files}', 'c1', 'kind 8')`),
    ).toEqual([[true, true]])
    expect(
      await ask(`SELECT bool_or(bloom_filter_excludes) FROM parquet_bloom_probe('${files}', 'c1', 'kind 3')`),
    ).toEqual([[false]])
  })

  test('keeps its columns where they are rewritten', async () => {
    await (await engine.dataset(id)).replace(upload(0, 10_000))
    const { columns } = await (await engine.dataset(id)).record()
    await (await engine.dataset(id)).declareColumns([
      ...columns,
      { name: 'more', type: 'string', nullable: true },
    ])
    expect(await parts()).toEqual([4_096, 4_096, 1_808])
    expect(await numbers()).toEqual(count(0, 10_000))
  })
})

test('merging never makes a part that is too large, and keeps the order', async () => {
  for (let n = 0; n < 40; n++) await (await engine.dataset(id)).append(upload(n * 700, (n + 1) * 700))
  await engine.settled()
  expect(Math.max(...(await parts()))).toBeLessThanOrEqual(4_096)
  expect((await parts()).length).toBeLessThan(20)
  expect(await numbers()).toEqual(count(0, 28_000))
})

test('a part of an older program that is too large is cut when something is appended', async () => {
  await engine.close()
  engine = await open({ rows: 1_000_000, bytes: 2 ** 30 })
  await (await engine.dataset(id)).replace(upload(0, 10_000))
  await engine.database.run('UPDATE parts SET hash = NULL, statistics = NULL')
  await engine.close()
  engine = await open()
  expect(await parts()).toEqual([10_000])
  expect(await numbers({ filter: 'n eq 9999' })).toEqual([9_999])
  await (await engine.dataset(id)).append(upload(10_000, 10_010))
  await engine.settled()
  expect(await parts()).toEqual([4_096, 4_096, 1_808, 10])
  expect(await numbers()).toEqual(count(0, 10_010))
})

test('a small file of wide rows becomes parts of few rows, which no merge joins', async () => {
  const file = join(directory, 'wide.parquet')
  await ask(
    `COPY (SELECT i AS n, repeat('x', 100000) AS t FROM range(2000) r(i)) TO '${file}' (FORMAT parquet, CODEC 'zstd')`,
  )
  expect(statSync(file).size).toBeLessThan(50_000)
  const dataset = await engine.dataset(id)
  await dataset.replace({ format: 'parquet', body: createReadStream(file) })
  await engine.settled()
  const wide = await parts()
  expect(wide.reduce((sum, rows) => sum + rows, 0)).toBe(2_000)
  expect(Math.max(...wide) * 100_000).toBeLessThan(40 * 2 ** 20)
  await dataset.append({
    format: 'csv',
    body: (async function* () {
      yield Buffer.from('n,t\n2000,y\n')
    })(),
  })
  await engine.settled()
  expect(await parts()).toEqual([...wide, 1])
  expect(await numbers()).toEqual(count(0, 2_001))
  using query = await dataset.query({})
  let bytes = 0
  for await (const piece of await query.bytes('csv')) bytes += piece.length
  expect(bytes).toBeGreaterThan(2_000 * 100_000)
})
