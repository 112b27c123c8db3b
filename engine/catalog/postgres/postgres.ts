import { AsyncLocalStorage } from 'node:async_hooks'
import type { Pool, PoolClient } from 'pg'
import { Alone } from '../alone.ts'
import type {
  Database,
  Handle,
  LockedTable,
  RecallOptions,
  SqlValue,
  TransactionOptions,
} from '../database.ts'
import { POSTGRES } from '../database-dialect.ts'
import { Recalled } from '../recalled.ts'
import { Changes } from './changes.ts'
import { isUnreachable, postgresError, unknownOutcome, unopened } from './errors.ts'
import { query } from './statements.ts'

/** The most connections at once. A caller waits when all of them are in use. */
const MOST_CONNECTIONS = 10
/** How long a caller waits for a connection before it gets the error that the database does not answer. */
const PATIENCE_MS = 5_000
/** After this time a recalled value is read anew, in case the notification of its change was lost. */
const OLDEST_MS = 30_000
/** After this time without an answer, a statement's connection is taken for lost. */
const LONGEST_STATEMENT_MS = 60_000
/**
 * After this time the server ends a transaction that sends nothing, as that of a machine that was cut off. Until then
 * it holds its locks.
 */
const LONGEST_SILENCE_MS = 30_000

/**
 * The metadata database in PostgreSQL. Statements run in READ COMMITTED: code that decides by what it reads must lock
 * the row first.
 *
 * A process that changes something sends NOTIFY in the same transaction, so that the other processes forget what they
 * have recalled of it a moment after the commit. They also forget everything after a lost connection. An exact value waits
 * until all earlier changes have been heard, and so what is recalled after it, in the same request, is as new.
 */
export class PostgresDatabase implements Database {
  readonly dialect = POSTGRES
  readonly inTransaction = false
  readonly isShared = true
  /** Each transaction knows by itself whether its outcome is known. */
  readonly inDoubt = false
  readonly #pool: Pool
  readonly #changes: Changes
  readonly #alone = new Alone()
  readonly #recalled = new Recalled(OLDEST_MS)
  /** What the work that `answering` runs has done. */
  readonly #callers = new AsyncLocalStorage<{ hasChanged: boolean }>()

  private constructor(pool: Pool, url: string) {
    this.#pool = pool
    // The pool removes a connection that breaks, and the statement that was using it fails by itself.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    this.#changes = new Changes(url, (changes) => this.#recalled.forget(changes))
  }

  /**
   * @param url `postgres://user:password@host:port/database`
   * @throws EngineError `catalog_unavailable` if it can't be reached or refuses us
   */
  static async open(url: string): Promise<PostgresDatabase> {
    const { default: pg } = await import('pg')
    const pool = new pg.Pool({
      connectionString: url,
      max: MOST_CONNECTIONS,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: LONGEST_STATEMENT_MS,
      idle_in_transaction_session_timeout: LONGEST_SILENCE_MS,
      keepAlive: true,
      types: { getTypeParser: (oid: number) => (oid === BIGINT ? Number : pg.types.getTypeParser(oid)) },
    })
    const database = new PostgresDatabase(pool, url)
    try {
      await database.get('SELECT 1 AS one')
      await database.#changes.start()
      return database
    } catch (error) {
      await database.close()
      throw unopened(url, error)
    }
  }

  async get<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...parameters))[0]
  }

  async all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
    try {
      return (await query<Row>(this.#pool, sql, parameters)).rows
    } catch (error) {
      throw this.#errorOf(error)
    }
  }

  async recall<Value>(
    name: string,
    read: () => Promise<Value>,
    { exact = false }: RecallOptions = {},
  ): Promise<Value> {
    if (!this.#changes.areHeard || (exact && !(await this.#changes.caughtUp()))) return read()
    return this.#recalled.get(name, read)
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

  transaction<T>(work: (t: Handle) => Promise<T>, { changes }: TransactionOptions = {}): Promise<T> {
    const done = this.#transaction(work, ['BEGIN'], (client) => Changes.tell(client, changes))
    const caller = this.#callers.getStore()
    return done
      .then((result) => {
        if (caller && changes?.length !== 0) caller.hasChanged = true
        return result
      })
      .finally(() => this.#recalled.forget(changes))
  }

  /** Tells nobody, and so forgets nothing: what is recalled must not depend on it. */
  transient<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    return this.#transaction(work, ['BEGIN', 'SET LOCAL synchronous_commit = off'])
  }

  answering<T>(work: () => T): T {
    return this.#callers.run({ hasChanged: false }, work)
  }

  async hasTable(name: string): Promise<boolean> {
    const row = await this.get<{ found: string | null }>('SELECT to_regclass(?)::text AS found', name)
    return row?.found != null
  }

  async newestId(table: string): Promise<number> {
    const sql = `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id FROM ${table}_id_seq`
    return (await this.get<{ id: number }>(sql))!.id
  }

  async settle(): Promise<boolean> {
    return true
  }

  async close(): Promise<void> {
    await this.#changes.end()
    await this.#pool.end()
  }

  #errorOf(error: unknown): unknown {
    const hasChanged = this.#callers.getStore()?.hasChanged === true
    return hasChanged && isUnreachable(error) ? unknownOutcome(error) : postgresError(error)
  }

  async #transaction<T>(
    work: (t: Handle) => Promise<T>,
    before: readonly string[],
    after: (client: PoolClient) => Promise<void> = async () => {},
  ): Promise<T> {
    this.#alone.require()
    let client: PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw this.#errorOf(error)
    }
    const t = new PostgresTransaction(client)
    let isLost = false
    try {
      for (const sql of before) await client.query(sql)
      const result = await this.#alone.run(() => work(t))
      t.end()
      await after(client)
      await commit(client)
      return result
    } catch (error) {
      // A connection that is lost is closed below, and the server then rolls back what is open on it.
      isLost = isUnreachable(error) || !(await rollBack(client))
      throw this.#errorOf(error)
    } finally {
      t.end()
      client.release(isLost)
    }
  }
}

/** The type of BIGINT and count(*). Our numbers are below 2^53. */
const BIGINT = 20

/** Gives whether the connection can be used further. */
function rollBack(client: PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}

async function commit(client: PoolClient): Promise<void> {
  let command: string
  try {
    command = (await client.query('COMMIT')).command
  } catch (error) {
    throw isUnreachable(error) ? unknownOutcome(error) : error
  }
  if (command !== 'COMMIT') throw new Error('a transaction went on after one of its statements had failed')
}

/** The handle that the work of a transaction gets. */
class PostgresTransaction implements Handle {
  readonly dialect = POSTGRES
  readonly inTransaction = true
  readonly #client: PoolClient
  #ended = false

  constructor(client: PoolClient) {
    this.#client = client
  }

  end(): void {
    this.#ended = true
  }

  async get<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row | undefined> {
    return (await query<Row>(this.#open(), sql, parameters)).rows[0]
  }

  async all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
    return (await query<Row>(this.#open(), sql, parameters)).rows
  }

  async run(sql: string, ...parameters: SqlValue[]): Promise<number> {
    return (await query(this.#open(), sql, parameters)).count
  }

  async insert(sql: string, ...parameters: SqlValue[]): Promise<number> {
    const { rows } = await query<{ id: number }>(this.#open(), `${sql} RETURNING id`, parameters)
    return rows[0]!.id
  }

  async exec(sql: string): Promise<void> {
    await this.#open().query(sql)
  }

  async lock(table: LockedTable, id: number): Promise<void> {
    await query(this.#open(), `SELECT 1 FROM ${table} WHERE id = ? FOR UPDATE`, [id])
  }

  async lockName(name: string): Promise<void> {
    await query(this.#open(), 'SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [name])
  }

  async recall<Value>(_name: string, read: () => Promise<Value>): Promise<Value> {
    return read()
  }

  async transaction<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    await this.exec('SAVEPOINT nested')
    try {
      const result = await work(this)
      await this.exec('RELEASE SAVEPOINT nested')
      return result
    } catch (error) {
      await this.exec('ROLLBACK TO SAVEPOINT nested; RELEASE SAVEPOINT nested')
      throw error
    }
  }

  transient<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    return this.transaction(work)
  }

  #open(): PoolClient {
    if (this.#ended) throw new Error('a transaction is used after its end')
    return this.#client
  }
}
