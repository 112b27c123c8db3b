import { LRUCache } from 'lru-cache'
import type { Database } from '../../engine/index.ts'

/** How exactly the last use of a key or a link is known. */
const EXACT_MS = 60_000

/** Notes when rows of a table were last used, each once a minute. No request waits for it or fails because of it. */
export class LastUse {
  readonly #database: Database
  readonly #sql: string
  readonly #now: () => Date
  readonly #noted = new LRUCache<number, true>({ max: 4_096, ttl: EXACT_MS })

  constructor(database: Database, table: 'links' | 'account_keys', now: () => Date) {
    this.#database = database
    this.#sql = `UPDATE ${table} SET last_used_at = ? WHERE id = ?`
    this.#now = now
  }

  note(id: number): void {
    if (this.#noted.has(id)) return
    this.#noted.set(id, true)
    const at = this.#now().toISOString()
    this.#database
      .unattended(() => this.#database.transaction((t) => t.run(this.#sql, at, id), { changes: [] }))
      // For example a full disk.
      .catch(() => undefined)
  }
}
