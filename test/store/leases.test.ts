import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Events } from '../../engine/events.ts'
import { Store } from '../../engine/store/store.ts'

let directory: string
let store: Store
let dataset: number

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-leases-'))
  store = await Store.open({ directory, role: 'server', threads: 1, events: new Events() })
  const { id: repositoryId } = await store.repositories.create({ name: 'r' })
  dataset = (await store.datasets.create({ repositoryId, name: 'd', columns: [] })).id
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

/** Makes a new version, without rows. */
const commit = () =>
  store.commits.commit(dataset, [], ({ columns }) => ({
    columns,
    parts: [],
    change: { operation: 'append', addedRows: 0, removedRows: 0 },
  }))

async function leased(): Promise<number[]> {
  const leases = await store.storage.database.all<{ id: number }>('SELECT version_id AS id FROM leases')
  return leases.map(({ id }) => id)
}

test('leases of versions that are read no more are removed, that of the current one stays', async () => {
  for (let time = 0; time < 3; time++) {
    await commit()
    ;(await store.members.take(dataset))[Symbol.dispose]()
  }
  expect(await leased()).toHaveLength(3)
  await store.commits.reclaim(dataset)
  expect(await leased()).toEqual([(await store.versions.current(dataset)).id])
})

test('a version that is taken again while its lease is about to be removed keeps it', async () => {
  const first = await store.members.take(dataset)
  const { number } = first.version
  await commit()
  first[Symbol.dispose]()
  await store.background.settled()
  await store.commits.reclaim(dataset)
  ;(await store.members.takeNumbered(dataset, { number }))![Symbol.dispose]()

  const turn = Promise.withResolvers<void>()
  const before = store.storage.database.transaction(() => turn.promise)
  const taking = store.members.takeNumbered(dataset, { number })
  const removing = store.commits.reclaim(dataset)
  for (let time = 0; time < 5; time++) await nextTurn()
  turn.resolve()
  await Promise.all([before, removing])
  using again = (await taking)!
  expect(await leased()).toContain(again.version.id)
})
