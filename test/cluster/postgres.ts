import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

/** Where Debian puts the programs of each version of PostgreSQL. */
const DEBIAN = '/usr/lib/postgresql'
/** So that what runs at once in the tests has enough, each node up to a dozen. */
const CONNECTIONS = 400

/** A PostgreSQL server of the test's own. */
export interface Postgres extends AsyncDisposable {
  /** The address of its first database. */
  readonly url: string
  /** Ends it as a crash would; by SIGKILL the processes of its connections end by themselves a moment later. */
  kill(signal?: 'SIGQUIT' | 'SIGKILL'): Promise<void>
  /** Starts it again. Resolves when it answers. */
  start(): Promise<void>
  /** Makes an empty database and gives its address. */
  database(name: string): Promise<string>
}

/** The folder of the programs; undefined where there are none, which is told. */
export function postgresPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folder = versions
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')))
  if (!folder) console.warn(`NOT RUN: there is no PostgreSQL in ${DEBIAN}, so nothing was tried with it.`)
  return folder
}

/** It refuses to run as root, who has somebody else run it. */
function as(program: string, args: readonly string[]): [string, string[]] {
  return process.getuid?.() === 0
    ? ['setpriv', ['--reuid=nobody', '--regid=nogroup', '--clear-groups', program, ...args]]
    : [program, [...args]]
}

interface StartOptions {
  readonly programs: string
  /** Kept when the server ends; one that goes with it where none is named. */
  readonly folder?: string
  /** Whether it goes on when Ctrl+C is pressed, until it is disposed. */
  readonly detached?: boolean
  /** Where it can be reached over TCP as well, and further settings, as `ssl=on`. */
  readonly port?: number
  readonly settings?: readonly string[]
}

/** Starts a server, reached over a socket in its folder by whoever is on this machine. */
export async function startPostgres(options: StartOptions): Promise<Postgres> {
  const { programs, folder, detached = false, port, settings: further = [] } = options
  const sockets = mkdtempSync(join(tmpdir(), 'parquetry-postgres-'))
  const data = join(folder ?? sockets, 'data')
  for (const place of [sockets, folder ?? sockets]) {
    mkdirSync(place, { recursive: true })
    chmodSync(place, 0o777)
  }
  if (!existsSync(data)) {
    const made = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8']
    execFileSync(...as(join(programs, 'initdb'), made), { stdio: 'ignore' })
  }
  const url = `postgres://postgres@localhost:${port ?? 5432}/postgres?host=${encodeURIComponent(sockets)}`
  let server: ChildProcess | undefined
  const start = async () => {
    const reached =
      port === undefined ? ['listen_addresses='] : ['listen_addresses=127.0.0.1', `port=${port}`]
    const settings = [...reached, `max_connections=${CONNECTIONS}`, ...further]
    const args = ['-D', data, '-k', sockets, ...settings.flatMap((setting) => ['-c', setting])]
    for (let tries = 0; tries < 300; tries++) {
      // It ends at once while a process of one that was killed still holds the shared memory.
      if (!server || hasEnded(server)) {
        server = spawn(...as(join(programs, 'postgres'), args), {
          stdio: 'ignore',
          cwd: sockets,
          detached,
        })
      }
      if (await answers(url)) return
      await wait(100)
    }
    throw new Error('PostgreSQL does not start')
  }
  const end = async (signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') => {
    if (!server || hasEnded(server)) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  await start()
  return {
    url,
    start,
    kill: (signal = 'SIGQUIT') => end(signal),
    database: (name) => makeDatabase(url, name),
    async [Symbol.asyncDispose]() {
      await end('SIGINT')
      rmSync(sockets, { recursive: true, force: true })
    },
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Makes an empty database on a server, unless it is there; gives its address. */
export async function makeDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${name}`)
  } catch (error) {
    // duplicate_database
    if ((error as { code?: string }).code !== '42P04') throw error
  } finally {
    await client.end()
  }
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

/** Copies a database as operators do, with pg_dump, into a new one on the same server; gives its address. */
export async function copyDatabase(from: string, name: string): Promise<string> {
  const programs = postgresPrograms()!
  const to = await makeDatabase(from, name)
  const dump = execFileSync(join(programs, 'pg_dump'), ['--format=custom', from], { maxBuffer: 1e9 })
  execFileSync(join(programs, 'pg_restore'), ['--no-owner', '--dbname', to], { input: dump })
  return to
}
