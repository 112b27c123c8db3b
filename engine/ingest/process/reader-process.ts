import type { ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { cancelled } from '../../duckdb/errors.ts'
import { type End, readerEnded, type Why } from './ends.ts'
import type { Input, JobHooks, JobId, JobName, Result } from './jobs.ts'
import type { FromReader, ToReader, Usage } from './messages.ts'
import { revivedError } from './plain-error.ts'
import { type ReaderOptions, startReader } from './start.ts'

/** How long a reader may take to give up an aborted job before its process is killed. */
const GRACE_MS = 1_000
const TICK_MS = 1_000
/** A working reader reports five times a second; one that has been silent for so many ticks is killed. */
const MOST_SILENT_TICKS = 60
const STDERR_BYTES = 4_096

interface Job {
  readonly reading: string
  readonly settle: (outcome: { result: unknown } | { error: unknown }) => void
}

/**
 * A child process that reads uploads, so that damaged files can crash native code only there. If the process dies, its
 * jobs fail with an error that says so, and nothing else is affected.
 */
export class ReaderProcess {
  readonly #options: ReaderOptions
  readonly #child: ChildProcess
  readonly #jobs = new Map<JobId, Job>()
  /** The callbacks for the progress of jobs. */
  readonly #listeners = new Map<JobId, NonNullable<JobHooks['onProgress']>>()
  readonly #ended = Promise.withResolvers<End>()
  #lastJob = 0
  #ready = false
  #why: Why | undefined
  #usage: Usage = { memory: 0, cpu: 0 }
  #stderr = ''
  #silent = 0
  #ticks: NodeJS.Timeout | undefined
  /** The process is killed when it has used more CPU seconds than this since its start. */
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
    // If the process could not be started, there is an `error` event in place of an `exit`.
    child.on('error', (error) => this.#end({ code: null, signal: null, error }))
    child.on('close', (code, signal) => this.#end({ code, signal }))
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES)
    })
    this.#hold(false)
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

  /** Runs a job. @throws EngineError as the job does; as `readerEnded` says if the process ends; `cancelled` */
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
        reading: readingOf(input),
        settle: (outcome) => {
          clearTimeout(grace)
          signal?.removeEventListener('abort', abort)
          this.#jobs.delete(job)
          // The result of `scanEarly` only says that the scan has begun. Its progress is reported until it is aborted.
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
    // Nothing has to be sent to a reader that has ended, and failures need no handling: `#end` settles its jobs.
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  /** Kills the process at once, even if it is working. */
  kill(why: Why = 'done'): void {
    this.#why ??= why
    // Our program must not end, even if it has nothing else to do, before those who await `ended` get their answer.
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

  /** Sets whether the child process keeps our own from ending, and is watched for silence. */
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
    // `stderr` is a pipe and has these methods, though it is declared as a general stream.
    ;(this.#child.stderr as unknown as { ref(): void; unref(): void })[change]()
  }

  #end(how: Pick<End, 'code' | 'signal' | 'error'>): void {
    if (!this.alive) return
    this.alive = false
    clearInterval(this.#ticks)
    const reading = [...new Set([...this.#jobs.values()].map((job) => job.reading))]
    const end: End = {
      ...how,
      why: this.#why,
      ready: this.#ready,
      reading,
      stderr: this.#stderr,
      usage: this.#usage,
    }
    const gone = rm(this.#options.directory, { recursive: true, force: true }).catch(() => {})
    // Jobs fail only after the files that the reader was writing have been removed.
    gone.then(() => {
      this.#ended.resolve(end)
      for (const { settle } of [...this.#jobs.values()]) settle({ error: readerEnded(end) })
    })
  }
}

function readingOf(input: Input<JobName>): string {
  if ('file' in input) return `the ${input.format} upload ${input.file}`
  return 'part' in input ? `the part ${input.part}` : `the parts ${input.parts.join(', ')}`
}
