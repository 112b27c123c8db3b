import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { request } from 'undici'
import { quoteLiteral } from '../../../engine/types/index.ts'
import { UsageError } from '../usage.ts'

/** The middle, the least and the most of several measurements. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** What else writes rows in our formats. */
export const RIVALS = ['copy', 'pandas', 'polars'] as const
export type Rival = (typeof RIVALS)[number]

/** How fast a server exports one format to some clients at once. */
export interface Figure {
  readonly format: string
  readonly clients: number
  readonly downloads: number
  /** Bytes of one download. */
  readonly bytes: number
  /** Of all clients together. */
  readonly rowsPerSecond: Spread
  /** Milliseconds. */
  readonly firstByte: Spread
  /** Seconds of all cores for one download; only an admin's key sees them. */
  readonly cpu?: number
  /** The highest resident memory in bytes; missing if it could not be asked for all the time. */
  readonly peakMemory?: number
  /** Rows per second with which others write the same rows to a file. */
  readonly beside?: Readonly<Partial<Record<Rival, Spread>>>
}

/** A dataset of a server, as it is asked for. */
export interface Target {
  readonly url: string
  readonly key: string
  readonly dataset: number
  readonly filter: string | undefined
}

/** How rows are measured in one format. */
interface How {
  readonly format: string
  readonly seconds: number
  readonly rows: number
}

/** The fewest downloads from which a median says something. */
const FEWEST_ROUNDS = 3

/** Downloads a format again and again, by `clients` at once, for about so many seconds after a first time that isn't counted. */
export async function measure(
  target: Target,
  { format, clients, seconds, rows }: How & { readonly clients: number },
): Promise<Figure> {
  const { bytes } = await download(target, format)
  const before = await meters(target)
  const stop = new AbortController()
  const peak = peakMemory(target, stop.signal)
  const firstBytes: number[] = []
  const rates = await ratesOf(rows * clients, seconds, async () => {
    const round = await Promise.all(Array.from({ length: clients }, () => download(target, format)))
    firstBytes.push(...round.map(({ firstByte }) => firstByte))
  }).finally(() => stop.abort())
  const after = await meters(target)
  const memory = await peak
  const downloads = rates.length * clients
  return {
    format,
    clients,
    downloads,
    bytes,
    rowsPerSecond: spread(rates),
    firstByte: spread(firstBytes),
    ...(before && after && { cpu: (after.cpu - before.cpu) / downloads }),
    ...(memory !== undefined && { peakMemory: memory }),
  }
}

/** Rows per second of each time that work on rows is repeated, for about so many seconds. */
async function ratesOf(rows: number, seconds: number, work: () => Promise<unknown>): Promise<number[]> {
  const rates: number[] = []
  const end = performance.now() + seconds * 1000
  while (rates.length < FEWEST_ROUNDS || performance.now() < end) {
    const start = performance.now()
    await work()
    rates.push((rows * 1000) / (performance.now() - start))
  }
  return rates
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  return { median: sorted[sorted.length >> 1]!, least: sorted[0]!, most: sorted.at(-1)! }
}

/** Downloads without looking at the bytes, so that the client costs as little as it can. */
async function download({ url, key, dataset, filter }: Target, format: string) {
  const query = new URLSearchParams({ $format: format, ...(filter !== undefined && { $filter: filter }) })
  const start = performance.now()
  const { statusCode, body } = await request(`${url}/datasets/${dataset}/data?${query}`, {
    headers: { 'x-api-key': key },
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  if (statusCode !== 200) throw new UsageError(`The server answered ${statusCode}: ${await body.text()}`)
  let firstByte: number | undefined
  let bytes = 0
  for await (const chunk of body) {
    firstByte ??= performance.now() - start
    bytes += (chunk as Buffer).length
  }
  return { bytes, firstByte: firstByte ?? performance.now() - start }
}

/** CPU seconds and resident bytes of the server's process; undefined for keys that may not see them. */
async function meters({ url, key }: Target) {
  const { statusCode, body } = await request(`${url}/metrics`, { headers: { 'x-api-key': key } })
  const text = await body.text()
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
  const [cpu, memory] = [
    value('parquetry_process_cpu_seconds_total'),
    value('parquetry_process_resident_memory_bytes'),
  ]
  return statusCode === 200 && cpu >= 0 && memory >= 0 ? { cpu, memory } : undefined
}

/** The highest resident memory until the signal is aborted; undefined if the server could not be asked each time. */
async function peakMemory(target: Target, signal: AbortSignal): Promise<number | undefined> {
  let peak = 0
  while (!signal.aborted) {
    const now = await meters(target).catch(() => undefined)
    if (now === undefined) return undefined
    peak = Math.max(peak, now.memory)
    await pause(200, undefined, { signal }).catch(() => {})
  }
  return peak
}

/** How DuckDB's COPY writes our formats; the others it does not have. */
const FORMATS: Readonly<Record<string, string>> = {
  csv: 'FORMAT csv',
  tsv: "FORMAT csv, DELIMITER '\t'",
  json: 'FORMAT json, ARRAY true',
  ndjson: 'FORMAT json',
  parquet: 'FORMAT parquet',
}

/**
 * Rows per second with which DuckDB's own COPY writes a Parquet file in another format to a file; undefined for formats
 * that it doesn't write.
 */
export async function measureCopy(file: string, { format, seconds, rows }: How): Promise<Spread | undefined> {
  const options = FORMATS[format]
  if (options === undefined) return undefined
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  try {
    const target = quoteLiteral(join(file, '..', 'copy'))
    const copy = () =>
      connection.run(`COPY (FROM read_parquet(${quoteLiteral(file)})) TO ${target} (${options})`)
    await copy()
    return spread(await ratesOf(rows, seconds, copy))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const run = promisify(execFile)

/** What each library needs to read Parquet and to write our formats. */
const PACKAGES = { pandas: ['pandas', 'pyarrow', 'xlsxwriter'], polars: ['polars', 'xlsxwriter'] } as const
type Library = Exclude<Rival, 'copy'>

/** Reads a Parquet file and writes it, again and again, and prints the seconds of each time but the first. */
const PROGRAM = `
import json, sys, time
library, file, target, format, seconds = sys.argv[1:]
if library == 'pandas':
    import pandas
    read = pandas.read_parquet
    writers = {
        'csv': lambda t: t.to_csv(target, index=False),
        'tsv': lambda t: t.to_csv(target, index=False, sep='\t'),
        'json': lambda t: t.to_json(target, orient='records', date_format='iso'),
        'ndjson': lambda t: t.to_json(target, orient='records', date_format='iso', lines=True),
        'xlsx': lambda t: t.to_excel(target, index=False, engine='xlsxwriter'),
        'parquet': lambda t: t.to_parquet(target),
        'arrow': lambda t: t.to_feather(target),
    }
else:
    import polars
    read = polars.read_parquet
    writers = {
        'csv': lambda t: t.write_csv(target),
        'tsv': lambda t: t.write_csv(target, separator='\t'),
        'json': lambda t: t.write_json(target),
        'ndjson': lambda t: t.write_ndjson(target),
        'xlsx': lambda t: t.write_excel(target),
        'parquet': lambda t: t.write_parquet(target),
        'arrow': lambda t: t.write_ipc(target),
    }
write = writers[format]
write(read(file))
times = []
end = time.perf_counter() + float(seconds)
while len(times) < 3 or time.perf_counter() < end:
    start = time.perf_counter()
    write(read(file))
    times.append(time.perf_counter() - start)
print(json.dumps(times))
`

/**
 * A Python that has the libraries: the one that is named, `python3`, or one of an environment of its own, into which they
 * are installed. Undefined without libraries.
 * @throws UsageError if none has them
 */
export async function pythonWith(
  libraries: readonly Library[],
  given: string | undefined,
): Promise<string | undefined> {
  if (libraries.length === 0) return undefined
  const packages = [...new Set(libraries.flatMap((library) => PACKAGES[library]))]
  const lacks = async (python: string) =>
    run(python, ['-c', `import ${packages.join(', ')}`]).then(
      () => undefined,
      (error: { stderr?: string; message: string }) => lastLine(error),
    )
  const problem = await lacks(given ?? 'python3')
  if (problem === undefined) return given ?? 'python3'
  if (given !== undefined)
    throw new UsageError(`--python: ${given} lacks one of ${packages.join(', ')}: ${problem}`)
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parquetry', 'python')
  const python = join(folder, 'bin', 'python')
  if ((await lacks(python)) === undefined) return python
  console.log(`Installing ${packages.join(', ')} into ${folder}.`)
  try {
    mkdirSync(folder, { recursive: true })
    await run('python3', ['-m', 'venv', folder])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', ...packages])
  } catch (error) {
    throw new UsageError(
      `--beside: ${packages.join(', ')} could not be installed: ${lastLine(error as Error)} Name a Python that has them with --python.`,
    )
  }
  return python
}

function lastLine({ stderr, message }: { readonly stderr?: string; readonly message: string }): string {
  return (stderr || message).trim().split('\n').at(-1)!
}

/** Rows per second with which a library reads a Parquet file and writes it in another format to a file; undefined if it can't. */
export async function measurePython(
  library: Library,
  python: string,
  file: string,
  { format, seconds, rows }: How,
): Promise<Spread | undefined> {
  const target = join(file, '..', `copy.${format}`)
  try {
    const { stdout } = await run(python, ['-c', PROGRAM, library, file, target, format, String(seconds)])
    return spread((JSON.parse(stdout) as number[]).map((time) => rows / time))
  } catch (error) {
    console.log(`${library} does not write this table as ${format}: ${lastLine(error as Error)}`)
    return undefined
  }
}
