import type { Dialect } from './dialect.ts'

export type SqlValue = string | number | bigint | Uint8Array | null

/**
 * Statements, each for itself or, where it is a transaction's, all of them together. Parameters are written `?`, and
 * names that hold capitals are quoted, because PostgreSQL would fold them.
 */
export interface Handle {
  /** Whether what is read may be of a transaction, and so may still be taken back. */
  readonly inTransaction: boolean
  readonly dialect: Dialect

  /** `get` and `all` read. A statement that changes rows and gives them back belongs into a transaction. */
  get<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row | undefined>

  all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]>

  /**
   * Runs a statement that changes rows; gives how many.
   * @throws EngineError `storage_full`, `outcome_unknown`, `writes_stopped`
   */
  run(sql: string, ...parameters: SqlValue[]): Promise<number>

  /** Runs an INSERT of one row into a table with an `id`; gives the id. Throws what `run` does. */
  insert(sql: string, ...parameters: SqlValue[]): Promise<number>

  /** Runs several statements, as a migration does. Call it in a transaction. */
  exec(sql: string): Promise<void>

  /**
   * Keeps everybody else from changing a row, and from locking it, until the transaction ends; waits for who does. Lock
   * first, then read: what was read before may be outdated by then. Call it in a transaction.
   */
  lock(table: LockedTable, id: number): Promise<void>

  /**
   * All of `work` or nothing. `work` uses the handle that it is given and no other: what it did elsewhere would not be
   * a part of the transaction, and waiting for it could last for ever. In a transaction: a part of it that can be taken
   * back alone.
   * @throws EngineError `storage_full`, `outcome_unknown`, `writes_stopped`
   */
  transaction<T>(work: (t: Handle) => Promise<T>): Promise<T>

  /** Like `transaction`, for what means nothing after a power cut: the disk isn't waited for. */
  transient<T>(work: (t: Handle) => Promise<T>): Promise<T>

  /**
   * What `read` reads, kept until it may have changed. For what every request asks; the value is shared, so nobody may
   * change it. In a transaction it is read.
   */
  recall<Value>(name: string, read: () => Promise<Value>, how?: RecallOptions): Promise<Value>
}

export interface RecallOptions {
  /** It must not even be a moment older than what another node has written, as of a key that may have ended. */
  readonly exact?: boolean
}

/** Tables with rows that are locked. */
export type LockedTable = 'repositories' | 'datasets' | 'accounts'

/**
 * The metadata database: what exists, who may see it, which parts make up which version. Rows of datasets are never
 * here. Nobody sees what a transaction has written before it is committed.
 */
export interface Database extends Handle {
  /** Whether a commit's outcome is unknown for good, so that nothing may be written, and no file removed. */
  readonly inDoubt: boolean

  /** Whether there is such a table. */
  hasTable(name: string): Promise<boolean>

  /** The highest id that a table ever gave; 0 where it gave none. */
  newestId(table: string): Promise<number>

  /** Whether all that was committed is on disk for certain, so that files may be removed on its account. */
  settle(): Promise<boolean>

  close(): Promise<void>
}
