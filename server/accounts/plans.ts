import { type Database, EngineError, type Keep } from '../../engine/index.ts'
import type { PlanLimits } from '../config/plans.ts'
import type { Config } from '../config/schema.ts'
import { ServerError } from '../http/errors.ts'
import type { Access, RepositoryAccess } from './access.ts'
import { type Account, ANONYMOUS } from './accounts.ts'

type Owner = RepositoryAccess['owner']

/** What an account owns at most so many of. */
const COUNTED = {
  datasets: { name: 'datasets', hint: '' },
  privateRepositories: {
    name: 'private repositories',
    hint: '; one with `"private": false`, which every account may read, counts towards another limit',
  },
  publicRepositories: { name: 'public repositories', hint: '' },
} as const

/** The accounts that have plans that are not configured; a server does not start with them. */
export function unnamedPlans<Named extends Pick<Account, 'plan'>>(
  accounts: readonly Named[],
  plans: Config['plans'],
): Named[] {
  return accounts.filter(({ plan }) => !Object.hasOwn(plans, plan))
}

/** The limits of the plans. Refuses what they don't allow. */
export class Plans {
  readonly #plans: Config['plans']

  constructor(plans: Config['plans']) {
    this.#plans = plans
  }

  get names(): string[] {
    return Object.keys(this.#plans)
  }

  limits(plan: string): PlanLimits {
    const limits = this.#plans[plan]
    if (!limits) throw new Error(`plan ${plan} is not configured`)
    return limits
  }

  /**
   * Refuses one more dataset or repository if the plan of the repository's owner allows no more. Call it in the
   * transaction that makes it.
   * @throws ServerError `plan_limit`
   */
  async allowOneMore(what: keyof typeof COUNTED, owner: Owner, access: Access): Promise<void> {
    const most = this.limits(owner.plan)[what]
    if (most === null) return
    await access.holdOwned(owner.id)
    if ((await access[what](owner.id)) < most) return
    const { name, hint } = COUNTED[what]
    throw limit(name, owner, most, hint)
  }

  /**
   * Refuses content with more columns in the dataset, or more bytes in all datasets, than the owner's plan allows.
   * @param made the columns and bytes that the dataset would have; its present bytes are not counted
   * @throws ServerError `plan_limit`
   */
  async allowContent(
    owner: Owner,
    access: Access,
    made: { columns: number; bytes: number },
    datasetId?: number,
  ): Promise<void> {
    const { columns, storedBytes } = this.limits(owner.plan)
    if (columns !== null && made.columns > columns) {
      throw limit('columns', owner, columns, ` in a dataset, and this one has ${made.columns}`)
    }
    if (storedBytes === null) return
    await access.holdOwned(owner.id)
    const bytes = (await access.storedBytes(owner.id, datasetId)) + made.bytes
    if (bytes > storedBytes) {
      throw limit('stored bytes', owner, storedBytes, `, and this change would bring them to ${bytes}`)
    }
  }

  /** Refuses to keep versions for longer than the owner's plan allows. @throws ServerError `plan_limit` */
  allowKeep(owner: Owner, { versions, days }: Partial<Keep>): void {
    const { keptVersions, keptDays } = this.limits(owner.plan)
    if ((versions ?? 0) > (keptVersions ?? Infinity)) throw limit('kept versions', owner, keptVersions!)
    if ((days ?? 0) > (keptDays ?? Infinity))
      throw limit('days for which versions are kept', owner, keptDays!)
  }

  /** @throws ServerError `plan_limit` */
  allowPaidProvider(account: Account, provider: string): void {
    if (this.limits(account.plan).paidProviders) return
    throw new ServerError(
      'plan_limit',
      `${provider} is a paid-tier provider, and the plan ${account.plan} does not include paid providers.`,
    )
  }
}

function limit(what: string, { name, plan }: Owner, most: number, more = ''): ServerError {
  return new ServerError(
    'plan_limit',
    `The limit of ${what} is reached: the plan ${plan} of account ${name} allows ${most}${more}.`,
  )
}

/** Rows that are reserved for a download under way. */
interface Reservation {
  /** Counts the rows that were really sent, and frees the rest. Further calls do nothing. */
  settle(rows: number): void
}

/** How often counted rows are written: one commit serves many downloads, and a crash loses a second at most. */
const FLUSH_MS = 1_000

/**
 * Rows that accounts have downloaded, by month. A download reserves its rows before it starts, so that several at once
 * can't exceed a limit together. When it ends, the rows that it has sent are counted.
 */
export class Usage {
  readonly #database: Database
  readonly #plans: Plans
  readonly #onUnwritten: (cause: unknown) => void
  readonly #now: () => Date
  readonly #reserved = new Map<number, number>()
  /** Rows that are counted but not yet in the database; the key is account and month. */
  readonly #unwritten = new Map<string, { accountId: number; month: string; rows: number }>()
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #flushing: Promise<void> | undefined
  /** How often `flush` has begun to write. */
  #flushes = 0

  /** @param onUnwritten called with the cause if counted rows could not be written; they stay counted in memory */
  constructor(
    database: Database,
    plans: Plans,
    onUnwritten: (cause: unknown) => void,
    now: () => Date = () => new Date(),
  ) {
    this.#database = database
    this.#plans = plans
    this.#onUnwritten = onUnwritten
    this.#now = now
  }

  /** How often counted rows could not be written. */
  get failures(): number {
    return this.#failures
  }

  /** The current month, UTC, as `2024-06`. */
  get month(): string {
    return this.#now().toISOString().slice(0, 7)
  }

  /** Rows downloaded this month. */
  async exportedRows(accountId: number): Promise<number> {
    return this.#counted(accountId, (rows) => rows)
  }

  /**
   * Rows that the account may still download this month; those of downloads under way are already subtracted. Infinite
   * if its plan sets no limit.
   */
  async remaining({ id, plan }: Account): Promise<number> {
    const limit = this.#plans.limits(plan).exportedRows
    if (limit === null) return Number.POSITIVE_INFINITY
    return this.#counted(id, (rows) => this.#left(id, limit, rows))
  }

  /** Reserves rows of the account's plan. @throws ServerError `plan_limit` */
  async reserve(account: Account, rows: number): Promise<Reservation> {
    const limit = this.#plans.limits(account.plan).exportedRows
    if (limit === null) return this.#reservation(account, rows)
    return this.#counted(account.id, (exported) => {
      const remaining = this.#left(account.id, limit, exported)
      if (rows <= remaining) return this.#reservation(account, rows)
      throw new ServerError(
        'plan_limit',
        `The limit of exported rows is reached: the plan ${account.plan} allows ${limit} a month, ${remaining} are ` +
          `left in ${this.month} (UTC), and this download has ${rows}.`,
      )
    })
  }

  #left(accountId: number, limit: number, exported: number): number {
    return Math.max(0, limit - exported - (this.#reserved.get(accountId) ?? 0))
  }

  #reservation(account: Account, rows: number): Reservation {
    const { month } = this
    this.#setAside(account.id, rows)
    let open = true
    return {
      settle: (sent) => {
        if (!open) return
        open = false
        this.#setAside(account.id, -rows)
        this.#count(account.id, month, sent)
      },
    }
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#flushing?.catch(() => {})
    this.#flushes += 1
    this.#flushing = this.#writeDown()
    try {
      await this.#flushing
    } finally {
      this.#flushing = undefined
    }
  }

  /**
   * Calls `work` with the rows that an account has downloaded this month, at a moment at which the number is exact. As
   * `work` is synchronous, nobody else can reserve the same rows meanwhile.
   */
  async #counted<T>(accountId: number, work: (rows: number) => T): Promise<T> {
    for (;;) {
      await this.#flushing?.catch(() => {})
      const flushes = this.#flushes
      const { month } = this
      const sql = 'SELECT rows FROM exported_rows WHERE account_id = ? AND month = ?'
      const row = await this.#database.get<{ rows: number }>(sql, accountId, month)
      // If a flush has begun meanwhile, its rows would be counted twice or not at all, so read again.
      if (flushes !== this.#flushes) continue
      return work((row?.rows ?? 0) + (this.#unwritten.get(`${accountId} ${month}`)?.rows ?? 0))
    }
  }

  async #writeDown(): Promise<void> {
    for (const [key, { accountId, month, rows }] of this.#unwritten) {
      this.#unwritten.delete(key)
      try {
        const sql = `INSERT INTO exported_rows VALUES (?, ?, ?)
          ON CONFLICT (account_id, month) DO UPDATE SET rows = exported_rows.rows + excluded.rows`
        await this.#database.transaction((t) => t.run(sql, accountId, month, rows), { changes: [] })
      } catch (error) {
        // They may have been written, and rows that are missing are better than rows counted twice.
        const isUnknown = error instanceof EngineError && error.code === 'outcome_unknown'
        if (!isUnknown) this.#add(accountId, month, rows)
        throw error
      }
    }
  }

  #setAside(accountId: number, rows: number): void {
    const reserved = (this.#reserved.get(accountId) ?? 0) + rows
    if (reserved === 0) this.#reserved.delete(accountId)
    else this.#reserved.set(accountId, reserved)
  }

  #count(accountId: number, month: string, rows: number): void {
    // Those that nobody's key has read are limited by the requests of an address.
    if (rows === 0 || accountId === ANONYMOUS.id) return
    this.#add(accountId, month, rows)
    this.#timer ??= setTimeout(() => {
      this.flush().catch((cause) => {
        // For example a full disk. The counted rows stay in memory, and the next download tries to write them again.
        this.#failures += 1
        this.#onUnwritten(cause)
      })
    }, FLUSH_MS).unref()
  }

  #add(accountId: number, month: string, rows: number): void {
    const key = `${accountId} ${month}`
    const before = this.#unwritten.get(key)?.rows ?? 0
    this.#unwritten.set(key, { accountId, month, rows: before + rows })
  }
}
