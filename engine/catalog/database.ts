import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { EngineError } from '../errors.ts'

/**
 * The metadata database: what exists, who may see it, which parts make up which version. Rows of datasets are never
 * here. WAL, so that commands read beside a running server; synchronous=FULL, so that a commit survives a power cut.
 */
export class Database {
  /** The open handle, for those who keep tables of their own beside the engine's. */
  readonly raw: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #depth = 0

  constructor(file: string) {
    makePrivate(file)
    this.raw = new DatabaseSync(file, { timeout: 10_000, enableForeignKeyConstraints: true })
    try {
      this.raw.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;')
    } catch (error) {
      this.raw.close()
      throw databaseError(error)
    }
  }

  get<Row>(sql: string, ...parameters: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...parameters)) as Row | undefined
  }

  all<Row>(sql: string, ...parameters: SQLInputValue[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...parameters)) as Row[]
  }

  /** Runs a statement that changes rows; gives the id of the row that an INSERT made and how many rows changed. */
  run(sql: string, ...parameters: SQLInputValue[]): { id: number; changes: number } {
    const result = this.#guard(() => this.#statement(sql).run(...parameters))
    return { id: Number(result.lastInsertRowid), changes: Number(result.changes) }
  }

  /** All of `work` or nothing. Takes the write lock at once, so a read inside can't be outdated by its write. */
  transaction<T>(work: () => T): T {
    const [begin, commit, rollback] =
      this.#depth === 0
        ? ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']
        : ['SAVEPOINT nested', 'RELEASE nested', 'ROLLBACK TO nested; RELEASE nested']
    this.#guard(() => this.raw.exec(begin))
    this.#depth += 1
    try {
      const result = work()
      this.#guard(() => this.raw.exec(commit))
      return result
    } catch (error) {
      // SQLite rolls back by itself on some errors, a full disk among them.
      if (this.raw.isTransaction) this.raw.exec(rollback)
      throw error
    } finally {
      this.#depth -= 1
    }
  }

  /** Like `transaction`, for what means nothing after a power cut: the disk isn't waited for. */
  transient<T>(work: () => T): T {
    if (this.#depth > 0) return this.transaction(work)
    this.raw.exec('PRAGMA synchronous = NORMAL')
    try {
      return this.transaction(work)
    } finally {
      this.raw.exec('PRAGMA synchronous = FULL')
    }
  }

  close(): void {
    this.#statements.clear()
    this.raw.close()
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.raw.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw databaseError(error)
    }
  }
}

/** Makes an empty file that nobody else reads, where there is none. SQLite gives its log the mode of the database. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
}

const SQLITE_BUSY = 5
const SQLITE_FULL = 13
/** No room for the index of the write-ahead log. */
const SQLITE_IOERR_SHMSIZE = 4_874
const SQLITE_CONSTRAINT_UNIQUE = 2067

/** Whether an error is a violated UNIQUE constraint of the database. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === SQLITE_CONSTRAINT_UNIQUE
}

/** An error of SQLite's about the machine as one of ours; every other as it is. */
export function databaseError(error: unknown): unknown {
  const code = (error as { errcode?: number } | undefined)?.errcode
  if (code === undefined) return error
  if (code === SQLITE_FULL || code === SQLITE_IOERR_SHMSIZE) {
    return new EngineError('storage_full', 'The disk is full. Nothing was changed.', { cause: error })
  }
  if ((code & 0xff) === SQLITE_BUSY) {
    return new EngineError('locked', 'The database is busy. Try again.', { cause: error })
  }
  return error
}

/**
 * Brings the tables of one namespace up to date: runs the steps that have not been run yet, each in a transaction.
 * A database made by a newer program is refused, because its tables may mean something else.
 */
export function migrate(database: DatabaseSync, namespace: string, steps: readonly string[]): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS migrations (namespace TEXT PRIMARY KEY, step INTEGER NOT NULL) STRICT',
  )
  database.exec('BEGIN IMMEDIATE')
  try {
    const row = database.prepare('SELECT step FROM migrations WHERE namespace = ?').get(namespace)
    const done = Number(row?.['step'] ?? 0)
    if (done > steps.length) {
      throw new EngineError(
        'locked',
        `The data directory was written by a newer version (${namespace} step ${done}; this version knows ${steps.length}).`,
      )
    }
    if (done === steps.length) {
      database.exec('COMMIT')
      return
    }
    for (const step of steps.slice(done)) database.exec(step)
    database
      .prepare(
        'INSERT INTO migrations VALUES (?, ?) ON CONFLICT (namespace) DO UPDATE SET step = excluded.step',
      )
      .run(namespace, steps.length)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
