import { EngineError, type ErrorCode } from '../errors.ts'

/** SQLite's result codes (https://sqlite.org/rescode.html); the low byte of an extended code is its primary one. */
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const CORRUPT = 11
const FULL = 13
const CONSTRAINT = 19
const NOT_A_DATABASE = 26
/** No room for the index of the write-ahead log. */
const IOERR_SHMSIZE = 4_874
const CONSTRAINT_UNIQUE = 2_067
/** PostgreSQL's unique_violation (its appendix A). */
const UNIQUE_IN_POSTGRES = '23505'
/** Mistakes of whoever wrote the statement: ERROR, INTERRUPT, SCHEMA, TOOBIG, MISMATCH, MISUSE, RANGE. */
const MISTAKES: readonly number[] = [1, 9, 17, 18, 20, 21, 25]

function codeOf(error: unknown): number | undefined {
  return (error as { errcode?: number } | undefined)?.errcode
}

/** Whether an error is a violated UNIQUE constraint of the database. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    codeOf(error) === CONSTRAINT_UNIQUE ||
    (error as { code?: string } | undefined)?.code === UNIQUE_IN_POSTGRES
  )
}

/** Whether the file is no database, or its pages contradict each other. */
export function isDisorder(error: unknown): boolean {
  const primary = (codeOf(error) ?? 0) & 0xff
  return primary === CORRUPT || primary === NOT_A_DATABASE
}

/**
 * Whether a statement that failed while it committed has changed nothing for certain. A full disk is one such failure: a
 * frame of the log was not written as a whole, so its checksum is wrong. After any other failure of the disk the log may
 * hold a whole commit, which the next start finds and takes for made.
 */
export function isSurelyUndone(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined) return true
  return [BUSY, LOCKED, READONLY, FULL, CONSTRAINT, ...MISTAKES].includes(code & 0xff)
}

/** An error of SQLite's about the machine as one of ours; every other as it is. */
export function databaseError(error: unknown): unknown {
  const code = codeOf(error)
  if (code === FULL || code === IOERR_SHMSIZE) {
    return new EngineError('storage_full', 'The disk is full. Nothing was changed.', { cause: error })
  }
  if (code !== undefined && (code & 0xff) === BUSY) {
    return new EngineError('locked', 'The database is busy. Try again.', { cause: error })
  }
  return error
}

const UNWRITABLE: readonly ErrorCode[] = ['storage_full', 'outcome_unknown', 'writes_stopped']

/** Whether a write was refused because nothing can be written now, for want of room or after a failure of the disk. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof EngineError && UNWRITABLE.includes(error.code)
}
