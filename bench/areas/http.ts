import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import ExcelJS from 'exceljs'
import { openEngine } from '../../engine/index.ts'
import { type BenchOptions, type Case, duel, median } from '../case.ts'
import { writeLineitem } from '../peers/lineitem.ts'
import { type Service, startService } from '../service/service.ts'

const FLIGHTS = new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')).pathname

/** Tables of different kinds, by the SQL that makes them. */
function tables(quick: boolean): Record<string, string> {
  const rows = quick ? 300_000 : 3_000_000
  const flights = `SELECT * FROM read_parquet('${FLIGHTS}') LIMIT ${rows}`
  const wide = Array.from({ length: 200 }, (_, n) => `(i * ${n + 1}) % 1000 AS column_${n}`).join(', ')
  return {
    flights,
    million: `SELECT * FROM (${flights}) LIMIT ${rowsOfFeed(quick)}`,
    strings: `SELECT i AS id, repeat(md5(i::VARCHAR), 3) AS a, 'a longer text that no one inlines ' || i AS b
      FROM range(${rows / 3}) t(i)`,
    doubles: `SELECT i AS id, round(random() * 1000, 2) AS price, random() AS a, random() * 1e6 AS b
      FROM range(${rows / 3}) t(i)`,
    wide: `SELECT ${wide} FROM range(${rows / 60}) t(i)`,
    nulls: `SELECT CASE WHEN i % 3 = 0 THEN i END AS a, CASE WHEN i % 2 = 0 THEN 'x' || i END AS b,
      CASE WHEN i % 5 = 0 THEN i / 7 END AS c, NULL::DATE AS d FROM range(${rows / 2}) t(i)`,
  }
}

function rowsOfFeed(quick: boolean): number {
  return quick ? 100_000 : 1_000_000
}

/** Whole exports over HTTP to a client that throws the bytes away, each compared with its rival. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-bench-'))
  const duckdb = await (await DuckDBInstance.create()).connect()
  try {
    const ids = await load(directory, await write(duckdb, directory, quick))
    await using service = await startService(join(directory, 'data'))
    const path = (table: string, query = '') => `/datasets/${ids[table]}/data?${query}`
    const part = (table: string) => join(directory, `${table}.parquet`)
    const runs = quick ? 3 : 7

    for (const [table, format, label] of [
      ['flights', 'csv', 'csv of flights'],
      ['flights', 'json', 'json of flights'],
      ['strings', 'csv', 'csv of long strings'],
      ['doubles', 'csv', 'csv of doubles'],
      ['wide', 'csv', 'csv of 200 columns'],
      ['nulls', 'csv', 'csv of nulls'],
    ] as const) {
      const options = format === 'json' ? 'FORMAT json, ARRAY true' : 'FORMAT csv, HEADER'
      yield await duel(
        label,
        `DuckDB COPY to a file`,
        runs,
        () => service.drain(path(table, `$format=${format}`)),
        () =>
          duckdb.run(
            `COPY (FROM read_parquet('${part(table)}')) TO '${join(directory, 'rival.out')}' (${options})`,
          ),
      )
    }
    yield await duel(
      'xlsx of a million flights',
      'exceljs streaming writer',
      quick ? 1 : 3,
      () => service.drain(path('million', '$format=xlsx')),
      () => exceljsWrite(duckdb, part('million'), join(directory, 'rival.xlsx')),
    )
    // A feed is sent in pages, each with the address of the next one. Its rows have their number as key, which the rows
    // of the export don't have: a seventh more bytes of flights (4 columns), a thirtieth of lineitem (16).
    for (const [table, coding, label] of [
      ['lineitem', 'identity', 'a million rows of lineitem'],
      ['million', 'identity', 'a million flights'],
      ['million', 'gzip', 'a million flights, compressed'],
    ] as const) {
      const pages = Array.from(
        { length: rowsOfFeed(quick) / 100_000 },
        (_, page) => `/repositories/1/odata/${table}?$skiptoken=1-${page * 100_000}`,
      )
      yield await duel(
        `OData feed of ${label}`,
        'json of the same',
        runs,
        () => service.drain(pages, coding),
        () => service.drain(path(table, '$format=json'), coding),
      )
    }
    const csv = () => service.drain(path('flights'))
    yield await duel(
      'two csv exports at once',
      'one after the other',
      runs,
      () => Promise.all([csv(), csv()]),
      async () => {
        await csv()
        await csv()
      },
    )
    yield* latencies(service, path, quick)
    yield* memory(service, path)
  } finally {
    duckdb.closeSync()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Writes each table as Parquet, and returns their names. */
async function write(duckdb: DuckDBConnection, directory: string, quick: boolean): Promise<string[]> {
  const made = Object.entries(tables(quick))
  for (const [name, select] of made) {
    const file = join(directory, `${name}.parquet`)
    await duckdb.run(`COPY (${select}) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`)
  }
  await writeLineitem(join(directory, 'lineitem.parquet'), rowsOfFeed(quick))
  return [...made.map(([name]) => name), 'lineitem']
}

/** Imports the tables. Returns the ids of the datasets. */
async function load(directory: string, names: readonly string[]) {
  await using engine = await openEngine({ directory: join(directory, 'data') })
  const repository = await engine.createRepository({ name: 'bench' })
  const ids: Record<string, number> = {}
  for (const name of names) {
    const { id } = await engine.createDataset({ repositoryId: repository.id, name })
    const file = join(directory, `${name}.parquet`)
    await (await engine.dataset(id)).replace({ body: { file }, format: 'parquet' })
    ids[name] = id
  }
  return ids
}

async function exceljsWrite(duckdb: DuckDBConnection, parquet: string, file: string): Promise<void> {
  const book = new ExcelJS.stream.xlsx.WorkbookWriter({ filename: file })
  const sheet = book.addWorksheet('flights')
  const result = await duckdb.stream(`FROM read_parquet('${parquet}')`)
  sheet.addRow(result.columnNames()).commit()
  for await (const rows of result.yieldRowsJs()) for (const row of rows) sheet.addRow(row.map(plain)).commit()
  await book.commit()
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

async function* latencies(
  service: Service,
  path: (table: string, query?: string) => string,
  quick: boolean,
): AsyncGenerator<Case> {
  const runs = quick ? 9 : 31
  const first = async (name: string, query: (run: number) => string) => {
    const times: number[] = []
    for (let run = 0; run < runs + 3; run++)
      times.push((await service.ask(path('flights', query(run)))).first)
    return { name, value: median(times.slice(3)), unit: 'ms' }
  }
  const filtered = (delay: number) =>
    `$top=5&$filter=${encodeURIComponent(`delay gt ${delay} and origin eq 'LAX'`)}`
  if (!quick) yield await first('first byte of the whole table', () => '')
  yield await first('$last=10', () => '$last=10')
  yield await first('$top=5 of a filter', () => filtered(100))
  // The server remembers the count of a filter, so each of these requests uses another filter.
  yield await first('$top=5 of a filter that was never counted', (run) => filtered(101 + run))

  const p99 = async (seconds: number) => {
    const times: number[] = []
    const end = performance.now() + seconds * 1_000
    while (performance.now() < end) times.push((await service.ask('/repositories')).last)
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
  }
  const seconds = quick ? 1 : 5
  await p99(1)
  const idle = await p99(seconds)
  const exporting = service.occupy(path('flights'), 4)
  await p99(1)
  const loaded = await p99(seconds)
  await exporting[Symbol.asyncDispose]()
  yield {
    name: 'p99 of GET /repositories beside four exports',
    value: loaded,
    unit: 'ms',
    rival: 'the same server, idle',
    rivalValue: idle,
    ratio: loaded / idle,
  }
}

async function* memory(
  service: Service,
  path: (table: string, query?: string) => string,
): AsyncGenerator<Case> {
  const before = service.memory()
  if (before === undefined) return
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, service.memory() ?? 0)
  }, 20)
  for (const format of ['csv', 'json']) await service.drain(path('flights', `$format=${format}`))
  clearInterval(timer)
  yield { name: "the server's memory, at most, while it exports", value: most / 2 ** 20, unit: 'MiB' }
}
