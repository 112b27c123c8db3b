import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'

export type SqlValue = string | number | bigint | Uint8Array | null

/**
 * Runs statements. Each takes effect by itself, or, if the handle belongs to a transaction, all of them take effect
 * together. Parameters are written `?`, and names with capital letters are quoted, because PostgreSQL would turn them
 * into lower case.
 */
export interface Handle {
  /** Whether this handle belongs to a transaction, so that what it reads may still be rolled back. */
  readonly inTransaction: boolean
  readonly dialect: DatabaseDialect

  /** `get` and `all` only read. A statement that changes rows and returns them must run in a transaction. */
  get<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row | undefined>

  all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]>

  /**
   * Runs a statement that changes rows; gives how many.
   * @throws EngineError `storage_full`, `outcome_unknown`, `writes_stopped`, `catalog_unavailable`
   */
  run(sql: string, ...parameters: SqlValue[]): Promise<number>

  /** Runs an INSERT of one row into a table with an `id`; gives the id. Throws what `run` does. */
  insert(sql: string, ...parameters: SqlValue[]): Promise<number>

  /** Runs several statements, as a migration does. Call it in a transaction. */
  exec(sql: string): Promise<void>

  /**
   * Keeps everybody else from changing or locking a row until the transaction ends; waits while another transaction has
   * the lock. Lock first, then read: what was read before the lock may be outdated. Call it in a transaction.
   */
  lock(table: LockedTable, id: number): Promise<void>

  /** Like `lock`, for a name in place of a row: everybody else who locks the same name waits. */
  lockName(name: string): Promise<void>

  /**
   * Commits all of `work` or nothing of it. `work` must use the handle that it is given and no other: statements on
   * another handle would not be part of the transaction, and waiting for them could last for ever. Called in a
   * transaction, it opens a nested part that can be rolled back alone.
   * @throws EngineError `storage_full`, `outcome_unknown`, `writes_stopped`, `catalog_unavailable`
   */
  transaction<T>(work: (t: Handle) => Promise<T>, how?: TransactionOptions): Promise<T>

  /** Like `transaction`, but does not wait for the disk: for data that means nothing after a power cut. */
  transient<T>(work: (t: Handle) => Promise<T>): Promise<T>

  /**
   * Gives the result of `read` and keeps it in memory until it may have changed. Meant for what every request needs.
   * The value is shared, so nobody may change it. In a transaction, `read` is always called.
   */
  cached<Value>(name: string, read: () => Promise<Value>, how?: CachedOptions): Promise<Value>
}

export interface TransactionOptions {
  /**
   * The names of the cached values that the transaction changes. All processes forget these; without this option, they
   * forget everything. A nested transaction leaves it to the outer one.
   */
  readonly changes?: readonly string[]
  /**
   * What the transaction locks first. In this process one transaction with the same name waits for the lock, and the
   * others wait for it without a connection.
   */
  readonly turn?: string
}

export interface CachedOptions {
  /**
   * Whether every change that another node has committed before the call must count. Needed for keys, which may have
   * been revoked. What is cached afterwards is as new.
   */
  readonly exact?: boolean
}

/** The tables whose rows can be locked. */
export type LockedTable = 'repositories' | 'datasets' | 'accounts'

/**
 * The metadata database: what exists, who may see it, which parts make up which version. It never holds the rows of
 * datasets. Nobody else sees what a transaction has written before it is committed.
 */
export abstract class Database implements Handle, AsyncDisposable {
  abstract readonly dialect: DatabaseDialect
  readonly inTransaction = false
  /** Whether processes on other machines may use it, too. */
  abstract readonly isShared: boolean
  /** How many statements and transactions wait for a connection. */
  abstract readonly waiting: number
  /** Whether it will stay unknown if a commit succeeded. Then nothing may be written, and no file may be removed. */
  abstract readonly inDoubt: boolean

  abstract all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]>
  abstract transaction<T>(work: (t: Handle) => Promise<T>, how?: TransactionOptions): Promise<T>
  abstract transient<T>(work: (t: Handle) => Promise<T>): Promise<T>
  abstract cached<Value>(name: string, read: () => Promise<Value>, how?: CachedOptions): Promise<Value>

  async get<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...parameters))[0]
  }

  run(sql: string, ...parameters: SqlValue[]): Promise<number> {
    return this.transaction((t) => t.run(sql, ...parameters))
  }

  insert(sql: string, ...parameters: SqlValue[]): Promise<number> {
    return this.transaction((t) => t.insert(sql, ...parameters))
  }

  exec(sql: string): Promise<void> {
    return this.transaction((t) => t.exec(sql))
  }

  async lock(): Promise<void> {
    throw new Error('a lock lasts for a transaction')
  }

  lockName(): Promise<void> {
    return this.lock()
  }

  /**
   * Runs the work of a caller who is told one outcome, such as a request. If the database is lost after the work has
   * changed something, the error is `outcome_unknown`; `catalog_unavailable` would say that nothing was changed.
   */
  answering<T>(work: () => T): T {
    return work()
  }

  /** Runs work that nobody waits for and that is done again later. It gives up locks soon, and few connections are its. */
  unattended<T>(work: () => T): T {
    return work()
  }

  /**
   * What tells a database from its copies on other servers and under other names; undefined if nothing does. A physical
   * replica has the identity of its primary.
   */
  async identity(): Promise<string | undefined> {
    return undefined
  }

  /** Whether a table of this name exists. */
  abstract hasTable(name: string): Promise<boolean>

  /** The highest id that a row of the table ever got, 0 if there was never a row. */
  abstract newestId(table: string): Promise<number>

  /**
   * Tries to bring everything that was committed onto the disk, and says whether that is certain. Only then may files
   * be removed because the catalog no longer names them.
   */
  abstract settle(): Promise<boolean>

  abstract close(): Promise<void>

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** The few points of SQL in which the databases differ. */
export interface DatabaseDialect {
  /** Translates a statement that creates tables from SQLite's SQL. */
  readonly definition: (sql: string) => string
  /** An expression for the number of elements of a JSON array in a text column. */
  readonly arrayLength: (column: string) => string
  /** An expression for the time of the database's clock, in milliseconds since 1970. */
  readonly now: string
}

export const SQLITE: DatabaseDialect = {
  definition: (sql) => sql,
  arrayLength: (column) => `json_array_length(${column})`,
  now: `unixepoch('subsec') * 1000`,
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/INTEGER PRIMARY KEY AUTOINCREMENT/g, 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY'],
  [/\bINTEGER\b/g, 'BIGINT'],
  [/\bREAL\b/g, 'DOUBLE PRECISION'],
  [/\bBLOB\b/g, 'BYTEA'],
  // Texts are compared and sorted by their bytes, as in SQLite, whatever the language of the database is.
  [/\bTEXT\b/g, 'TEXT COLLATE "C"'],
  [/\) STRICT(, WITHOUT ROWID)?/g, ')'],
]

export const POSTGRES: DatabaseDialect = {
  definition: (sql) => WORDS.reduce((text, [word, other]) => text.replace(word, other), sql),
  arrayLength: (column) => `json_array_length(CAST(${column} AS json))`,
  now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS double precision)',
}

/** The handle that the work of a transaction gets. Nothing else uses its connection until the transaction ends. */
export abstract class Transaction<Connection> implements Handle {
  abstract readonly dialect: DatabaseDialect
  readonly inTransaction = true
  readonly #connection: Connection
  #ended = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  end(): void {
    this.#ended = true
  }

  protected get connection(): Connection {
    if (this.#ended) throw new Error('a transaction is used after its end')
    return this.#connection
  }

  /** Whether the database has not rolled the transaction back by itself. */
  protected get isOpen(): boolean {
    return true
  }

  async get<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...parameters))[0]
  }

  abstract all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]>
  abstract run(sql: string, ...parameters: SqlValue[]): Promise<number>
  abstract insert(sql: string, ...parameters: SqlValue[]): Promise<number>
  abstract exec(sql: string): Promise<void>
  abstract lock(table: LockedTable, id: number): Promise<void>
  abstract lockName(name: string): Promise<void>

  async cached<Value>(_name: string, read: () => Promise<Value>): Promise<Value> {
    return read()
  }

  async transaction<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    await this.exec('SAVEPOINT nested')
    try {
      const result = await work(this)
      await this.exec('RELEASE SAVEPOINT nested')
      return result
    } catch (error) {
      if (this.isOpen) await this.exec('ROLLBACK TO SAVEPOINT nested; RELEASE SAVEPOINT nested')
      throw error
    }
  }

  transient<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    return this.transaction(work)
  }
}

/**
 * Detects work of a transaction that writes through another handle than the transaction's. Such a write would wait for
 * the end of the transaction while the transaction waits for the write.
 */
export class TransactionScope {
  readonly #open = new AsyncLocalStorage<{ isOpen: boolean }>()

  /** Runs the work of a transaction. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const transaction = { isOpen: true }
    try {
      return await this.#open.run(transaction, work)
    } finally {
      transaction.isOpen = false
    }
  }

  /** @throws Error when it is called from the work of a transaction, which is a defect of the caller */
  requireOutside(): void {
    if (this.#open.getStore()?.isOpen) throw new Error('a transaction writes past its own handle')
  }
}

/** The most values that are kept in memory. */
const MOST_CACHED = 4_096

/** Values that were read, by name. Callers that ask for a value while it is being read share that one read. */
export class ReadCache {
  readonly #values: LRUCache<string, Promise<unknown>>

  /** @param oldest after how many milliseconds a value is read anew; Infinity: age does not matter */
  constructor(oldest = Number.POSITIVE_INFINITY) {
    this.#values = new LRUCache({ max: MOST_CACHED, ...(Number.isFinite(oldest) && { ttl: oldest }) })
  }

  get<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.#values.get(name)
    if (known) return known as Promise<Value>
    const value = read()
    this.#values.set(name, value)
    // A failed read is forgotten, so that only the callers who waited for it get its error. By the time it fails, the
    // name may already stand for a newer read, which stays.
    value.catch(() => {
      if (this.#values.peek(name) === value) this.#values.delete(name)
    })
    return value
  }

  /** Forgets the values of these names, or all. */
  forget(names: readonly string[] | undefined): void {
    if (!names) this.#values.clear()
    else for (const name of names) this.#values.delete(name)
  }
}
