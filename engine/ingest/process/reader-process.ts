import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { cancelled } from '../../duckdb/errors.ts'
import { EngineError, type ErrorCode } from '../../errors.ts'
import { revivedError } from '../../util/plain-error.ts'
import type { Hooks } from '../request.ts'
import type { FromReader, ReaderOptions, ToReader, Usage } from './serve-jobs.ts'

/** How long a reader may take to give up an aborted job before its process is killed. */
const GRACE_MS = 1_000
const TICK_MS = 1_000
/** A working reader reports five times a second; one that has been silent for so many ticks is killed. */
const MOST_SILENT_TICKS = 60
const STDERR_BYTES = 4_096

/**
 * Why we ended a reader. `memory`, `cpu`: it took more than an upload may take; `silent`: it sent no messages any more;
 * `done`: it is no longer needed.
 */
export type Why = 'memory' | 'cpu' | 'silent' | 'done'

/** How a reader's process ended. */
export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Set if the process could not be started. */
  readonly error?: Error
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
}

/**
 * A child process that reads uploads or runs users' SQL, so that either can crash native code only there. If the process
 * dies, its jobs fail with an error that says so, and nothing else is affected.
 */
export class ReaderProcess {
  readonly #options: ProcessOptions
  readonly #child: ChildProcess
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
  alive = true

  constructor(options: ProcessOptions) {
    this.#options = options
    const child = startReader(options)
    this.#child = child
    child.on('message', (message: FromReader) => this.#hear(message))
    // If the process could not be started, there is an `error` event in place of an `exit`.
    child.on('error', (error) => this.#end({ code: null, signal: null, error }))
    child.on('close', (code, signal) => this.#end({ code, signal }))
    // Where no descriptor is left for its pipes, it has none.
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES)
    })
    // The process has closed only when nobody reads from it any more.
    child.on('exit', () => this.bytes?.destroy())
    this.#hold()
  }

  /** What it writes besides its messages; undefined if its program doesn't. */
  get bytes(): Readable | undefined {
    const stdio: ChildProcess['stdio'] | undefined = this.#child.stdio
    return (stdio?.[4] ?? undefined) as Readable | undefined
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
        this.#tell({ kind: 'abort', id })
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
      this.#tell({ kind: 'start', id, name, input })
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
    })
  }

  #tell(message: ToReader): void {
    // Nothing has to be sent to a reader that has ended, and failures need no handling: `#end` settles its job.
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  /** Kills the process at once, even if it is working. */
  kill(why: Why = 'done'): void {
    this.#why ??= why
    // Our program must not end, even if it has nothing else to do, before those who await `ended` get their answer.
    this.#keepOpen(true)
    // Without an id it was never started, and Node would send the signal to process 0: all of our own group.
    if (this.#child.pid !== undefined) this.#child.kill('SIGKILL')
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
    const change = open ? 'ref' : 'unref'
    this.#child[change]()
    this.#child.channel?.[change]()
    // Pipes have these methods, though they are declared as general streams.
    for (const pipe of [this.#child.stderr, this.bytes]) {
      ;(pipe as unknown as { ref(): void; unref(): void } | undefined)?.[change]()
    }
  }

  #failure(end: End): EngineError {
    return (this.#options.failure ?? readerEnded)(end)
  }

  #end(how: Pick<End, 'code' | 'signal' | 'error'>): void {
    if (!this.alive) return
    this.alive = false
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
function startReader({ program, failure: _, ...options }: ProcessOptions): ChildProcess {
  const base = program ?? new URL('./main', import.meta.url)
  const main = fileURLToPath(base) + extname(import.meta.url)
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRET.test(name)))
  const [command, ...args] = limited([process.execPath, main], MOST_DATA(options.memory))
  return spawn(command!, args, {
    env: { ...env, PARQUETRY_READER: JSON.stringify(options) },
    // The last pipe is for results that are bytes.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...(program ? (['pipe'] as const) : [])],
    // This form keeps undefined, NaN and bytes, which JSON would lose.
    serialization: 'advanced',
    windowsHide: true,
  })
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
