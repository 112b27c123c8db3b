import { EngineError } from '../errors.ts'
import { isStorageFull, READ_ONLY } from '../util/storage-errors.ts'

/** The error of an aborted statement: the signal's own reason if that is one of our errors. */
export function cancelled(signal: AbortSignal | undefined): EngineError {
  const reason: unknown = signal?.reason
  return reason instanceof EngineError
    ? reason
    : new EngineError('cancelled', 'The query was cancelled.', { cause: reason })
}

/** The messages that a user reads when disk or memory is exhausted, by the purpose of the statement. */
const SENTENCES = {
  query: {
    storage_read_only: READ_ONLY,
    storage_full: 'The disk is full: the query needs more room for what does not fit in memory.',
    overloaded: 'The query needs more memory than there is now. Try again later, or ask for less.',
  },
  upload: {
    storage_read_only: READ_ONLY,
    storage_full: 'The disk is full. Nothing was changed.',
    overloaded: 'The upload needs more memory than there is now. Try again later.',
  },
} as const

/**
 * Turns DuckDB's errors about disk and memory into ours. Errors about values (a cast, an overflow) stay as they are:
 * only the code that wrote the SQL knows what they mean to a user.
 */
export function engineError(error: unknown, purpose: keyof typeof SENTENCES): unknown {
  const code = machineCode(error)
  return code ? new EngineError(code, SENTENCES[purpose][code], { cause: error }) : error
}

function machineCode(error: unknown): 'storage_full' | 'storage_read_only' | 'overloaded' | undefined {
  if (error instanceof EngineError || !(error instanceof Error)) return undefined
  // DuckDB also reports a lack of memory when it has no room on the disk for data that it wants to move there.
  if (isStorageFull(error) || /max_temp_directory_size|failed to offload/.test(error.message)) {
    return 'storage_full'
  }
  if (error.message.includes('Read-only file system')) return 'storage_read_only'
  return error.message.startsWith('Out of Memory Error') ? 'overloaded' : undefined
}

/**
 * Whether DuckDB says that it was interrupted. It also says so by mistake when one of its threads has failed and the
 * others notice that before the failure has been recorded.
 */
export function saysInterrupted(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('INTERRUPT Error')
}

/** Whether DuckDB will refuse every further statement, as it does after an internal error. */
export function isBroken(error: unknown): boolean {
  return /^(INTERNAL|FATAL) Error|database has been invalidated/.test((error as Error).message)
}
