import { flushCompileCache } from 'node:module'
import { Socket } from 'node:net'
import { constants, getPriority, setPriority } from 'node:os'
import type { HttpOptions } from '../../duckdb/instance.ts'
import { type PlainError, plainError } from '../../util/plain-error.ts'
import type { Hooks } from '../request.ts'
import { Channel } from './channel.ts'

/** The options with which a reader is started. */
export interface ReaderOptions {
  /** The number of threads of its DuckDB. */
  readonly threads?: number
  /** The most bytes of resident memory that it may use; it is killed if it uses more. */
  readonly memory: number
  /** How parts are encoded. */
  readonly encoding: 'plain' | 'compact'
  /** Its own folder, which exists while the reader works. */
  readonly directory: string
  /** Its DuckDB may open files only below these folders and below its own. */
  readonly folders: readonly string[]
  /** How much nicer than its parent it is, on Linux; by default its program decides. */
  readonly niceness?: number | undefined
  /** How its DuckDB reads parts over HTTP. */
  readonly http?: HttpOptions | undefined
  /** The program that it runs, without its extension; by default the one that reads uploads. */
  readonly program?: URL | undefined
}

/** A message from the server's process to a child that does jobs. */
export type ToReader =
  | { readonly kind: 'start'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly kind: 'abort'; readonly id: number }

/** A message from a child to the server's process. The first one says that it is ready for jobs. */
export type FromReader =
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'progress'; readonly id: number; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'settled'; readonly id: number; readonly outcome: Outcome; readonly usage: Usage }

/** How a job ended. */
export type Outcome = { readonly result: unknown } | { readonly error: PlainError }

/** The memory and CPU time that a child uses. */
export interface Usage {
  /** The bytes of resident memory at present. */
  readonly memory: number
  /** Seconds of CPU time of all threads since the process began. */
  readonly cpu: number
}

type Job = (input: unknown, hooks: Hooks) => Promise<unknown>

// When our parent is gone, nobody needs our work any more, so this process ends. It kills itself because an orderly end
// would have to wait for DuckDB's threads. This comes first because the parent may be gone while we start.
const parent = new Socket({ fd: 3 })
parent.on('close', () => process.kill(process.pid, 'SIGKILL'))

// Terminals and service managers send these signals to all processes of a group. We ignore them, because our parent
// ends us when its uploads are done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

/**
 * The options of this process, which is a reader. It becomes nicer, with all threads that it starts from now on.
 * @param usual how much nicer than its parent it is if the options don't say
 */
export function readerOptions(usual: number): ReaderOptions {
  const options = JSON.parse(process.env['PARQUETRY_READER']!) as ReaderOptions
  const { niceness = usual } = options
  if (process.platform === 'linux')
    setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW))
  return options
}

/** Memory that Node, its threads and their buffers need, and that DuckDB therefore does not get. */
const NODE_MEMORY = 384 * 2 ** 20
const LEAST_DUCK_MEMORY = 128 * 2 ** 20

/** What DuckDB may use of the memory of a child process, as it takes sizes. */
export function duckMemory(memory: number): string {
  return `${Math.floor(Math.max(memory - NODE_MEMORY, LEAST_DUCK_MEMORY) / 2 ** 20)}MiB`
}

/** People can't follow more than five reports a second, and each message has a cost. */
const REPORT_MS = 200

/** Does the jobs that the parent asks for. This is what a child process runs, and it runs to the end of the process. */
export function serveJobs(jobs: object): void {
  /** What ends each of the jobs that are under way. */
  const running = new Map<number, AbortController>()
  /** The names of jobs that have been done. */
  const done = new Set<string>()
  const channel = new Channel<FromReader, ToReader>(parent, (message) => {
    if (message.kind === 'start') run(message)
    else running.get(message.id)?.abort()
  })

  async function run({ id, name, input }: Extract<ToReader, { kind: 'start' }>): Promise<void> {
    const ending = new AbortController()
    running.set(id, ending)
    let next = 0
    const onProgress: Hooks['onProgress'] = (done) => {
      if (performance.now() < next) return
      next = performance.now() + REPORT_MS
      channel.send({ kind: 'progress', id, done })
    }
    const work = (jobs as Readonly<Record<string, Job>>)[name]!
    const outcome: Outcome = await work(input, { signal: ending.signal, onProgress }).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: plainError(error) }),
    )
    running.delete(id)
    channel.send({ kind: 'settled', id, outcome, usage: usage() })
    // Node would do this in an orderly end, which this process never has. What it compiled, the next one need not.
    if (!done.has(name)) flushCompileCache()
    done.add(name)
  }

  setInterval(() => {
    if (running.size > 0) channel.send({ kind: 'usage', usage: usage() })
  }, REPORT_MS)
  channel.send({ kind: 'usage', usage: usage() })
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  return { memory: process.memoryUsage.rss(), cpu: (user + system) / 1e6 }
}
