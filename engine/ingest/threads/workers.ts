import { stat } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import { cancelled } from '../../duckdb/errors.ts'
import { EngineError } from '../../errors.ts'
import { startWorkerBeside } from '../../util/threads.ts'
import { type PlainError, revivedError } from '../process/plain-error.ts'
import type { Hooks } from './hooks.ts'
import { runHere, type Task, type TaskName, type TaskResult } from './task.ts'

/** A message that a worker sends while it does a task. */
export type Message =
  | { readonly kind: 'progress'; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: PlainError }

/** Tasks on files of more bytes than this run in another thread, so that this one keeps answering. */
const INLINE_BYTES = 256 * 1024
/** The most workers that are kept waiting for their next task: to start one takes a tenth of a second. */
const MOST_IDLE = 2
/** A worker whose heap grows beyond this fails with an error; the process goes on. */
const WORKER_HEAP_MB = 512

/** The threads that read uploads. Idle ones don't keep the process from ending. */
export class Workers {
  readonly #idle: Worker[] = []
  readonly #busy = new Set<Worker>()
  /** How many tasks one upload should run at once. */
  readonly atOnce: number

  constructor(atOnce: number) {
    this.atOnce = atOnce
  }

  /**
   * Runs a task: in this thread if its file is small, otherwise in a worker.
   * @throws EngineError as the task does; `cancelled`
   */
  async run<Name extends TaskName>(task: Task<Name>, hooks: Hooks): Promise<TaskResult<Name>> {
    const { size } = await stat(task.file)
    // A compressed file may unpack to far more than its size.
    const inline = size <= (task.kind === 'xlsx-to-csv' ? INLINE_BYTES / 16 : INLINE_BYTES)
    return inline ? runHere(task, hooks) : this.#delegate(task, hooks)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.terminate()))
  }

  #takeIdle(): Worker | undefined {
    for (;;) {
      const worker = this.#idle.pop()
      // The number of a thread that has ended is -1.
      if (worker?.threadId !== -1) return worker
    }
  }

  #delegate<Name extends TaskName>(
    task: Task<Name>,
    { signal, onProgress }: Hooks,
  ): Promise<TaskResult<Name>> {
    if (signal?.aborted) throw cancelled(signal)
    const worker = this.#takeIdle() ?? start()
    this.#busy.add(worker)
    worker.ref()
    return new Promise((resolve, reject) => {
      const release = () => {
        signal?.removeEventListener('abort', abort)
        worker.off('message', hear).off('error', fail).off('exit', exit)
        this.#busy.delete(worker)
      }
      const end = (settle: () => void) => {
        release()
        if (this.#idle.length >= MOST_IDLE) worker.terminate()
        else {
          worker.unref()
          this.#idle.push(worker)
        }
        settle()
      }
      // The caller removes its temporary files when this settles, so the worker must have stopped writing them by then.
      const kill = (settle: () => void) => {
        release()
        worker.terminate().then(settle, settle)
      }
      const abort = () => kill(() => reject(cancelled(signal)))
      const fail = (error: Error) => kill(() => reject(workerError(error)))
      const exit = () => kill(() => reject(new EngineError('cancelled', 'The upload was given up.')))
      const hear = (message: Message) => {
        switch (message.kind) {
          case 'progress':
            return onProgress?.(message.done)
          case 'done':
            return end(() => resolve(message.result as TaskResult<Name>))
          case 'failed':
            return end(() => reject(revivedError(message.error)))
          default:
            return message satisfies never
        }
      }
      signal?.addEventListener('abort', abort)
      worker.on('message', hear).on('error', fail).on('exit', exit)
      worker.postMessage(task)
    })
  }
}

function start(): Worker {
  const worker = startWorkerBeside(import.meta.url, {
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
  })
  // An `error` event without a listener would end the process, and idle workers have no other listener.
  return worker.on('error', () => {})
}

function workerError(error: Error & { code?: string }): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error
  return new EngineError('upload_too_large', 'The upload needs more memory than one upload may take.', {
    cause: error,
  })
}
