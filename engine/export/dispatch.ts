import type { Worker } from 'node:worker_threads'
import type { Fetched } from '../duckdb/cursor.ts'
import type { Runner } from '../duckdb/native/runner.ts'
import { NativeSection } from '../util/concurrency.ts'
import { revivedError } from '../util/plain-error.ts'
import { startWorkerBeside } from '../util/threads.ts'
import type { Piece, PieceMemory, Recipe } from './encode.ts'
import type { WaitingPages } from './pages.ts'
import type { Answer, Job } from './worker.ts'

/** What all exports of an executor share. */
export interface ExecutorParts {
  readonly runner: Runner
  readonly pool: WorkerPool
  /** For what is encoded in this thread. */
  readonly memory: PieceMemory
  readonly waiting: WaitingPages
  /** The exports that have begun and not ended. */
  readonly running: Set<AsyncDisposable>
  /** Where files are written that are sent and removed. */
  readonly directory: string
}

interface Waiting {
  readonly exportId: number
  readonly recipe: Recipe
  readonly work: Work
  readonly fetched: PromiseWithResolvers<Fetched>
  readonly piece: PromiseWithResolvers<Piece>
}

type WithoutIds<Kind> = Kind extends unknown ? Omit<Kind, 'id' | 'exportId' | 'recipe'> : never
type Work = WithoutIds<Extract<Job, { kind: 'encode' | 'turn' }>>

/** Two results of one job in a worker. Only a turn has fetched anything. */
export interface Running {
  readonly fetched: Promise<Fetched>
  readonly piece: Promise<Piece>
}

interface Member {
  readonly worker: Worker
  readonly native: NativeSection
  online: boolean
  readonly waiting: Map<number, Waiting>
  /** Ids of the exports whose recipe this thread has received. */
  readonly known: Set<number>
}

/** The threads of all pools, which end with the process if nobody closes their pool before. */
const running = new Set<Member>()
const LONGEST_WAIT_AT_EXIT_MS = 2_000
process.on('exit', () => {
  const until = performance.now() + LONGEST_WAIT_AT_EXIT_MS
  for (const { native } of running) native.forbidHere(Math.max(0, until - performance.now()))
})

/** Threads that encode, started when there is work for them. They keep the process alive only while they have work. */
export class WorkerPool {
  /** In the order in which they were last given work. */
  readonly #members: Member[] = []
  readonly #size: number
  /** For the memory of each piece that was sent here: the thread it came from, and how many bytes are still in use. */
  readonly #lent = new WeakMap<ArrayBufferLike, { readonly owner: Member; bytes: number }>()
  #nextId = 0
  #closed = false
  #nextExport = 0

  constructor(size: number) {
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  /** A number for an export. */
  newExport(): number {
    return this.#nextExport++
  }

  /** Whether a thread runs already. Where none does, one is started, for the next time. */
  get warm(): boolean {
    if (this.#members.length === 0) this.#members.push(this.#start())
    return this.#members.some((member) => member.online)
  }

  /** Starts all threads. Each loads the modules that most exports need. */
  start(): void {
    while (this.#members.length < this.#size) this.#members.push(this.#start())
  }

  /** Number of pieces that are being encoded or waiting to be encoded. */
  get busy(): number {
    return this.#members.reduce((sum, member) => sum + member.waiting.size, 0)
  }

  /**
   * Has a worker encode chunks, which the caller must not use afterwards, or fetch about so many rows, report that, so
   * that the next turn may begin, and then encode them. If the job fails, both promises reject with the same error.
   */
  run(exportId: number, recipe: Recipe, work: Work): Running {
    const fetched = Promise.withResolvers<Fetched>()
    const piece = Promise.withResolvers<Piece>()
    // Who has chunks encoded waits for the piece alone.
    fetched.promise.catch(() => {})
    this.#send({ exportId, recipe, work, fetched, piece })
    return { fetched: fetched.promise, piece: piece.promise }
  }

  #send(waiting: Waiting): void {
    const { exportId, recipe, work } = waiting
    const member = this.#leastBusy()
    this.#members.splice(this.#members.indexOf(member), 1)
    this.#members.push(member)
    const id = this.#nextId++
    const known = member.known.has(exportId)
    member.known.add(exportId)
    const job: Job = { ...work, id, exportId, recipe: known ? undefined : recipe }
    if (member.waiting.size === 0) member.worker.ref()
    member.waiting.set(id, waiting)
    member.worker.postMessage(job)
  }

  /** Returns memory to the thread it came from, as soon as the caller has returned all bytes of the piece. */
  recycle({ buffer, length }: Uint8Array): void {
    const lent = this.#lent.get(buffer)
    if (!lent) return
    lent.bytes -= length
    if (lent.bytes > 0) return
    this.#lent.delete(buffer)
    if (!this.#members.includes(lent.owner)) return
    const job: Job = { kind: 'memory', memory: buffer as ArrayBuffer }
    lent.owner.worker.postMessage(job, [job.memory])
  }

  /** Tells the threads to drop what they keep for an export. */
  forget(exportId: number): void {
    for (const member of this.#members) {
      if (!member.known.delete(exportId)) continue
      const job: Job = { kind: 'forget', exportId }
      member.worker.postMessage(job)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(
      this.#members.map(async ({ worker, native }) => {
        // The promise below doesn't keep the process alive.
        worker.ref()
        await native.forbid()
        await worker.terminate()
      }),
    )
  }

  /** Of threads that are equally busy, the one whose work began first, because it is done first. */
  #leastBusy(): Member {
    const idle = this.#members.find((member) => member.waiting.size === 0)
    if (idle) return idle
    if (this.#members.length < this.#size) {
      const started = this.#start()
      this.#members.push(started)
      return started
    }
    return this.#members.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a))
  }

  #start(): Member {
    const native = new NativeSection()
    const worker = startWorkerBeside(import.meta.url, { workerData: native.memory })
    const member: Member = { worker, native, online: false, waiting: new Map(), known: new Set() }
    running.add(member)
    worker.unref()
    worker.once('online', () => (member.online = true))
    worker.on('message', (answer: Answer) => {
      const waiting = member.waiting.get(answer.id)
      if ('fetched' in answer) {
        waiting?.fetched.resolve(answer.fetched)
        return
      }
      member.waiting.delete(answer.id)
      if (member.waiting.size === 0) worker.unref()
      if ('piece' in answer) {
        const { buffer, length } = answer.piece.bytes
        this.#lent.set(buffer, { owner: member, bytes: length })
        waiting?.piece.resolve(answer.piece)
      } else if (waiting) fail(waiting, revivedError(answer.failure))
    })
    worker.on('error', (error) => this.#drop(member, error))
    worker.on('exit', () => {
      running.delete(member)
      this.#drop(member, new Error('An encoding thread has ended'))
    })
    return member
  }

  /**
   * Called when a thread has died. It worked on the first of its jobs, which fails; the others, whose chunks nobody has
   * touched, go to other threads. A new thread is started when there is work.
   */
  #drop(member: Member, error: unknown): void {
    const index = this.#members.indexOf(member)
    if (index < 0) return
    this.#members.splice(index, 1)
    const [begun, ...others] = member.waiting.values()
    member.waiting.clear()
    if (begun) fail(begun, error)
    for (const waiting of others) {
      if (this.#closed) fail(waiting, error)
      else this.#send(waiting)
    }
  }
}

function fail({ fetched, piece }: Waiting, error: unknown): void {
  fetched.reject(error)
  piece.reject(error)
}
