import { AsyncLocalStorage } from 'node:async_hooks'
import { accessSync, constants } from 'node:fs'
import type { Pool, PoolClient } from 'pg'
import { invalidOption } from '../../errors.ts'
import { Semaphore } from '../../util/semaphore.ts'
import type { CachedOptions, Handle, LockedTable, SqlValue, TransactionOptions } from '../database.ts'
import { Database, POSTGRES, ReadCache, Transaction, TransactionScope } from '../database.ts'
import { Changes, KeyedMutex } from './changes.ts'
import { isUnreachable, postgresError, query, unknownOutcome, unopened } from './statements.ts'

/**
 * The most connections at once, for single reads and for transactions. Reads never wait for a lock, so they have
 * connections of their own: however many transactions wait, keys are checked and rows are found.
 */
const READ_CONNECTIONS = 4
const TRANSACTION_CONNECTIONS = 6
/** The most transactions at once of work that no caller waits for. The other connections are left to requests. */
const UNATTENDED = 2
/**
 * How long a request waits for a connection, a statement, a lock or its turn before it gets the error that the database
 * does not answer or is busy.
 */
const PATIENCE_MS = 5_000
/** How much later than the server the client gives up a statement in a transaction, so that the server says why. */
const GRACE_MS = 1_000
/** How long work that no caller waits for waits for a lock. It is done again later. */
const UNATTENDED_LOCK_MS = 1_000
/** After this time a cached value is read anew, in case the notification of its change was lost. */
const OLDEST_MS = 30_000
/** The longest statement of work that no request waits for, as a migration or a sweep. */
const LONGEST_STATEMENT_MS = 60_000
/**
 * After this time the server ends a transaction that sends nothing, as that of a machine that was cut off. Until then
 * it holds its locks.
 */
const LONGEST_SILENCE_MS = 5_000

/** For whom statements are run. */
interface Caller {
  /** Whether somebody waits for the result, as for a request. */
  readonly isAttended: boolean
  hasChanged: boolean
}

/**
 * The metadata database in PostgreSQL. Statements run in READ COMMITTED: code that decides by what it reads must lock
 * the row first.
 *
 * A process that changes something sends NOTIFY in the same transaction, so that the other processes forget what they
 * have cached of it a moment after the commit. They also forget everything after a lost connection. An exact value waits
 * until all earlier changes have been heard, and so what is cached after it, in the same request, is as new.
 */
export class PostgresDatabase extends Database {
  readonly dialect = POSTGRES
  readonly isShared = true
  /** Each transaction knows by itself whether its outcome is known. */
  readonly inDoubt = false
  readonly #reads: Pool
  readonly #transactions: Pool
  readonly #unattended = new Semaphore(UNATTENDED)
  readonly #mutex = new KeyedMutex()
  readonly #changes: Changes
  readonly #scope = new TransactionScope()
  readonly #cached = new ReadCache(OLDEST_MS)
  readonly #callers = new AsyncLocalStorage<Caller>()

  private constructor(connect: (most: number) => Pool, url: string) {
    super()
    this.#reads = connect(READ_CONNECTIONS)
    this.#transactions = connect(TRANSACTION_CONNECTIONS)
    for (const pool of [this.#reads, this.#transactions]) {
      // The pool removes a connection that breaks, and the statement that was using it fails by itself.
      pool.on('error', () => {})
      pool.on('connect', (client) => client.on('error', () => {}))
    }
    this.#changes = new Changes(url, (changes) => this.#cached.forget(changes))
  }

  /**
   * @param url `postgres://user:password@host:port/database`
   * @throws EngineError `catalog_unavailable` if it can't be reached or refuses us; `invalid_option`
   */
  static async open(url: string): Promise<PostgresDatabase> {
    const { default: pg } = await import('pg')
    const connectionString = driverAddress(url)
    const connect = (max: number) =>
      new pg.Pool({
        connectionString,
        max,
        connectionTimeoutMillis: PATIENCE_MS,
        query_timeout: LONGEST_STATEMENT_MS,
        idle_in_transaction_session_timeout: LONGEST_SILENCE_MS,
        keepAlive: true,
        types: { getTypeParser: (oid: number) => (oid === BIGINT ? Number : pg.types.getTypeParser(oid)) },
      })
    const database = new PostgresDatabase(connect, connectionString)
    try {
      await database.get('SELECT 1 AS one')
      await database.#changes.start()
      return database
    } catch (error) {
      await database.close()
      throw unopened(url, error)
    }
  }

  get waiting(): number {
    return this.#reads.waitingCount + this.#transactions.waitingCount
  }

  async all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
    try {
      const patience = this.#isAttended ? PATIENCE_MS : undefined
      return (await query<Row>(this.#reads, sql, parameters, patience)).rows
    } catch (error) {
      throw this.#errorOf(error)
    }
  }

  async cached<Value>(
    name: string,
    read: () => Promise<Value>,
    { exact = false }: CachedOptions = {},
  ): Promise<Value> {
    if (!this.#changes.areHeard || (exact && !(await this.#changes.caughtUp()))) return read()
    return this.#cached.get(name, read)
  }

  transaction<T>(work: (t: Handle) => Promise<T>, { changes, turn }: TransactionOptions = {}): Promise<T> {
    const run = () => this.#transaction(work, '', (client) => Changes.tell(client, changes))
    const done = turn === undefined ? run() : this.#mutex.run(turn, PATIENCE_MS, run)
    const caller = this.#callers.getStore()
    return done
      .then((result) => {
        if (caller && changes?.length !== 0) caller.hasChanged = true
        return result
      })
      .finally(() => this.#cached.forget(changes))
  }

  /** Tells nobody, and so forgets nothing: what is cached must not depend on it. */
  transient<T>(work: (t: Handle) => Promise<T>): Promise<T> {
    return this.#transaction(work, 'SET LOCAL synchronous_commit = off;')
  }

  override answering<T>(work: () => T): T {
    return this.#callers.run({ isAttended: true, hasChanged: false }, work)
  }

  override unattended<T>(work: () => T): T {
    return this.#callers.run({ isAttended: false, hasChanged: false }, work)
  }

  /** The system identifier of the server, which initdb has drawn, and the number of the database there. */
  override async identity(): Promise<string> {
    const row = await this.get<{ identity: string }>(
      `SELECT system_identifier || '/' || oid AS identity FROM pg_control_system(), pg_database
       WHERE datname = current_database()`,
    )
    return row!.identity
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
    await Promise.all([this.#reads.end(), this.#transactions.end()])
  }

  /** Undefined where that is not known, as at the start and in commands. */
  get #isAttended(): boolean | undefined {
    return this.#callers.getStore()?.isAttended
  }

  #errorOf(error: unknown): unknown {
    const hasChanged = this.#callers.getStore()?.hasChanged === true
    return hasChanged && isUnreachable(error) ? unknownOutcome(error) : postgresError(error)
  }

  async #transaction<T>(
    work: (t: Handle) => Promise<T>,
    settings: string,
    after: (client: PoolClient) => Promise<void> = async () => {},
  ): Promise<T> {
    this.#scope.requireOutside()
    const isAttended = this.#isAttended
    using _ = isAttended === false ? await this.#unattended.enter() : undefined
    let client: PoolClient
    try {
      client = await this.#transactions.connect()
    } catch (error) {
      throw this.#errorOf(error)
    }
    const t = new PostgresTransaction(client, isAttended ? PATIENCE_MS + GRACE_MS : undefined)
    let isLost = false
    try {
      await t.exec(`BEGIN; ${settings} ${limitsOf(isAttended)}`)
      const result = await this.#scope.run(() => work(t))
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

/** How long the statements of a transaction may take, and how long they may wait. */
function limitsOf(isAttended: boolean | undefined): string {
  switch (isAttended) {
    case true:
      return `SET LOCAL statement_timeout = ${PATIENCE_MS}`
    case false:
      return `SET LOCAL lock_timeout = ${UNATTENDED_LOCK_MS}`
    case undefined:
      return ''
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

class PostgresTransaction extends Transaction<PoolClient> {
  readonly dialect = POSTGRES
  readonly #patience: number | undefined

  constructor(client: PoolClient, patience: number | undefined) {
    super(client)
    this.#patience = patience
  }

  async all<Row>(sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
    return (await this.#query<Row>(sql, parameters)).rows
  }

  async run(sql: string, ...parameters: SqlValue[]): Promise<number> {
    return (await this.#query(sql, parameters)).count
  }

  async insert(sql: string, ...parameters: SqlValue[]): Promise<number> {
    const { rows } = await this.#query<{ id: number }>(`${sql} RETURNING id`, parameters)
    return rows[0]!.id
  }

  async exec(sql: string): Promise<void> {
    await this.connection.query(sql)
  }

  async lock(table: LockedTable, id: number): Promise<void> {
    await this.#query(`SELECT 1 FROM ${table} WHERE id = ? FOR UPDATE`, [id])
  }

  async lockName(name: string): Promise<void> {
    await this.#query('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [name])
  }

  #query<Row>(sql: string, parameters: readonly SqlValue[]) {
    return query<Row>(this.connection, sql, parameters, this.#patience)
  }
}

const MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify']
const FILES = ['sslrootcert', 'sslcert', 'sslkey']

/**
 * The address as the driver has to be told, so that its parameters about TLS mean what they mean in libpq.
 * @throws EngineError `invalid_option` if they are unknown, or name a file that can't be read
 */
function driverAddress(url: string): string {
  const address = new URL(url)
  const { searchParams: given } = address
  const mode = given.get('sslmode')
  if (mode !== null && !MODES.includes(mode)) {
    throw invalidOption(
      `sslmode in the address of the database must be one of ${MODES.join(', ')} (got ${mode}).`,
    )
  }
  if (mode === 'verify-ca' && !given.has('sslrootcert')) {
    throw invalidOption(
      'sslmode=verify-ca needs sslrootcert=/path/ca.crt; without your own authority use verify-full.',
    )
  }
  for (const name of FILES) requireFile(name, given.get(name))
  // By default the driver checks names with `require` and `verify-ca`, too.
  if (mode === 'require' || mode === 'verify-ca') given.set('uselibpqcompat', 'true')
  return address.href
}

function requireFile(name: string, file: string | null): void {
  if (file === null) return
  try {
    accessSync(file, constants.R_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw invalidOption(`${name} in the address of the database: can't read ${file} (${code}).`)
  }
}
