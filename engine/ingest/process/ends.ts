import { cancelled } from '../../duckdb/errors.ts'
import { EngineError, type ErrorCode } from '../../errors.ts'
import type { Usage } from './messages.ts'

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

/** Matches what V8, C++ and the system print when memory can't be allocated. */
export const OUT_OF_MEMORY = /out of memory|bad_alloc|allocation failed|cannot allocate memory/i

/** The error with which the job of a reader of uploads fails when its process ends. */
export function readerEnded(end: End): EngineError {
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
