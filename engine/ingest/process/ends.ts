import { cancelled } from '../../duckdb/errors.ts'
import { EngineError } from '../../errors.ts'
import type { Usage } from './messages.ts'

/** `memory`, `cpu`: more than an upload may take; `silent`: no word from it; `done`: nobody needs it any more. */
export type Why = 'memory' | 'cpu' | 'silent' | 'done'

/** How a reader's process ended. */
export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** It could not be started. */
  readonly error?: Error
  /** What we ended it for, if we did. */
  readonly why: Why | undefined
  /** It had begun to take jobs. */
  readonly ready: boolean
  /** The end of what it printed. */
  readonly stderr: string
  /** As it was last reported. */
  readonly usage: Usage
}

/** What V8, C++ and the system print where memory can't be had. */
const OUT_OF_MEMORY = /out of memory|bad_alloc|allocation failed|cannot allocate memory/i

/** What the job that a reader died of ends with. */
export function readerEnded(end: End): EngineError {
  const cause = new Error(endMessage(end))
  if (end.why === 'memory' || OUT_OF_MEMORY.test(end.stderr)) {
    return new EngineError('upload_too_large', 'The upload needs more memory than one upload may take.', {
      cause,
    })
  }
  if (end.why === 'done') return cancelled(undefined)
  if (end.why !== undefined) {
    return new EngineError('upload_too_large', 'The upload takes longer to read than one of its size may.', {
      cause,
    })
  }
  if (!end.ready) {
    return new EngineError('overloaded', 'Uploads can not be read just now. Try again later.', { cause })
  }
  // The system does this where memory runs out, and people do.
  if (end.signal === 'SIGKILL' || end.signal === 'SIGTERM') {
    return new EngineError(
      'overloaded',
      'Reading the upload was interrupted, perhaps because memory ran out. Nothing was changed; try again later.',
      { cause },
    )
  }
  return new EngineError(
    'invalid_upload',
    'The file makes its reader crash: it is damaged, or holds values that its types do not have. Nothing was changed.',
    { cause },
  )
}

/** For the log. */
export function endMessage({ code, signal, error, why, stderr, usage }: End): string {
  const how = error?.message ?? signal ?? `exit code ${code}`
  const limit = why ? ` (limit: ${why})` : ''
  const used = `${Math.round(usage.memory / 2 ** 20)} MiB, ${usage.cpu.toFixed(1)} s of CPU`
  return `A process that read an upload ended: ${how}${limit}, ${used}.${stderr && `\n${stderr}`}`
}
