import { stat } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import { cancelled } from '../../duckdb/errors.ts'
import { EngineError } from '../../errors.ts'
import { startWorkerBeside } from '../../util/threads.ts'
import { type PlainError, revivedError } from '../process/plain-error.ts'
import type { Hooks } from './hooks.ts'
import { runHere, type Task, type TaskName, type TaskResult } from './task.ts'

/** What a worker sends while it does a task. */
export type Message =
  | { readonly kind: 'progress'; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: PlainError }

/** Above this many bytes a task goes to another thread, so that this one keeps answering. */
const INLINE_BYTES = 256 * 1024
/** Workers that wait for their next task; a start costs a tenth of a second. */
const MOST_IDLE = 2
/** A worker that outgrows this ends with an error of its own; the process goes on. */
const WORKER_HEAP_MB = 512

/** The threads that read uploads. They hold no process open. */
export class Workers {
  readonly #idle: Worker[] = []
  readonly #busy = new Set<Worker>()

  /**
   * Runs a task: on small files here, in pieces; on large ones in a worker.
   * @throws EngineError whatever the task throws; `cancelled`
   */
  async run<Name extends TaskName>(task: Task<Name>, hooks: Hooks): Promise<TaskResult<Name>> {
    const { size } = await stat(task.file)
    // Compressed forms may unpack to anything.
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
      // Temporary files may go only once the worker no longer writes them.
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
  // An error without a listener would end the process, and an idle worker has no other one.
  return worker.on('error', () => {})
}

function workerError(error: Error & { code?: string }): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error
  return new EngineError('upload_too_large', 'The upload needs more memory than one upload may take.', {
    cause: error,
  })
}
