/**
 * What one account notices while another does its worst: `node bench/hostile.ts [--seconds 120] [--memory 2GiB] [--core N]`.
 * The hostile account runs joins that never end, exports that sort and group wide rows, uploads, and clients that hardly
 * read; the other sends one small request after another, never the same twice. Everything stays on 127.0.0.1 and ends by
 * itself. `--memory` is `engine.memoryLimit`, which its statements reach: below it memory only shows which of them run.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { KEY, parentOf, type Service, startService } from './service/service.ts'

const ROWS = 300_000
const LINES = 8

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    memory: { type: 'string', default: '2GiB' },
    core: { type: 'string' },
  },
})
const seconds = Math.min(Number(values.seconds), 3_600)
const core = values.core === undefined ? undefined : Number(values.core)
if (!(seconds > 0) || (core !== undefined && !Number.isSafeInteger(core))) {
  console.error('usage: node bench/hostile.ts [--seconds N] [--memory 2GiB] [--core N]')
  process.exit(2)
}

/** An account's key, a dataset of its own, and its name in SQL. */
interface Owner {
  readonly key: string
  readonly id: number
}

/** Makes each request another one than those before, which may be answered from memory. */
let unique = 0

const folder = mkdtempSync(join(tmpdir(), 'parquetry-hostile-'))
const data = join(folder, 'data')
try {
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ engine: { memoryLimit: values.memory } }))
  const environment = { PARQUETRY_CONFIG: config }
  await using service = await startService(data, { environment, ...(core !== undefined && { core }) })
  const wide = await wideTable()
  const hostile = await owner(service, 'hostile', readFileSync(wide), 'application/vnd.apache.parquet')
  const small = Array.from({ length: 5_000 }, (_, n) => `${n},${n % 97},name ${n % 13}\n`).join('')
  const other = await owner(service, 'other', `n,k,name\n${small}`, 'text/csv')
  console.log('alone')
  await watch(service, other, seconds / LINES, 1)
  console.log('while the other account does its worst')
  // In a process of its own, whose answers do not delay those that are measured.
  const attacker = fork(new URL('./service/attacker.ts', import.meta.url), [
    service.url,
    hostile.key,
    String(hostile.id),
    wide,
  ])
  await watch(service, other, seconds, LINES, attacker.pid)
  attacker.send('end')
  const [answers] = await once(attacker, 'message')
  console.log(`answers to the hostile account: ${JSON.stringify(answers)}`)
  console.log('afterwards')
  await watch(service, other, seconds / LINES, 1)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)

/** A Parquet file of texts and numbers that do not repeat. */
async function wideTable(): Promise<string> {
  const duckdb = await (await DuckDBInstance.create()).connect()
  const file = join(folder, 'wide.parquet')
  const columns = Array.from({ length: 10 }, (_, at) =>
    [
      `CAST(hash(i, ${at}) % 1000000007 AS BIGINT) AS n${at}`,
      `hash(i, ${at}) / 997e0 AS d${at}`,
      `md5((i * 31 + ${at})::VARCHAR) AS s${at}`,
    ].join(', '),
  )
  await duckdb.run(
    `COPY (SELECT ${columns.join(', ')} FROM range(${ROWS}) t(i)) TO '${file}' (FORMAT parquet)`,
  )
  duckdb.closeSync()
  return file
}

function send(
  service: Service,
  key: string,
  method: string,
  path: string,
  body?: object | string | Buffer,
  type?: string,
) {
  const plain = typeof body === 'string' || body instanceof Buffer
  return fetch(service.url + path, {
    method,
    headers: {
      authorization: `Basic ${btoa(`${key}:`)}`,
      ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
    },
    ...(body !== undefined && { body: plain ? (body as string) : JSON.stringify(body) }),
  })
}

async function owner(service: Service, name: string, rows: string | Buffer, type: string): Promise<Owner> {
  const made = async (key: string, path: string, body: object) => {
    const answer = await send(service, key, 'POST', path, body)
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { id: number; apiKey: string }
  }
  const { apiKey: key } = await made(KEY, '/accounts', { name, plan: 'pro' })
  const { id: repositoryId } = await made(key, '/repositories', { name })
  const { id } = await made(key, '/datasets', { name: 'rows', repositoryId })
  const put = await send(service, key, 'PUT', `/datasets/${id}/data`, rows, type)
  if (!put.ok) throw new Error(await put.text())
  return { key, id }
}

/** Sends small requests one after the other, and prints a line for each part of the time. */
async function watch(
  service: Service,
  { key, id }: Owner,
  time: number,
  lines: number,
  attacker?: number,
): Promise<void> {
  const rows = `/datasets/${id}/data`
  const small: ((n: number) => Promise<Response>)[] = [
    (n) => send(service, key, 'GET', `${rows}?$filter=${encodeURIComponent(`n lt ${n} and k eq 5`)}&$top=10`),
    (n) =>
      send(service, key, 'POST', '/sql', {
        sql: `SELECT name, sum(n) FROM other.rows WHERE n > ${n} GROUP BY name`,
      }),
    (n) =>
      send(
        service,
        key,
        'GET',
        `${rows}?$apply=${encodeURIComponent(`filter(n lt ${n})/groupby((name),aggregate(n with sum as s))`)}`,
      ),
    (n) => send(service, key, 'POST', rows, [{ n, k: n % 97, name: 'new' }]),
  ]
  const kinds = ['$filter', 'SQL', '$apply', 'append']
  for (let line = 0; line < lines; line++) {
    const times: number[][] = kinds.map(() => [])
    const failed = new Map<string, number>()
    let peak = 0
    const until = performance.now() + (time * 1_000) / lines
    while (performance.now() < until) {
      for (const [at, ask] of small.entries()) {
        const start = performance.now()
        const status = await ask((unique += 1))
          .then((answer) => answer.text().then(() => answer.status))
          .catch((error: Error) => error.message)
        times[at]!.push(performance.now() - start)
        const refused = `${kinds[at]} ${status}`
        if (status !== 200) failed.set(refused, (failed.get(refused) ?? 0) + 1)
      }
      await sleep(100)
      peak = Math.max(peak, vitals(attacker).memory)
    }
    const shown = kinds.map(
      (kind, at) => `${kind} ${quantile(times[at]!, 0.5)}/${quantile(times[at]!, 0.99)}`,
    )
    const { handles, processes } = vitals(attacker)
    console.log(
      `  p50/p99 in ms: ${shown.join(', ')} of ${times[0]!.length} each; refused ${JSON.stringify(Object.fromEntries(failed))}; ` +
        `at most ${peak} MiB, ${handles} descriptors in ${processes} processes; ${temporary()}`,
    )
  }
}

function quantile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN)
}

/** The server's process and those that it has started. */
function vitals(attacker: number | undefined) {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => [Number(pid), parentOf(pid)]),
  )
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined &&
    pid > 0 &&
    pid !== attacker &&
    (parents.get(pid) === process.pid || isBelow(parents.get(pid)))
  let [memory, handles, processes] = [0, 0, 0]
  for (const pid of [...parents.keys()].filter(isBelow)) {
    try {
      memory += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
      handles += readdirSync(`/proc/${pid}/fd`).length
      processes += 1
    } catch {
      // It has ended meanwhile.
    }
  }
  return { memory: Math.round(memory), handles, processes }
}

function temporary(): string {
  const sizes = filesIn(join(data, 'tmp'))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return `${sizes.length} temporary files of ${Math.round(bytes / 2 ** 20)} MiB`
}

/** The sizes of the files below a folder, in which files and folders come and go. */
function filesIn(folder: string): number[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesIn(path) : [statSync(path, { throwIfNoEntry: false })?.size ?? 0]
    })
  } catch {
    return []
  }
}
