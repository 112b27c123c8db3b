import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { normaliseColumn } from '../../engine/duckdb/normalise.ts'
import type { EncodeOptions } from '../../engine/export/formats/encoder.ts'
import {
  type Executor,
  type ExecutorOptions,
  openExecutor,
  type RunOptions,
} from '../../engine/export/index.ts'
import { type ColumnType, type Format, quoteIdentifier, type Statement } from '../../engine/types/index.ts'

export const SOURCES = ['ffi', 'node'] as const

/** An executor over a directory of its own, which goes with it. */
export async function openTestExecutor(
  options: Partial<ExecutorOptions> = {},
): Promise<Executor & { readonly directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-run-'))
  const executor = await openExecutor({
    threads: 2,
    workers: 2,
    tempDirectory: join(directory, 'tmp'),
    allowedDirectories: [directory],
    ...options,
  })
  return {
    ...executor,
    directory,
    async close() {
      await executor.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
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
  executor: Executor,
  query: Statement,
  format: Format,
  options: RunOptions & EncodeOptions = {},
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of await executor.bytes(query, format, options)) pieces.push(piece)
  return Buffer.concat(pieces)
}

export async function textOf(executor: Executor, query: Statement, format: Format): Promise<string> {
  return (await bytesOf(executor, query, format)).toString()
}
