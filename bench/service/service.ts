import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMemory } from '../peers/meter.ts'
import { type Drained, drain } from './drain.ts'

/** A server in a process of its own, so that its memory and its event loop are its own. */
export interface Service extends AsyncDisposable {
  readonly url: string
  /** Sends a GET on a connection that stays open; returns the milliseconds to the first byte and to the last. */
  ask(path: string): Promise<{ first: number; last: number }>
  /** Reads whole exports on one connection, compressed if `coding` names how, and discards them. */
  drain(path: string | readonly string[], coding?: string): Promise<Drained>
  /** Reads `exports` exports at a time in another process, again and again, until the result is disposed. */
  occupy(path: string, exports: number): AsyncDisposable
  /** Resident memory in bytes; undefined if the system doesn't report it. */
  memory(): number | undefined
  /** The same with all processes that it has started. */
  memoryOfAll(): number
  /** Milliseconds of the processor that the server has used; undefined if the system doesn't report them. */
  cpu(): number | undefined
  /** Open files and sockets; undefined if the system doesn't report them. */
  handles(): number | undefined
}

/** The unit of times in `/proc`, on every Linux in use. */
const TICK_MS = 10

/** The key of the account root. */
export const KEY = 'bench-key-of-at-least-16-characters'

export interface ServiceOptions {
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** The only core of the processor on which it may run; needs `taskset`. */
  readonly core?: number
}

export async function startService(
  directory: string,
  { environment, core }: ServiceOptions = {},
): Promise<Service> {
  const [command, ...before] = [
    ...(core === undefined ? [] : ['taskset', '-c', String(core)]),
    process.execPath,
  ] as const
  const child = spawn(
    command!,
    [
      ...before,
      '--max-semi-space-size=16',
      new URL('../../server/bin.js', import.meta.url).pathname,
      'serve',
      '--port',
      '0',
      '--data',
      directory,
      '--no-samples',
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...environment,
        PARQUETRY_ROOT_KEY: KEY,
        PARQUETRY_LOG_LEVEL: 'error',
        PARQUETRY_INDEX_PROVIDERS: 'false',
      },
    },
  )
  const url = await address(child.stdout)
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const authorization = `Basic ${Buffer.from(`${KEY}:`).toString('base64')}`
  return {
    url,
    ask: (path) =>
      new Promise((resolve, reject) => {
        const start = performance.now()
        get(url + path, { agent, headers: { authorization } }, (answer) => {
          let first = 0
          answer.once('data', () => (first = performance.now() - start))
          answer.on('error', reject)
          answer.on('end', () => {
            if (answer.statusCode !== 200) reject(new Error(`${path}: status ${answer.statusCode}`))
            else resolve({ first, last: performance.now() - start })
          })
        }).on('error', reject)
      }),
    drain: (path, coding) =>
      drain(
        [path].flat().map((one) => url + one),
        authorization,
        coding,
      ),
    occupy(path, exports) {
      const program = new URL('./drain.ts', import.meta.url).pathname
      const drainer = spawn(process.execPath, [program, url + path, String(exports), authorization])
      const exited = new Promise((resolve) => drainer.once('exit', resolve))
      return {
        async [Symbol.asyncDispose]() {
          drainer.kill()
          await exited
        },
      }
    },
    memory: () => {
      try {
        return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) * 1024
      } catch {
        return undefined
      }
    },
    memoryOfAll: () => residentMemory(child.pid!),
    cpu: () => cpuOf(child.pid!),
    handles: () => {
      try {
        return readdirSync(`/proc/${child.pid}/fd`).length
      } catch {
        return undefined
      }
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      child.kill('SIGTERM')
      await Promise.race([new Promise((resolve) => child.once('exit', resolve)), sleep(15_000)])
    },
  }
}

/** Milliseconds of the processor that a process has used; undefined if the system doesn't report them. */
export function cpuOf(pid: number | string): number | undefined {
  const fields = statOf(pid)
  return fields && (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** The process that started another one. */
export function parentOf(pid: number | string): number | undefined {
  const fields = statOf(pid)
  return fields && Number(fields[1])
}

/** What Linux says of a process, from its state on. */
function statOf(pid: number | string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  } catch {
    return undefined
  }
}

async function address(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const match = /http:\/\/127\.0\.0\.1:\d+/.exec(line)
    if (match) {
      stdout.resume()
      return match[0]
    }
  }
  throw new Error('the server ended before it told its address')
}
