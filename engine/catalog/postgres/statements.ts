import type { ClientBase } from 'pg'
import { EngineError, isTlsFailure } from '../../errors.ts'
import type { SqlValue } from '../database.ts'

/** One of our statements in the form that PostgreSQL accepts. */
interface Prepared {
  /** Each connection parses a statement of the same name only once. */
  readonly name: string
  readonly text: string
}

const prepared = new Map<string, Prepared>()

/** Replaces `?` by `$1`, `$2` …; our statements use question marks for nothing else. */
function prepare(sql: string): Prepared {
  let known = prepared.get(sql)
  if (!known) {
    let count = 0
    known = { name: `s${prepared.size}`, text: sql.replaceAll('?', () => `$${++count}`) }
    prepared.set(sql, known)
  }
  return known
}

/**
 * @param patience after how many milliseconds without an answer the connection is taken for lost; by default as it was
 * opened with
 * @throws PostgreSQL's own errors
 */
export async function query<Row>(
  on: Pick<ClientBase, 'query'>,
  sql: string,
  values: readonly SqlValue[],
  patience?: number,
): Promise<{ readonly rows: Row[]; readonly count: number }> {
  const statement = { ...prepare(sql), values: [...values], ...(patience && { query_timeout: patience }) }
  const { rows, rowCount } = await on.query(statement)
  return { rows: rows as Row[], count: rowCount ?? 0 }
}

/** Whether an error says that the server can't be reached, lets nobody in, or that the connection to it was lost. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof EngineError) return error.code === 'outcome_unknown'
  const { code, message, syscall } = error as { code?: string; message?: string; syscall?: string }
  if (syscall === 'connect') return true
  // Classes of PostgreSQL's appendix A: connection exceptions, a refused login, no such database, too many connections,
  // a transaction that was idle for too long, a server that stops or starts.
  if (code !== undefined && /^(08\w{3}|28\w{3}|3D000|53300|25P03|57P0[123])$/.test(code)) return true
  if (code !== undefined && /^E(CONN|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|HOSTUNREACH)/.test(code)) return true
  if (isTlsFailure(error)) return true
  return /Connection terminated|does not support SSL|timeout exceeded when trying to connect|Query read timeout|not queryable/.test(
    message ?? '',
  )
}

/**
 * The error for a database that can't be opened. It gives the server's reason, and leaves out the address's user and
 * password.
 */
export function unopened(url: string, error: unknown): EngineError {
  const { host, pathname } = new URL(url)
  const cause = error instanceof EngineError ? error.cause : error
  const { message, errors = [] } = cause as { message?: string; errors?: readonly Error[] }
  const reason = message || errors.map((one) => one.message).join(', ')
  const hint = isTlsFailure(cause)
    ? ' Its certificate must fit its name, and its authority must be known: sslrootcert=/path/ca.crt in the address names one.'
    : ''
  return new EngineError(
    'catalog_unavailable',
    `The database ${host}${pathname} can't be opened: ${reason}.${hint}`,
    {
      cause,
    },
  )
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
    // deadlock_detected, serialization_failure, lock_not_available, query_canceled because of a time limit.
    case '40P01':
    case '40001':
    case '55P03':
    case '57014':
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
