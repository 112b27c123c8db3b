import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import type { AnswerStore } from '../../connectors/index.ts'
import type { Database } from '../../engine/index.ts'

/** How long an answer belongs to the node that fetches it. If that node dies, another one fetches it then. */
const TAKEN_MS = 30_000
const RENEW_MS = 10_000
/** How often to look whether another node has the answer that it fetches. */
const LOOK_MS = 100
/** Larger answers, serialized, are not shared. */
const LARGEST = 8 * 2 ** 20
/** How often answers are removed that are no longer fresh. */
const CLEAN_MS = 60_000

/**
 * Answers of providers in the database that the nodes of a cluster share. A node that is asked for something that no node
 * has fetched lately takes it, asks the provider and leaves the answer there.
 */
export class ProviderAnswers implements AnswerStore {
  readonly #database: Database
  readonly #now: string
  readonly #warn: (cause: unknown) => void
  #cleaned = 0

  /** @param warn called if an answer could not be read or not be left for the others; the caller who waits gets it */
  constructor(database: Database, warn: (cause: unknown) => void) {
    this.#database = database
    this.#now = database.dialect.now
    this.#warn = warn
  }

  async read(
    key: string,
    freshMs: number,
    fetch: () => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<{ value: unknown; ageMs?: number }> {
    const name = createHash('sha256').update(key).digest('base64url')
    const taker = randomUUID()
    for (;;) {
      const found = await this.#find(name, freshMs)
      if (found) return found
      if (await this.#take(name, taker, freshMs)) break
      await sleep(LOOK_MS, undefined, { signal })
    }
    const renewing = setInterval(() => this.#renew(name, taker).catch(this.#warn), RENEW_MS).unref()
    try {
      const value = await fetch()
      await this.#leave(name, taker, freshMs, value).catch(this.#warn)
      return { value }
    } catch (error) {
      await this.#giveUp(name, taker).catch(this.#warn)
      throw error
    } finally {
      clearInterval(renewing)
    }
  }

  async #find(name: string, freshMs: number): Promise<{ value: unknown; ageMs: number } | undefined> {
    const row = await this.#database.get<{ value: Uint8Array; age: number }>(
      `SELECT value, ${this.#now} - fetched_at AS age FROM provider_answers
       WHERE name = ? AND value IS NOT NULL AND fetched_at > ${this.#now} - ?`,
      name,
      freshMs,
    )
    if (!row) return undefined
    try {
      return { value: deserialize(row.value), ageMs: Math.max(0, row.age) }
    } catch (cause) {
      // A newer version of Node.js has written it. Removed, it is fetched again in a form that all nodes can read.
      this.#warn(cause)
      const sql = `DELETE FROM provider_answers WHERE name = ? AND taken_until < ${this.#now}`
      await this.#database.transient((t) => t.run(sql, name))
      return undefined
    }
  }

  /** Gives false if another node fetches the answer, or has just fetched it. */
  async #take(name: string, taker: string, freshMs: number): Promise<boolean> {
    const sql = `INSERT INTO provider_answers (name, taken_by, taken_until) VALUES (?, ?, ${this.#now} + ${TAKEN_MS})
      ON CONFLICT (name) DO UPDATE SET taken_by = excluded.taken_by, taken_until = excluded.taken_until
      WHERE provider_answers.taken_until < ${this.#now} AND provider_answers.fetched_at <= ${this.#now} - ?`
    return (await this.#database.transient((t) => t.run(sql, name, taker, freshMs))) > 0
  }

  async #renew(name: string, taker: string): Promise<void> {
    const sql = `UPDATE provider_answers SET taken_until = ${this.#now} + ${TAKEN_MS} WHERE name = ? AND taken_by = ?`
    await this.#database.transient((t) => t.run(sql, name, taker))
  }

  async #leave(name: string, taker: string, freshMs: number, value: unknown): Promise<void> {
    const bytes = serialize(value)
    if (bytes.byteLength > LARGEST) return this.#giveUp(name, taker)
    const sql = `UPDATE provider_answers SET value = ?, fetched_at = ${this.#now}, kept_until = ${this.#now} + ?,
      taken_until = 0 WHERE name = ? AND taken_by = ?`
    await this.#database.transient((t) => t.run(sql, bytes, freshMs, name, taker))
    await this.#clean()
  }

  async #giveUp(name: string, taker: string): Promise<void> {
    const mine = 'WHERE name = ? AND taken_by = ?'
    await this.#database.transient(async (t) => {
      await t.run(`DELETE FROM provider_answers ${mine} AND value IS NULL`, name, taker)
      await t.run(`UPDATE provider_answers SET taken_until = 0 ${mine}`, name, taker)
    })
  }

  async #clean(): Promise<void> {
    if (performance.now() - this.#cleaned < CLEAN_MS) return
    this.#cleaned = performance.now()
    const sql = `DELETE FROM provider_answers WHERE kept_until < ${this.#now} AND taken_until < ${this.#now}`
    await this.#database.transient((t) => t.run(sql))
  }
}
