import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { constants, getPriority, setPriority } from 'node:os'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { cancelled } from '../../duckdb/errors.ts'
import { EngineError, type ErrorCode } from '../../errors.ts'
import { revivedError } from '../../util/plain-error.ts'
import type { Hooks } from '../request.ts'
import { Channel } from './channel.ts'
import type { FromReader, ReaderOptions, ToReader, Usage } from './serve-jobs.ts'
import { type Exit, type Spawned, spawnProgram } from './spawn.ts'

/** How long a reader may take to give up an aborted job before its process is killed. */
const GRACE_MS = 1_000
const TICK_MS = 1_000
/** A working reader reports five times a second; one that has been silent for so many ticks is killed. */
const MOST_SILENT_TICKS = 60
const STDERR_BYTES = 4_096
/** How much nicer than we a process is whose job has taken long. */
const LONG_NICENESS = 10

/**
 * Why we ended a reader. `memory`, `cpu`: it took more than an upload may take; `silent`: it sent no messages any more;
 * `done`: it is no longer needed.
 */
export type Why = 'memory' | 'cpu' | 'silent' | 'done'

/** How a reader's process ended. */
export interface End extends Exit {
  /** Why we ended it; undefined if it ended by itself. */
  readonly why: Why | undefined
  /** Whether it had begun to take jobs. */
  readonly ready: boolean
  /** What it was reading, in words for the log; undefined if it had no job. */
  readonly reading: string | undefined
  /** The last part of what it printed. */
  readonly stderr: string
  /** The usage that it reported last. */
  readonly usage: Usage
}

interface Job {
  readonly reading: string
  readonly onProgress: Hooks['onProgress']
  readonly settle: (outcome: { result: unknown } | { error: unknown }) => void
}

export interface ProcessOptions extends ReaderOptions {
  /** The error with which its jobs fail when the process ends. */
  readonly failure?: ((end: End) => EngineError) | undefined
  /** A job that takes more CPU seconds goes on with a lower priority, so that the short ones of others keep theirs. */
  readonly quickSeconds?: number | undefined
}

/**
 * A child process that reads uploads or runs users' SQL, so that either can crash native code only there. If the process
 * dies, its jobs fail with an error that says so, and nothing else is affected.
 */
export class ReaderProcess {
  readonly #options: ProcessOptions
  readonly #child: Spawned
  readonly #channel: Channel<ToReader, FromReader> | undefined
  /** The jobs that it does. */
  readonly #jobs = new Map<number, Job>()
  #lastJob = 0
  readonly #ended = Promise.withResolvers<End>()
  #ready = false
  #why: Why | undefined
  #usage: Usage = { memory: 0, cpu: 0 }
  #stderr = ''
  #silent = 0
  #ticks: NodeJS.Timeout | undefined
  /** The process is killed when it has used more CPU seconds than this since its start. */
  #mostCpu = Number.POSITIVE_INFINITY
  /** Its job no longer counts as short when it has used more CPU seconds. */
  #mostQuick = Number.POSITIVE_INFINITY
  #isSlowed = false
  /** Whether it takes jobs. */
  alive = true

  constructor(options: ProcessOptions) {
    this.#options = options
    const child = startReader(options)
    this.#child = child
    // Where no descriptor is left for its pipes, it has none.
    this.#channel = child.channel && new Channel(child.channel, (message) => this.#hear(message))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES)
    })
    child.exited.then((exit) => this.#end(exit))
    this.#hold()
  }

  /** What it writes besides its messages; undefined if its program doesn't. */
  get bytes(): Readable | undefined {
    return this.#child.bytes
  }

  /** The process's own folder, which is removed when the process ends. */
  get directory(): string {
    return this.#options.directory
  }

  /** The folders below which it may open files, in addition to its own. */
  get folders(): readonly string[] {
    return this.#options.folders
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Bytes of resident memory, as it reported last. */
  get memory(): number {
    return this.#usage.memory
  }

  /** Resolves when the process has ended and its folder has been removed. */
  get ended(): Promise<End> {
    return this.#ended.promise
  }

  /** Allows this many seconds of CPU time from now on; a process that takes more is killed. */
  allowCpu(seconds: number): void {
    this.#mostCpu = this.#usage.cpu + seconds
    this.#mostQuick = this.#usage.cpu + (this.#options.quickSeconds ?? Number.POSITIVE_INFINITY)
  }

  /** Whether it can do the next job with its usual priority, which only root can give back to a process. */
  restore(): boolean {
    if (this.#isSlowed) this.#isSlowed = !this.#prioritise(0)
    return !this.#isSlowed
  }

  /** Sets how much nicer than we all its threads are; false if that is not allowed, or not known to the system. */
  #prioritise(more: number): boolean {
    try {
      const niceness = Math.min(getPriority() + more, constants.priority.PRIORITY_LOW)
      for (const thread of readdirSync(`/proc/${this.pid}/task`)) setPriority(Number(thread), niceness)
      return true
    } catch {
      return false
    }
  }

  /**
   * Runs a job.
   * @param reading what it reads, in words for the log
   * @throws EngineError as the job does; as `failure` says if the process ends; `cancelled`
   */
  run(name: string, input: unknown, { signal, onProgress }: Hooks, reading = name): Promise<unknown> {
    if (!this.alive) return this.ended.then((end) => Promise.reject(this.#failure(end)))
    return new Promise((resolve, reject) => {
      let grace: NodeJS.Timeout | undefined
      const id = ++this.#lastJob
      const abort = () => {
        this.#channel?.send({ kind: 'abort', id })
        grace = setTimeout(() => this.kill(), GRACE_MS)
      }
      const settle: Job['settle'] = (outcome) => {
        clearTimeout(grace)
        signal?.removeEventListener('abort', abort)
        this.#jobs.delete(id)
        this.#hold()
        if ('result' in outcome) resolve(outcome.result)
        else reject(signal?.aborted ? cancelled(signal) : outcome.error)
      }
      this.#jobs.set(id, { reading, onProgress, settle })
      this.#hold()
      this.#channel?.send({ kind: 'start', id, name, input })
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
    })
  }

  /** Kills the process at once, even if it is working. */
  kill(why: Why = 'done'): void {
    this.#why ??= why
    // It may yet tell that its job has ended, before it is gone. Nobody must give it another one.
    this.alive = false
    // Our program must not end, even if it has nothing else to do, before those who await `ended` get their answer.
    this.#keepOpen(true)
    this.#child.kill()
  }

  #hear(message: FromReader): void {
    this.#ready = true
    this.#silent = 0
    if (message.kind === 'progress') {
      this.#jobs.get(message.id)?.onProgress?.(message.done)
      return
    }
    this.#usage = message.usage
    if (message.kind === 'settled') {
      const { outcome } = message
      this.#jobs
        .get(message.id)
        ?.settle('error' in outcome ? { error: revivedError(outcome.error) } : outcome)
    } else if (message.usage.memory > this.#options.memory) this.kill('memory')
    else if (message.usage.cpu > this.#mostCpu) this.kill('cpu')
    else if (!this.#isSlowed && message.usage.cpu > this.#mostQuick)
      this.#isSlowed = this.#prioritise(LONG_NICENESS)
  }

  /** While it has jobs, the child process keeps our own from ending, and is watched for silence. */
  #hold(): void {
    const held = this.#jobs.size > 0
    clearInterval(this.#ticks)
    this.#silent = 0
    if (held) {
      this.#ticks = setInterval(() => {
        if (++this.#silent > MOST_SILENT_TICKS) this.kill('silent')
      }, TICK_MS)
    }
    this.#keepOpen(held)
  }

  #keepOpen(open: boolean): void {
    this.#child.hold(open)
  }

  #failure(end: End): EngineError {
    return (this.#options.failure ?? readerEnded)(end)
  }

  #end(how: Exit): void {
    this.alive = false
    // What it wrote last, nobody needs.
    this.bytes?.destroy()
    clearInterval(this.#ticks)
    const end: End = {
      ...how,
      why: this.#why,
      ready: this.#ready,
      reading: [...this.#jobs.values()].at(-1)?.reading,
      stderr: this.#stderr,
      usage: this.#usage,
    }
    const gone = rm(this.#options.directory, { recursive: true, force: true }).catch(() => {})
    // Jobs fail only after the files that the reader was writing have been removed.
    gone.then(() => {
      this.#ended.resolve(end)
      const error = this.#failure(end)
      for (const job of [...this.#jobs.values()]) job.settle({ error })
    })
  }
}

/** Variables that a reader's environment must not hold, in case a hostile upload ever takes the reader over. */
const SECRET = /SECRET|KEY|TOKEN|PASSWORD|CREDENTIAL|DATABASE|^AWS_/i

/**
 * The limit on the data of a reader's process. It is larger than the limit on memory because programs reserve more
 * address space than they use: with 1 GiB in place of 2, V8 ended most readers before they had read anything. The memory
 * in use is watched separately, by `ReaderProcess`.
 */
const MOST_DATA = (memory: number): number => 2 * memory + 2 ** 31

/** Starts a reader's process: without secrets, and on Linux without core dumps and with a limit on its memory. */
function startReader({ program, failure: _, ...options }: ProcessOptions): Spawned {
  const base = program ?? new URL('./main', import.meta.url)
  const main = fileURLToPath(base) + extname(import.meta.url)
  const variables = Object.entries(process.env).filter(([name]) => !SECRET.test(name))
  const env = { ...Object.fromEntries(variables), PARQUETRY_READER: JSON.stringify(options) }
  return spawnProgram(
    limited([process.execPath, main], MOST_DATA(options.memory)),
    env,
    program !== undefined,
  )
}

function limited(command: readonly string[], data: number): readonly string[] {
  // Other systems have no such limit, or it has no effect there.
  if (process.platform !== 'linux') return command
  const script = 'ulimit -c 0; ulimit -d "$1"; shift; exec "$@"'
  return ['/bin/sh', '-c', script, 'sh', String(Math.ceil(data / 1024)), ...command]
}

/** Matches what V8, C++ and the system print when memory can't be allocated. */
export const OUT_OF_MEMORY = /out of memory|bad_alloc|allocation failed|cannot allocate memory/i

/** The error with which the job of a reader of uploads fails when its process ends. */
function readerEnded(end: End): EngineError {
  const error = (code: ErrorCode, message: string) =>
    new EngineError(code, message, { cause: new Error(endMessage(end)) })
  if (end.why === 'memory' || OUT_OF_MEMORY.test(end.stderr)) {
    return error('upload_too_large', 'The upload needs more memory than one upload may take.')
  }
  if (end.why === 'done') return cancelled(undefined)
  if (end.why) return error('upload_too_large', 'Reading the upload takes longer than its size allows.')
  if (!end.ready) return error('overloaded', 'Uploads can not be read at the moment. Try again later.')
  // The operating system sends these signals when memory runs out. People may send them, too.
  return end.signal === 'SIGKILL' || end.signal === 'SIGTERM'
    ? error(
        'overloaded',
        'Reading the upload was interrupted, perhaps because memory ran out. Nothing was changed; try again later.',
      )
    : error(
        'invalid_upload',
        'The file makes its reader crash: it is damaged, or holds values that its types do not allow. Nothing was changed.',
      )
}

/** The line for the log about a reader that ended. */
export function endMessage({ code, signal, error, why, reading, stderr, usage }: End): string {
  const how = error?.message ?? signal ?? `exit code ${code}`
  const limit = why ? ` (limit: ${why})` : ''
  const used = `${Math.round(usage.memory / 2 ** 20)} MiB, ${usage.cpu.toFixed(1)} s of CPU`
  return `A process that was reading ${reading ?? 'nothing'} ended: ${how}${limit}, ${used}.${stderr && `\n${stderr}`}`
}
