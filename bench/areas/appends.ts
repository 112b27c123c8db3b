import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresPrograms, startPostgres } from '../../test/cluster/postgres.ts'
import { S3_SERVERS, S3Server } from '../../test/cluster/s3-server.ts'
import { type BenchOptions, type Case, median } from '../case.ts'
import type { Appended, Appending } from '../service/appender.ts'
import { KEY, type Service, startService } from '../service/service.ts'

const CLIENTS = [1, 16, 64, 256]
/** Clients with a table each. */
const TABLES = 100

/** Where rows are appended. */
type Place = Pick<Appending, 'urls' | 'headers' | 'around'>

/** Somebody to whom rows are appended. */
interface Appendable {
  readonly name: string
  /** The most clients at once that it takes. */
  readonly most: number
  append(clients: number, milliseconds: number, tables: 'one' | 'each'): Promise<Appended>
}

/**
 * One row a request, each client sending the next when one is acknowledged, beside Datasette's insert API and a DuckLake
 * (a catalog in SQLite, which takes small inserts) in the process of its clients, as far as the Python of
 * `PARQUETRY_PYTHON` or `python3` has them. All sync to the disk as they do by default, before they acknowledge a row: ours
 * and SQLite with synchronous=FULL.
 */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-bench-appends-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(directory, { recursive: true, force: true }))
  const service = stack.use(await startService(join(directory, 'data')))
  const ours = await ourTables(service.url)
  const others = [await datasette(directory, stack), duckLake(directory)].filter((one) => one !== undefined)
  if (others.length < 2)
    console.log(
      'appends: without all rivals, for which Python needs datasette 1.0a41 and, 1.5.5 each, duckdb, duckdb_extension_ducklake, duckdb_extension_sqlite_scanner',
    )
  const milliseconds = quick ? 1_000 : 10_000
  const runs = quick ? 1 : 3
  const all = [overHttp('ours', ours), ...others]
  for (const clients of CLIENTS) yield* beside(all, clients, 'one', milliseconds, runs)
  yield* beside(all, TABLES, 'each', milliseconds, runs)
  yield* readsMeanwhile(service, { ...ours, urls: [ours.urls[0]!] }, milliseconds, runs)
  yield* onNodes(join(directory, 'nodes'), milliseconds, runs)
}

/** The first and the others in turns. */
async function* beside(
  all: readonly Appendable[],
  clients: number,
  tables: 'one' | 'each',
  milliseconds: number,
  runs: number,
): AsyncGenerator<Case> {
  const [ours, ...others] = all.filter(({ most }) => clients <= most)
  const measured = new Map([ours!, ...others].map((one) => [one, [] as Appended[]]))
  for (let run = 0; run < runs; run++)
    for (const [one, done] of measured) done.push(await one.append(clients, milliseconds, tables))
  const of = (one: Appendable, name: keyof Appended) => median(measured.get(one)!.map((done) => done[name]))
  const named = `appends of one row, ${clients} clients${tables === 'each' ? ', a table each' : ''}`
  for (const [what, name, unit] of [
    ['acknowledged', 'rate', 'rows/s'],
    ['p99', 'p99', 'ms'],
    ['refused', 'refused', 'requests'],
  ] as const) {
    const value = of(ours!, name)
    if (others.length === 0) yield { name: `${named}: ${what}`, value, unit }
    for (const other of others) {
      const rivalValue = of(other, name)
      const ratio = rivalValue > 0 ? { ratio: value / rivalValue } : {}
      yield { name: `${named}: ${what}`, value, unit, rival: other.name, rivalValue, ...ratio }
    }
  }
}

/** Tables that take rows over HTTP. */
function overHttp(name: string, place: Place): Appendable {
  return {
    name,
    most: Number.POSITIVE_INFINITY,
    append: (clients, milliseconds, tables) =>
      append({
        ...place,
        urls: tables === 'each' ? place.urls : place.urls.slice(0, 1),
        clients,
        milliseconds,
      }),
  }
}

const MANY = 64

/** Small reads of another dataset, one after the other, while nothing else happens and while many clients append. */
async function* readsMeanwhile(
  service: Service,
  place: Place,
  milliseconds: number,
  runs: number,
): AsyncGenerator<Case> {
  const other = await ourTables(service.url, 'other', 1)
  const rows = Array.from({ length: 10_000 }, (_, n) => `${n},2026-11-21T10:00:00,place ${n % 50},1.5\n`)
  const body = `n,at,place,value\n${rows.join('')}`
  const headers = { ...other.headers, 'content-type': 'text/csv' }
  const [url] = other.urls
  await fetch(url!, { method: 'PUT', headers, body })
  const path = new URL(url!).pathname
  let memory = 0
  const p99 = async (isOver: () => boolean) => {
    const times: number[] = []
    while (!isOver()) {
      const filter = `n ge ${Math.floor(Math.random() * 9_000)} and value gt ${Math.random()}`
      times.push((await service.ask(`${path}?$top=5&$filter=${encodeURIComponent(filter)}`)).last)
    }
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
  }
  const idle: number[] = []
  const busy: number[] = []
  for (let run = 0; run < runs; run++) {
    const end = performance.now() + milliseconds
    idle.push(await p99(() => performance.now() > end))
    let isOver = false
    const appending = append({ ...place, clients: MANY, milliseconds }).finally(() => (isOver = true))
    busy.push(await p99(() => isOver))
    await appending
    memory = Math.max(memory, service.memoryOfAll())
  }
  yield {
    name: `small reads of another dataset while ${MANY} clients append: p99`,
    value: median(busy),
    unit: 'ms',
    rival: 'idle',
    rivalValue: median(idle),
    ratio: median(busy) / median(idle),
  }
  yield { name: '  most memory of all processes', value: memory / 2 ** 20, unit: 'MiB' }
}

/** The same clients on one node and on two, where a cluster can be had. */
async function* onNodes(directory: string, milliseconds: number, runs: number): AsyncGenerator<Case> {
  const programs = postgresPrograms()
  if (!programs || S3_SERVERS.length === 0)
    return console.log('appends: not measured on nodes, needs npm run cluster:install')
  await using stack = new AsyncDisposableStack()
  const store = stack.use(await S3Server.start())
  const postgres = stack.use(await startPostgres({ programs }))
  const environment = { ...store.environment('rows'), PARQUETRY_DATABASE: postgres.url }
  const node = async (name: string) => stack.use(await startService(join(directory, name), { environment }))
  const nodes = [await node('one'), await node('two')]
  const place = await ourTables(nodes[0]!.url, 'events', 1)
  const cpu = () => nodes.reduce((sum, one) => sum + (one.cpu() ?? 0), 0)
  const run = async (count: number) => {
    const [before, clients] = [cpu(), MANY / count]
    const urls = nodes.slice(0, count).map(({ url }) => url + new URL(place.urls[0]!).pathname)
    const done = await Promise.all(
      urls.map((url) => append({ ...place, urls: [url], clients, milliseconds })),
    )
    const rate = done.reduce((sum, one) => sum + one.rate, 0)
    return { rate, cpu: (cpu() - before) / ((rate * milliseconds) / 1_000) }
  }
  // Nodes that have just started are slow.
  await run(2)
  const measured = new Map([1, 2].map((count) => [count, [] as Awaited<ReturnType<typeof run>>[]]))
  for (let time = 0; time < runs; time++) {
    for (const [count, all] of measured) all.push(await run(count))
  }
  const of = (count: number, what: 'rate' | 'cpu') => median(measured.get(count)!.map((one) => one[what]))
  for (const [name, what, unit] of [
    [`appends of one row, ${MANY} clients, two nodes: acknowledged`, 'rate', 'rows/s'],
    ['  of the nodes, a row', 'cpu', 'ms CPU'],
  ] as const) {
    const [value, rivalValue] = [of(2, what), of(1, what)]
    yield { name, value, unit, rival: 'one node', rivalValue, ratio: value / rivalValue }
  }
}

async function append(what: Appending): Promise<Appended> {
  const program = new URL('../service/appender.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, JSON.stringify(what)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return (await json(child.stdout)) as Appended
}

async function ourTables(url: string, name = 'events', count = TABLES): Promise<Place> {
  const headers = { authorization: `Basic ${Buffer.from(`${KEY}:`).toString('base64')}` }
  const make = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
    const answer = await fetch(url + path, { ...init, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { id: number }
  }
  const { id: repositoryId } = await make('/repositories', { name, private: true })
  const types = Object.entries({ n: 'integer', at: 'timestamp', place: 'string', value: 'double' })
  const columns = types.map(([column, type]) => ({ name: column, type }))
  const urls: string[] = []
  while (urls.length < count) {
    const { id } = await make('/datasets', { name: `${name}${urls.length}`, repositoryId, columns })
    urls.push(`${url}/datasets/${id}/data`)
  }
  return { urls, headers, around: ['{"rows":[', ']}'] }
}

const PORT = 8_471
const PYTHON = process.env.PARQUETRY_PYTHON ?? 'python3'

const python = (...args: string[]) => spawnSync(PYTHON, args, { encoding: 'utf8' })

/** Datasette with tables of the same columns; undefined if there is none. */
async function datasette(directory: string, stack: AsyncDisposableStack): Promise<Appendable | undefined> {
  if (python('-m', 'datasette', '--version').status !== 0) return undefined
  const file = join(directory, 'events.db')
  python(
    '-c',
    `import sqlite3; c = sqlite3.connect(${JSON.stringify(file)})
for n in range(${TABLES}): c.execute(f"create table events{n} (n integer, at text, place text, value real)")`,
  )
  const secret = ['--secret', 'the-secret-of-the-bench']
  const token = python('-m', 'datasette', 'create-token', 'root', ...secret).stdout.trim()
  const args = ['-m', 'datasette', 'serve', file, '--port', String(PORT), '--root', ...secret]
  const child = spawn(PYTHON, args, { stdio: 'ignore' })
  stack.defer(async () => {
    child.kill()
    await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${PORT}`
  for (let tries = 0; tries < 100 && !(await fetch(url).catch(() => undefined)); tries++) await sleep(100)
  return overHttp('Datasette', {
    urls: Array.from({ length: TABLES }, (_, n) => `${url}/events/events${n}/-/insert`),
    headers: { authorization: `Bearer ${token}` },
    around: ['{"row":', '}'],
  })
}

/** A DuckLake in a process with its clients, which are threads; undefined if there is none. */
function duckLake(directory: string): Appendable | undefined {
  const program = new URL('../peers/ducklake.py', import.meta.url).pathname
  if (python(program, 'try').status !== 0) return undefined
  return {
    name: 'DuckLake',
    // Of more, SQLite refuses nearly all as locked.
    most: 16,
    async append(clients, milliseconds, tables) {
      const folder = mkdtempSync(join(directory, 'lake-'))
      const args = [
        program,
        folder,
        String(clients),
        String(milliseconds),
        tables === 'each' ? String(clients) : '1',
      ]
      const child = spawn(PYTHON, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      return (await json(child.stdout)) as Appended
    },
  }
}
