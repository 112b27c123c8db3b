import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'
import { leftovers } from '../faults/oracle.ts'
import { LONG } from '../long.ts'
import { ROOT_KEY } from '../server/platform.ts'
import { runCommand, serveProcess } from '../server/process.ts'
import { ask, patiently } from './client.ts'
import { Edited } from './edited.ts'
import { COLUMNS, type Table, Writer } from './writer.ts'

/** How often the server is killed while four accounts write; PARQUETRY_KILLS says otherwise. */
const KILLS = Number(process.env['PARQUETRY_KILLS'] ?? (LONG ? 1_000 : 5))
const WRITERS = ['anna', 'bert', 'cora', 'dirk']
/** Each so many rounds the server is stopped as an operator stops it, and the whole directory is looked at. */
const CLEAN_EVERY = 10
/** How long the writers write before a kill, at most; PARQUETRY_KILL_AFTER_MS says otherwise. */
const LONGEST_RUN_MS = Number(process.env['PARQUETRY_KILL_AFTER_MS'] ?? 1_000)

const folder = mkdtempSync(join(tmpdir(), 'parquetry-kills-'))
const directory = join(folder, 'data')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const environment = {
  PARQUETRY_ROOT_KEY: ROOT_KEY,
  PARQUETRY_LOG_LEVEL: 'error',
  // Nothing of a provider is asked here; and if it were, nobody would be there.
  PARQUETRY_PROVIDER_FRED_URL: 'http://127.0.0.1:9',
  PARQUETRY_DATA: directory,
  // A server that is started a thousand times needn't read its source as often.
  NODE_COMPILE_CACHE: join(folder, 'cache'),
}
const serve = () => serveProcess({ data: directory, environment })

async function command(...args: string[]): Promise<string> {
  const { code, out, err } = await runCommand(args, environment)
  if (code !== 0) throw new Error(`parquetry ${args.join(' ')}: ${err}`)
  return out.trim().split('\n').at(-1)!
}

/** What POST answers, as JSON. */
async function make(url: string, key: string, path: string, body: object): Promise<{ id: number }> {
  const answer = await patiently(url, key, 'POST', path, body)
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`)
  return JSON.parse(answer.body)
}

async function settle(): Promise<Writer[]> {
  const keys = new Map<string, string>()
  for (const name of WRITERS) keys.set(name, await command('account', 'create', name, '--plan', 'unlimited'))
  await using server = await serve()
  const { url } = server
  const common = await make(url, ROOT_KEY, '/repositories', { name: 'common' })
  const fields = { name: 'shared', repositoryId: common.id, columns: COLUMNS }
  const shared: Table = { id: (await make(url, ROOT_KEY, '/datasets', fields)).id, before: [], writes: [] }
  const writers: Writer[] = []
  for (const [at, account] of WRITERS.entries()) {
    await ask(url, ROOT_KEY, 'PUT', `/repositories/${common.id}/members/${account}`, { permission: 'Write' })
    const key = keys.get(account)!
    const { id: repositoryId } = await make(url, key, '/repositories', { name: account })
    const own = await make(url, key, '/datasets', { name: 'own', repositoryId, columns: COLUMNS })
    const keyed = await make(url, key, '/datasets', Edited.fields(repositoryId, 'edited'))
    const edited = new Edited(keyed.id, repositoryId)
    const friend = WRITERS[(at + 1) % WRITERS.length]!
    const table = { id: own.id, before: [], writes: [] }
    writers.push(new Writer({ account, key, repositoryId, own: table, shared, edited, friend }))
  }
  await server.stop()
  return writers
}

test(
  `nothing that was acknowledged over HTTP is lost by ${KILLS} kills`,
  async () => {
    const writers = await settle()
    const renew = (account: string) => command('key', 'rotate', account)
    let kills = 0
    let clean = true
    // Where a machine is so slow that most kills come before any change is made, there are more of them.
    for (let round = 1; kills < KILLS || acknowledged(writers) <= KILLS; round++) {
      {
        await using server = await serve()
        for (const writer of writers) await writer.check(server.url, clean, renew)
        await writers[0]!.checkTable(server.url, writers[0]!.shared)
        expect(writers.flatMap(({ broken }) => broken)).toEqual([])
        clean = round % CLEAN_EVERY === 0
        const working = Promise.all(writers.map((writer) => writer.work(server.url, Math.random)))
        await sleep(Math.random() * LONGEST_RUN_MS)
        if (clean) expect((await server.stop()).code).toBe(0)
        else await server[Symbol.asyncDispose]()
        await working
      }
      if (clean) await look()
      else kills += 1
      if (round % 50 === 0) console.log(`${kills} kills, ${acknowledged(writers)} changes acknowledged`)
    }
    console.log(`crash over HTTP: ${kills} kills, ${acknowledged(writers)} changes acknowledged, 0 lost`)
  },
  KILLS * (LONGEST_RUN_MS + 60_000) + 60_000,
)

function acknowledged(writers: readonly Writer[]): number {
  return writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
}

/** The directory as an operator finds it after a clean stop. */
async function look(): Promise<void> {
  await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1 })
  expect((await engine.verify()).problems).toEqual([])
  await engine.settled()
  expect(leftovers(directory, (await engine.gc()).files)).toEqual([])
}
