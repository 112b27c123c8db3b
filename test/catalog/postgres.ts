import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Where Debian puts the programs of each version of PostgreSQL. */
const DEBIAN = '/usr/lib/postgresql'

/** A PostgreSQL server of the test's own, with one database. */
export interface Postgres extends AsyncDisposable {
  readonly url: string
  /** Ends it as a crash would, and starts it again. */
  kill(): Promise<void>
  start(): Promise<void>
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

/** Starts a server in a folder of its own, reached over a socket there by whoever is on this machine. */
export async function startPostgres(programs: string): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-postgres-'))
  chmodSync(folder, 0o777)
  const data = join(folder, 'data')
  execFileSync(
    ...as(join(programs, 'initdb'), [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
    ]),
    { stdio: 'ignore' },
  )
  const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`
  let server: ReturnType<typeof spawn> | undefined
  const start = async () => {
    const options = ['-D', data, '-k', folder, '-c', 'listen_addresses=']
    server = spawn(...as(join(programs, 'postgres'), options), { stdio: 'ignore', cwd: folder })
    for (let tries = 0; !(await answers(url)); tries++) {
      if (tries > 300 || server.exitCode !== null) throw new Error('PostgreSQL does not start')
      await wait(100)
    }
  }
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    if (!server || server.exitCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  await start()
  return {
    url,
    start,
    kill: () => end('SIGQUIT'),
    async [Symbol.asyncDispose]() {
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const { default: pg } = await import('pg')
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
