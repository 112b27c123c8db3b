import { createHook } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SqliteDatabase } from '../../engine/catalog/sqlite.ts'
import { POOL_THREADS } from '../../engine/util/threads.ts'

let folder: string
let file: string
let database: SqliteDatabase
/** A connection of somebody else, who sees what is committed at once. */
let other: DatabaseSync
let made = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parquetry-syncs-'))
})
beforeEach(async () => {
  file = join(folder, `${++made}.sqlite`)
  database = new SqliteDatabase(file)
  await database.exec('CREATE TABLE things (name TEXT UNIQUE) STRICT')
  other = new DatabaseSync(file)
})
afterEach(async () => {
  other.close()
  await database.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const add = (name: string) => database.run('INSERT INTO things VALUES (?)', name)
const NAMES = 'SELECT name FROM things ORDER BY rowid'
const names = async () => (await database.all<{ name: string }>(NAMES)).map(({ name }) => name)
const committed = () => other.prepare(NAMES).all().length

/** Has every thread of the pool wait, so that no sync begins until the result is called. */
function blockPool(): () => Promise<void> {
  const pipe = join(folder, `pipe${++made}`)
  execFileSync('mkfifo', [pipe])
  const waiting = Array.from({ length: POOL_THREADS }, () => open(pipe, 'r'))
  return async () => {
    const writer = openSync(pipe, 'r+')
    for (const handle of await Promise.all(waiting)) await handle.close()
    closeSync(writer)
  }
}

/** How many syncs some work has begun. */
async function syncsOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const hook = createHook({ init: (_, type) => void (count += Number(type === 'FSREQCALLBACK')) }).enable()
  try {
    await work()
  } finally {
    hook.disable()
  }
  return count
}

describe.skipIf(process.platform === 'win32')('a commit that is not on disk yet', () => {
  it('is answered and seen once it is there, and before that only by transactions after it', async () => {
    await add('before')
    const cached = () => database.cached('names', names)
    expect(await cached()).toEqual(['before'])
    const unblock = blockPool()
    let isAnswered = false
    const added = add('a').then(() => {
      isAnswered = true
      return names()
    })
    while (committed() < 2) await turn()
    expect(await names()).toEqual(['before'])
    expect(await cached()).toEqual(['before'])
    let within: unknown
    const next = database.transaction(async (t) => {
      within = (await t.all<{ name: string }>(NAMES)).map(({ name }) => name)
      expect(await names()).toEqual(['before'])
      await t.run("INSERT INTO things VALUES ('b')")
    })
    while (committed() < 3) await turn()
    expect(within).toEqual(['before', 'a'])
    expect({ isAnswered, names: await names(), cached: await cached() }).toEqual({
      isAnswered: false,
      names: ['before'],
      cached: ['before'],
    })
    await unblock()
    // The other commit is still being synced then.
    expect(await added).toEqual(['before', 'a'])
    await next
    expect(await names()).toEqual(['before', 'a', 'b'])
    expect(await cached()).toEqual(['before', 'a', 'b'])
  })

  it('is not waited for by reads of what others write, which are not kept for later', async () => {
    const cached = () => database.cached('names', names)
    const unblock = blockPool()
    const added = database.transaction((t) => t.run("INSERT INTO things VALUES ('a')"), { changes: [] })
    while (committed() < 1) await turn()
    other.exec("INSERT INTO things VALUES ('of others')")
    await turn()
    expect(await cached()).toEqual([])
    await unblock()
    await added
    await turn()
    expect(await cached()).toEqual(['a', 'of others'])
  })

  it('need not be there when what it changed may be lost', async () => {
    expect(await syncsOf(() => database.transient((t) => t.run("INSERT INTO things VALUES ('a')")))).toBe(0)
    expect(await names()).toEqual(['a'])
    const unblock = blockPool()
    const added = add('b')
    while (committed() < 2) await turn()
    const lost = database.transient((t) => t.run("INSERT INTO things VALUES ('c')"))
    await Promise.all([unblock(), added, lost])
    expect(await names()).toEqual(['a', 'b', 'c'])
  })
})

it.skipIf(process.platform === 'win32')(
  'commits that wait share a sync, and one that fails is taken back alone',
  async () => {
    await add('taken')
    const unblock = blockPool()
    const wanted = Array.from({ length: 20 }, (_, n) => `${n}`)
    let outcomes: PromiseSettledResult<unknown>[] = []
    const syncs = await syncsOf(async () => {
      const adding = Promise.allSettled([...wanted.slice(0, 10), 'taken', ...wanted.slice(10)].map(add))
      while (committed() < 21) await turn()
      await unblock()
      outcomes = await adding
    })
    // The first begins at once, the others wait for it.
    expect(syncs).toBe(2)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(await names()).toEqual(['taken', ...wanted])
  },
)

it('one commit after the other is synced once each', async () => {
  const syncs = await syncsOf(async () => {
    for (const name of ['a', 'b', 'c']) await add(name)
  })
  expect(syncs).toBe(3)
})

it.each([1, 16])('the log is begun anew while %i clients go on writing', async (clients) => {
  const COUNT = 400
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let n = 0; n < COUNT / clients; n++) await add(`${client} ${n}`.padEnd(3_000, '.'))
    }),
  )
  expect(await names()).toHaveLength(COUNT)
  // Each commit has two or three pages of 4 KiB, so that the whole log would have more than 3 MB.
  expect(statSync(`${file}-wal`).size).toBeLessThan(2 ** 20)
})

it('what has begun when a database is closed is committed before', async () => {
  const closing = new SqliteDatabase(file)
  const adding = ['a', 'b', 'c'].map((name) => closing.run('INSERT INTO things VALUES (?)', name))
  await Promise.all([...adding, closing.close()])
  expect(await names()).toEqual(['a', 'b', 'c'])
})
