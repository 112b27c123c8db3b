/**
 * Compares a Trino whose workers have one core each with one thread of DuckDB, over tables of several sizes:
 * `node bench/trino.ts --data FOLDER --workers N [--sizes 1,4,16,60] [--runs 3]`. 0 workers is DuckDB, and the sizes are
 * in millions of rows. The first call makes the tables and keeps them in the folder, with all figures; each call prints
 * the figures of all calls before it. On a machine of two cores, call it with one number of workers after the other.
 */
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { type Dataset, openEngine, type QueryOptions } from '../engine/index.ts'
import { TRINO_PROGRAM, TrinoServer } from '../test/trino/trino-server.ts'
import { median, timed } from './case.ts'
import { KEY, startService } from './service/service.ts'

const MOST_MILLIONS = 200
const MOST_WORKERS = 8
const MOST_RUNS = 9
/** How often each question is asked over the smallest table before the clock runs, so that Java compiles what it needs. */
const WARMING = 5
/** Rows of an upload. */
const PIECE = 4_000_000

const QUESTIONS: Readonly<Record<string, QueryOptions>> = {
  'count, numbers': { apply: 'filter(quantity gt 25 and price lt 500)/aggregate($count as rows)' },
  'count, pattern': { apply: "filter(matchesPattern(code,'a[0-9]b.*7$'))/aggregate($count as rows)" },
  filter: { filter: "startswith(code,'0123a') and quantity ne 3", top: 100 },
  groupby: { apply: 'groupby((word),aggregate($count as rows,price with sum as sum))' },
}

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    workers: { type: 'string' },
    sizes: { type: 'string', default: '1,4,16,60' },
    runs: { type: 'string', default: '3' },
  },
})
const sizes = values.sizes.split(',').map(Number)
const [workers, runs] = [Number(values.workers), Number(values.runs)]
const isWithin = (value: number, least: number, most: number) =>
  Number.isInteger(value) && value >= least && value <= most
if (
  !values.data ||
  !isWithin(workers, 0, MOST_WORKERS) ||
  !isWithin(runs, 1, MOST_RUNS) ||
  !sizes.every((size) => isWithin(size, 1, MOST_MILLIONS))
) {
  console.error('usage: node bench/trino.ts --data FOLDER --workers N [--sizes 1,4,16,60] [--runs N]')
  process.exit(2)
}
if (workers > 0 && (!TRINO_PROGRAM || process.platform !== 'linux')) {
  console.error('Trino is measured on Linux, after npm run cluster:install -- --trino.')
  process.exit(1)
}

// The servers that are started here end when this process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const folder = resolve(values.data)
const directory = join(folder, 'tables')
const configuration = join(folder, 'config.json')
/** Medians in milliseconds, and the bytes of the columns that are read: size, question, workers. */
interface Figures {
  [size: string]: { [question: string]: { bytes?: number; medians: Record<string, number> } }
}
const kept = join(folder, 'figures.json')
const figures: Figures = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {}

mkdirSync(directory, { recursive: true })
await makeTables()
if (workers === 0) await measure(undefined)
else await withTrino(measure)
show()

/** One dataset for each size, named after it, with pieces of it in parts as uploads leave them. */
async function makeTables(): Promise<void> {
  await using engine = await openEngine({ directory })
  const names = new Set((await engine.datasets()).map(({ name }) => name))
  const missing = sizes.filter((size) => !names.has(String(size)))
  if (missing.length === 0) return
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const [found] = await engine.repositories()
  const repository = found ?? (await engine.createRepository({ name: 'sizes' }))
  for (const size of missing) {
    const { id } = await engine.createDataset({ repositoryId: repository.id, name: `${size} unfinished` })
    const dataset = await engine.dataset(id)
    const rows = size * 1_000_000
    for (let from = 0; from < rows; from += PIECE) {
      const sql = rowsFrom(from, Math.min(rows, from + PIECE))
      const file = join(folder, 'piece.parquet')
      await connection.run(`COPY (${sql}) TO '${file}' (FORMAT parquet)`)
      await dataset.append({ format: 'parquet', body: createReadStream(file) })
      rmSync(file)
    }
    await engine.updateDataset(id, { name: String(size) })
  }
  connection.closeSync()
  instance.closeSync()
}

function rowsFrom(from: number, to: number): string {
  return (
    'SELECT n, hash(n) % 50 AS quantity, CAST(hash(n + 1) % 100000 / 100 AS DECIMAL(12,2)) AS price, ' +
    "DATE '2000-01-01' + CAST(n // 20000 AS INTEGER) AS day, 'word ' || hash(n + 2) % 1000 AS word, " +
    'left(md5(CAST(n AS VARCHAR)), 12) AS code, hash(n + 3) % 3 = 0 AS flag, ' +
    `TIMESTAMP '2020-01-01' + to_seconds(n) AS moment FROM range(${from}, ${to}) AS t(n)`
  )
}

/** Each worker has a core of its own; the coordinator and everything else share all of them. */
async function withTrino(work: (url: string) => Promise<void>): Promise<void> {
  writeFileSync(configuration, JSON.stringify({ iceberg: { localFiles: true } }))
  await using service = await startService(directory, { environment: { PARQUETRY_CONFIG: configuration } })
  await using trino = await TrinoServer.start({
    catalog: `${service.url}/iceberg`,
    key: KEY,
    workers,
    memory: 3_072,
    forFigures: true,
  })
  await work(trino.url)
}

async function measure(url: string | undefined): Promise<void> {
  const limits = { minBytes: 0, maxRows: 100_000, retryWithin: 0 }
  await using engine = await openEngine({
    directory,
    threads: 1,
    ...(url !== undefined && { trino: { url, ...limits } }),
  })
  const datasets = (await engine.datasets()).toSorted((a, b) => Number(a.name) - Number(b.name))
  const smallest = await engine.dataset(datasets[0]!.id)
  for (let run = 0; run < WARMING; run++) {
    for (const options of Object.values(QUESTIONS)) await answer(smallest, options)
  }
  for (const { id, name } of datasets) {
    if (!sizes.includes(Number(name))) continue
    const dataset = await engine.dataset(id)
    for (const [question, options] of Object.entries(QUESTIONS)) {
      const times: number[] = []
      for (let run = 0; run < runs; run++) times.push(await timed(() => answer(dataset, options)))
      const figure = ((figures[name] ??= {})[question] ??= { medians: {} })
      figure.medians[workers] = median(times)
      if (url !== undefined) figure.bytes = await bytesRead(dataset, options)
      writeFileSync(kept, JSON.stringify(figures))
    }
  }
  const trino = (await engine.stats()).executor?.trino
  if (trino && trino.answered === 0) throw new Error('Trino answered nothing')
}

async function answer(dataset: Dataset, options: QueryOptions): Promise<void> {
  using query = await dataset.query(options)
  await using stream = await query.bytes('csv')
  for await (const _ of stream);
}

async function bytesRead(dataset: Dataset, options: QueryOptions): Promise<number> {
  using query = await dataset.query(options)
  return Number(/reads (\d+) bytes/.exec(await query.explain())![1])
}

function show(): void {
  console.log(
    'rows, millions; question; MB of columns; milliseconds of DuckDB on 1 core, of Trino by workers',
  )
  const bySize = Object.entries(figures).toSorted(([a], [b]) => Number(a) - Number(b))
  for (const [size, questions] of bySize) {
    for (const [question, { bytes = 0, medians }] of Object.entries(questions)) {
      const [one, ...trinos] = Object.entries(medians).map(([by, ms]) => `${by}: ${ms.toFixed(0)}`)
      console.log(
        `${size.padStart(4)}  ${question.padEnd(16)} ${(bytes / 1e6).toFixed(0).padStart(6)}  ${[one, ...trinos].join('  ')}`,
      )
    }
  }
}
