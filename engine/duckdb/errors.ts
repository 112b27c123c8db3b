import { EngineError } from '../errors.ts'
import { isStorageFull } from '../util/storage-full.ts'

/** What an aborted statement ends with: the signal's own reason where that is one of our errors. */
export function cancelled(signal: AbortSignal | undefined): EngineError {
  const reason: unknown = signal?.reason
  return reason instanceof EngineError
    ? reason
    : new EngineError('cancelled', 'The query was cancelled.', { cause: reason })
}

/** What a statement is for, in the sentences that a user reads where the machine gives out. */
const SENTENCES = {
  query: {
    storage_full: 'The disk is full: the query needs more room for what does not fit in memory.',
    overloaded: 'The query needs more memory than there is now. Try again later, or ask for less.',
  },
  upload: {
    storage_full: 'The disk is full. Nothing was changed.',
    overloaded: 'The upload needs more memory than there is now. Try again later.',
  },
} as const

/**
 * An error of DuckDB's about the machine, as one of ours. Errors about values (a cast, an overflow) stay as they are:
 * only who wrote the SQL can say what they mean to a user.
 */
export function engineError(error: unknown, purpose: keyof typeof SENTENCES): unknown {
  const code = machineCode(error)
  return code ? new EngineError(code, SENTENCES[purpose][code], { cause: error }) : error
}

function machineCode(error: unknown): 'storage_full' | 'overloaded' | undefined {
  if (error instanceof EngineError || !(error instanceof Error)) return undefined
  // DuckDB calls it a lack of memory, too, where what it wants to move to the disk has no room there.
  if (isStorageFull(error) || /max_temp_directory_size|failed to offload/.test(error.message)) {
    return 'storage_full'
  }
  return error.message.startsWith('Out of Memory Error') ? 'overloaded' : undefined
}

/**
 * Whether DuckDB says that it was interrupted. It does so by mistake, too, when one of its threads has failed and the
 * others have noticed before the failure was noted down.
 */
export function saysInterrupted(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('INTERRUPT Error')
}

/** Whether DuckDB refuses everything from now on, which it does after an internal error. */
export function isBroken(error: unknown): boolean {
  return /^(INTERNAL|FATAL) Error|database has been invalidated/.test((error as Error).message)
}
