import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EncodeOptions, openEngine } from '../../engine/index.ts'

const ROWS = 20_000
const CSV = `n,price,word,id,at\n${Array.from(
  { length: ROWS },
  (_, n) =>
    `${n * 7},${n / 7},word ${n},550e8400-e29b-41d4-a716-${String(n).padStart(12, '0')},10:20:${String(n % 60).padStart(2, '0')}`,
).join('\n')}\n`
const COLUMNS = [
  { name: 'n', type: 'integer' },
  { name: 'price', type: 'double' },
  { name: 'word', type: 'string' },
  { name: 'id', type: 'uuid' },
  { name: 'at', type: 'time' },
] as const

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-encoding-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

async function ask(sql: string): Promise<unknown[][]> {
  const duckdb = await DuckDBInstance.create()
  const connection = await duckdb.connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowsJS() as unknown[][]
  } finally {
    connection.closeSync()
    duckdb.closeSync()
  }
}

/** The encodings of Parquet 1, which every reader knows. */
const PLAIN = /^(?:PLAIN|RLE|PLAIN_DICTIONARY|RLE_DICTIONARY|BIT_PACKED|, )+$/

async function encodings(file: string): Promise<string> {
  const [row] = await ask(
    `SELECT string_agg(DISTINCT encodings, ', ') FROM parquet_metadata('${file}') WHERE path_in_schema != 'r'`,
  )
  return String(row![0])
}

async function filled(partEncoding?: 'plain' | 'compact') {
  const engine = await openEngine({ directory, role: 'server', threads: 2, workers: 1, partEncoding })
  const repository = await engine.createRepository({ name: 'r' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd', columns: COLUMNS })
  const dataset = await engine.dataset(id)
  await dataset.replace({
    format: 'csv',
    body: (async function* () {
      yield Buffer.from(CSV)
    })(),
  })
  return { engine, dataset }
}

test.each([
  '',
  'n ge 0',
])('plain exports hold nothing that older readers do not know (filter %j)', async (filter) => {
  const { engine, dataset } = await filled()
  try {
    const file = join(directory, 'out.parquet')
    const write = async (options: EncodeOptions) => {
      using query = await dataset.query(filter ? { filter } : {})
      return query.toFile(file, 'parquet', options)
    }
    expect(await write({ encoding: 'plain' })).toMatchObject({ rows: ROWS })
    expect(await encodings(file)).toMatch(PLAIN)
    expect(await ask(`SELECT column_name, column_type FROM (DESCRIBE FROM '${file}')`)).toEqual([
      ['n', 'BIGINT'],
      ['price', 'DOUBLE'],
      ['word', 'VARCHAR'],
      ['id', 'VARCHAR'],
      ['at', 'VARCHAR'],
    ])
    expect(await ask(`SELECT id, "at" FROM '${file}' WHERE n = 7`)).toEqual([
      ['550e8400-e29b-41d4-a716-000000000001', '10:20:01'],
    ])
    await write({ encoding: 'compact' })
    expect(await encodings(file)).toMatch(/BYTE_STREAM_SPLIT|DELTA/)
    expect(await ask(`SELECT typeof(id), typeof("at") FROM '${file}' LIMIT 1`)).toEqual([['UUID', 'TIME']])
  } finally {
    await engine.close()
  }
})

test('new parts are plain where an operator says so', async () => {
  const parts = join(directory, 'parts', '**', '*.parquet')
  const { engine } = await filled('plain')
  await engine.close()
  expect(await encodings(parts)).toMatch(PLAIN)
})

test('another word for an encoding is refused', async () => {
  await expect(openEngine({ directory, partEncoding: 'old' as 'plain' })).rejects.toThrow(
    'partEncoding is plain or compact; it is "old".',
  )
})
