import { spawn } from 'node:child_process'
import { Console } from 'node:console'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { run } from '../../server/commands/program.ts'

export const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))

export interface Called {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What the shell of the tests has set, and no command may see. */
const UNSEEN = ['NODE_OPTIONS', 'VITEST', 'PARQUETRY_SERVER', 'PARQUETRY_KEY']

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs the command in this process, with a text or bytes for its standard input: starting a process for each would take
 * most of the time of the tests. Calls wait for each other, because all write to the same standard output.
 */
export function parquetry(
  args: readonly string[],
  input: string | Buffer = '',
  variables: Readonly<Record<string, string>> = {},
): Promise<Called> {
  const called = last.then(() => inProcess(args, input, variables))
  last = called.catch(() => undefined)
  return called
}

async function inProcess(
  args: readonly string[],
  input: string | Buffer,
  variables: Readonly<Record<string, string>>,
): Promise<Called> {
  const { env } = process
  const { console } = globalThis
  const streams = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  }
  const before = Object.fromEntries(
    Object.keys(streams).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)!]),
  )
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true })
  }
  globalThis.console = new Console(streams.stdout, streams.stderr)
  process.env = { ...env, ...variables }
  for (const name of UNSEEN) if (!(name in variables)) delete process.env[name]
  const texts = Promise.all([buffer(streams.stdout), buffer(streams.stderr)])
  try {
    const code = await run(args)
    streams.stdout.end()
    streams.stderr.end()
    const [stdout, stderr] = (await texts).map(String) as [string, string]
    return { code, stdout, stderr }
  } finally {
    process.env = env
    globalThis.console = console
    for (const [name, descriptor] of Object.entries(before)) Object.defineProperty(process, name, descriptor)
  }
}

/** Runs the command in a process of its own, as a shell would. */
export function parquetryProcess(args: readonly string[], nodeArgs: readonly string[] = []): Promise<Called> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !UNSEEN.includes(name)))
  const child = spawn(process.execPath, [...nodeArgs, bin, ...args], { env })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
  }
  child.stdin.end()
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...texts }))
  })
}
