import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import type { Cell } from '../judge.ts'
import { cell, serve } from './common.ts'

const database = await (await DuckDBInstance.create(':memory:')).connect()
await database.run("SET TimeZone = 'UTC'")

const KINDS: Readonly<Record<string, string>> = {
  DECIMAL: 'decimal',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'datetime',
  'TIMESTAMP WITH TIME ZONE': 'datetimetz',
  UUID: 'uuid',
  JSON: 'object',
}

async function read(source: string): Promise<readonly Cell[]> {
  const [described] = (await database.runAndReadAll(`DESCRIBE SELECT value FROM ${source}`)).getRows()
  const kind = KINDS[String(described![1]).replace(/\(.*/, '')]
  const value = kind === undefined ? 'value' : 'CAST(value AS VARCHAR)'
  const rows = (await database.runAndReadAll(`SELECT ${value} FROM ${source} ORDER BY n`)).getRows()
  return rows.map(([one]) =>
    kind !== undefined && one !== null ? [kind, String(one)] : cell(plain(one!), ''),
  )
}

function plain(value: DuckDBValue): unknown {
  return value !== null && typeof value === 'object' && 'bytes' in value ? value.bytes : value
}

await serve({
  csv: (path) => read(`read_csv('${path}')`),
  tsv: (path) => read(`read_csv('${path}', delim = '\t')`),
  json: (path) => read(`read_json('${path}')`),
  ndjson: (path) => read(`read_json('${path}')`),
  parquet: (path) => read(`'${path}'`),
})
