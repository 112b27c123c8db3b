import { EngineError } from '../errors.ts'

/** What an aborted statement ends with: the signal's own reason where that is one of our errors. */
export function cancelled(signal: AbortSignal | undefined): EngineError {
  const reason: unknown = signal?.reason
  return reason instanceof EngineError
    ? reason
    : new EngineError('cancelled', 'The query was cancelled.', { cause: reason })
}

/**
 * An error of DuckDB's about the machine, as one of ours. Errors about values (a cast, an overflow) stay as they are:
 * only who wrote the SQL can say what they mean to a user.
 */
export function engineError(error: unknown): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error
  const { message } = error
  if (/No space left on device|max_temp_directory_size/.test(message)) {
    return new EngineError(
      'storage_full',
      'The disk is full: the query needs more room for what does not fit in memory.',
      {
        cause: error,
      },
    )
  }
  if (message.startsWith('Out of Memory Error')) {
    return new EngineError(
      'overloaded',
      'The query needs more memory than there is now. Try again later, or ask for less.',
      {
        cause: error,
      },
    )
  }
  return error
}

/**
 * Whether DuckDB says that it was interrupted. It does so by mistake, too, when one of its threads has failed and the
 * others have noticed before the failure was noted down.
 */
export function saysInterrupted(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('INTERRUPT Error')
}
