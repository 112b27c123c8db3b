import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { Bench } from 'tinybench'
import { Arena } from '../../engine/duckdb/batch.ts'
import { Runner } from '../../engine/duckdb/native/runner.ts'
import { openEncoder } from '../../engine/export/encode.ts'
import { Output } from '../../engine/export/formats/encoder.ts'
import { shapeOf } from '../../engine/export/formats/text/cells.ts'
import { double } from '../../engine/export/formats/text/digits.ts'
import { rowValues } from '../../engine/export/index.ts'
import type { ColumnType, Statement } from '../../engine/types/index.ts'
import type { BenchOptions, Case } from '../case.ts'

const FLIGHTS = new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')).pathname
const TYPES: readonly ColumnType[] = ['timestamp', 'integer', 'integer', 'string', 'string']
const ROWS = 2048

/** The steps of an export on one thread, each compared with code as one would write it by hand. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-bench-'))
  const source = await Runner.open({
    tempDirectory: directory,
    allowedDirectories: [join(FLIGHTS, '..')],
  })
  const columns = ['date', 'delay', 'distance', 'origin', 'destination'].map((name, index) => ({
    name,
    type: TYPES[index]!,
  }))
  const statement: Statement = {
    sql: `SELECT date::TIMESTAMP, delay::BIGINT, distance::BIGINT, origin, destination FROM read_parquet('${FLIGHTS}') LIMIT ${ROWS}`,
    parameters: [],
    columns,
  }
  const cursor = await source.start(statement, {})
  const batch = cursor.decode((await cursor.fetch())!, new Arena('kept'))
  const rows = rowValues(batch, shapeOf(TYPES))
  await cursor.close()
  await source.close()
  rmSync(directory, { recursive: true })

  const out = new Output(1 << 20)
  const csv = await openEncoder('csv', columns, {})
  const json = await openEncoder('json', columns, {})
  const doubles = Array.from({ length: ROWS }, (_, n) => Math.round(Math.sin(n) * 1e5) / 100)
  const encode = (encoder: typeof csv) => () => {
    out.length = 0
    encoder.batch(batch, 0, out)
  }
  const compare = (name: string, rival: string, ours: () => unknown, theirs: () => unknown) =>
    pair(name, rival, ours, theirs, quick ? 100 : 1_000)
  yield await compare(`${batch.rows} rows as csv`, 'map and join, by hand', encode(csv), () =>
    Buffer.from(rows.map((row) => row.map(field).join(',')).join('\n')),
  )
  yield await compare(`${batch.rows} rows as json`, 'JSON.stringify', encode(json), () =>
    Buffer.from(
      JSON.stringify(rows.map((row) => Object.fromEntries(row.map((value, n) => [columns[n]!.name, value])))),
    ),
  )
  yield await compare(
    `${ROWS} doubles as text`,
    'String()',
    () => {
      let at = 0
      for (const value of doubles) at = double(out.view, at, value)
    },
    () => Buffer.from(doubles.map(String).join('')),
  )
  yield await getRows(statement, quick)
}

function field(value: unknown): string {
  const text = value === null ? '' : String(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

async function pair(
  name: string,
  rival: string,
  ours: () => unknown,
  theirs: () => unknown,
  time: number,
): Promise<Case> {
  const bench = new Bench({ time, warmupTime: time / 4 })
  bench.add('ours', ours)
  bench.add('theirs', theirs)
  const [mine, other] = (await bench.run()).map(({ result }) => {
    if (result.state !== 'completed') throw new Error(`${name}: ${result.state}`)
    return result.latency.p50
  })
  return { name, value: mine!, unit: 'ms', rival, rivalValue: other!, ratio: mine! / other! }
}

/** The methods with which DuckDB's Node package returns rows. */
async function getRows({ sql }: Statement, quick: boolean): Promise<Case> {
  const rows = quick ? 100_000 : 1_000_000
  const all = sql.replace(`LIMIT ${ROWS}`, `LIMIT ${rows}`)
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-bench-'))
  const connection = await (await DuckDBInstance.create()).connect()
  const { openExecutor } = await import('../../engine/export/index.ts')
  const executor = await openExecutor({ tempDirectory: directory, allowedDirectories: [join(FLIGHTS, '..')] })
  const columns = ['date', 'delay', 'distance', 'origin', 'destination'].map((name, n) => ({
    name,
    type: TYPES[n]!,
  }))
  const { duel } = await import('../case.ts')
  try {
    return await duel(
      `csv of ${rows} rows`,
      'getRows() and a loop',
      quick ? 1 : 3,
      async () => {
        for await (const _ of await executor.bytes({ sql: all, parameters: [], columns }, 'csv', {
          rowBytes: 40,
        }));
      },
      async () => {
        const result = await connection.stream(all)
        for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
          Buffer.from(
            chunk
              .getRows()
              .map((row) => row.map(field).join(','))
              .join('\n'),
          )
      },
    )
  } finally {
    await executor.close()
    connection.closeSync()
    rmSync(directory, { recursive: true })
  }
}
