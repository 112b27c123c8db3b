import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { normaliseColumn } from '../../engine/duckdb/normalise.ts'
import type { ByteStream } from '../../engine/export/byte-stream.ts'
import type { EncodeOptions } from '../../engine/export/formats/encoder.ts'
import { type Executor, type ExecutorOptions, openExecutor } from '../../engine/export/index.ts'
import { type ColumnType, type Format, quoteIdentifier, type Statement } from '../../engine/types/index.ts'

export interface TestExecutor extends Executor {
  readonly directory: string
}

/** An executor over a directory of its own, which goes with it. */
export async function openTestExecutor(options: Partial<ExecutorOptions> = {}): Promise<TestExecutor> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-run-'))
  const executor = await openExecutor({
    threads: 2,
    workers: 2,
    tempDirectory: join(directory, 'tmp'),
    allowedDirectories: [directory],
    ...options,
  })
  const close = executor.close.bind(executor)
  return Object.assign(executor, {
    directory,
    async close() {
      await close()
      rmSync(directory, { recursive: true, force: true })
    },
  })
}

/** A statement of columns that are declared by hand: `{ n: 'integer' }`. */
export function statement(
  sql: string,
  columns: Record<string, ColumnType>,
  parameters: string[] = [],
): Statement {
  return { sql, parameters, columns: Object.entries(columns).map(([name, type]) => ({ name, type })) }
}

const text = (name: string) => ({ name, type: 'string' as const })

/** Any SELECT as a statement of our types; `names` replaces those that the SQL gives. */
export async function normalised(
  executor: Executor,
  sql: string,
  names?: readonly string[],
): Promise<Statement> {
  const described = await executor.rows({
    sql: `SELECT column_name, column_type FROM (DESCRIBE ${sql})`,
    parameters: [],
    columns: [text('name'), text('type')],
  })
  const columns = described.map(([name, type], index) => ({
    name: names?.[index] ?? String(name),
    ...normaliseColumn(String(type), quoteIdentifier(String(name))),
  }))
  const select = columns.map((column) => column.sql).join(', ')
  return {
    sql: `SELECT ${select} FROM (${sql})`,
    parameters: [],
    columns: columns.map(({ name, type }) => ({ name, type })),
  }
}

export async function bytesOf(
  executor: TestExecutor,
  query: Statement,
  format: Format,
  encoding: EncodeOptions = {},
): Promise<Buffer> {
  return bytesIn(await executor.bytes(query, format, {}, encoding))
}

export async function bytesIn(stream: ByteStream): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream))
}

export async function textOf(
  executor: TestExecutor,
  query: Statement,
  format: Format,
  options?: EncodeOptions,
): Promise<string> {
  return (await bytesOf(executor, query, format, options)).toString()
}
