import { expect, test } from 'vitest'
import { openWorkplace } from '../engine/workplace.ts'

/** Ends long after the test. */
const HEAVY = `WITH v(n) AS (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))
  SELECT count(*) AS n FROM ${Array.from({ length: 14 }, (_, at) => `v t${at}`).join(', ')}
  WHERE (t0.n * t1.n + t2.n * t3.n + t13.n) % 7 = 3`

test('a statement that gets no process in time says that those of the account are running', async () => {
  await using at = await openWorkplace({ sqlWaitMs: 1 })
  const { engine } = at
  const leaving = new AbortController()
  const { signal } = leaving
  const open = (by: string) => engine.sql(HEAVY, undefined, { by })
  const queries = [await open('ann'), await open('ann')]
  const counts = queries.map((query) => query.rows({ signal }).next())
  for (const count of counts) count.catch(() => {})
  await expect.poll(async () => (await engine.stats()).statements.running, { timeout: 60_000 }).toBe(2)
  await expect(engine.sql('SELECT 1 AS one', undefined, { by: 'ann' })).rejects.toMatchObject({
    code: 'overloaded',
    message: 'Your account is running 2 statements, the maximum at once. Try again when one has ended.',
    details: { running: 2, limit: 2 },
  })
  using other = await engine.sql('SELECT 1 AS one', undefined, { by: 'bob' })
  expect(await Array.fromAsync(other.rows())).toEqual([{ one: 1 }])
  leaving.abort()
  for (const count of counts) await expect(count).rejects.toMatchObject({ code: 'cancelled' })
  for (const query of queries) query[Symbol.dispose]()
})
