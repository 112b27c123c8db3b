import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { EngineError, type ErrorCode } from '../errors.ts'
import { cancelled } from '../run/errors.ts'
import { arrowToCsv } from './arrow-task.ts'
import { jsonToCsv } from './json-task.ts'
import { cleanCsv, scanCsv } from './scan-tasks.ts'
import { xlsxToCsv } from './xlsx-task.ts'

/** The passes over an upload that JavaScript does, by name. Arguments and results are plain data. */
const TASKS = {
  'scan-csv': scanCsv,
  'clean-csv': cleanCsv,
  'json-to-csv': jsonToCsv,
  'xlsx-to-csv': xlsxToCsv,
  'arrow-to-csv': arrowToCsv,
} as const

export interface Hooks {
  readonly signal?: AbortSignal
  readonly onProgress?: (done: { bytes: number; rows?: number }) => void
}

type TaskName = keyof typeof TASKS
type Arguments<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>[0]
type Result<Name extends TaskName> = Awaited<ReturnType<(typeof TASKS)[Name]>>

/** Above this many bytes a task gets a thread of its own, so that the server's keeps answering. */
const INLINE_BYTES = 512 * 1024
const PROGRESS_MS = 200

/**
 * Runs a task: small files here, in pieces; large ones in a worker.
 * @throws EngineError whatever the task throws; `cancelled`
 */
export async function runTask<Name extends TaskName>(
  task: { readonly kind: Name } & Arguments<Name>,
  hooks: Hooks,
): Promise<Result<Name>> {
  if ((await stat(task.file)).size <= INLINE_BYTES) return runHere(task, hooks)
  return runInWorker(task, hooks)
}

/** Runs a task in this thread. */
export async function runHere<Name extends TaskName>(
  task: { readonly kind: Name } & Arguments<Name>,
  hooks: Hooks,
): Promise<Result<Name>> {
  const run = TASKS[task.kind] as unknown as (task: unknown, hooks: Hooks) => Promise<Result<Name>>
  try {
    return await run(task, hooks)
  } catch (error) {
    if (hooks.signal?.aborted) throw cancelled(hooks.signal)
    throw error
  }
}

/** What a worker sends. */
export type Message =
  | { readonly kind: 'progress'; readonly done: { bytes: number; rows?: number } }
  | { readonly kind: 'done'; readonly result: unknown }
  | {
      readonly kind: 'failed'
      readonly error: unknown
      readonly ours?: { code: ErrorCode; message: string; details: unknown }
    }

/** The same file as this one's neighbour, whether run from source or as built. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)
/** A worker that outgrows this ends with an error of its own; the process goes on. */
const WORKER_HEAP_MB = 512

function runInWorker<Name extends TaskName>(
  task: { readonly kind: Name } & Arguments<Name>,
  { signal, onProgress }: Hooks,
): Promise<Result<Name>> {
  if (signal?.aborted) throw cancelled(signal)
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    })
    const end = (settle: () => void) => {
      signal?.removeEventListener('abort', abort)
      // Temporary files may go only once the worker no longer writes them.
      worker.terminate().then(settle, settle)
    }
    const abort = () => end(() => reject(cancelled(signal)))
    signal?.addEventListener('abort', abort)
    worker.on('message', (message: Message) => {
      switch (message.kind) {
        case 'progress':
          return onProgress?.(message.done)
        case 'done':
          return end(() => resolve(message.result as Result<Name>))
        case 'failed':
          return end(() => reject(message.ours ? revive(message.ours) : message.error))
        default:
          return message satisfies never
      }
    })
    worker.on('error', (error: Error & { code?: string }) =>
      end(() =>
        reject(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? new EngineError('upload_too_large', 'The upload needs more memory than an upload may take.', {
                cause: error,
              })
            : error,
        ),
      ),
    )
  })
}

function revive({
  code,
  message,
  details,
}: NonNullable<(Message & { kind: 'failed' })['ours']>): EngineError {
  return new EngineError(code, message, { details: details as Readonly<Record<string, unknown>> | undefined })
}

/** The least time between two reports of progress, so that messages don't cost more than work. */
export function throttled(
  report: (done: { bytes: number; rows?: number }) => void,
): NonNullable<Hooks['onProgress']> {
  let next = 0
  return (done) => {
    const now = performance.now()
    if (now < next) return
    next = now + PROGRESS_MS
    report(done)
  }
}
