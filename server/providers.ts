import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import type { FastifyBaseLogger } from 'fastify'
import { ConnectorError } from '../connectors/errors.ts'
import type {
  AnswerStore,
  ConnectorEvent,
  Connectors,
  LimitEntries,
  LimitStore,
} from '../connectors/index.ts'
import { type Database, type Handle, isUnwritable } from '../engine/index.ts'
import { ConfigError } from './config/read.ts'
import type { Config } from './config/schema.ts'

/**
 * Opens the connectors as they are configured, with their limits and search index in the data directory. Used by the
 * server and by commands.
 * @throws ConfigError if the configuration names an unknown provider
 */
export async function openProviders(
  config: Config,
  database: Database,
  log: (event: ConnectorEvent) => void,
): Promise<Connectors> {
  // Not imported at the top, because most starts need no provider soon, and there are many of them.
  const { openConnectors } = await import('../connectors/index.ts')
  const limitStore = await providerLimits(database)
  try {
    return openConnectors({
      overrides: overridesOf(config),
      ...(config.contact !== undefined && { contact: config.contact }),
      limitStore,
      ...(database.isShared && {
        answers: new ProviderAnswers(database, (cause) =>
          log({
            level: 'warn',
            provider: 'all',
            message: 'An answer could not be shared with other nodes.',
            cause,
          }),
        ),
      }),
      searchFile: join(config.data, 'search.db'),
      timeouts: { headersMs: config.timeouts.provider, bodyMs: config.timeouts.provider },
      log,
    })
  } catch (error) {
    if (!(error instanceof ConnectorError) || error.code !== 'unknown_provider') throw error
    throw new ConfigError(`providers.${error.provider}: there is no such provider.`)
  }
}

function overridesOf({ providers }: Config) {
  return Object.fromEntries(
    Object.entries(providers).map(([slug, { url, ...others }]) => [
      slug,
      { ...others, ...(url !== undefined && { baseUrl: url }) },
    ]),
  )
}

/** Long enough for the first requests of a start, which need the same thread. */
const INDEX_DELAY = 5_000

/** After so many providers in a row that can not be reached there is probably no network. */
const MOST_UNREACHABLE = 3

/**
 * Fetches the catalogues that the index lacks of the providers that need no key, one after the other. One that does not
 * answer is asked again at the next start. Gives the function that ends it.
 */
export function indexProviders(
  open: () => Promise<Pick<Connectors, 'unindexed' | 'index'>>,
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  delay = INDEX_DELAY,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const fill = async () => {
    const connectors = await open()
    let unreachable = 0
    for (const slug of connectors.unindexed()) {
      if (signal.aborted || unreachable === MOST_UNREACHABLE) break
      try {
        await connectors.index(slug, {}, { signal })
        unreachable = 0
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error
        unreachable = error.code === 'provider_down' ? unreachable + 1 : 0
      }
    }
    const providers = connectors.unindexed()
    if (signal.aborted || providers.length === 0) return
    log.info({ providers }, 'The catalogues of these providers were not fetched; the next start tries again.')
  }
  let filling = Promise.resolve()
  const timer = setTimeout(() => {
    filling = fill().catch((err: unknown) => log.warn({ err }, 'The index of series could not be filled.'))
  }, delay).unref()
  return async () => {
    clearTimeout(timer)
    stopping.abort()
    await filling
  }
}

interface Row {
  readonly name: string
  readonly consumed: number
  readonly expiresAt: number
}

const SELECT = 'SELECT name, consumed, expires_at AS "expiresAt" FROM provider_limits'

const SAVE = `INSERT INTO provider_limits VALUES (?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET consumed = excluded.consumed, expires_at = excluded.expires_at`

/** Keeps in the database how much of the providers' limits is used up, so that a restart does not reset it. */
export async function providerLimits(database: Database, now: () => number = Date.now): Promise<LimitStore> {
  const expired = 'DELETE FROM provider_limits WHERE expires_at < ?'
  try {
    await database.transient(async (t) => t.run(expired, (await sharedClock(database, t)) ?? now()))
  } catch (error) {
    if (!isUnwritable(error)) throw error
  }
  const seen = new Map<string, Row>()
  const see = (rows: readonly Row[]) => {
    for (const row of rows) seen.set(row.name, { ...row })
  }
  see(await database.all<Row>(SELECT))
  const load = (key: string) => seen.get(key)
  return {
    seen: { load },
    async exclusively(name, work) {
      const saved = new Map<string, Row>()
      const entries: LimitEntries = {
        load,
        save(name, consumed, expiresAt) {
          const row = { name, consumed, expiresAt }
          // This process sees it even if the transaction fails.
          seen.set(name, row)
          saved.set(name, row)
        },
      }
      let done: { readonly result: ReturnType<typeof work> } | undefined
      try {
        return await database.transient(async (t) => {
          await t.lockName(`limits ${name}`)
          // What other processes have used, of all names that begin so: the upper bound ends with the last Unicode
          // character.
          see(await t.all<Row>(`${SELECT} WHERE name >= ? AND name < ?`, name, `${name}\u{10ffff}`))
          done ??= { result: work(entries, await sharedClock(database, t)) }
          for (const row of saved.values()) await t.run(SAVE, row.name, row.consumed, row.expiresAt)
          return done.result
        })
      } catch (error) {
        // Only the database knows what other nodes have used.
        if (!isUnwritable(error) || database.isShared) throw error
        // Providers can still be asked while nothing can be written: until it ends, this process remembers what was
        // used.
        return done ? done.result : work(entries)
      }
    },
  }
}

/** The time by which all nodes count, where the clocks of their machines may differ. */
async function sharedClock({ isShared }: Database, t: Handle): Promise<number | undefined> {
  if (!isShared) return undefined
  return (await t.get<{ now: number }>(`SELECT ${t.dialect.now} AS now`))!.now
}

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
