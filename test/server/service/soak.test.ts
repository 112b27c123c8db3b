import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { openEngine } from '../../../engine/index.ts'
import { IS_CLUSTER } from '../../cluster/elsewhere.ts'
import { startUpstream } from '../../connectors/support/upstream.ts'
import { basic, ROOT_KEY } from '../platform.ts'

/** How long the load lasts; PARQUETRY_SOAK_SECONDS=1800 for a long run. */
const SECONDS = Number(process.env['PARQUETRY_SOAK_SECONDS'] ?? 20)
/** Rarer in a long run, so that a leak has time to show. */
const RESTART_EVERY_MS = Math.max(5_000, SECONDS * 50)
const WORKERS = 4

const folder = mkdtempSync(join(tmpdir(), 'parquetry-soak-'))
const upstream = await startUpstream({
  '*': { body: { observations: [{ date: '2024-01-01', value: '1.5' }] } },
})
let child: ChildProcess
let url: string
afterAll(async () => {
  child.kill('SIGKILL')
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

async function start(): Promise<void> {
  child = spawn(
    process.execPath,
    [
      new URL('../../../server/bin.js', import.meta.url).pathname,
      'serve',
      '--port',
      '0',
      '--data',
      folder,
      '--no-samples',
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PARQUETRY_ROOT_KEY: ROOT_KEY,
        PARQUETRY_LOG_LEVEL: 'error',
        PARQUETRY_PROVIDER_FRED_URL: upstream.url,
        PARQUETRY_PROVIDER_FRED_KEY: 'k',
      },
    },
  )
  const lines = createInterface({ input: child.stdout! })
  url = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the server ended before it told its address')))
    lines.on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
      if (address) resolve(address)
    })
  })
}

/** Ends the server as an operator does; gives its exit code. */
async function stop(): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  return await ended
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly rowCount: string | null
}

/** The answer; undefined when the connection was refused or broke off, as it may while the server is restarted. */
async function ask(
  method: string,
  path: string,
  body?: string,
  type = 'application/json',
): Promise<Answer | undefined> {
  try {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: basic(ROOT_KEY), ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
    })
    return { status: answer.status, body: await answer.text(), rowCount: answer.headers.get('row-count') }
  } catch {
    return undefined
  }
}

/** The same until it is answered by other than "not now". Only for what may be done twice. */
async function insist(method: string, path: string, body?: string): Promise<Answer> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await ask(method, path, body)
    if (answer && answer.status !== 503) return answer
    await sleep(100)
  }
  throw new Error(`${method} ${path} was never answered`)
}

/** Rows of a block: its number and a count, so that what is there can be told from what should be. */
const BLOCK = 50
const block = (n: number) => Array.from({ length: BLOCK }, (_, i) => `${n},${i}`).join('\n')

/** Known to be there, in order; `unsure` is a write whose answer was lost: there as a whole or not at all. */
interface Truth {
  readonly id: number
  blocks: number[]
  unsure: { readonly blocks: number[] } | undefined
}

/** The blocks that a csv holds; throws where one is not whole. */
function blocksOf(csv: string): number[] {
  const rows = csv.trimEnd().split('\n').slice(1)
  const blocks: number[] = []
  for (let at = 0; at < rows.length; at += BLOCK) {
    const n = Number(rows[at]!.split(',')[0])
    if (rows.slice(at, at + BLOCK).join('\n') !== block(n)) throw new Error(`block ${n} is not whole`)
    blocks.push(n)
  }
  return blocks
}

/** What happened, to be told at the end. */
const done = { reads: 0, writes: 0, unsure: 0, refused: 0, deletes: 0, series: 0, restarts: 0 }

/** One user: writes to a dataset of their own, reads it, deletes it now and then, asks a provider. */
async function user(repositoryId: number, name: string, until: number): Promise<void> {
  let made = 0
  let truth: Truth | undefined
  for (let n = 1; performance.now() < until; n++) {
    if (!truth) {
      const named = `${name} ${++made}`
      await insist('POST', '/datasets', JSON.stringify({ name: named, repositoryId }))
      const all = JSON.parse((await insist('GET', '/datasets')).body) as { id: number; name: string }[]
      truth = { id: all.find((one) => one.name === named)!.id, blocks: [], unsure: undefined }
    }
    const chance = Math.random()
    if (chance < 0.4 || truth.blocks.length === 0) await write(truth, n, chance < 0.08 ? 'PUT' : 'POST')
    else if (chance < 0.85) await read(truth)
    else if (chance < 0.95) {
      const series = await ask('GET', `/providers/fred/series/S${n}`)
      if (series) expect([200, 404, 429, 500, 503]).toContain(series.status)
      done.series += 1
    } else {
      expect([204, 404]).toContain((await insist('DELETE', `/datasets/${truth.id}`)).status)
      done.deletes += 1
      truth = undefined
    }
  }
  if (truth) await read(truth)
}

async function write(truth: Truth, n: number, method: 'PUT' | 'POST'): Promise<void> {
  await read(truth)
  const after = method === 'PUT' ? [n] : [...truth.blocks, n]
  const answer = await ask(method, `/datasets/${truth.id}/data`, `n,i\n${block(n)}\n`, 'text/csv')
  if (answer?.status === 200) {
    truth.blocks = after
    done.writes += 1
  } else if (answer) {
    expect(answer.status, answer.body).toBe(503)
    done.refused += 1
    await sleep(50)
  } else {
    truth.unsure = { blocks: after }
    done.unsure += 1
  }
}

/** Whole, counted, or filtered: each answer against what is known. */
async function read(truth: Truth): Promise<void> {
  if (truth.blocks.length === 0 && !truth.unsure) return
  const { body, status } = await insist('GET', `/datasets/${truth.id}/data`)
  expect(status, body).toBe(200)
  const found = blocksOf(body)
  const happened = truth.unsure && JSON.stringify(found) === JSON.stringify(truth.unsure.blocks)
  if (happened) truth.blocks = found
  truth.unsure = undefined
  expect(found).toEqual(truth.blocks)
  if (found.length === 0) return
  const wanted = found[found.length >> 1]!
  const filter = encodeURIComponent(`n eq ${wanted} and i lt 7`)
  const some = await insist('GET', `/datasets/${truth.id}/data?$filter=${filter}&$top=3`)
  expect(some.body).toBe(`n,i\n${wanted},0\n${wanted},1\n${wanted},2\n`)
  expect(some.rowCount).toBe('7')
  done.reads += 2
}

/** Memory in MiB and open handles of the server, where the system tells. */
function vitals(): { memory: number; handles: number } | undefined {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    const memory = Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
    return { memory, handles: readdirSync(`/proc/${child.pid}/fd`).length }
  } catch {
    return undefined
  }
}

test(
  `in ${SECONDS} s of mixed load with restarts no answer is wrong and no write is lost`,
  async () => {
    await start()
    const repository = await ask('POST', '/repositories', JSON.stringify({ name: 'soak' }))
    const { id } = JSON.parse(repository!.body) as { id: number }
    const until = performance.now() + SECONDS * 1_000
    const curve: { memory: number; handles: number }[] = []
    const users = Promise.all(Array.from({ length: WORKERS }, (_, n) => user(id, `user ${n}`, until)))
    const restarts = (async () => {
      while (performance.now() + RESTART_EVERY_MS < until) {
        await sleep(RESTART_EVERY_MS)
        const now = vitals()
        if (now) curve.push(now)
        expect(await stop()).toBe(0)
        await start()
        done.restarts += 1
      }
    })()
    await Promise.all([users, restarts])
    console.log(
      JSON.stringify({ ...done, curve: curve.map(({ memory, handles }) => [Math.round(memory), handles]) }),
    )
    expect(done.writes).toBeGreaterThan(SECONDS / 4)
    expect(done.restarts).toBeGreaterThan(0)
    for (const { memory, handles } of curve) {
      expect(memory).toBeLessThan(1_024)
      expect(handles).toBeLessThan(200)
    }
    expect(await stop()).toBe(0)
    await using engine = await openEngine({ directory: folder, role: 'server', threads: 1, workers: 1 })
    expect((await engine.verify()).problems).toEqual([])
    await engine.settled()
    await engine.gc()
    const parts = (await engine.database.get<{ n: number }>(
      'SELECT count(*) AS n FROM parts WHERE process IS NULL',
    ))!.n
    if (!IS_CLUSTER) expect(readdirSync(join(folder, 'parts'))).toHaveLength(Number(parts))
  },
  (SECONDS + 60) * 1_000,
)
