import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { openEngine } from '../../engine/index.ts'
import { Ingestor } from '../../engine/ingest/ingestor.ts'
import type { UploadFormat } from '../../engine/ingest/request.ts'
import { quoteLiteral } from '../../engine/types/index.ts'
import { type BenchOptions, type Case, duel, median, timed } from '../case.ts'
import { openScratch } from '../scratch.ts'

const FLIGHTS = new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')).pathname

/** Uploads: from files on disk to parts and to committed versions, compared with DuckDB's own `COPY` to Parquet. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  using scratch = await openScratch()
  const { folder: directory, connection } = scratch
  const ingestor = new Ingestor({ tempDirectory: directory })
  const place: Place = {
    directory,
    connection,
    ingestor,
    rows: quick ? 500_000 : 3_000_000,
    runs: quick ? 3 : 9,
    quick,
  }
  try {
    yield* csvCases(place)
    yield* committedCases(place)
    yield* otherForms(place)
    yield await memoryCase(directory, quick ? 200_000 : 1_000_000)
  } finally {
    await ingestor.close()
  }
}

interface Place {
  readonly directory: string
  readonly connection: DuckDBConnection
  readonly ingestor: Ingestor
  readonly rows: number
  readonly runs: number
  readonly quick: boolean
}

const PER_APPEND = 100
const COPY = 'DuckDB COPY csv to Parquet'

/** Csv tables of different kinds, each with the SQL that makes it. */
function tables(rows: number): Record<string, string> {
  return {
    flights: `FROM read_parquet(${quoteLiteral(FLIGHTS)}) LIMIT ${rows}`,
    numbers: `SELECT i AS id, round(sin(i) * 1000, 2) AS price, i / 7 AS ratio, i % 100 AS code FROM range(${rows}) t(i)`,
    text: `SELECT i AS id, 'Customer number ' || i AS name, 'a sentence of some length about order ' || (i * 7919) AS note, md5(i::VARCHAR) AS hash FROM range(${Math.round(rows / 3)}) t(i)`,
    quoted: `SELECT i AS id, 'Doe, "Jane" no. ' || i AS name, 'first, second, third ' || (i % 1000) AS list FROM range(${Math.round(rows / 3)}) t(i)`,
  }
}

async function* csvCases({ directory, connection, ingestor, rows, runs }: Place): AsyncGenerator<Case> {
  for (const [name, sql] of Object.entries(tables(rows))) {
    const file = join(directory, `${name}.csv`)
    await connection.run(`COPY (${sql}) TO ${quoteLiteral(file)} (FORMAT csv)`)
    const rival = copyTo(connection, file, join(directory, 'rival.parquet'))
    yield await duel(
      `csv to a part: ${name}`,
      COPY,
      runs,
      () => ingest(ingestor, directory, file, 'csv'),
      rival,
    )
  }
}

async function* committedCases({ directory, connection, runs, quick }: Place): AsyncGenerator<Case> {
  const file = join(directory, 'flights.csv')
  await using engine = await openEngine({ directory: join(directory, 'data') })
  const repository = await engine.createRepository({ name: 'bench' })
  const dataset = await engine.dataset(
    (await engine.createDataset({ repositoryId: repository.id, name: 'flights' })).id,
  )
  const rival = copyTo(connection, file, join(directory, 'rival.parquet'))
  yield await duel(
    'csv file to a committed version: flights',
    COPY,
    runs,
    () => dataset.replace({ body: { file }, format: 'csv' }),
    rival,
  )
  yield await duel(
    'csv stream to a committed version: flights',
    COPY,
    runs,
    // The file is read in large pieces, so that the sender takes little of the time.
    () => dataset.replace({ body: createReadStream(file, { highWaterMark: 1 << 20 }), format: 'csv' }),
    rival,
  )
  yield await behindTheLastByte(
    file,
    quick ? 3 : 7,
    (body) => dataset.replace({ body, format: 'csv' }),
    rival,
  )
  const small = await engine.dataset(
    (await engine.createDataset({ repositoryId: repository.id, name: 'small' })).id,
  )
  const appends: number[] = []
  const rowsOf = (from: number, to: number) =>
    (async function* () {
      yield Buffer.from(
        `id,name\n${Array.from({ length: to - from }, (_, n) => `${from + n},row ${from + n}\n`).join('')}`,
      )
    })()
  const count = quick ? 60 : 1_000
  for (let run = 0; run < count; run++) {
    appends.push(
      await timed(() =>
        small.append({ body: rowsOf(run * PER_APPEND, (run + 1) * PER_APPEND), format: 'csv' }),
      ),
    )
  }
  const around = (n: number) => median(appends.slice(n - 5, n + 5))
  yield { name: `append of ${PER_APPEND} rows`, value: median(appends.slice(10)), unit: 'ms' }
  if (quick) return
  const [tenth, thousandth] = [around(10), around(count - 5)]
  const unit = 'ms'
  yield {
    name: 'the thousandth append',
    value: thousandth,
    unit,
    rival: 'the tenth',
    rivalValue: tenth,
    ratio: thousandth / tenth,
  }
  await engine.settled()
  const whole = await engine.dataset(
    (await engine.createDataset({ repositoryId: repository.id, name: 'whole' })).id,
  )
  await whole.replace({ body: rowsOf(0, count * PER_APPEND), format: 'csv' })
  const take = (from: typeof whole) => async () => {
    using query = await from.query()
    for await (const _ of await query.bytes('csv'));
  }
  yield await duel('export of a thousand appends', 'of a single upload', 31, take(small), take(whole))
}

const NETWORK = 50

/** How long a client that sends csv over a network waits after its last byte: most of the work is done before then. */
async function behindTheLastByte(
  file: string,
  runs: number,
  upload: (body: AsyncIterable<Uint8Array>) => Promise<unknown>,
  rival: () => Promise<unknown>,
): Promise<Case> {
  let sent = 0
  async function* overNetwork() {
    const start = performance.now()
    let bytes = 0
    for await (const chunk of createReadStream(file) as AsyncIterable<Uint8Array>) {
      yield chunk
      bytes += chunk.length
      const early = start + bytes / (NETWORK * 1_000) - performance.now()
      // Timers are no more precise than a millisecond.
      if (early > 2) await setTimeout(early)
    }
    sent = performance.now()
  }
  const ours: number[] = []
  const theirs: number[] = []
  for (let run = 0; run <= runs; run++) {
    await upload(overNetwork())
    ours.push(performance.now() - sent)
    theirs.push(await timed(rival))
  }
  const [value, rivalValue] = [median(ours.slice(1)), median(theirs.slice(1))]
  const ratio = median(ours.slice(1).map((time, run) => time / theirs[run + 1]!))
  const name = `csv at ${NETWORK} MB/s: from its last byte to a committed version`
  return { name, value, unit: 'ms', rival: COPY, rivalValue, ratio }
}

/** Files of the other formats, each to a committed version. */
async function* otherForms({ directory, connection, rows, runs }: Place): AsyncGenerator<Case> {
  await using engine = await openEngine({ directory: join(directory, 'forms') })
  const repository = await engine.createRepository({ name: 'bench' })
  for (const [format, count, options] of [
    ['parquet', rows, 'FORMAT parquet'],
    ['ndjson', Math.round(rows / 3), 'FORMAT json'],
    ['json', Math.round(rows / 3), 'FORMAT json, ARRAY true'],
  ] as const) {
    const file = join(directory, `form.${format}`)
    await connection.run(
      `COPY (FROM read_parquet(${quoteLiteral(FLIGHTS)}) LIMIT ${count}) TO ${quoteLiteral(file)} (${options})`,
    )
    const { id } = await engine.createDataset({ repositoryId: repository.id, name: format })
    const dataset = await engine.dataset(id)
    yield await duel(
      `${format} file to a committed version: flights`,
      `DuckDB COPY ${format} to Parquet`,
      runs,
      () => dataset.replace({ body: { file }, format }),
      copyTo(connection, file, join(directory, 'rival.parquet'), format),
    )
  }
}

const READS = { csv: 'read_csv', parquet: 'read_parquet', ndjson: 'read_json', json: 'read_json' } as const

/** DuckDB's own import, with the codec and the pages that parts have. */
function copyTo(
  connection: DuckDBConnection,
  file: string,
  target: string,
  format: keyof typeof READS = 'csv',
): () => Promise<unknown> {
  const [from, to] = [quoteLiteral(file), quoteLiteral(target)]
  const sql = `COPY (FROM ${READS[format]}(${from})) TO ${to} (FORMAT parquet, CODEC 'snappy', PARQUET_VERSION 'V2')`
  return () => connection.run(sql)
}

async function ingest(
  ingestor: Ingestor,
  directory: string,
  file: string,
  format: UploadFormat,
): Promise<void> {
  const target = join(directory, 'ours.parquet')
  await ingestor.jobs.ingest({
    file,
    format,
    target,
    limits: { unpackedBytes: 2 ** 36 },
  })
  rmSync(target)
}

/** How much the memory of a process grows while it ingests JSON rows. */
async function memoryCase(directory: string, rows: number): Promise<Case> {
  const child = fork(new URL('./ingest-memory.ts', import.meta.url), [directory, String(rows)])
  const [grown] = (await once(child, 'message')) as [number]
  child.kill()
  return { name: `memory for ${rows} JSON rows`, value: grown, unit: 'MB' }
}
