import { closeSync, fsyncSync, openSync, realpathSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { EngineError } from '../errors.ts'
import { Semaphore } from '../util/semaphore.ts'
import type { Handle, SqlValue, TransactionOptions } from './database.ts'
import { Database, ReadCache, SQLITE, Transaction, TransactionScope } from './database.ts'
import { isDisorder, isSurelyUndone, knownError } from './failures.ts'

/** How long to wait for other processes that write, and how often to look whether they have ended. */
const PATIENCE_MS = 10_000
const PAUSE_MS = 5

/** Every commit is synced. The log may have 256 pages: with SQLite's 1,000, it is larger than the catalog and many small datasets. */
const SETTINGS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 256;'

/**
 * The metadata database as an SQLite file. It uses WAL, so that commands can read while a server runs, and
 * synchronous=FULL, so that a commit survives a power cut.
 *
 * One connection writes, one transaction after the other. While a transaction is open, everybody else reads over a
 * second connection, so that they see nothing of it.
 *
 * A commit can fail in such a way that nobody knows whether it was made: if the log could not be synced, SQLite rolls
 * the commit back in this process, but may find it complete in the log at the next start. From then on this process
 * writes nothing, since every further write would be based on a guess; reads go on.
 */
export class SqliteDatabase extends Database {
  readonly file: string
  readonly dialect = SQLITE
  readonly isShared = false
  readonly waiting = 0
  readonly #writer: SqliteConnection
  #reader: SqliteConnection | undefined
  readonly #turns: WriteTurns
  readonly #scope = new TransactionScope()
  readonly #doubt: Doubt
  readonly #cached = new ReadCache()
  #dataVersion: unknown
  /** The writes of this process when `data_version` was read in this turn of the event loop. */
  #writesAtRead: number | undefined
  #isOpen = false

  /**
   * @param onDoubt called once, when the outcome of a commit has become unknown
   * @throws EngineError `storage_damaged` if the file is no database; `storage_full`, `locked`
   */
  constructor(file: string, onDoubt: (cause: unknown) => void = () => {}) {
    super()
    this.file = file
    this.#doubt = new Doubt(file, onDoubt)
    makePrivate(file)
    this.#turns = turnsOf(file)
    this.#writer = new SqliteConnection(file, { readOnly: false })
    try {
      guard(() => this.#writer.exec(SETTINGS))
    } catch (error) {
      this.#writer.close()
      throw error
    }
  }

  get inDoubt(): boolean {
    return this.#doubt.exists
  }

  async all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
    return this.#readable().all<Row>(sql, parameters)
  }

  /**
   * Cached values are forgotten as each write of this process says, and all of them when `data_version` shows that
   * somebody else has written. It is read once in a turn of the event loop, because it costs more than all the rest of a
   * small request; so a write of another process is seen some milliseconds later at most.
   */
  cached<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    if (this.#writesAtRead !== this.#turns.writes) {
      if (this.#writesAtRead === undefined) setImmediate(() => (this.#writesAtRead = undefined))
      this.#writesAtRead = this.#turns.writes
      const { data_version } = this.#writer.all<{ data_version: number }>('PRAGMA data_version', [])[0]!
      if (data_version !== this.#dataVersion) {
        this.#cached.forget(undefined)
        this.#dataVersion = data_version
      }
    }
    return this.#cached.get(name, read)
  }

  /** Takes the write lock at its beginning, so that nobody changes what the transaction reads before it writes. */
  transaction<T>(work: (t: Handle) => Promise<T>, { changes }: TransactionOptions = {}): Promise<T> {
    return this.#inTurn(() => this.#transaction(work, changes))
  }

  transient<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      this.#writer.exec('PRAGMA synchronous = NORMAL')
      try {
        return await this.#transaction(work, [])
      } finally {
        this.#writer.exec('PRAGMA synchronous = FULL')
      }
    })
  }

  async hasTable(name: string): Promise<boolean> {
    return (await this.get('SELECT 1 FROM sqlite_schema WHERE name = ?', name)) !== undefined
  }

  async newestId(table: string): Promise<number> {
    const sql = 'SELECT seq FROM sqlite_sequence WHERE name = ?'
    return (await this.get<{ seq: number }>(sql, table))?.seq ?? 0
  }

  /**
   * Copies the whole log into the database file and syncs it. A commit that this process found in the log at its start
   * may exist only in the system's memory, if syncing it was what failed before. Until it is on disk, no file may be
   * removed because of it.
   * Gives whether all of the log could be copied; a connection that reads an older state prevents it.
   */
  settle(): Promise<boolean> {
    return this.#inTurn(() => {
      const sql = 'PRAGMA wal_checkpoint(PASSIVE)'
      const [row] = this.#writer.all<{ busy: number; log: number; checkpointed: number }>(sql, [])
      return row !== undefined && row.busy === 0 && row.log === row.checkpointed
    })
  }

  /** Closes the connections after the open transaction has ended. */
  async close(): Promise<void> {
    using _ = await this.#turns.enter()
    this.#reader?.close()
    this.#writer.close()
  }

  /** A connection that sees only what is committed. */
  #readable(): SqliteConnection {
    if (!this.#isOpen) return this.#writer
    this.#reader ??= guard(() => new SqliteConnection(this.file, { readOnly: true }))
    return this.#reader
  }

  async #inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    this.#scope.requireOutside()
    using _ = await this.#turns.enter()
    return await work()
  }

  async #transaction<T>(work: (t: Handle) => Promise<T>, changes: TransactionOptions['changes']): Promise<T> {
    this.#doubt.requireNone()
    await this.#begin()
    this.#isOpen = true
    const t = new SqliteTransaction(this.#writer)
    try {
      const result = await this.#scope.run(() => work(t))
      t.end()
      this.#commit(changes)
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    } finally {
      t.end()
      this.#isOpen = false
    }
  }

  /** Waits for transactions of other processes without stopping this thread, as SQLite would. @throws EngineError `locked` */
  async #begin(): Promise<void> {
    for (const late = performance.now() + PATIENCE_MS; ; await wait(PAUSE_MS)) {
      try {
        return guard(() => this.#writer.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE'))
      } catch (error) {
        const isBusy = error instanceof EngineError && error.code === 'locked'
        if (!isBusy || performance.now() > late) throw error
      } finally {
        this.#writer.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
      }
    }
  }

  /** If it fails so that the outcome is unknown, this process writes nothing any more. */
  #commit(changes: TransactionOptions['changes']): void {
    try {
      this.#writer.exec('COMMIT')
    } catch (error) {
      if (isSurelyUndone(error)) throw knownError(error)
      throw this.#doubt.begin(error)
    } finally {
      this.#turns.writes += 1
      this.#cached.forget(changes)
    }
  }

  #rollBack(): void {
    if (!this.#writer.isTransaction) return
    try {
      this.#writer.exec('ROLLBACK')
    } catch (error) {
      this.#doubt.begin(error)
    }
  }
}

const TURNS = new Map<string, WeakRef<WriteTurns>>()

/** The turns to write a file, and how many writes this process has made to it over all its connections. */
class WriteTurns extends Semaphore {
  writes = 0
}

/**
 * The semaphore by which all databases that have the file open in this process take turns to write it. Waiting for
 * SQLite's own lock would stop the thread, and with it the transaction that holds the lock.
 */
function turnsOf(file: string): WriteTurns {
  const path = realpathSync(file)
  const turns = TURNS.get(path)?.deref() ?? new WriteTurns(1)
  TURNS.set(path, new WeakRef(turns))
  return turns
}

class SqliteTransaction extends Transaction<SqliteConnection> {
  readonly dialect = SQLITE

  protected override get isOpen(): boolean {
    return this.connection.isTransaction
  }

  async all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
    return this.connection.all<Row>(sql, parameters)
  }

  async run(sql: string, ...parameters: SqlValue[]): Promise<number> {
    return guard(() => this.connection.run(sql, parameters)).changes
  }

  async insert(sql: string, ...parameters: SqlValue[]): Promise<number> {
    return guard(() => this.connection.run(sql, parameters)).id
  }

  async exec(sql: string): Promise<void> {
    guard(() => this.connection.exec(sql))
  }

  /** Does nothing: the write lock is for the whole file, and a transaction has it from its beginning. */
  async lock(): Promise<void> {}

  async lockName(): Promise<void> {}
}

/** Makes an empty file that no other user can read, unless it exists. SQLite gives its log the mode of the database. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
}

/** One connection to an SQLite file. Its statements run synchronously on the calling thread. */
class SqliteConnection {
  readonly #raw: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string, options: { readonly readOnly: boolean }) {
    this.#raw = new DatabaseSync(file, {
      timeout: PATIENCE_MS,
      enableForeignKeyConstraints: true,
      ...options,
    })
  }

  /** Whether a transaction is open. SQLite rolls back by itself on some errors, such as a full disk. */
  get isTransaction(): boolean {
    return this.#raw.isTransaction
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
function guard<T>(work: () => T, again = true): T {
  try {
    return work()
  } catch (error) {
    // SQLite takes some pages that it could not read for malformed ones. Those that are malformed stay so.
    if (again && isDisorder(error)) return guard(work, false)
    throw knownError(error)
  }
}

const PAGE = 4_096

/** Remembers whether the outcome of a commit to SQLite is unknown. It stays unknown until the process ends. */
class Doubt {
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
    const known = 'is unknown until the service is started again.'
    if (this.#isFull()) {
      return new EngineError('storage_full', `The disk is full, and whether the change was made ${known}`, {
        cause,
      })
    }
    const why = 'The disk failed while the change was written.'
    return new EngineError('outcome_unknown', `${why} Whether it was made ${known}`, { cause })
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
