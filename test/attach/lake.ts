import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { type Dataset, type Engine, openEngine, type QueryOptions } from '../../engine/index.ts'

/** A folder with files that others wrote, and an engine that may attach them. */
export interface Lake extends AsyncDisposable {
  readonly root: string
  readonly folder: string
  readonly data: string
  readonly engine: Engine
  /** Has DuckDB write the rows of a SELECT. Gives the path. */
  write(name: string, select: string, options?: string): Promise<string>
  /** Attaches a path below the folder to a new dataset. */
  attach(path?: string): Promise<Dataset>
  /** A dataset of the same rows that were uploaded. */
  upload(files: readonly string[]): Promise<Dataset>
}

let datasets = 0

export async function openLake(): Promise<Lake> {
  const root = mkdtempSync(join(tmpdir(), 'parquetry-lake-'))
  const [folder, data] = [join(root, 'lake'), join(root, 'data')]
  mkdirSync(folder)
  const duckdb = await DuckDBInstance.create(':memory:')
  const engine = await openEngine({ directory: data, attachable: [folder], workers: 1 })
  const { id: repositoryId } = await engine.createRepository({ name: 'main' })
  const make = async () => {
    datasets += 1
    return engine.dataset((await engine.createDataset({ repositoryId, name: `t${datasets}` })).id)
  }
  return {
    root,
    folder,
    data,
    engine,
    async write(name, select, options = '') {
      const file = join(folder, name)
      mkdirSync(dirname(file), { recursive: true })
      const connection = await duckdb.connect()
      await connection.run(`COPY (${select}) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 2048${options})`)
      connection.closeSync()
      return file
    },
    async attach(path = '') {
      const dataset = await make()
      await dataset.attach(join(folder, path))
      return dataset
    },
    async upload(files) {
      const dataset = await make()
      for (const file of files) await dataset.append({ format: 'parquet', body: { file } })
      return dataset
    },
    async [Symbol.asyncDispose]() {
      await engine.close()
      duckdb.closeSync()
      rmSync(root, { recursive: true })
    },
  }
}

/** The rows of a query as ndjson. */
export async function read(
  dataset: Dataset,
  options: QueryOptions & { version?: number } = {},
): Promise<string> {
  using query = await dataset.query(options)
  await using stream = await query.bytes('ndjson')
  return Buffer.concat(await Array.fromAsync(stream)).toString()
}

export const errorOf = (work: Promise<unknown>): Promise<{ code?: string; message?: string }> =>
  work.then(
    () => ({}),
    ({ code, message }) => ({ code, message }),
  )
