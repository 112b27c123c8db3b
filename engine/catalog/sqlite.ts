import { closeSync, openSync, realpathSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { EngineError } from '../errors.ts'
import { Semaphore } from '../util/semaphore.ts'
import { guard, PATIENCE_MS, SqliteConnection } from './connection.ts'
import type { Handle, SqlValue, TransactionOptions } from './database.ts'
import { Database, ReadCache, SQLITE, Transaction, TransactionScope } from './database.ts'
import { Doubt } from './doubt.ts'
import { isSurelyUndone, knownError } from './failures.ts'
import { Syncs } from './syncs.ts'

/** How often to look whether other processes that write have ended. */
const PAUSE_MS = 5

/**
 * After how many commits the log is copied into the database. One of an append has about eight pages, so that the log has
 * some 256; with SQLite's own 1,000, it is larger than the catalog and many small datasets.
 */
const COMMITS_IN_LOG = 32

/** SQLite itself syncs no commit, since that would stop the thread, and copies the log only when it is told to. */
const SETTINGS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;'

/**
 * The metadata database as an SQLite file. It uses WAL, so that commands can read while a server runs.
 *
 * One connection writes, one transaction after the other. While a transaction is open, everybody else reads over another
 * connection, so that they see nothing of it. A transaction ends for its caller, and is seen by others, once the log is
 * synced, so that it survives a power cut. Those that commit meanwhile share the next sync.
 *
 * A commit can fail in such a way that nobody knows whether it was made: if the log could not be synced, the next start
 * may or may not find the commit in it. From then on this process writes nothing, since every further write would be
 * based on a guess; reads go on, without that commit.
 */
export class SqliteDatabase extends Database {
  readonly file: string
  readonly dialect = SQLITE
  readonly isShared = false
  readonly waiting = 0
  readonly #writer: SqliteConnection
  readonly #syncs: Syncs
  readonly #turns: WriteTurns
  readonly #scope = new TransactionScope()
  readonly #doubt: Doubt
  readonly #cached = new ReadCache()
  #dataVersion: unknown
  /** The writes of this process when `data_version` was read in this turn of the event loop. */
  #writesAtRead: number | undefined
  #isOpen = false
  /** How many commits of this process the log has that were not copied into the database. */
  #inLog = 0

  /**
   * @param onDoubt called once, when the outcome of a commit has become unknown
   * @throws EngineError `storage_damaged` if the file is no database; `storage_full`, `locked`
   */
  constructor(file: string, onDoubt: (cause: unknown) => void = () => {}) {
    super()
    this.file = file
    this.#doubt = new Doubt(file, onDoubt)
    this.#syncs = new Syncs(file, this.#doubt, () => new SqliteConnection(file, { readOnly: true }))
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
        // While readers are held at an earlier state, what they read then has to be forgotten as well.
        if (!this.#syncs.held) this.#dataVersion = data_version
      }
    }
    return this.#cached.get(name, read)
  }

  /** Takes the write lock at its beginning, so that nobody changes what the transaction reads before it writes. */
  transaction<T>(work: (t: Handle) => Promise<T>, { changes }: TransactionOptions = {}): Promise<T> {
    return this.#transaction(work, () => {
      guard(() => this.#syncs.hold())
      return this.#commit(changes)
    })
  }

  transient<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    return this.#transaction(work, () => this.#commit([]))
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
  async settle(): Promise<boolean> {
    using _ = await this.#enter()
    return await this.#copyLog()
  }

  /** Closes the connections after the open transaction has ended. */
  async close(): Promise<void> {
    using _ = await this.#turns.enter()
    await this.#syncs.close()
    this.#writer.close()
  }

  /** A connection that sees only what is committed, and on disk. */
  #readable(): SqliteConnection {
    return this.#syncs.held ?? (this.#isOpen ? this.#syncs.reader : this.#writer)
  }

  #enter(): Promise<Disposable> {
    this.#scope.requireOutside()
    return this.#turns.enter()
  }

  /** @param commit gives what to wait for before others may know of the transaction; the next one need not */
  async #transaction<T>(
    work: (t: Handle) => Promise<T>,
    commit: () => Promise<void> | undefined,
  ): Promise<T> {
    let seen: Promise<void> | undefined
    const t = new SqliteTransaction(this.#writer)
    const result = await this.#inTurn(async () => {
      try {
        const made = await this.#scope.run(() => work(t))
        t.end()
        seen = commit()
        return made
      } catch (error) {
        this.#rollBack()
        throw error
      } finally {
        t.end()
      }
    })
    await seen
    return result
  }

  /** Runs the work of a transaction when no other is open. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    using _ = await this.#enter()
    this.#doubt.requireNone()
    // If it can't be copied, it only grows, and is copied later.
    if (this.#inLog >= COMMITS_IN_LOG) await this.#copyLog().catch(() => {})
    await this.#begin()
    this.#isOpen = true
    try {
      return await work()
    } finally {
      this.#isOpen = false
    }
  }

  /** Call it in a turn. The whole log can be copied, and begun anew, only when no reader is held at an earlier state. */
  async #copyLog(): Promise<boolean> {
    await this.#syncs.drained()
    this.#inLog = 0
    const sql = 'PRAGMA wal_checkpoint(PASSIVE)'
    const [row] = this.#writer.all<{ busy: number; log: number; checkpointed: number }>(sql, [])
    return row !== undefined && row.busy === 0 && row.log === row.checkpointed
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

  /**
   * Gives what to wait for until the commit is on disk and seen; undefined if it need not be on disk and is seen. If it
   * fails so that the outcome is unknown, this process writes nothing any more.
   */
  #commit(changes: TransactionOptions['changes']): Promise<void> | undefined {
    const forget = () => this.#cached.forget(changes)
    this.#doubt.requireNone()
    try {
      this.#writer.exec('COMMIT')
    } catch (error) {
      const known = isSurelyUndone(error) ? knownError(error) : this.#doubt.begin(error)
      this.#syncs.release()
      throw known
    } finally {
      this.#turns.writes += 1
      this.#inLog += 1
    }
    if (this.#syncs.held) return this.#syncs.synced(forget)
    forget()
    return undefined
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
