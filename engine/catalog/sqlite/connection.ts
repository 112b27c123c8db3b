import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import type { SqlValue } from '../database.ts'
import { databaseError, isDisorder } from '../failures.ts'

/** One connection to an SQLite file. Its statements run synchronously on the calling thread. */
export class SqliteConnection {
  readonly #raw: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string, options: { readonly readOnly: boolean }) {
    this.#raw = new DatabaseSync(file, { timeout: 10_000, enableForeignKeyConstraints: true, ...options })
  }

  /** Whether a transaction is open. SQLite rolls back by itself on some errors, such as a full disk. */
  get isTransaction(): boolean {
    return this.#raw.isTransaction
  }

  get<Row>(sql: string, parameters: readonly SqlValue[]): Row | undefined {
    return guard(() => this.#statement(sql).get(...parameters)) as Row | undefined
  }

  all<Row>(sql: string, parameters: readonly SqlValue[]): Row[] {
    return guard(() => this.#statement(sql).all(...parameters)) as Row[]
  }

  /** @throws SQLite's own errors */
  run(sql: string, parameters: readonly SqlValue[]): { readonly id: number; readonly changes: number } {
    const { lastInsertRowid, changes } = this.#statement(sql).run(...parameters)
    return { id: Number(lastInsertRowid), changes: Number(changes) }
  }

  /** @throws SQLite's own errors */
  exec(sql: string): void {
    this.#checkOpen()
    this.#raw.exec(sql)
  }

  close(): void {
    this.#statements.clear()
    this.#raw.close()
  }

  /** Work that nobody waits for when an engine closes, such as a verification, may still ask afterwards. */
  #checkOpen(): void {
    if (!this.#raw.isOpen) throw new EngineError('cancelled', 'The data directory is being closed.')
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      this.#checkOpen()
      statement = this.#raw.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** Runs statements that commit nothing, and translates their errors. */
export function guard<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isDisorder(error)) throw knownError(error)
  }
  // SQLite takes some pages that it could not read for malformed ones. Those that are malformed stay so.
  try {
    return work()
  } catch (error) {
    throw knownError(error)
  }
}

/** Turns an error of SQLite about the disk, a lock or a damaged file into an `EngineError`; gives others unchanged. */
export function knownError(error: unknown): unknown {
  if (!isDisorder(error)) return databaseError(error)
  return new EngineError('storage_damaged', 'The catalog is damaged. Restore it from a backup.', {
    cause: error,
  })
}

const PAGE = 4_096

/** Remembers whether the outcome of a commit to SQLite is unknown. It stays unknown until the process ends. */
export class Doubt {
  readonly #file: string
  readonly #onDoubt: (cause: unknown) => void
  #doubt: { readonly cause: unknown } | undefined

  constructor(file: string, onDoubt: (cause: unknown) => void) {
    this.#file = file
    this.#onDoubt = onDoubt
  }

  get exists(): boolean {
    return this.#doubt !== undefined
  }

  /** Records that the outcome is unknown; gives the error for the caller whose change it was. */
  begin(cause: unknown): EngineError {
    if (!this.#doubt) {
      this.#doubt = { cause }
      this.#onDoubt(cause)
    }
    return this.#isFull()
      ? new EngineError(
          'storage_full',
          'The disk is full, and whether the change was made is unknown until the service is started again.',
          { cause },
        )
      : new EngineError(
          'outcome_unknown',
          'The disk failed while the change was written. Whether it was made is unknown until the service is started again.',
          { cause },
        )
  }

  /** @throws EngineError `writes_stopped` */
  requireNone(): void {
    if (!this.#doubt) return
    throw new EngineError(
      'writes_stopped',
      'An earlier change could not be written for certain, so nothing is written until the service is started again. Reading goes on.',
      { cause: this.#doubt.cause },
    )
  }

  /** SQLite says only that a sync failed, not why, so this looks for free room and tries a sync itself. */
  #isFull(): boolean {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#file))
      if (bavail * bsize < PAGE) return true
      const log = openSync(`${this.#file}-wal`, 'r+')
      try {
        fsyncSync(log)
      } finally {
        closeSync(log)
      }
      return false
    } catch (error) {
      return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }
}
