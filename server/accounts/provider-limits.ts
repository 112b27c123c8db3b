import type { LimitEntries, LimitStore } from '../../connectors/index.ts'
import { type Database, type Handle, isUnwritable } from '../../engine/index.ts'

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
