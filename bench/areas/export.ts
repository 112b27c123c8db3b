import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import ExcelJS from 'exceljs'
import { normaliseColumn } from '../../engine/duckdb/normalise.ts'
import { type Executor, openExecutor } from '../../engine/export/index.ts'
import { type Format, quoteIdentifier, quoteLiteral, type Statement } from '../../engine/types/index.ts'
import { type BenchOptions, type Case, duel, median } from '../case.ts'
import { openScratch } from '../scratch.ts'

const FLIGHTS = new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')).pathname

interface Table {
  readonly file: string
  readonly statement: Statement
  readonly rowBytes: number
}

/** Tables of different kinds, by the SQL that makes them and the bytes of a row. */
function tables(quick: boolean): Record<string, { sql: string; rowBytes: number }> {
  const rows = quick ? 200_000 : 3_000_000
  const wide = Array.from({ length: 200 }, (_, n) => `(i * ${n + 1}) % 1000 AS c${n}`).join(', ')
  return {
    flights: { sql: `FROM read_parquet(${quoteLiteral(FLIGHTS)}) LIMIT ${rows}`, rowBytes: 32 },
    'long strings': {
      sql: `SELECT 'a text of some length, no. ' || i AS text FROM range(${rows}) t(i)`,
      rowBytes: 34,
    },
    'two columns of distinct strings': {
      sql:
        `SELECT 'a text of some length, no. ' || (1000000 + i) AS text, md5(CAST(i AS VARCHAR)) AS hash ` +
        `FROM range(${Math.round((rows * 2) / 3)}) t(i)`,
      rowBytes: 68,
    },
    doubles: {
      sql: `SELECT round(sin(i) * 1000, 2) AS price, i / 7 AS ratio, i * 0.5 AS half FROM range(${rows}) t(i)`,
      rowBytes: 24,
    },
    wide: { sql: `SELECT ${wide} FROM range(${Math.round(rows / 30)}) t(i)`, rowBytes: 1600 },
    nulls: {
      sql:
        `SELECT CASE WHEN i % 10 = 0 THEN i END AS a, CASE WHEN i % 7 = 0 THEN 'x' || i END AS b, ` +
        `CASE WHEN i % 3 = 0 THEN i / 2 END AS c FROM range(${rows}) t(i)`,
      rowBytes: 20,
    },
  }
}

/** Exports by the engine alone, without HTTP, compared with DuckDB's `COPY` to a file and exceljs' streaming writer. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  using scratch = await openScratch()
  const { folder: directory, connection } = scratch
  const executor = await openExecutor({
    tempDirectory: join(directory, 'tmp'),
    allowedDirectories: [directory],
  })
  const runs = quick ? 3 : 7
  try {
    for (const [name, { sql, rowBytes }] of Object.entries(tables(quick))) {
      const table = await makeTable(connection, join(directory, `${name}.parquet`), sql, rowBytes)
      const ours = (format: Format) => () => discard(executor, table, format)
      const copy = (options: string) => () =>
        connection.run(
          `COPY (FROM read_parquet(${quoteLiteral(table.file)})) TO ${quoteLiteral(join(directory, 'rival'))} (${options})`,
        )
      yield await duel(`engine: csv of ${name}`, 'COPY csv', runs, ours('csv'), copy('FORMAT csv'))
      if (name !== 'flights') continue
      yield await duel(
        `engine: json of ${name}`,
        'COPY json',
        runs,
        ours('json'),
        copy('FORMAT json, ARRAY true'),
      )
      yield await firstByte(executor, table, runs)
      yield await xlsxCase(executor, table, connection, directory, quick)
    }
  } finally {
    await executor.close()
  }
}

async function makeTable(
  connection: DuckDBConnection,
  file: string,
  sql: string,
  rowBytes: number,
): Promise<Table> {
  // As the parts of a store are written.
  const written = `(FORMAT parquet, CODEC 'snappy', PARQUET_VERSION 'V2')`
  await connection.run(`COPY (${sql}) TO ${quoteLiteral(file)} ${written}`)
  const from = `read_parquet(${quoteLiteral(file)})`
  const described = (await connection.runAndReadAll(`DESCRIBE FROM ${from}`)).getRows()
  const columns = described.map(([name, type]) => ({
    name: String(name),
    ...normaliseColumn(String(type), quoteIdentifier(String(name))),
  }))
  const select = columns.map((column) => column.sql).join(', ')
  return { file, rowBytes, statement: { sql: `SELECT ${select} FROM ${from}`, parameters: [], columns } }
}

/** Reads an export and gives its memory back, as the server and `toFile` do. */
async function discard(executor: Executor, { statement, rowBytes }: Table, format: Format): Promise<void> {
  const stream = await executor.bytes(statement, format, { rowBytes, steady: true })
  for await (const bytes of stream) stream.recycle(bytes)
}

async function firstByte(executor: Executor, { statement, rowBytes }: Table, runs: number): Promise<Case> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    await using stream = await executor.bytes(statement, 'csv', { rowBytes, steady: true })
    await stream[Symbol.asyncIterator]().next()
    times.push(performance.now() - start)
  }
  return { name: 'engine: first byte of flights', value: median(times), unit: 'ms' }
}

async function xlsxCase(
  executor: Executor,
  table: Table,
  connection: DuckDBConnection,
  directory: string,
  quick: boolean,
): Promise<Case> {
  const rows = quick ? 50_000 : 1_000_000
  const sql = `${table.statement.sql} LIMIT ${rows}`
  const some = { ...table, statement: { ...table.statement, sql } }
  const excel = async () => {
    const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({ filename: join(directory, 'rival.xlsx') })
    const sheet = workbook.addWorksheet('Data')
    sheet.addRow(some.statement.columns.map((column) => column.name)).commit()
    const result = await connection.stream(sql)
    for await (const chunk of result.yieldRowsJs()) {
      for (const row of chunk) {
        sheet.addRow(row.map((value) => (typeof value === 'bigint' ? Number(value) : value))).commit()
      }
    }
    await workbook.commit()
  }
  return duel(
    `engine: xlsx of ${rows.toLocaleString('en-US')} rows`,
    'exceljs, streaming',
    quick ? 1 : 2,
    () => discard(executor, some, 'xlsx'),
    excel,
  )
}
