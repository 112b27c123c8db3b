import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { EngineError } from '../../../engine/errors.ts'
import { runtimeFilterError, type SqlColumn } from '../../../engine/filter/index.ts'
import { planQuery, type QueryOptions } from '../../../engine/plan/plan.ts'
import { rowsStatement } from '../../../engine/plan/statements.ts'
import { type ColumnType, sqlType } from '../../../engine/types/index.ts'

/** What comes out: names, and rows as texts, null as null. */
export interface Answer {
  readonly names: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
}

/** A small table in a DuckDB of its own, asked by the options of a query. */
export class Asked implements AsyncDisposable {
  readonly columns: readonly SqlColumn[]
  readonly #rows: number
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    columns: readonly SqlColumn[],
    rows: number,
  ) {
    this.#instance = instance
    this.#connection = connection
    this.columns = columns
    this.#rows = rows
  }

  /** @param rows texts that DuckDB casts to the types */
  static async create(
    types: Readonly<Record<string, ColumnType>>,
    rows: readonly (readonly (string | null)[])[],
    threads = '1',
  ): Promise<Asked> {
    const instance = await DuckDBInstance.create(':memory:', { threads })
    const connection = await instance.connect()
    await connection.run("SET TimeZone = 'UTC'")
    const columns = Object.entries(types).map(([name, type], index) => ({ name, type, sql: `c${index}` }))
    await connection.run(
      `CREATE TABLE t (row BIGINT, ${columns.map(({ sql, type }) => `${sql} ${sqlType(type)}`).join(', ')})`,
    )
    for (const [index, cells] of rows.entries()) {
      const values = cells.map((cell, at) =>
        cell === null ? 'NULL' : `CAST('${cell.replaceAll("'", "''")}' AS ${sqlType(columns[at]!.type)})`,
      )
      await connection.run(`INSERT INTO t VALUES (${[index, ...values].join(', ')})`)
    }
    return new Asked(instance, connection, columns, rows.length)
  }

  /** @throws EngineError as a query does */
  async answer(options: QueryOptions): Promise<Answer> {
    return this.#answer(options, async ({ sql, parameters }) => {
      const prepared = await this.#connection.prepare(sql)
      try {
        parameters.forEach((text, index) => {
          prepared.bindVarchar(index + 1, text)
        })
        return await (await prepared.run()).getRows()
      } finally {
        prepared.destroySync()
      }
    })
  }

  /** The same with the parameters written into the statement, which DuckDB then has to read only once. */
  async answerInline(options: QueryOptions): Promise<Answer> {
    return this.#answer(options, async ({ sql, parameters }) => {
      const text = sql.replaceAll(
        /\$(\d+)/g,
        (_, number) => `'${parameters[Number(number) - 1]!.replaceAll("'", "''")}'`,
      )
      return (await this.#connection.run(text)).getRows()
    })
  }

  async #answer(
    options: QueryOptions,
    rowsOf: (statement: ReturnType<typeof rowsStatement>) => Promise<readonly (readonly unknown[])[]>,
  ): Promise<Answer> {
    const names = this.columns.map(({ sql }) => sql).join(', ')
    const sql = (from: number, to: number) =>
      `(SELECT ${names}, 0 AS file_index, row AS file_row_number FROM t WHERE row >= ${from} AND row < ${to})`
    const plan = planQuery(
      {
        columns: this.columns,
        rows: this.#rows,
        rowBytes: 100,
        scan: (from, to) => ({ kind: 'foreign', sql: sql(from, to) }),
      },
      options,
    )
    try {
      const rows = (await rowsOf(rowsStatement(plan, undefined))).map((row) => row.map(asText))
      return { names: plan.columns.map(({ name }) => name), rows }
    } catch (error) {
      throw runtimeFilterError(error) ?? error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }
}

function asText(value: unknown): string | null {
  return value === null ? null : String(value)
}

/** The code that options are refused with. @throws Error where it is no error of ours */
export function codeOf(error: unknown): string {
  if (error instanceof EngineError) return error.code
  throw error
}
