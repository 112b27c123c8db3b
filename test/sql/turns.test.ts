import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
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

/** The processes that this one has started for SQL, and how much nicer than this one each of their threads is. */
function processes(): number[][] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isOurs = statOf(`/proc/${pid}`)[1] === String(process.pid)
      if (!isOurs || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sql/process/main')) return []
      const threads = readdirSync(`/proc/${pid}/task`)
      return [threads.map((thread) => Number(statOf(`/proc/${pid}/task/${thread}`)[16]) - getPriority())]
    } catch {
      return []
    }
  })
}

/** What Linux says of a process or thread, from its state on. */
const statOf = (path: string): string[] => readFileSync(`${path}/stat`, 'utf8').split(') ')[1]!.split(' ')

test.runIf(process.platform === 'linux')(
  'a statement that takes long goes on behind others, and a process is ready for the next account',
  async () => {
    await using at = await openWorkplace({})
    const { engine } = at
    const leaving = new AbortController()
    using long = await engine.sql(HEAVY, undefined, { by: 'ann' })
    const count = long.rows({ signal: leaving.signal }).next()
    count.catch(() => {})
    const levels = () => processes().map((threads) => [...new Set(threads)].join())
    await expect.poll(levels, { timeout: 60_000 }).toHaveLength(2)
    await expect.poll(() => levels().toSorted(), { timeout: 60_000 }).toEqual(['0', '10'])
    using other = await engine.sql('SELECT 1 AS one', undefined, { by: 'bob' })
    expect(await Array.fromAsync(other.rows())).toEqual([{ one: 1 }])
    leaving.abort()
    await expect(count).rejects.toMatchObject({ code: 'cancelled' })
    long[Symbol.dispose]()
    // A process without the right to its old priority does nothing more.
    await expect.poll(() => levels().includes('10'), { timeout: 60_000 }).toBe(false)
  },
)
