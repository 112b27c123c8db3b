import { AsyncLocalStorage } from 'node:async_hooks'
import type { DatabaseDialect, Handle, LockedTable, SqlValue } from './database.ts'

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
