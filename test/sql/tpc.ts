import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Engine } from '../../engine/index.ts'
import { INSTALLED } from '../cluster/tools.ts'

/** DuckDB's extensions that generate the tables and the questions of the TPC, and the function that fills the tables. */
export const SUITES = { tpch: 'dbgen', tpcds: 'dsdgen' } as const
export type Suite = keyof typeof SUITES

const extensionOf = (suite: Suite) => join(INSTALLED, `${suite}.duckdb_extension`)

export function isInstalled(suite: Suite): boolean {
  if (existsSync(extensionOf(suite))) return true
  console.warn(`NOT RUN: what needs DuckDB's extension ${suite}. npm run cluster:install brings it.`)
  return false
}

export interface Tpc extends Disposable {
  readonly duck: DuckDBConnection
  /** The numbers of the suite's questions, and their SQL. */
  readonly questions: readonly (readonly [number: number, sql: string])[]
}

/** Generates the tables of a suite in a DuckDB, and writes them into an engine. The scale 1 is about a gigabyte. */
export async function openTpc(suite: Suite, scale: number, engine: Engine): Promise<Tpc> {
  // Without its rule for the first rows, which has a fault; see the known faults of DuckDB.
  const instance = await DuckDBInstance.create(':memory:', { disabled_optimizers: 'top_n' })
  const duck = await instance.connect()
  await duck.run(`LOAD '${extensionOf(suite)}'`)
  await duck.run(`CALL ${SUITES[suite]}(sf=${scale})`)
  const read = async (sql: string) => (await duck.runAndReadAll(sql)).getRowsJS()
  const { id: repositoryId } = await engine.createRepository({ name: suite })
  for (const [name] of (await read('SELECT table_name FROM duckdb_tables()')) as [string][]) {
    const file = join(engine.temporary, `${name}.parquet`)
    await duck.run(`COPY "${name}" TO '${file}'`)
    const { id } = await engine.createDataset({ repositoryId, name })
    await (await engine.dataset(id)).replace({ format: 'parquet', body: { file } })
  }
  const questions = (await read(`FROM ${suite}_queries()`)) as [number, string][]
  return { duck, questions, [Symbol.dispose]: () => duck.closeSync() }
}
