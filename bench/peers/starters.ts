import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Environment } from './environment.ts'
import { startOurs } from './ours.ts'
import { type Dialect, ended, freePort, type Server, started, type Tables } from './server.ts'

/** How to start one server. A server that is started again still has its data. */
export interface Starter {
  readonly name: string
  readonly dialect: Dialect
  /** Why the server can't be run here. */
  readonly missing?: string | undefined
  start(): Promise<Server>
}

/**
 * All servers of the comparison: ours, and each peer in two variants: as its makers intend it to be fast (all rows in
 * memory) and with bounded memory (rows stay in the file).
 * @param beside folder of another checkout of ours, whose server is measured as well
 */
export function starters(
  folder: string,
  tables: Tables,
  environment: Environment,
  beside?: string,
): Starter[] {
  mkdirSync(folder, { recursive: true })
  const { missing } = environment
  const ours = (name: string, checkout: string): Starter => {
    const data = join(folder, name)
    return { name, dialect: 'ours', start: () => startOurs(name, checkout, data, tables) }
  }
  return [
    ours('Parquetry', join(import.meta.dirname, '../..')),
    ...(beside === undefined ? [] : [ours('the other one', resolve(beside))]),
    ...[false, true].map((lazy): Starter => {
      const name = lazy ? 'DataPress, lazy' : 'DataPress'
      const file = join(folder, `datapress-${lazy}.py`)
      const start = async () => {
        const port = await freePort()
        writeFileSync(file, datapress(port, tables, lazy))
        return startPeer(name, 'datapress', port, environment.program('python'), [file])
      }
      return { name, dialect: 'datapress', missing: missing['datap-rs'], start }
    }),
    ...[true, false].map((memory): Starter => {
      const name = memory ? 'ROAPI' : 'ROAPI, lazy'
      const file = join(folder, `roapi-${memory}.yml`)
      const start = async () => {
        const port = await freePort()
        writeFileSync(file, roapi(port, tables, memory))
        return startPeer(name, 'roapi', port, environment.program('roapi'), ['-c', file])
      }
      return { name, dialect: 'roapi', missing: missing.roapi, start }
    }),
    {
      name: 'Quack',
      dialect: 'quack',
      missing: missing.duckdb ?? missing.duckdb_extension_httpfs ?? missing.duckdb_extension_quack,
      start: () => startQuack(folder, tables, environment.program('python')),
    },
  ]
}

/**
 * DataFusion is the engine that keeps rows in memory. A page may have as many rows as the largest question asks for.
 */
function datapress(port: number, { lineitem, tiny }: Tables, lazy: boolean): string {
  const dataset = (name: string, source: string) =>
    `DatasetConfig(name="${name}", source=${JSON.stringify(source)}, format="parquet", lazy=${lazy ? 'True' : 'False'})`
  return `import asyncio
from datap_rs.datapress import DataPress, DataPressConfig, DatasetConfig

async def main():
    config = DataPressConfig(backend="datafusion", listen="127.0.0.1", port=${port}, max_page_size=10_000_000, request_timeout_ms=0)
    await DataPress(config, datasets=[${dataset('lineitem', lineitem)}, ${dataset('tiny', tiny)}]).run()

asyncio.run(main())
`
}

/** The configuration is written as JSON, which is valid YAML. */
function roapi(port: number, tables: Tables, memory: boolean): string {
  const option = { format: 'parquet', use_memory_table: memory }
  return JSON.stringify({
    addr: { http: `127.0.0.1:${port}`, postgres: '127.0.0.1:0', flight_sql: '127.0.0.1:0' },
    tables: Object.entries(tables).map(([name, uri]) => ({ name, uri, option })),
  })
}

/** The server, whose processor time counts, and a client that asks it what it is asked over HTTP. */
async function startQuack(folder: string, tables: Tables, python: string): Promise<Server> {
  const program = join(import.meta.dirname, 'quack.py')
  const [port, quack] = [await freePort(), await freePort()]
  const files = Object.entries(tables).map(([name, file]) => `${name}=${file}`)
  const serving = [program, 'serve', String(quack), join(folder, 'quack.duckdb'), ...files]
  const server = await startPeer('Quack', 'quack', port, python, serving)
  const asking = [program, 'ask', String(port), String(quack)]
  const client = await startPeer('its client', 'quack', port, python, asking)
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Starts a peer without waiting until it answers; `firstAnswer` does that. */
async function startPeer(
  name: string,
  dialect: Dialect,
  port: number,
  program: string,
  options: string[],
): Promise<Server> {
  const child = spawn(program, options, {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { ...process.env, RUST_LOG: 'error' },
  })
  return { name, dialect, port, pid: await started(child), [Symbol.asyncDispose]: () => ended(child) }
}
