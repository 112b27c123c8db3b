import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { compileFilter, type FilterOptions, type SqlColumn } from '../../../engine/filter/index.ts'
import { quoteIdentifier, sqlType } from '../../../engine/types/index.ts'

/** What a cell holds: the text that DuckDB casts to the column's type, or null. */
export type Cell = string | null

export function column(name: string, type: SqlColumn['type'], index: number): SqlColumn {
  return { name, type, sql: quoteIdentifier(`c${index}`), stored: index }
}

/** A table in a DuckDB of its own, and filters run on it. */
export class Table implements AsyncDisposable {
  readonly columns: readonly SqlColumn[]
  readonly connection: DuckDBConnection
  readonly #instance: DuckDBInstance

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, columns: readonly SqlColumn[]) {
    this.#instance = instance
    this.connection = connection
    this.columns = columns
  }

  static async create(
    types: Readonly<Record<string, SqlColumn['type']>>,
    rows: readonly (readonly Cell[])[],
  ): Promise<Table> {
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
    const connection = await instance.connect()
    await connection.run("SET TimeZone = 'UTC'")
    const columns = Object.entries(types).map(([name, type], index) => column(name, type, index))
    const definitions = columns.map(({ sql, type }) => `${sql} ${sqlType(type)}`)
    await connection.run(`CREATE TABLE t (row INTEGER, ${definitions.join(', ')})`)
    for (const [index, cells] of rows.entries()) {
      const given = cells.filter((cell) => cell !== null)
      let next = 0
      const values = cells.map((cell, at) =>
        cell === null ? 'NULL' : `CAST($${++next} AS ${sqlType(columns[at]!.type)})`,
      )
      const statement = await connection.prepare(`INSERT INTO t VALUES (${[index, ...values].join(', ')})`)
      given.forEach((cell, at) => {
        statement.bindVarchar(at + 1, cell)
      })
      await statement.run()
    }
    return new Table(instance, connection, columns)
  }

  /** Numbers of the rows that pass, as DuckDB has them. */
  async rows(filter: string, options?: FilterOptions): Promise<number[]> {
    const { sql, parameters } = compileFilter(filter, this.columns, options)
    return (await this.query(`SELECT row FROM t WHERE ${sql}`, parameters)).map(Number)
  }

  /** The first column of a query whose parameters are all texts. */
  async query(sql: string, parameters: readonly string[] = []): Promise<unknown[]> {
    const statement = await this.connection.prepare(sql)
    try {
      parameters.forEach((text, index) => {
        statement.bindVarchar(index + 1, text)
      })
      const result = await statement.run()
      return (await result.getRows()).map((row) => row[0])
    } finally {
      statement.destroySync()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.closeSync()
    this.#instance.closeSync()
  }
}
