import { expect, test, vi } from 'vitest'
import { Datasets } from '../../engine/catalog/datasets.ts'
import { History } from '../../engine/catalog/history.ts'
import { Parts } from '../../engine/catalog/parts.ts'
import type { Part } from '../../engine/catalog/records.ts'
import { Versions } from '../../engine/catalog/versions.ts'
import { changed, useCatalog } from './catalog.ts'

const catalog = useCatalog()
const KEEP_ONE = { versions: 1, days: 30 }
const idsOf = (parts: readonly { id: number }[]) => parts.map(({ id }) => id)

async function start() {
  const id = await catalog.dataset(await catalog.repository())
  return { id, versions: new Versions(catalog.database, KEEP_ONE) }
}

test('a version has the sums of its parts, its columns and its key', async () => {
  const { id, versions } = await start()
  const parts = [await catalog.part(10), await catalog.part(5, { rows: 4 })]
  const columns = [{ name: 'n', type: 'integer', nullable: true, description: '' }] as const
  await catalog.commit(id, parts, changed('replace'), { columns, key: ['n'] })
  const current = await versions.current(id)
  expect(current).toMatchObject({ number: 1, rows: 5, bytes: 15, rawBytes: 40, parts, columns, key: ['n'] })
  await catalog.commit(id, parts, changed('append'))
  expect(await versions.current(id)).toMatchObject({ number: 2, key: [], columns: [] })
  await expect(versions.current(id + 1)).rejects.toMatchObject({
    code: 'not_found',
    message: `There is no dataset ${id + 1}.`,
  })
})

test('a version knows since which one rows have only been appended', async () => {
  const { id, versions } = await start()
  const since = async () => (await versions.current(id)).appendedSince
  const all: (number | null)[] = [await since()]
  const steps = ['append', undefined, 'append', 'replace', 'append', 'edit', undefined, 'append'] as const
  for (const step of steps) {
    await catalog.commit(id, [], step && changed(step))
    all.push(await since())
  }
  expect(all).toEqual([null, 0, 0, 0, 3, 3, 5, 5, 5])
  await catalog.database.run('UPDATE versions SET appended_since = NULL')
  await catalog.commit(id, [], undefined)
  expect(await since()).toBeNull()
})

test('a merge is described as the version whose place it takes, and is no change of the dataset', async () => {
  const { id } = await start()
  const [one, merged] = [await catalog.part(), await catalog.part()]
  const change = { ...changed('append', 3, 2), by: 'ada', note: 'first' }
  await catalog.commit(id, [one], change)
  await catalog.database.run("UPDATE versions SET created_at = '2020' WHERE number = 1")
  await catalog.database.run("UPDATE datasets SET updated_at = '2020'")
  await catalog.commit(id, [merged], undefined)
  const listed = await new History(catalog.database, KEEP_ONE).list(id, { limit: 9, offset: 0 })
  // Only one of the two versions with this number is listed.
  expect(listed.map(({ number }) => number)).toEqual([1, 0])
  expect(listed[0]).toMatchObject({ ...change, createdAt: '2020' })
  expect((await new Datasets(catalog.database).get(id)).updatedAt).toBe('2020')
  await catalog.commit(id, [merged], changed('append'))
  expect((await new Datasets(catalog.database).get(id)).updatedAt > '2020').toBe(true)
})

test('a version is found by its number, and by a part where merges left several of that number', async () => {
  const { id, versions } = await start()
  const other = await catalog.dataset(await catalog.repository('other'), 'other')
  const [one, merged, alien] = [await catalog.part(), await catalog.part(), await catalog.part()]
  await catalog.commit(id, [one], changed('append'))
  await catalog.commit(id, [merged], undefined)
  await catalog.commit(other, [alien], changed('append'))
  const parts = async (number: number, part?: number) =>
    (await versions.numbered(id, { number, part }))?.parts.map((each) => each.id)
  expect(await parts(1)).toEqual([merged.id])
  expect(await parts(1, one.id)).toEqual([one.id])
  expect(await parts(1, merged.id)).toEqual([merged.id])
  expect(await parts(1, alien.id)).toBeUndefined()
  expect(await parts(0)).toEqual([])
  expect(await parts(2)).toBeUndefined()
})

test('parts of a version are read once, and not again when something is written', async () => {
  const { id, versions } = await start()
  await catalog.commit(id, [await catalog.part()], changed('append'))
  await versions.current(id)
  const all = vi.spyOn(catalog.database, 'all')
  const texts = () => all.mock.calls.map(([sql]) => sql)
  await catalog.database.run("UPDATE datasets SET description = 'x'")
  await versions.current(id)
  expect(texts().filter((sql) => sql.includes('version_parts'))).toEqual([])
  all.mockRestore()
})

test('a version that is removed while it is read is read anew, and one with wrong sums is given', async () => {
  const { id, versions } = await start()
  const [one, two] = [await catalog.part(), await catalog.part()]
  await catalog.commit(id, [one], changed('append'))
  const { database } = catalog
  const { all } = database
  const spy = vi.spyOn(database, 'all')
  spy.mockImplementation(async (...given) => {
    if (given[0].includes('version_parts') && spy.mock.calls.length < 9) {
      spy.mockImplementation(all)
      await catalog.commit(id, [two], changed('replace'))
      await versions.reclaim()
    }
    return all.apply(database, given)
  })
  expect(idsOf((await versions.current(id)).parts)).toEqual([two.id])
  spy.mockRestore()
  await database.run('UPDATE versions SET bytes = 11')
  expect(idsOf((await new Versions(database).current(id)).parts)).toEqual([two.id])
})

test('a dataset that was deleted meanwhile gets no version', async () => {
  const { id, versions } = await start()
  const current = await versions.current(id)
  await new Datasets(catalog.database).delete(id)
  const late = catalog.database.transaction((t) =>
    versions.in(t).commit(id, current, { columns: [], key: [], parts: [], number: 1 }),
  )
  await expect(late).rejects.toMatchObject({ code: 'not_found' })
})

test('a part that was given up is in no new version', async () => {
  const { id } = await start()
  const lost = await catalog.part()
  await catalog.database.run('UPDATE parts SET given_up_at = 1 WHERE id = ?', lost.id)
  const late = catalog.commit(id, [lost], changed('append'), { made: new Set([lost.id]) })
  await expect(late).rejects.toMatchObject({
    code: 'catalog_unavailable',
    message: expect.stringContaining('Nothing was changed; try again.'),
  })
})

test('versions are removed of the dataset that is meant, unless they are shown, kept or read', async () => {
  const { id, versions } = await start()
  const other = await catalog.dataset(await catalog.repository('other'), 'other')
  const parts: Part[] = []
  while (parts.length < 5) parts.push(await catalog.part())
  const [one, two, three, four, shared] = parts as [Part, Part, Part, Part, Part]
  const unused = await catalog.part()
  await catalog.commit(other, [four], changed('append'))
  await catalog.commit(other, [], changed('replace'))
  expect(await versions.reclaim(id)).toEqual([])
  await catalog.commit(id, [shared, one], changed('append'))
  await catalog.commit(id, [shared, two], changed('append'))
  const { id: read } = await versions.current(id)
  await catalog.commit(id, [shared, three], changed('append'))
  await catalog.database.run('INSERT INTO leases VALUES (?, ?)', read, 'a reader')
  expect(await versions.reclaim(id)).toEqual([{ id: one.id, hash: one.hash }])
  await catalog.database.run('DELETE FROM leases')
  expect(idsOf(await versions.reclaim(id))).toEqual([two.id])
  // Of the other dataset only when all are looked at; a part that is being written stays.
  expect(idsOf(await versions.reclaim())).toEqual([four.id])
  expect(await new Parts(catalog.database).drop(unused.id)).toBe(true)
  const keeping = new Versions(catalog.database, { versions: 2, days: 30 })
  await catalog.commit(id, [], changed('replace'))
  expect(await keeping.reclaim(id)).toEqual([])
  await catalog.database.run('UPDATE versions SET replaced_at = replaced_at - 31 * 86400000')
  expect(idsOf(await keeping.reclaim(id))).toEqual([three.id, shared.id].toSorted((a, b) => a - b))
})

test('where there is nothing to remove, no transaction waits for the disk', async () => {
  const { id, versions } = await start()
  const transaction = vi.spyOn(catalog.database, 'transaction')
  await versions.reclaim(id)
  expect(transaction).not.toHaveBeenCalled()
  await versions.reclaim()
  expect(transaction).toHaveBeenCalledTimes(1)
  transaction.mockRestore()
})

test('it is known which of some versions are gone', async () => {
  const { id, versions } = await start()
  const { id: first } = await versions.current(id)
  await catalog.commit(id, [], changed('append'))
  const { id: second } = await versions.current(id)
  expect(await versions.gone([first, second, second + 7])).toEqual([second + 7])
  await versions.reclaim()
  expect(await versions.gone([first, second, second + 7])).toEqual([first, second + 7])
})
