import type { DatabaseSync } from 'node:sqlite'
import type { LimitStore } from '../../connectors/index.ts'
import { isStorageFull } from '../http/errors.ts'

/** Keeps what has been spent of providers' limits in the database, so that a restart gives nothing back. */
export function providerLimits(database: DatabaseSync, now: () => number = Date.now): LimitStore {
  const sweep = database.prepare('DELETE FROM provider_limits WHERE expires_at < ?')
  ifThereIsRoom(() => sweep.run(now()))
  const load = database.prepare(
    'SELECT consumed, expires_at AS expiresAt FROM provider_limits WHERE name = ?',
  )
  const save = database.prepare(
    'INSERT INTO provider_limits VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET consumed = excluded.consumed, expires_at = excluded.expires_at',
  )
  return {
    load: (key) => {
      const row = load.get(key)
      return row && { consumed: row['consumed'] as number, expiresAt: row['expiresAt'] as number }
    },
    save: (key, consumed, expiresAt) => {
      // Providers are asked on while the disk is full; until a restart this process knows what was spent.
      ifThereIsRoom(() => save.run(key, consumed, expiresAt))
    },
  }
}

function ifThereIsRoom(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!isStorageFull(error)) throw error
  }
}
