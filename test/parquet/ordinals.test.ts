import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'
import { addOrdinals, ORDINAL_FIELD_ID } from '../../engine/parquet/ordinals.ts'
import { ParquetFile } from '../../engine/parquet/parquet-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-ordinals-'))
let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create()
  connection = await instance.connect()
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true })
})

async function ask(sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRowsJson()
}

/** A file of rows in row groups of at most 2,048, as parts are written. */
async function write(name: string, rows: number): Promise<string> {
  const file = join(folder, `${name}.parquet`)
  await connection.run(
    `COPY (SELECT i AS c0, 'text ' || i AS c1 FROM range(${rows}) t(i)) TO '${file}' (FORMAT parquet, CODEC 'zstd',
     PARQUET_VERSION 'V2', ROW_GROUP_SIZE 2048, FIELD_IDS {c0: 1, c1: 2})`,
  )
  return file
}

async function number(path: string): Promise<number> {
  await using file = await ParquetFile.open(path)
  addOrdinals(file)
  return await file.save()
}

describe('ordinals', () => {
  // Around the ends of blocks of deltas (2,049 values), and of row groups.
  test.each([0, 1, 2, 2047, 2048, 2049, 2050, 10_000])('number %i rows', async (rows) => {
    const file = await write(`rows-${rows}`, rows)
    const before = statSync(file).size
    const size = await number(file)
    expect(statSync(file).size).toBe(size)
    // Some tens of bytes for each row group, and the column in the footer.
    expect(size - before).toBeLessThan(200 + 110 * Math.ceil(rows / 2048))
    expect(
      await ask(`SELECT count(*), count(*) FILTER (WHERE r = file_row_number AND r = c0) FROM '${file}'`),
    ).toEqual([[String(rows), String(rows)]])
  })

  test('have bounds for each row group, and a field id that no column has', async () => {
    const file = await write('bounds', 5_000)
    await number(file)
    expect(
      await ask(
        `SELECT stats_min_value, stats_max_value, stats_null_count, num_values FROM parquet_metadata('${file}')
         WHERE path_in_schema = 'r' ORDER BY row_group_id`,
      ),
    ).toEqual([
      ['0', '2047', '0', '2048'],
      ['2048', '4095', '0', '2048'],
      ['4096', '4999', '0', '904'],
    ])
    expect(await ask(`SELECT name, field_id FROM parquet_schema('${file}') OFFSET 1`)).toEqual([
      ['c0', '1'],
      ['c1', '2'],
      ['r', String(ORDINAL_FIELD_ID)],
    ])
  })

  test('may be missing in some of the files that are read together', async () => {
    const [without, numbered] = [await write('without', 10), await write('numbered', 10)]
    await number(numbered)
    for (const files of [`'${without}', '${numbered}'`, `'${numbered}', '${without}'`]) {
      expect(await ask(`SELECT count(c0), max(c1) FROM read_parquet([${files}])`)).toEqual([['20', 'text 9']])
    }
  })
})

test('each part of a dataset has ordinals, and nobody sees them', async () => {
  const directory = join(folder, 'data')
  await using engine = await openEngine({ directory, role: 'server', threads: 1, partSizes: { rows: 4_096 } })
  const repository = await engine.createRepository({ name: 'r' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
  const dataset = await engine.dataset(id)
  const csv = (from: number, to: number) => ({
    format: 'csv' as const,
    body: (async function* () {
      yield Buffer.from(`r,c0\n${Array.from({ length: to - from }, (_, n) => `${from + n},x`).join('\n')}\n`)
    })(),
  })
  await dataset.replace(csv(0, 10_000))
  await dataset.append(csv(10_000, 10_100))
  await engine.settled()
  expect(await engine.verify()).toMatchObject({ rows: 10_100, problems: [] })

  const parts = await ask(
    `SELECT max(r) + 1, bool_and(r = file_row_number) FROM read_parquet('${directory}/parts/**/*.parquet')
     GROUP BY filename ORDER BY min(c0)`,
  )
  expect(parts.reduce((sum, [rows]) => sum + Number(rows), 0)).toBe(10_100)
  expect(parts.every(([, numbered]) => numbered)).toBe(true)

  using snapshot = await dataset.snapshot()
  for (const { rowGroups } of await snapshot.files()) {
    // Each row group ends where the next one begins, so the pages of the ordinals are in none.
    for (const [index, group] of rowGroups.slice(1).entries()) expect(group.from).toBe(rowGroups[index]!.to)
  }
  using query = snapshot.query()
  const file = join(folder, 'export.parquet')
  await query.toFile(file, 'parquet')
  expect(await ask(`SELECT name FROM parquet_schema('${file}') OFFSET 1`)).toEqual([['r'], ['c0']])
  expect(await ask(`SELECT count(*), sum(r) FROM '${file}'`)).toEqual([['10100', '50999950']])
})
