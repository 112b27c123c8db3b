import type { LimitStore } from '../../connectors/index.ts'
import { type Database, isUnwritable } from '../../engine/index.ts'

/** Keeps what has been spent of providers' limits in the database, so that a restart gives nothing back. */
export function providerLimits(database: Database, now: () => number = Date.now): LimitStore {
  ifWritable(() => database.run('DELETE FROM provider_limits WHERE expires_at < ?', now()))
  return {
    // While nothing can be written this process counts alone.
    exclusively: (work) => {
      try {
        return database.transient(work)
      } catch (error) {
        if (!isUnwritable(error)) throw error
        return work()
      }
    },
    load: (key) => {
      const row = database.get<{ consumed: number; expiresAt: number }>(
        'SELECT consumed, expires_at AS expiresAt FROM provider_limits WHERE name = ?',
        key,
      )
      return row && { ...row }
    },
    save: (key, consumed, expiresAt) => {
      // Providers are asked on while nothing can be written; until a restart this process knows what was spent.
      ifWritable(() =>
        database.run(
          `INSERT INTO provider_limits VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET consumed = excluded.consumed, expires_at = excluded.expires_at`,
          key,
          consumed,
          expiresAt,
        ),
      )
    },
  }
}

function ifWritable(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!isUnwritable(error)) throw error
  }
}
