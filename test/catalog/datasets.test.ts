import { expect, test, vi } from 'vitest'
import { Datasets, noStoredRows, requireOwnFiles } from '../../engine/catalog/datasets.ts'
import { History } from '../../engine/catalog/history.ts'
import type { AttachedFile, DatasetChanges, Part, SavedQuery } from '../../engine/catalog/records.ts'
import type { Column } from '../../engine/types/index.ts'
import { changed, useCatalog } from './catalog.ts'

const catalog = useCatalog()
const column = (name: string): Column => ({ name, type: 'integer', nullable: true, description: '' })
const start = async () => ({
  repositoryId: await catalog.repository(),
  datasets: new Datasets(catalog.database),
})

test('a dataset has what it was made with', async () => {
  const { repositoryId, datasets } = await start()
  const columns = [column('n'), column('m')]
  const fields = { repositoryId, name: 'd', description: 'Words', columns, key: ['n'] }
  const record = await datasets.create({ ...fields, by: 'ada' })
  const more = { version: 0, rowCount: 0, bytes: 0, createdAt: record.updatedAt }
  expect(record).toEqual({ ...fields, ...more, id: record.id, updatedAt: record.updatedAt })
  const plain = await datasets.create({ repositoryId, name: 'plain', columns: [] })
  expect(plain).toEqual({ ...plain, description: '' })
  for (const absent of ['key', 'query', 'keep', 'uploadOptions']) expect(plain).not.toHaveProperty(absent)
  const history = new History(catalog.database, { versions: 1, days: 1 })
  const created = { operation: 'create', addedRows: 0, removedRows: 0 }
  expect(await history.get(record.id, { version: 0 })).toMatchObject({ ...created, by: 'ada' })
  expect(await history.get(plain.id, { version: 0 })).toMatchObject({ ...created, by: null })
})

test.each([
  ['in a repository that is not there', { repositoryId: 99 }, 'not_found', 'There is no repository 99.'],
  ['in what is no repository', { repositoryId: 1.5 }, 'not_found', 'There is no repository 1.5.'],
  ['with a name that is taken', { name: 'taken' }, 'name_taken', 'already has a dataset named "taken"'],
  ['without a name', { name: ' ' }, 'invalid_name', 'The name of a dataset'],
  ['with a description that is no text', { description: 'a\0' }, 'invalid_option', 'description must be'],
  ['with a key that it lacks', { key: ['x'] }, 'column_conflict', 'x'],
])('a dataset %s is neither made nor changed to that', async (what, fields, code, message) => {
  const { repositoryId, datasets } = await start()
  await datasets.create({ repositoryId, name: 'taken', columns: [] })
  const refused = { code, message: expect.stringContaining(message) }
  const made = datasets.create({ repositoryId, name: 'd', columns: [], ...fields })
  await expect(made).rejects.toMatchObject(refused)
  expect(await datasets.list()).toHaveLength(1)
  if (what.includes('key')) return
  const { id } = await datasets.create({ repositoryId, name: 'd', columns: [] })
  const before = await datasets.get(id)
  await expect(datasets.update(id, fields as DatasetChanges)).rejects.toMatchObject(refused)
  expect(await datasets.get(id)).toEqual(before)
})

test('fields are changed alone, and null removes one', async () => {
  const { repositoryId, datasets } = await start()
  const { id } = await datasets.create({ repositoryId, name: 'd', description: 'Words', columns: [] })
  await catalog.database.run("UPDATE datasets SET updated_at = '2020'")
  const other = await catalog.repository('other')
  const all = { title: 'Title', keep: { versions: 3, days: 4 } }
  expect(await datasets.update(id, all)).toMatchObject({
    ...all,
    name: 'd',
    description: 'Words',
    repositoryId,
  })
  expect((await datasets.get(id)).updatedAt > '2020').toBe(true)
  expect(await datasets.update(id, { keep: { days: 5 } })).toMatchObject({ keep: { versions: 3, days: 5 } })
  expect(await datasets.update(id, { name: 'e', repositoryId: other })).toMatchObject({
    ...{ name: 'e', repositoryId: other, description: 'Words', title: 'Title' },
  })
  const bare = await datasets.update(id, { description: null, title: null, keep: null })
  expect(bare).toMatchObject({ name: 'e', description: '' })
  expect(bare).not.toHaveProperty('title')
  expect(bare).not.toHaveProperty('keep')
  expect(await datasets.update(id, { keep: { versions: 2 } })).toMatchObject({
    keep: { versions: 2, days: 30 },
  })
  await expect(datasets.update(id, { keep: { versions: 0 } })).rejects.toMatchObject({
    code: 'invalid_option',
  })
})

test('an upload fills fields that are empty, and no others', async () => {
  const { repositoryId, datasets } = await start()
  const { id } = await datasets.create({ repositoryId, name: 'd', columns: [] })
  await datasets.update(id, { title: 'Mine' })
  await datasets.fill(id, { title: 'Theirs', source: 'There' } as never)
  expect(await datasets.get(id)).toMatchObject({ title: 'Mine', source: 'There', description: '' })
  await datasets.fill(id, { description: 'Words' })
  await datasets.fill(id, { description: 'Other words' })
  expect(await datasets.get(id)).toMatchObject({ title: 'Mine', description: 'Words' })
})

test('how the last upload was read is noted, until one had no options', async () => {
  const { repositoryId, datasets } = await start()
  const { id } = await datasets.create({ repositoryId, name: 'd', columns: [] })
  await datasets.noteUploadOptions(id, { footer: '2' })
  expect(await datasets.get(id)).toMatchObject({ uploadOptions: { footer: '2' } })
  await datasets.noteUploadOptions(id, {})
  expect(await datasets.get(id)).not.toHaveProperty('uploadOptions')
  await datasets.noteUploadOptions(id)
  expect(await datasets.get(id)).not.toHaveProperty('uploadOptions')
})

test('a saved query is known as one, has no count of rows, and no rows of its own', async () => {
  const { repositoryId, datasets } = await start()
  const query: SavedQuery = { given: { sql: 'SELECT 1' }, tables: [7], by: 'ada' }
  const saved = await datasets.create({ repositoryId, name: 'q', columns: [], query })
  const { id } = await datasets.create({ repositoryId, name: 'd', columns: [] })
  expect(saved).toMatchObject({ query: { sql: 'SELECT 1' }, rowCount: null })
  expect(await datasets.saved(saved.id)).toEqual(query)
  expect(await datasets.saved(id)).toBeUndefined()
  await datasets.requireStored(id)
  const refused = { code: 'saved_query', message: noStoredRows(saved.id).message }
  await expect(datasets.requireStored(saved.id)).rejects.toMatchObject(refused)
  expect(refused.message).toContain(`Dataset ${saved.id} is a saved query`)
})

test('a dataset that is not there is told so', async () => {
  const { datasets } = await start()
  for (const id of [1, 1.5, undefined as never]) {
    const missing = { code: 'not_found', message: `There is no dataset ${id}.` }
    await expect(datasets.get(id)).rejects.toMatchObject(missing)
  }
  await expect(datasets.delete(1)).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no dataset 1.',
  })
})

test('rows in attached files can only be read', () => {
  const attached = { folder: '/files', name: 'a' } as AttachedFile
  requireOwnFiles(1, { parts: [] })
  requireOwnFiles(1, { parts: [{ id: 1 } as Part] })
  const check = () => requireOwnFiles(7, { parts: [{ id: 1, attached } as Part] })
  expect(check).toThrow(/^Dataset 7 is of attached files, .* attach them again/)
})

/** Makes so many datasets with the same version, in one transaction. */
const many = (repositoryId: number, count: number) =>
  catalog.database.transaction(async (t) => {
    const { id } = (await t.get<{ id: number }>('SELECT max(id) AS id FROM versions'))!
    for (let n = 0; n < count; n++)
      await t.run(
        `INSERT INTO datasets (repository_id, name, description, version_id, created_at, updated_at)
         VALUES (?, ?, '', ?, '2020', '2020')`,
        ...[repositoryId, `${n}`, id],
      )
  })

test('names are given in the order of ids, of one repository or of all, however many they are', async () => {
  const { repositoryId, datasets } = await start()
  const other = await catalog.repository('other')
  await datasets.create({ repositoryId: other, name: 'first', description: 'Words', columns: [] })
  await many(repositoryId, 2_000)
  const all = await datasets.names()
  expect(all).toHaveLength(2_001)
  expect(all[0]).toEqual({ id: 1, name: 'first', description: 'Words', repositoryId: other })
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 2_001 }, (_, n) => n + 1))
  expect(await datasets.names({ repositoryId: other })).toEqual(all.slice(0, 1))
  expect(await datasets.names()).toBe(all)
  expect((await datasets.list({ repositoryId: other })).map(({ name }) => name)).toEqual(['first'])
})

test('a list comes some at a time, with columns where they take few bytes', async () => {
  const { repositoryId, datasets } = await start()
  const columns = [column('n'), column('m')]
  await datasets.create({ repositoryId, name: 'first', columns })
  await many(repositoryId, 200)
  const bytes = JSON.stringify(columns).length
  const pages = async (...given: Parameters<Datasets['pages']>) => Array.fromAsync(datasets.pages(...given))
  const [page, rest] = await pages(bytes)
  expect([page!.length, rest!.length]).toEqual([200, 1])
  expect(page![0]).toMatchObject({ id: 1, columnCount: 2, columns })
  const narrow = (await pages(bytes - 1))[0]![0]!
  expect(narrow.columnCount).toBe(2)
  expect(narrow).not.toHaveProperty('columns')
  expect(narrow).not.toHaveProperty('versionId')
  const whole = await pages(Number.POSITIVE_INFINITY, null, [5, 24])
  expect(whole.map((some) => some.map(({ id }) => id))).toEqual([
    [5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    [15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
  ])
  expect(await pages(0, await catalog.repository('empty'))).toEqual([])
})

test('columns of a version are counted once', async () => {
  const { repositoryId, datasets } = await start()
  await datasets.create({ repositoryId, name: 'd', columns: [column('n')] })
  const counted = async () => (await Array.fromAsync(datasets.pages(0)))[0]![0]!.columnCount
  const get = vi.spyOn(catalog.database, 'get')
  expect([await counted(), await counted(), get.mock.calls.length]).toEqual([1, 1, 1])
  get.mockRestore()
})

test('a tag of a list changes with each change of what is listed, and with no other', async () => {
  const { repositoryId, datasets } = await start()
  const other = await catalog.repository('other')
  const { id } = await datasets.create({ repositoryId, name: 'd', columns: [] })
  const hidden = await datasets.create({ repositoryId: other, name: 'd', columns: [] })
  const tag = () => datasets.tag((at) => at === repositoryId)
  const seen = new Set([await tag()])
  expect(await datasets.tag(() => true, repositoryId)).toBe(await tag())
  for (const fields of [
    { name: 'e' },
    { description: 'Words' },
    { keep: { days: 1 } },
    { keep: { versions: 1 } },
  ]) {
    await datasets.update(id, fields)
    await catalog.database.run("UPDATE datasets SET updated_at = '2020'")
    seen.add(await tag())
  }
  await catalog.commit(id, [], changed('append'))
  seen.add(await tag())
  await datasets.create({ repositoryId, name: 'more', columns: [] })
  seen.add(await tag())
  expect(seen.size).toBe(7)
  await datasets.update(hidden.id, { name: 'hidden' })
  expect(seen).toContain(await tag())
  expect(await tag()).toMatch(/^[\w-]{22}$/)
})
