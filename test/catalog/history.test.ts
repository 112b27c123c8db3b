import { expect, test } from 'vitest'
import { Datasets } from '../../engine/catalog/datasets.ts'
import { History, type PastVersion } from '../../engine/catalog/history.ts'
import type { AttachedFile } from '../../engine/catalog/records.ts'
import { Versions } from '../../engine/catalog/versions.ts'
import { changed, useCatalog } from './catalog.ts'

const catalog = useCatalog()
const KEEP = { versions: 3, days: 2 }
const DAY_MS = 86_400_000
const start = async () => ({
  id: await catalog.dataset(await catalog.repository()),
  history: new History(catalog.database, KEEP),
})
/** Says when a version was made and when another took its place, in days of January 2030; 0 for a merge. */
const date = (number: number, from: number, until?: number) =>
  catalog.database.run(
    'UPDATE versions SET created_at = ?, replaced_at = ? WHERE number = ?',
    ...[new Date(dayOf(from)).toISOString(), until ? dayOf(until) : null, number],
  )
const dayOf = (day: number) => Date.UTC(2030, 0, day)

test('what lies between a version and now is summed up, unless one of them has no numbers', async () => {
  const { id, history } = await start()
  await catalog.commit(id, [], changed('append', 5, 0))
  await catalog.commit(id, [], changed('edit', 2, 2))
  await catalog.commit(id, [], undefined)
  await catalog.commit(id, [], changed('replace', 4, 5))
  expect(await history.wayBack(id, 1)).toEqual({ adds: 7, removes: 6 })
  expect(await history.wayBack(id, 0)).toEqual({ adds: 7, removes: 11 })
  expect(await history.wayBack(id, 3)).toEqual({ adds: 0, removes: 0 })
  await catalog.database.run('UPDATE versions SET added_rows = NULL WHERE number = 2')
  expect(await history.wayBack(id, 1)).toEqual({ adds: 7, removes: null })
})

test('parts of all versions are counted once each', async () => {
  const { id, history } = await start()
  const [one, two, three] = [await catalog.part(), await catalog.part(), await catalog.part()]
  const other = await catalog.dataset(await catalog.repository('other'), 'other')
  await catalog.commit(other, [await catalog.part()], changed('append'))
  expect(await history.partCount(id)).toBe(0)
  await catalog.commit(id, [one], changed('append'))
  await catalog.commit(id, [one, two], changed('append'))
  await catalog.commit(id, [three], undefined)
  // The parts that a merge left behind are those of version 1 alone.
  expect(await history.partCount(id)).toBe(2)
})

test('a version says which bytes no other one has', async () => {
  const { id, history } = await start()
  const [one, two, three] = [await catalog.part(1), await catalog.part(10), await catalog.part(100)]
  await catalog.commit(id, [one, two], changed('append'))
  await catalog.commit(id, [one, three], changed('edit'))
  const list = await history.list(id, { limit: 9, offset: 0 })
  expect(list.map(({ number, bytes, ownBytes }) => [number, bytes, ownBytes])).toEqual([
    [2, 101, 100],
    [1, 11, 10],
    [0, 0, 0],
  ])
  expect(await history.list(id, { limit: 1, offset: 1 })).toEqual([list[1]])
  expect(await history.get(id, { version: 1 })).toEqual(list[1])
})

test('a dataset holds the bytes of what is shown, what is kept and what comes, each part once', async () => {
  const { id, history } = await start()
  const part = (bytes: number) => catalog.part(bytes)
  const [a, b, c, d] = [await part(1), await part(10), await part(100), await part(1_000)]
  const next = await part(10_000)
  const bytes = () => history.bytesWith(id, [next, d])
  expect(await bytes()).toBe(11_000)
  await catalog.commit(id, [a], changed('append'))
  await catalog.commit(id, [b], changed('replace'))
  expect(await bytes()).toBe(11_011)
  // With the next one, three versions are kept: that one, this one and the one before.
  await catalog.commit(id, [c], changed('replace'))
  expect(await bytes()).toBe(11_110)
  const datasets = new Datasets(catalog.database)
  await datasets.update(id, { keep: { versions: 4 } })
  expect(await bytes()).toBe(11_111)
  await catalog.database.run('UPDATE versions SET replaced_at = ? WHERE number < 3', Date.now() - 31 * DAY_MS)
  expect(await bytes()).toBe(11_100)
  await datasets.update(id, { keep: null })
  await catalog.database.run('UPDATE versions SET replaced_at = ? WHERE number < 3', Date.now() - 1 * DAY_MS)
  expect(await bytes()).toBe(11_110)
  const attached = { folder: '/files', name: 'a' } as AttachedFile
  expect(await history.bytesWith(id, [{ ...next, attached }])).toBe(110)
})

test('a version is found by its number and by any moment at which it was shown', async () => {
  const { id, history } = await start()
  for (let n = 0; n < 3; n++) await catalog.commit(id, [], changed('append'))
  await date(0, 1, 5)
  await date(1, 5, 8)
  await date(2, 8, 10)
  await date(3, 10)
  const at = async (past: PastVersion) => (await history.find(id, past)).number
  expect(await at({ version: 2 })).toBe(2)
  expect(await at({ asOf: '2030-01-04' })).toBe(0)
  // A date stands for its end.
  expect(await at({ asOf: '2030-01-05' })).toBe(1)
  expect(await at({ asOf: '2030-01-05T00:00:00Z' })).toBe(1)
  expect(await at({ asOf: '2030-01-04T23:59:59.999Z' })).toBe(0)
  expect(await at({ asOf: '2030-01-05T00:00' })).toBe(1)
  expect(await at({ asOf: '2030-01-05T00:30+01:00' })).toBe(0)
  expect(await at({ asOf: '2030-01-04T23:30-01:00' })).toBe(1)
  expect(await at({ asOf: '2031-12-31' })).toBe(3)
})

test.each<[PastVersion, string, string]>([
  [{ version: 9 }, 'not_found', 'has no version 9; the newest is 8.'],
  [{ version: -1 }, 'not_found', 'has no version -1; the newest is 8.'],
  [{ version: 1.5 }, 'not_found', 'has no version 1.5; the newest is 8.'],
  [
    { version: 2 },
    'version_gone',
    'Version 2 of dataset 1 is no longer kept. Kept versions: 8 to 6, 4, 1 to 0.',
  ],
  [
    { asOf: '2030-01-02' },
    'version_gone',
    'at 2030-01-02 is no longer kept. Kept versions: 8 to 6, 4, 1 to 0.',
  ],
  [{ asOf: '2029-12-30' }, 'not_found', 'was made only at 2030-01-01T00:00:00.000Z.'],
  [{ asOf: 'yesterday' }, 'invalid_option', 'it is "yesterday"'],
  [{ asOf: '2030-02-31' }, 'invalid_option', 'it is "2030-02-31"'],
  [{ asOf: '2030-01-03T25:00' }, 'invalid_option', 'it is "2030-01-03T25:00"'],
  [{ asOf: ' 2030-01-03' }, 'invalid_option', 'it is " 2030-01-03"'],
  [{ asOf: '2030-01-03T10:00Z ' }, 'invalid_option', 'it is "2030-01-03T10:00Z "'],
])('%o is refused where it is not kept, was never, or is no moment', async (past, code, message) => {
  const { id, history } = await start()
  for (let n = 0; n < 8; n++) await catalog.commit(id, [], changed('append'))
  for (let n = 0; n <= 8; n++) await date(n, 3, n < 8 ? 3 : undefined)
  await catalog.database.run('DELETE FROM versions WHERE number IN (2, 3, 5)')
  await catalog.database.run('UPDATE datasets SET created_at = ?', new Date(dayOf(1)).toISOString())
  await expect(history.find(id, past)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  })
  const gone = history.find(99, { version: 0 })
  await expect(gone).rejects.toMatchObject({ code: 'not_found', message: 'There is no dataset 99.' })
})

test('the error for a version that is gone names those that are kept, a thousand at most', async () => {
  const { id, history } = await start()
  await catalog.commit(id, [], changed('append'))
  await catalog.commit(id, [], changed('append'))
  await catalog.database.run('DELETE FROM versions WHERE number = 1')
  const kept = () => history.find(id, { version: 1 }).catch(({ details }) => details.kept as number[])
  expect(await kept()).toEqual([2, 0])
  await catalog.database.transaction(async (t) => {
    for (let number = 3; number < 1_100; number++)
      await t.run(
        `INSERT INTO versions (number, columns, rows, bytes, raw_bytes, created_at, dataset_id, replaced_at)
         VALUES (?, '[]', 0, 0, 0, '2030', ?, 1)`,
        ...[number, id],
      )
  })
  expect(await kept()).toEqual(Array.from({ length: 1_000 }, (_, n) => 1_099 - n))
})

test('a version that a merge left behind is neither found nor counted', async () => {
  const { id, history } = await start()
  await catalog.commit(id, [await catalog.part()], changed('append'))
  await catalog.commit(id, [await catalog.part(7)], undefined)
  expect(await history.numbers(id)).toEqual([1, 0])
  expect(await history.get(id, { version: 1 })).toMatchObject({ bytes: 7 })
})

test('the last versions are kept, and of these those that were replaced lately', async () => {
  const { id, history } = await start()
  const versions = new Versions(catalog.database, KEEP)
  const kept = async () => {
    await versions.reclaim(id)
    return history.numbers(id)
  }
  for (let n = 0; n < 5; n++) await catalog.commit(id, [], changed('append'))
  expect(await kept()).toEqual([5, 4, 3])
  const lately = 'UPDATE versions SET replaced_at = ? WHERE number = ?'
  await catalog.database.run(lately, Date.now() - 2 * DAY_MS + 60_000, 4)
  await catalog.database.run(lately, Date.now() - 2 * DAY_MS - 60_000, 3)
  expect(await kept()).toEqual([5, 4])
  await new Datasets(catalog.database).update(id, { keep: { versions: 9, days: 1 } })
  expect(await kept()).toEqual([5])
})
