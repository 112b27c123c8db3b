import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { EngineError } from '../errors.ts'
import type { SqlValue } from './database.ts'
import { isDisorder, knownError } from './failures.ts'

/** How long SQLite waits for the locks of other processes, in milliseconds. */
export const PATIENCE_MS = 10_000

/** One connection to an SQLite file. Its statements run synchronously on the calling thread. */
export class SqliteConnection {
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
export function guard<T>(work: () => T, again = true): T {
  try {
    return work()
  } catch (error) {
    // SQLite takes some pages that it could not read for malformed ones. Those that are malformed stay so.
    if (again && isDisorder(error)) return guard(work, false)
    throw knownError(error)
  }
}
