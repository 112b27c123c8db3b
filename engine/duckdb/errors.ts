import { EngineError, type ErrorCode, machineError } from '../errors.ts'

/** The error of an aborted statement: the signal's own reason if that is one of our errors. */
export function cancelled(signal: AbortSignal | undefined): EngineError {
  const reason: unknown = signal?.reason
  return reason instanceof EngineError
    ? reason
    : new EngineError('cancelled', 'The query was cancelled.', { cause: reason })
}

/** What a user reads about faults of the machine, where the purpose of the statement says more about them. */
const SENTENCES: Readonly<Record<'query' | 'upload', Partial<Record<ErrorCode, string>>>> = {
  query: {
    storage_full:
      'What the query can not keep in memory needs more room on the disk than there is for it. Ask for less, or try again later.',
    overloaded: 'The query needs more memory than there is now. Try again later, or ask for less.',
  },
  upload: { overloaded: 'The upload needs more memory than there is now. Try again later.' },
}

/**
 * Turns DuckDB's errors about disk and memory into ours. Errors about values (a cast, an overflow) stay as they are:
 * only the code that wrote the SQL knows what they mean to a user.
 */
export function engineError(error: unknown, purpose: keyof typeof SENTENCES): unknown {
  const found = machineError(error)
  if (!found) return error
  const { code, cause, message } = found
  return new EngineError(code, SENTENCES[purpose][code] ?? message, { cause })
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
  if (!(error instanceof Error)) return false
  return /^(INTERNAL|FATAL) Error|database has been invalidated/.test(error.message) || isBroken(error.cause)
}

const INTERRUPT_MS = 5

/**
 * Interrupts a query again and again until the returned timer is cleared, because an interrupt that comes before the
 * query has begun is lost.
 */
export function keepInterrupting(interruptQuery: () => void): NodeJS.Timeout {
  interruptQuery()
  return setInterval(interruptQuery, INTERRUPT_MS)
}
