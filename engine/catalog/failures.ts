import { EngineError, type ErrorCode, type MachineCode, sentenceOf } from '../errors.ts'

/** SQLite's result codes (https://sqlite.org/rescode.html); the low byte of an extended code is its primary one. */
const BUSY = 5
const LOCKED = 6
const NO_MEMORY = 7
const READONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const CONSTRAINT = 19
const NOT_A_DATABASE = 26
/** No room for the index of the write-ahead log. */
const IOERR_SHMSIZE = 4_874
const CONSTRAINT_UNIQUE = 2_067
/** PostgreSQL's unique_violation (its appendix A). */
const UNIQUE_IN_POSTGRES = '23505'
/** Mistakes in the statement or its use: ERROR, INTERRUPT, SCHEMA, TOOBIG, MISMATCH, MISUSE, RANGE. */
const MISTAKES: readonly number[] = [1, 9, 17, 18, 20, 21, 25]

function codeOf(error: unknown): number | undefined {
  return (error as { errcode?: number } | undefined)?.errcode
}

/** Whether an error says that a UNIQUE constraint of the database was violated. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    codeOf(error) === CONSTRAINT_UNIQUE ||
    (error as { code?: string } | undefined)?.code === UNIQUE_IN_POSTGRES
  )
}

/** Whether an error says that the file is no database, or that its pages contradict each other. */
export function isDisorder(error: unknown): boolean {
  const primary = (codeOf(error) ?? 0) & 0xff
  return primary === CORRUPT || primary === NOT_A_DATABASE
}

/**
 * Whether a statement that failed while it committed has certainly changed nothing. This is so on a full disk: a frame
 * of the log was not written completely, so its checksum is wrong. After any other failure of the disk the log may hold
 * a complete commit, which the next start would find and accept.
 */
export function isSurelyUndone(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined) return true
  return [BUSY, LOCKED, READONLY, FULL, CONSTRAINT, ...MISTAKES].includes(code & 0xff)
}

/** SQLite's primary result codes that are faults of the machine. */
const FAULTS: ReadonlyMap<number, MachineCode> = new Map([
  [FULL, 'storage_full'],
  // Without the right to write, SQLite can't open the files beside the database either.
  [READONLY, 'storage_read_only'],
  [CANTOPEN, 'storage_read_only'],
  [NO_MEMORY, 'overloaded'],
  [IO_ERROR, 'storage_failed'],
])

/** Turns an error of SQLite about the machine or a lock into an `EngineError`; gives every other error unchanged. */
export function databaseError(error: unknown): unknown {
  const code = codeOf(error)
  if (code === undefined) return error
  const fault = code === IOERR_SHMSIZE ? 'storage_full' : FAULTS.get(code & 0xff)
  if (fault) return new EngineError(fault, sentenceOf(fault), { cause: error })
  if ((code & 0xff) === BUSY) {
    return new EngineError('locked', 'The database is busy. Try again.', { cause: error })
  }
  return error
}

/** Turns an error of SQLite about the disk, a lock or a damaged file into an `EngineError`; gives others unchanged. */
export function knownError(error: unknown): unknown {
  if (!isDisorder(error)) return databaseError(error)
  return new EngineError('storage_damaged', 'The catalog is damaged. Restore it from a backup.', {
    cause: error,
  })
}

const UNWRITABLE: readonly ErrorCode[] = [
  'storage_full',
  'storage_read_only',
  'storage_failed',
  'too_many_open_files',
  'outcome_unknown',
  'writes_stopped',
  'catalog_unavailable',
]

/**
 * Whether a write was refused because nothing can be written now: the disk is full or failed before, or the database
 * does not answer.
 */
export function isUnwritable(error: unknown): boolean {
  return error instanceof EngineError && UNWRITABLE.includes(error.code)
}
