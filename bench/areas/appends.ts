import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchOptions, type Case, median } from '../case.ts'
import type { Appended, Appending } from '../service/appender.ts'
import { KEY, startService } from '../service/service.ts'

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
}

async function append(what: Appending): Promise<Appended> {
  const program = new URL('../service/appender.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, JSON.stringify(what)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return (await json(child.stdout)) as Appended
}

async function ourTable(url: string): Promise<Place> {
  const headers = { authorization: `Basic ${Buffer.from(`${KEY}:`).toString('base64')}` }
  const make = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
    const answer = await fetch(url + path, { ...init, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { id: number }
  }
  const { id: repositoryId } = await make('/repositories', { name: 'bench', private: true })
  const columns = Object.entries({ n: 'integer', at: 'timestamp', place: 'string', value: 'double' })
  const { id } = await make('/datasets', {
    name: 'events',
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
