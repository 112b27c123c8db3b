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

/** Where rows are appended. */
type Place = Pick<Appending, 'url' | 'headers' | 'around'>

/**
 * One row a request, each client sending the next when one is acknowledged. Beside Datasette's insert API if `python3` has
 * it; both sync to the disk as they do by default: ours each commit, Datasette's SQLite (no WAL, synchronous=FULL) too.
 */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const directory = mkdtempSync(join(tmpdir(), 'parquetry-bench-appends-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(directory, { recursive: true, force: true }))
  const service = stack.use(await startService(join(directory, 'data')))
  const ours = await ourTable(service.url)
  const theirs = await datasette(directory, stack)
  if (!theirs) console.log('appends: without Datasette, which python3 does not have')
  const milliseconds = quick ? 1_000 : 10_000
  for (const clients of CLIENTS) {
    const mine: Appended[] = []
    const other: Appended[] = []
    for (let run = 0; run < (quick ? 1 : 3); run++) {
      mine.push(await append({ ...ours, clients, milliseconds }))
      if (theirs) other.push(await append({ ...theirs, clients, milliseconds }))
    }
    const of = (all: readonly Appended[], name: keyof Appended) => median(all.map((one) => one[name]))
    const named = `appends of one row, ${clients} clients`
    yield {
      name: `${named}: acknowledged`,
      value: of(mine, 'rate'),
      unit: 'rows/s',
      ...(theirs && {
        rival: 'Datasette',
        rivalValue: of(other, 'rate'),
        ratio: of(mine, 'rate') / of(other, 'rate'),
      }),
    }
    yield {
      name: `${named}: p99`,
      value: of(mine, 'p99'),
      unit: 'ms',
      ...(theirs && {
        rival: 'Datasette',
        rivalValue: of(other, 'p99'),
        ratio: of(mine, 'p99') / of(other, 'p99'),
      }),
    }
    yield { name: `${named}: refused`, value: of(mine, 'refused'), unit: 'requests' }
  }
  yield* readsMeanwhile(service, ours, milliseconds, quick ? 1 : 3)
  yield* onNodes(join(directory, 'nodes'), milliseconds, quick ? 1 : 3)
}

const MANY = 64

/** Small reads of another dataset, one after the other, while nothing else happens and while many clients append. */
async function* readsMeanwhile(
  service: Service,
  place: Place,
  milliseconds: number,
  runs: number,
): AsyncGenerator<Case> {
  const other = await ourTable(service.url, 'other')
  const rows = Array.from({ length: 10_000 }, (_, n) => `${n},2026-11-21T10:00:00,place ${n % 50},1.5\n`)
  const body = `n,at,place,value\n${rows.join('')}`
  const headers = { ...other.headers, 'content-type': 'text/csv' }
  await fetch(other.url, { method: 'PUT', headers, body })
  const path = new URL(other.url).pathname
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
  const place = await ourTable(nodes[0]!.url)
  const cpu = () => nodes.reduce((sum, one) => sum + (one.cpu() ?? 0), 0)
  const run = async (count: number) => {
    const [before, clients] = [cpu(), MANY / count]
    const urls = nodes.slice(0, count).map(({ url }) => url + new URL(place.url).pathname)
    const done = await Promise.all(urls.map((url) => append({ ...place, url, clients, milliseconds })))
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

async function ourTable(url: string, name = 'events'): Promise<Place> {
  const headers = { authorization: `Basic ${Buffer.from(`${KEY}:`).toString('base64')}` }
  const make = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
    const answer = await fetch(url + path, { ...init, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { id: number }
  }
  const { id: repositoryId } = await make('/repositories', { name, private: true })
  const columns = Object.entries({ n: 'integer', at: 'timestamp', place: 'string', value: 'double' })
  const { id } = await make('/datasets', {
    name,
    repositoryId,
    columns: columns.map(([name, type]) => ({ name, type })),
  })
  return { url: `${url}/datasets/${id}/data`, headers, around: ['{"rows":[', ']}'] }
}

const PORT = 8_471

/** Datasette with a table of the same columns; undefined if there is none. */
async function datasette(directory: string, stack: AsyncDisposableStack): Promise<Place | undefined> {
  const python = (...args: string[]) => spawnSync('python3', args, { encoding: 'utf8' })
  if (python('-m', 'datasette', '--version').status !== 0) return undefined
  const file = join(directory, 'events.db')
  python(
    '-c',
    `import sqlite3; sqlite3.connect(${JSON.stringify(file)}).execute("create table events (n integer, at text, place text, value real)")`,
  )
  const secret = ['--secret', 'the-secret-of-the-bench']
  const token = python('-m', 'datasette', 'create-token', 'root', ...secret).stdout.trim()
  const args = ['-m', 'datasette', 'serve', file, '--port', String(PORT), '--root', ...secret]
  const child = spawn('python3', args, { stdio: 'ignore' })
  stack.defer(async () => {
    child.kill()
    await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${PORT}`
  for (let tries = 0; tries < 100 && !(await fetch(url).catch(() => undefined)); tries++) await sleep(100)
  return {
    url: `${url}/events/events/-/insert`,
    headers: { authorization: `Bearer ${token}` },
    around: ['{"row":', '}'],
  }
}
