import type { Database } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import type { Account } from './accounts.ts'

/** Rows set aside for a download under way. */
export interface Reservation {
  /** Counts what was really sent and frees the rest. Only the first call counts. */
  settle(rows: number): void
}

/** How often counted rows are written down: one commit for many downloads, a second lost at most in a crash. */
const FLUSH_MS = 1_000

/**
 * Rows that accounts have downloaded, by month. A download sets its rows aside before it starts, so that many at once
 * can't pass a limit together, and counts those that it sent when it ends.
 */
export class Usage {
  readonly #database: Database
  readonly #onUnwritten: (cause: unknown) => void
  readonly #now: () => Date
  readonly #reserved = new Map<number, number>()
  /** Counted, not written down yet; the key is account and month. */
  readonly #unwritten = new Map<string, { accountId: number; month: string; rows: number }>()
  #timer: NodeJS.Timeout | undefined
  #failures = 0

  /** @param onUnwritten is told why, where counted rows could not be written down; they stay counted in memory */
  constructor(database: Database, onUnwritten: (cause: unknown) => void, now: () => Date = () => new Date()) {
    this.#database = database
    this.#onUnwritten = onUnwritten
    this.#now = now
  }

  /** How often counted rows could not be written down. */
  get failures(): number {
    return this.#failures
  }

  /** The current month, UTC, as `2024-06`. */
  get month(): string {
    return this.#now().toISOString().slice(0, 7)
  }

  /** Rows downloaded this month. */
  exportedRows(accountId: number): number {
    const { month } = this
    const sql = 'SELECT rows FROM exported_rows WHERE account_id = ? AND month = ?'
    const row = this.#database.get<{ rows: number }>(sql, accountId, month)
    return (row?.rows ?? 0) + (this.#unwritten.get(`${accountId} ${month}`)?.rows ?? 0)
  }

  /** Rows that may still be asked for this month; those of downloads under way are gone already. */
  remaining(accountId: number, limit: number | null): number {
    if (limit === null) return Number.POSITIVE_INFINITY
    return Math.max(0, limit - this.exportedRows(accountId) - (this.#reserved.get(accountId) ?? 0))
  }

  /** @throws ServerError `plan_limit` */
  reserve(account: Account, limit: number | null, rows: number): Reservation {
    const remaining = this.remaining(account.id, limit)
    if (rows > remaining) {
      throw new ServerError(
        'plan_limit',
        `The limit of exported rows is reached: the plan ${account.plan} allows ${limit} a month, ${remaining} are ` +
          `left in ${this.month} (UTC), and this download has ${rows}.`,
      )
    }
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

  /** Writes down what has been counted. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [key, entry] of this.#unwritten) {
      this.#database.run(
        'INSERT INTO exported_rows VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows',
        entry.accountId,
        entry.month,
        entry.rows,
      )
      this.#unwritten.delete(key)
    }
  }

  #setAside(accountId: number, rows: number): void {
    const reserved = (this.#reserved.get(accountId) ?? 0) + rows
    if (reserved === 0) this.#reserved.delete(accountId)
    else this.#reserved.set(accountId, reserved)
  }

  #count(accountId: number, month: string, rows: number): void {
    if (rows === 0) return
    const key = `${accountId} ${month}`
    const before = this.#unwritten.get(key)?.rows ?? 0
    this.#unwritten.set(key, { accountId, month, rows: before + rows })
    this.#timer ??= setTimeout(() => {
      try {
        this.flush()
      } catch (cause) {
        // A full disk, say: what was counted stays in memory, and the next download tries again.
        this.#timer = undefined
        this.#failures += 1
        this.#onUnwritten(cause)
      }
    }, FLUSH_MS).unref()
  }
}
