import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Database, Handle } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'

const HOUR_MS = 3_600_000
const KEPT_MS = 24 * HOUR_MS
const SHAPE = /^[\x21-\x7e]{1,255}$/

/** Makes a change in a transaction and keeps what is answered, so that both are committed or neither. */
export type Keep = <T>(t: Handle, make: () => Promise<T>) => Promise<T>

interface StoredAnswer {
  readonly fingerprint: string
  readonly answer: string
}

/** What was answered to requests with an `Idempotency-Key`, so that a request that is sent again changes nothing. */
export class Idempotency {
  readonly #database: Database
  #cleaned = Number.NEGATIVE_INFINITY

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Does the work of a request, or gives the answer to an earlier one of the account with the same key.
   * @param fingerprint gives a hash of the body. For a repeated request it is called before anything is done
   * @param work must make its change with `keep`
   * @throws ServerError `idempotency_key_reused`, `bad_request`
   */
  async once<T>(
    request: FastifyRequest,
    fingerprint: () => string | Promise<string>,
    work: (keep: Keep) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(request)
    if (key === undefined) return work((_t, make) => make())
    const { id } = request.account
    const of = async () => digest(request.method, request.url, await fingerprint())
    const known = await this.#find(id, key)
    if (known) return again(known, await of())
    let isRepeated = false
    try {
      return await work(async (t, make) => {
        isRepeated = !(await this.#claim(t, id, key, await of()))
        if (isRepeated) throw new Error('another request with this key was faster')
        const answer = await make()
        const sql = 'UPDATE idempotency_keys SET answer = ? WHERE account_id = ? AND name = ?'
        await t.run(sql, JSON.stringify(answer ?? null), id, key)
        return answer
      })
    } catch (error) {
      const other = isRepeated ? await this.#find(id, key) : undefined
      if (!other) throw error
      return again(other, await of())
    } finally {
      await this.#clean()
    }
  }

  /** Makes something in a transaction, as `once`. */
  create<T>(request: FastifyRequest, make: (t: Handle) => Promise<T>): Promise<T> {
    return this.once(
      request,
      () => JSON.stringify(request.body),
      (keep) => this.#database.transaction((t) => keep(t, () => make(t))),
    )
  }

  #find(account: number, key: string): Promise<StoredAnswer | undefined> {
    const { now } = this.#database.dialect
    return this.#database.get<StoredAnswer>(
      `SELECT fingerprint, answer FROM idempotency_keys WHERE account_id = ? AND name = ? AND kept_at > ${now} - ?`,
      account,
      key,
      KEPT_MS,
    )
  }

  /** Gives false if the key is taken. Waits for another transaction that is just taking it. */
  async #claim(t: Handle, account: number, key: string, fingerprint: string): Promise<boolean> {
    const { now } = t.dialect
    const changed = await t.run(
      `INSERT INTO idempotency_keys (account_id, name, fingerprint, answer, kept_at) VALUES (?, ?, ?, 'null', ${now})
       ON CONFLICT (account_id, name) DO UPDATE SET fingerprint = excluded.fingerprint, kept_at = excluded.kept_at
       WHERE idempotency_keys.kept_at <= ${now} - ?`,
      account,
      key,
      fingerprint,
      KEPT_MS,
    )
    return changed > 0
  }

  /** Forgets old keys, once in an hour. */
  async #clean(): Promise<void> {
    if (performance.now() - this.#cleaned < HOUR_MS) return
    this.#cleaned = performance.now()
    const sql = `DELETE FROM idempotency_keys WHERE kept_at <= ${this.#database.dialect.now} - ?`
    // Nothing depends on it, so it is left for the next hour.
    await this.#database.transient((t) => t.run(sql, KEPT_MS)).catch(() => {})
  }
}

function again<T>({ fingerprint, answer }: StoredAnswer, given: string): T {
  if (fingerprint === given) return JSON.parse(answer)
  throw new ServerError(
    'idempotency_key_reused',
    'Another request was sent with this Idempotency-Key in the last day. Nothing was changed; use a new key for a new request.',
  )
}

/** @throws ServerError `bad_request` */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const given = headers['idempotency-key']
  if (given === undefined) return undefined
  if (typeof given === 'string' && SHAPE.test(given)) return given
  throw new ServerError('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
}

function digest(...texts: readonly string[]): string {
  return hash('sha256', texts.map((text) => `${text}\n`).join(''), 'base64url')
}
