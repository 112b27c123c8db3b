import { EngineError } from '../../errors.ts'

/** Whether an error says that the server can't be reached or that the connection to it was lost. */
export function isUnreachable(error: unknown): boolean {
  const { code, message, syscall } = error as { code?: string; message?: string; syscall?: string }
  if (syscall === 'connect') return true
  // Classes of PostgreSQL's appendix A: connection exceptions, too many connections, a server that stops or starts.
  if (code !== undefined && /^(08\w{3}|53300|57P0[123])$/.test(code)) return true
  if (code !== undefined && /^E(CONN|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|HOSTUNREACH)/.test(code)) return true
  return /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(message ?? '')
}

/**
 * Turns an error of PostgreSQL about a lost server, a lock or a full disk into an `EngineError`; gives others
 * unchanged.
 */
export function postgresError(error: unknown): unknown {
  if (error instanceof EngineError) return error
  if (isUnreachable(error)) {
    return new EngineError('catalog_unavailable', 'The database does not answer. Try again in a moment.', {
      cause: error,
    })
  }
  switch ((error as { code?: string }).code) {
    // deadlock_detected, serialization_failure, lock_not_available.
    case '40P01':
    case '40001':
    case '55P03':
      return new EngineError('locked', 'The database is busy. Try again.', { cause: error })
    case '53100':
      return new EngineError('storage_full', 'The disk of the database is full. Nothing was changed.', {
        cause: error,
      })
    default:
      return error
  }
}

/** @param cause why the connection was lost while a transaction was committed */
export function unknownOutcome(cause: unknown): EngineError {
  return new EngineError(
    'outcome_unknown',
    'The database was lost while the change was written. Look whether it was made before you try again.',
    { cause },
  )
}
