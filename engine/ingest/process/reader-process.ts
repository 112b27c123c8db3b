import type { ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { cancelled } from '../../duckdb/errors.ts'
import { type End, readerEnded, type Why } from './ends.ts'
import type { Input, JobHooks, JobId, JobName, Result } from './jobs.ts'
import type { FromReader, ToReader, Usage } from './messages.ts'
import { revivedError } from './plain-error.ts'
import { type ReaderOptions, startReader } from './start.ts'

/** How long a reader may take to give up a job before it is ended. */
const GRACE_MS = 1_000
const TICK_MS = 1_000
/** A reader reports five times a second while it works. */
const MOST_SILENT_TICKS = 60
const STDERR_BYTES = 4_096

interface Job {
  readonly settle: (outcome: { result: unknown } | { error: unknown }) => void
}

/**
 * A child process that reads uploads. Whatever their bytes do to native code happens there: the process may die, its
 * jobs then fail with an error that says so, and nothing else does.
 */
export class ReaderProcess {
  readonly #options: ReaderOptions
  readonly #child: ChildProcess
  readonly #jobs = new Map<JobId, Job>()
  /** Who is told of the progress of a job. */
  readonly #listeners = new Map<JobId, NonNullable<JobHooks['onProgress']>>()
  readonly #ended = Promise.withResolvers<End>()
  #lastJob = 0
  #ready = false
  #why: Why | undefined
  #usage: Usage = { memory: 0, cpu: 0 }
  #stderr = ''
  #silent = 0
  #ticks: NodeJS.Timeout | undefined
  /** CPU seconds at which the job under way has taken too long. */
  #mostCpu = Number.POSITIVE_INFINITY
  alive = true

  constructor(options: ReaderOptions) {
    this.#options = options
    const child = startReader(options)
    this.#child = child
    child.on('message', (message: FromReader) => {
      this.#silent = 0
      this.#hear(message)
    })
    // A process that could not be started has no `exit`.
    child.on('error', (error) => this.#end({ code: null, signal: null, error }))
    child.on('close', (code, signal) => this.#end({ code, signal }))
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES)
    })
    this.#hold(false)
  }

  /** A folder of its own, which goes with it. */
  get directory(): string {
    return this.#options.directory
  }

  /** Below these and below its own folder it may open files. */
  get folders(): readonly string[] {
    return this.#options.folders
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Bytes resident, as far as it has told. */
  get memory(): number {
    return this.#usage.memory
  }

  /** How the process ended, once it has, and its folder is gone. */
  get ended(): Promise<End> {
    return this.#ended.promise
  }

  /** CPU seconds, from now on, that are more than the jobs to come may take. */
  allowCpu(seconds: number): void {
    this.#mostCpu = this.#usage.cpu + seconds
  }

  /** @throws EngineError as the job does; one of `readerEnded` where the process dies of it; `cancelled` */
  run<Name extends JobName>(name: Name, input: Input<Name>, hooks: JobHooks): Promise<Result<Name>> {
    return this.start(name, input, hooks).result
  }

  start<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    hooks: JobHooks,
  ): { job: JobId; result: Promise<Result<Name>> } {
    const job = ++this.#lastJob
    const { signal } = hooks
    const result = new Promise<Result<Name>>((resolve, reject) => {
      let grace: NodeJS.Timeout | undefined
      const abort = () => {
        this.tell({ kind: 'abort', job })
        grace = setTimeout(() => this.kill(), GRACE_MS)
      }
      this.#jobs.set(job, {
        settle: (outcome) => {
          clearTimeout(grace)
          signal?.removeEventListener('abort', abort)
          this.#jobs.delete(job)
          // A scan that has begun goes on, and is heard until it is aborted.
          if (name !== 'scanEarly' || 'error' in outcome) this.#listeners.delete(job)
          if (this.#jobs.size === 0) this.#hold(false)
          if ('result' in outcome) resolve(outcome.result as Result<Name>)
          else reject(signal?.aborted ? cancelled(signal) : outcome.error)
        },
      })
      if (hooks.onProgress) this.#listeners.set(job, hooks.onProgress)
      if (this.#jobs.size === 1) this.#hold(true)
      this.tell({ kind: 'run', job, name, input })
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
    })
    return { job, result }
  }

  tell(message: ToReader): void {
    if (message.kind === 'abort') this.#listeners.delete(message.job)
    // A reader that is gone tells so by its end.
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  /** Ends the process at once, whatever it does. */
  kill(why: Why = 'done'): void {
    this.#why ??= why
    // Who waits for its end would else be left waiting by a program that has nothing else to do.
    this.#keepOpen(true)
    this.#child.kill('SIGKILL')
  }

  #hear(message: FromReader): undefined {
    switch (message.kind) {
      case 'ready':
        this.#ready = true
        return undefined
      case 'progress':
        this.#listeners.get(message.job)?.(message.done)
        return undefined
      case 'done':
        this.#usage = message.usage
        this.#jobs.get(message.job)?.settle({ result: message.result })
        return undefined
      case 'failed':
        this.#usage = message.usage
        this.#jobs.get(message.job)?.settle({ error: revivedError(message.error) })
        return undefined
      case 'usage':
        this.#usage = message.usage
        if (message.usage.memory > this.#options.memory) this.kill('memory')
        else if (message.usage.cpu > this.#mostCpu) this.kill('cpu')
        return undefined
      default:
        return message satisfies never
    }
  }

  /** Whether the process keeps this one from ending, and is watched. */
  #hold(held: boolean): void {
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
    // A pipe, though it is declared as any stream.
    ;(this.#child.stderr as unknown as { ref(): void; unref(): void })[change]()
  }

  #end(how: Pick<End, 'code' | 'signal' | 'error'>): void {
    if (!this.alive) return
    this.alive = false
    clearInterval(this.#ticks)
    const end: End = { ...how, why: this.#why, ready: this.#ready, stderr: this.#stderr, usage: this.#usage }
    const gone = rm(this.#options.directory, { recursive: true, force: true }).catch(() => {})
    // Nobody hears of an error before the files are gone that the reader was writing.
    gone.then(() => {
      this.#ended.resolve(end)
      for (const { settle } of [...this.#jobs.values()]) settle({ error: readerEnded(end) })
    })
  }
}
