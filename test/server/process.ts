import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { clusterEnvironment } from '../cluster/elsewhere.ts'

const MAIN = new URL('../../server/bin.js', import.meta.url).pathname
/** A busy machine would shed what the tests ask. */
const SETTINGS = new URL('settings.json', import.meta.url).pathname

/** The server as an operator starts it, in a process of its own. Killed when it is disposed, if it still runs. */
export interface Served extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** What it has written so far: the greeting and the log; warnings and crashes. */
  said(): { readonly out: string; readonly err: string }
  /** Reads what it writes no more, like a reader of its log that has ended. */
  closeOutput(): void
  /** Asks it by SIGTERM to end; gives the exit code and how long it took. */
  stop(): Promise<{ readonly code: number | null; readonly milliseconds: number }>
}

export interface ServeOptions {
  readonly data: string
  readonly environment?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  readonly samples?: boolean
  /** The program of another version. */
  readonly main?: string
}

/** Resolves when it serves. */
export async function serveProcess(options: ServeOptions): Promise<Served> {
  const { data, environment = {}, args = [], samples = false, main } = options
  const all = ['serve', '--port', '0', '--data', data, ...(samples ? [] : ['--no-samples']), ...args]
  const child = await command(all, environment, main)
  const texts = collect(child)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The server ended before it told its address: ${texts.err}`)))
    child.stdout.on('data', () => {
      const address = /(?:is running at|serves on) (http:\S+)/.exec(texts.out)?.[1]
      if (address !== undefined) resolve(address)
    })
  })
  return {
    url,
    pid: child.pid!,
    said: () => ({ ...texts }),
    closeOutput: () => child.stdout.destroy(),
    async stop() {
      const started = performance.now()
      child.kill('SIGTERM')
      return { code: await ended, milliseconds: performance.now() - started }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs `parquetry …` to its end. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = await command(args, environment)
  const texts = collect(child)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, ...texts }
}

async function command(args: readonly string[], environment: Readonly<Record<string, string>>, main = MAIN) {
  const elsewhere = await clusterEnvironment(dataIn(args))
  return spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PARQUETRY_CONFIG: SETTINGS, ...process.env, ...elsewhere, ...environment },
  })
}

/** What `--data` says. */
function dataIn(args: readonly string[]): string {
  return args[args.indexOf('--data') + 1] ?? ''
}

function collect(child: ChildProcessByStdio<null, Readable, Readable>): { out: string; err: string } {
  const texts = { out: '', err: '' }
  child.stdout.on('data', (bytes) => (texts.out += bytes))
  child.stderr.on('data', (bytes) => (texts.err += bytes))
  return texts
}
