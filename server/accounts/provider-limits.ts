import type { LimitEntries, LimitStore } from '../../connectors/index.ts'
import { type Database, type Handle, isUnwritable } from '../../engine/index.ts'

interface Row {
  readonly name: string
  readonly consumed: number
  readonly expiresAt: number
}

const SELECT = 'SELECT name, consumed, expires_at AS "expiresAt" FROM provider_limits'

/** Keeps in the database how much of the providers' limits is used up, so that a restart does not reset it. */
export async function providerLimits(database: Database, now: () => number = Date.now): Promise<LimitStore> {
  await ifWritable(() =>
    database.transient(async (t) =>
      t.run('DELETE FROM provider_limits WHERE expires_at < ?', (await sharedClock(database, t)) ?? now()),
    ),
  )
  const seen = new Map<string, Row>()
  for (const row of await database.all<Row>(SELECT)) seen.set(row.name, { ...row })
  return {
    seen: { load: (key) => seen.get(key) },
    async exclusively(name, work) {
      const entries = new Entries(seen)
      let done: { readonly result: ReturnType<typeof work> } | undefined
      try {
        return await database.transient(async (t) => {
          await t.lockName(`limits ${name}`)
          await entries.read(t, name)
          done ??= { result: work(entries, await sharedClock(database, t)) }
          await entries.write(t)
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

/** The entries of one name while `work` uses them. This process sees saved entries even if the transaction fails. */
class Entries implements LimitEntries {
  readonly #seen: Map<string, Row>
  readonly #saved = new Map<string, Row>()

  constructor(seen: Map<string, Row>) {
    this.#seen = seen
  }

  /**
   * Reads what other processes have used. The upper bound is the name with the last Unicode character behind it, so all
   * names that begin with `name` are read.
   */
  async read(t: Handle, name: string): Promise<void> {
    const rows = await t.all<Row>(`${SELECT} WHERE name >= ? AND name < ?`, name, `${name}\u{10ffff}`)
    for (const row of rows) this.#seen.set(row.name, { ...row })
  }

  load(key: string): Row | undefined {
    return this.#seen.get(key)
  }

  save(name: string, consumed: number, expiresAt: number): void {
    const row = { name, consumed, expiresAt }
    this.#seen.set(name, row)
    this.#saved.set(name, row)
  }

  async write(t: Handle): Promise<void> {
    for (const { name, consumed, expiresAt } of this.#saved.values()) {
      await t.run(
        `INSERT INTO provider_limits VALUES (?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET consumed = excluded.consumed, expires_at = excluded.expires_at`,
        name,
        consumed,
        expiresAt,
      )
    }
  }
}

async function ifWritable(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isUnwritable(error)) throw error
  }
}
