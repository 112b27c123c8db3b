import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { EngineError } from '../errors.ts'
import { databaseError, isDisorder, isSurelyUndone } from './failures.ts'

export type SqlValue = SQLInputValue

/** How many things are kept in memory that were read of the database. */
const RECALLED = 4_096

/**
 * The metadata database: what exists, who may see it, which parts make up which version. Rows of datasets are never
 * here. WAL, so that commands read beside a running server; synchronous=FULL, so that a commit survives a power cut.
 *
 * A commit can fail so that nobody knows whether it was made: where the log could not be synced, SQLite takes it back
 * in this process, but may find it whole in the log at the next start. From then on this process writes nothing, since
 * whatever it did would rest on a guess; reads go on.
 */
export class Database {
  readonly file: string
  readonly #raw: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #onDoubt: (cause: unknown) => void
  readonly #recalled = new LRUCache<string, { readonly value: unknown }>({ max: RECALLED })
  #dataVersion: unknown
  #depth = 0
  #doubt: { readonly cause: unknown } | undefined

  /**
   * @param onDoubt called once, when the outcome of a commit has become unknown
   * @throws EngineError `storage_damaged` where the file is no database; `storage_full`, `locked`
   */
  constructor(file: string, onDoubt: (cause: unknown) => void = () => {}) {
    this.file = file
    this.#onDoubt = onDoubt
    makePrivate(file)
    this.#raw = new DatabaseSync(file, { timeout: 10_000, enableForeignKeyConstraints: true })
    try {
      this.#raw.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;')
    } catch (error) {
      this.#raw.close()
      throw this.#known(error)
    }
  }

  /** Whether a commit's outcome is unknown, so that nothing may be written, and no file removed. */
  get inDoubt(): boolean {
    return this.#doubt !== undefined
  }

  get inTransaction(): boolean {
    return this.#depth > 0
  }

  get<Row>(sql: string, ...parameters: SqlValue[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...parameters)) as Row | undefined
  }

  all<Row>(sql: string, ...parameters: SqlValue[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...parameters)) as Row[]
  }

  /**
   * What `read` reads, kept until anything is written: here, which empties the memory at once, or by another process,
   * which SQLite's `data_version` tells. For what every request asks; the value is shared, so nobody may change it.
   */
  recall<Value>(name: string, read: () => Value): Value {
    // Inside of a transaction it may be something that is taken back.
    if (this.#depth > 0) return read()
    const version = this.get<{ data_version: number }>('PRAGMA data_version')!.data_version
    if (version !== this.#dataVersion) {
      this.#recalled.clear()
      this.#dataVersion = version
    }
    const recalled = this.#recalled.get(name)
    if (recalled) return recalled.value as Value
    const value = read()
    this.#recalled.set(name, { value })
    return value
  }

  /**
   * Runs a statement that changes rows; gives the id of the row that an INSERT made and how many rows changed.
   * @throws EngineError `storage_full`, `outcome_unknown`, `writes_stopped`
   */
  run(sql: string, ...parameters: SqlValue[]): { id: number; changes: number } {
    const result = this.#write(() => this.#statement(sql).run(...parameters))
    return { id: Number(result.lastInsertRowid), changes: Number(result.changes) }
  }

  /** Runs several statements, as a migration does. Call it in a transaction. */
  exec(sql: string): void {
    this.#write(() => this.#raw.exec(sql))
  }

  /**
   * All of `work` or nothing. Takes the write lock at once, so a read inside can't be outdated by its write.
   * @throws EngineError `storage_full`, `outcome_unknown`, `writes_stopped`
   */
  transaction<T>(work: () => T): T {
    const [begin, commit, rollback] =
      this.#depth === 0
        ? ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']
        : ['SAVEPOINT nested', 'RELEASE nested', 'ROLLBACK TO nested; RELEASE nested']
    this.#requireCertainty()
    this.#guard(() => this.#raw.exec(begin))
    this.#depth += 1
    let done = false
    try {
      const result = work()
      done = true
      this.#depth -= 1
      this.#write(() => this.#raw.exec(commit))
      return result
    } catch (error) {
      if (!done) this.#depth -= 1
      this.#rollBack(rollback)
      throw error
    }
  }

  /** Like `transaction`, for what means nothing after a power cut: the disk isn't waited for. */
  transient<T>(work: () => T): T {
    if (this.#depth > 0) return this.transaction(work)
    this.#raw.exec('PRAGMA synchronous = NORMAL')
    try {
      return this.transaction(work)
    } finally {
      this.#raw.exec('PRAGMA synchronous = FULL')
    }
  }

  /**
   * Brings all that the log holds into the database file and syncs it. What was found in the log at a start may be there
   * in memory alone, if syncing it was what failed before: then nothing may be removed on its account.
   * Gives whether all of it could be; a reader of an older state prevents it.
   */
  settle(): boolean {
    const row = this.get<{ busy: number; log: number; checkpointed: number }>(
      'PRAGMA wal_checkpoint(PASSIVE)',
    )
    return row !== undefined && row.busy === 0 && row.log === row.checkpointed
  }

  close(): void {
    this.#statements.clear()
    this.#raw.close()
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#raw.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Does what commits, where no transaction is open around it. */
  #write<T>(work: () => T): T {
    this.#requireCertainty()
    this.#recalled.clear()
    if (this.#depth > 0) return this.#guard(work)
    try {
      return work()
    } catch (error) {
      if (isSurelyUndone(error)) throw this.#known(error)
      throw this.#stop(error)
    }
  }

  #rollBack(rollback: string): void {
    // SQLite rolls back by itself on some errors, a full disk among them.
    if (!this.#raw.isTransaction) return
    try {
      this.#raw.exec(rollback)
    } catch (error) {
      this.#stop(error)
    }
  }

  #stop(cause: unknown): EngineError {
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

  #requireCertainty(): void {
    if (!this.#doubt) return
    throw new EngineError(
      'writes_stopped',
      'An earlier change could not be written for certain, so nothing is written until the service is started again. Reading goes on.',
      { cause: this.#doubt.cause },
    )
  }

  /** SQLite says only that a sync failed, not why. */
  #isFull(): boolean {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.file))
      if (bavail * bsize < PAGE) return true
      const log = openSync(`${this.file}-wal`, 'r+')
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

  #guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw this.#known(error)
    }
  }

  #known(error: unknown): unknown {
    if (!isDisorder(error)) return databaseError(error)
    return new EngineError('storage_damaged', 'The catalog is damaged. Restore it from a backup.', {
      cause: error,
    })
  }
}

const PAGE = 4_096

/** Makes an empty file that nobody else reads, where there is none. SQLite gives its log the mode of the database. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
}
