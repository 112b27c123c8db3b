import { EngineError } from '../errors.ts'
import type { Database } from './database.ts'

/**
 * Brings the tables of one namespace up to date: runs the steps that have not been run yet, all in one transaction.
 * Refuses a database that a newer program has made, because its tables may mean something else. Gives how many steps had
 * been run before, if an older program has made the tables.
 * @throws EngineError `locked`
 */
export async function migrate(
  database: Database,
  namespace: string,
  steps: readonly string[],
): Promise<number | undefined> {
  const { definition } = database.dialect
  return database.transaction(async (t) => {
    await t.lockName('migrations')
    await t.exec(
      definition(
        'CREATE TABLE IF NOT EXISTS migrations (namespace TEXT PRIMARY KEY, step INTEGER NOT NULL) STRICT',
      ),
    )
    const row = await t.get<{ step: number }>('SELECT step FROM migrations WHERE namespace = ?', namespace)
    const done = row?.step ?? 0
    if (done > steps.length) {
      throw new EngineError(
        'locked',
        `The catalog was written by a newer version (${namespace} step ${done}; this version knows ${steps.length}).`,
      )
    }
    if (done === steps.length) return undefined
    for (const step of steps.slice(done)) await t.exec(definition(step))
    await t.run(
      'INSERT INTO migrations VALUES (?, ?) ON CONFLICT (namespace) DO UPDATE SET step = excluded.step',
      namespace,
      steps.length,
    )
    return done === 0 ? undefined : done
  })
}
