import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'
import { ALLOWED_FUNCTIONS } from '../../engine/sql/nodes.ts'
import { renderSqlReference } from '../docs/pages/sql.ts'

test('the page of SQL lists the functions that are allowed', async () => {
  await expect(renderSqlReference()).toMatchFileSnapshot('../../docs/reference/sql.md')
})

test('every function that is allowed exists, and none reads what is not in its arguments', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const rows = await connection.runAndReadAll(
    "SELECT DISTINCT lower(function_name), coalesce(macro_definition, '') FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'macro')",
  )
  const known = new Map(rows.getRowsJS() as [string, string][])
  connection.closeSync()
  // These are written without parentheses, or are no entries of the catalog.
  const special = ['->', 'current_time', 'current_timestamp', 'localtime', 'localtimestamp', 'unnest']
  expect([...ALLOWED_FUNCTIONS].filter((name) => !known.has(name) && !special.includes(name))).toEqual([])
  const reads = [...ALLOWED_FUNCTIONS].filter((name) =>
    /duckdb_|pragma_|read_|system\.|\bFROM\b/i.test(known.get(name) ?? ''),
  )
  expect(reads).toEqual([])
  const files =
    /^(read_|glob|parquet_(?!to)|sniff|duckdb_|pragma_|pg_|getenv|getvariable|current_setting|query)/
  expect([...ALLOWED_FUNCTIONS].filter((name) => files.test(name))).toEqual([])
})

test('a library asks in SQL by the names of datasets', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parquetry-sql-'))
  const engine = await openEngine({ directory, threads: 2 })
  const { id: repositoryId } = await engine.createRepository({ name: 'r' })
  const { id } = await engine.createDataset({
    repositoryId,
    name: 't',
    columns: [{ name: 'a', type: 'integer' }],
  })
  expect(id).toBe(1)
  using query = await engine.sql('SELECT count(*) AS n, $1 AS p FROM dataset_1', ['x'])
  const rows = []
  for await (const row of query.rows()) rows.push(row)
  expect(rows).toEqual([{ n: 0, p: 'x' }])
  await engine.close()
  await rm(directory, { recursive: true, force: true })
})
