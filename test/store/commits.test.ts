import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Part, Version } from '../../engine/catalog/records.ts'
import { EngineError } from '../../engine/errors.ts'
import { type EngineEvent, Events } from '../../engine/events.ts'
import type { IngestResult } from '../../engine/ingest/request.ts'
import { Store } from '../../engine/store/store.ts'

let directory: string
let store: Store
let dataset: number
let events: EngineEvent[]

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-commits-'))
  events = []
  store = await Store.open({
    directory,
    role: 'server',
    threads: 1,
    keep: { versions: 1 },
    events: new Events((event) => events.push(event)),
  })
  const { id: repositoryId } = await store.repositories.create({ name: 'r' })
  dataset = (await store.datasets.create({ repositoryId, name: 'd', columns: [], key: [] })).id
})
afterEach(async () => {
  vi.restoreAllMocks()
  await store.close()
  rmSync(directory, { recursive: true })
})

const files = () => readdirSync(join(directory, 'parts')).map((name) => Number.parseInt(name, 10))
const idsOf = (parts: readonly Part[]) => parts.map(({ id }) => id)
/** The ids of the parts that the catalog knows as written. */
const written = async () =>
  idsOf(await store.database.all<Part>('SELECT id FROM parts WHERE bytes > 0 ORDER BY id'))

/** Writes a part without a reader: its bytes are a text. */
async function made(
  text = 'rows',
  rows = 2,
  origin?: { hash: string; rows: readonly number[] },
): Promise<Part> {
  const { parts } = await store.commits.makeParts(
    async (_, target) => {
      writeFileSync(target, text)
      const size = { rows, bytes: text.length, rawBytes: 10, statistics: [{ min: '1', max: '2', nulls: 0 }] }
      return { ...size, columns: [] } as unknown as IngestResult
    },
    { origin },
  )
  expect(parts).toHaveLength(1)
  return parts[0]!
}

const change = { operation: 'append', addedRows: 1, removedRows: 0 } as const
const commit = (parts: readonly Part[], then = parts, more = {}) =>
  store.commits.commit(dataset, parts, ({ columns }) => ({ columns, parts: then, change, ...more }))

test('a part is stored with its size, its hash and what it was made of, and then in the version', async () => {
  const part = await made('some rows', 3, { hash: 'of the old part', rows: [1] })
  expect(part).toMatchObject({ rows: 3, bytes: 9, rawBytes: 10, statistics: [{ min: '1', max: '2' }] })
  expect(part.hash).toBe(await store.storage.hashes.read(store.files.target(part.id)))
  expect(await commit([part])).toBe(true)
  expect(await store.versions.current(dataset)).toMatchObject({ number: 1, rows: 3, parts: [part] })
  expect(await store.parts.origins([part.id])).toEqual(
    new Map([[part.id, { hash: 'of the old part', rows: [1] }]]),
  )
})

test('work that fails leaves neither a file nor an entry', async () => {
  const failing = store.commits.makeParts(async (_, target) => {
    writeFileSync(target, 'half')
    throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
  }, {})
  await expect(failing).rejects.toMatchObject({ code: 'storage_full' })
  expect(files()).toEqual([])
  await store.background.settled()
  const before = await store.database.get<{ ids: number }>('SELECT count(*) AS ids FROM parts')
  await made()
  // Another part was registered ahead, so no entry is new.
  expect(await store.database.get('SELECT count(*) AS ids FROM parts')).toEqual(before)
})

test('parts that can not be kept are removed, also those after them', async () => {
  vi.spyOn(store.files, 'keep').mockRejectedValue(
    new EngineError('storage_unavailable', 'It does not answer.'),
  )
  await expect(made()).rejects.toMatchObject({ code: 'storage_unavailable' })
  expect(files()).toEqual([])
})

test('a version without a change keeps its number, and the key unless another is given', async () => {
  const [one, merged] = [await made(), await made()]
  const key = ['n']
  await commit([one], [one], { key })
  await store.commits.commit(dataset, [merged], ({ columns }) => ({ columns, parts: [merged] }))
  const current = await store.versions.current(dataset)
  expect(current).toMatchObject({ number: 1, key, parts: [merged] })
  await commit([])
  expect(await store.versions.current(dataset)).toMatchObject({ number: 2, key, parts: [] })
})

test('parts that did not get into the version are removed', async () => {
  const [kept, empty] = [await made(), await made()]
  await commit([kept, empty], [kept])
  await store.background.settled()
  expect([files(), await written()]).toEqual([[kept.id], [kept.id]])
})

test('where the version is another one by now, nothing is committed, and the parts are removed', async () => {
  const part = await made()
  expect(await store.commits.commit(dataset, [part], () => undefined)).toBe(false)
  await store.background.settled()
  expect([files(), await written()]).toEqual([[], []])
  expect((await store.versions.current(dataset)).number).toBe(0)
})

test('a part that was given up, because this process was taken for dead, is in no version', async () => {
  const part = await made()
  await store.database.run('UPDATE parts SET given_up_at = 1 WHERE id = ?', part.id)
  await expect(commit([part])).rejects.toMatchObject({ code: 'catalog_unavailable' })
  expect(await store.versions.current(dataset)).toMatchObject({ number: 0, parts: [] })
})

test('for another try the parts are kept', async () => {
  const part = await made()
  expect(await store.commits.commit(dataset, [part], () => 'again')).toBe('again')
  await store.background.settled()
  expect([files(), await written()]).toEqual([[part.id], [part.id]])
  expect(await commit([part])).toBe(true)
})

test('a change that is refused removes the parts', async () => {
  const part = await made()
  const refused = store.commits.commit(dataset, [part], () => {
    throw new EngineError('forbidden' as never, 'No.')
  })
  await expect(refused).rejects.toThrow('No.')
  // The file makes room at once, its entry goes later.
  expect(files()).toEqual([])
  await store.background.settled()
  expect([files(), await written()]).toEqual([[], []])
})

test('parts of a commit with an unknown outcome stay, until the catalog has shown that no version has them', async () => {
  const [lost, saved] = [await made(), await made()]
  const unknown = new EngineError('outcome_unknown', 'Nobody knows.')
  const { transaction } = store.database
  const spy = vi.spyOn(store.database, 'transaction')
  // One commit arrived, the other one did not.
  spy.mockImplementationOnce(() => Promise.reject(unknown))
  await expect(commit([lost])).rejects.toBe(unknown)
  spy.mockImplementationOnce(async (...given) => {
    await transaction.apply(store.database, given)
    throw unknown
  })
  await expect(commit([saved])).rejects.toBe(unknown)
  expect(files().toSorted()).toEqual([lost.id, saved.id])
  await store.commits.tidy()
  expect([files(), await written()]).toEqual([[saved.id], [saved.id]])
  expect((await store.versions.current(dataset)).parts).toEqual([saved])
})

test('nothing is removed while it is unknown whether a commit was made', async () => {
  const [old, part] = [await made(), await made()]
  await commit([old])
  await store.background.settled()
  const assign = vi.spyOn(store.members, 'assign')
  const inDoubt = vi.spyOn(store.database, 'inDoubt', 'get').mockReturnValue(true)
  await store.commits.discard([part])
  await store.commits.tidy([dataset])
  await store.background.settled()
  expect(files().toSorted()).toEqual([old.id, part.id])
  expect(assign).not.toHaveBeenCalled()
  inDoubt.mockReturnValue(false)
  await store.commits.discard([part])
  expect(files()).toEqual([old.id])
})

test('an entry that could not be removed is removed with the next', async () => {
  const part = await made()
  const full = new EngineError('storage_full', 'Full.')
  const drop = vi.spyOn(store.parts, 'drop').mockRejectedValueOnce(full)
  await store.commits.discard([part])
  await expect(store.commits.tidy()).rejects.toBe(full)
  expect(await written()).toEqual([part.id])
  await store.commits.tidy()
  expect(await written()).toEqual([])
  await store.commits.tidy()
  expect(drop).toHaveBeenCalledTimes(2)
})

test('that tidying fails is told, and changes nothing for whoever committed', async () => {
  vi.spyOn(store.members, 'assign').mockRejectedValueOnce(new Error('of the catalog'))
  expect(await commit([])).toBe(true)
  await store.background.settled()
  const message = 'Versions that nobody needs could not be removed; tried again later.'
  expect(events).toMatchObject([{ kind: 'tidy_failed', message, cause: { message: 'of the catalog' } }])
})

test('a file that can not be removed is told, once for each, and is no reason to fail', async () => {
  const [old, part] = [await made(), await made()]
  await commit([old])
  const remove = vi.spyOn(store.files, 'remove').mockRejectedValue(new Error('busy'))
  await commit([part])
  await store.background.settled()
  const message = `The file of part ${old.id} could not be removed; gc or the next start removes it.`
  expect(events).toMatchObject([{ kind: 'file_left', message, part: old.id, cause: { message: 'busy' } }])
  expect(remove).toHaveBeenCalledTimes(1)
  const lost = await made()
  vi.spyOn(store.files, 'giveUp').mockRejectedValue(new Error('held'))
  await store.commits.discard([lost])
  expect(events.at(-1)).toMatchObject({ kind: 'file_left', part: lost.id, cause: { message: 'held' } })
})

test('parts of a version that nobody needs are removed, however many they are', async () => {
  const many: Part[] = []
  while (many.length < 70) many.push(await made())
  await commit(many)
  expect(files()).toHaveLength(70)
  let open = 0
  let most = 0
  const { remove } = store.files
  vi.spyOn(store.files, 'remove').mockImplementation(async (part) => {
    most = Math.max(most, (open += 1))
    await remove.call(store.files, part)
    open -= 1
  })
  await commit([])
  await store.background.settled()
  expect([files(), most]).toEqual([[], 32])
})

test('after many commits the versions of all of their datasets are looked at once', async () => {
  const assign = vi.spyOn(store.members, 'assign')
  const subjects = async () => {
    await store.background.settled()
    const gc = assign.mock.calls.map(([job]) => job)
    assign.mockClear()
    return gc
  }
  for (const id of [1, 2, 1]) store.commits.tidyLater(id)
  expect(await subjects()).toEqual([1, 2].map((subject) => ({ kind: 'gc', subject })))
  for (const id of [1, 0, 2]) store.commits.tidyLater(id)
  expect(await subjects()).toEqual([{ kind: 'gc', subject: 0 }])
  store.commits.tidyLater()
  expect(await subjects()).toEqual([])
  await store.commits.tidy()
  expect(await subjects()).toEqual([{ kind: 'gc', subject: 0 }])
})

test('a version that was read is looked at again only if it is no longer shown', async () => {
  const assign = vi.spyOn(store.members, 'assign')
  const { id: first } = await store.versions.current(dataset)
  store.commits.tidyBehind(dataset, first)
  await store.background.settled()
  expect(assign).not.toHaveBeenCalled()
  await commit([])
  await store.background.settled()
  assign.mockClear()
  store.commits.tidyBehind(dataset, first)
  await store.background.settled()
  expect(assign.mock.calls).toEqual([[{ kind: 'gc', subject: dataset }]])
})

test('manifests of versions that are gone are removed, and files that are none only when all are looked at', async () => {
  const { id: current } = (await store.versions.current(dataset)) as Version
  const names = [`${current}-manifest-a.avro`, `${current + 1}-manifest-b.avro`, 'notes.txt']
  const manifests = join(directory, 'iceberg')
  for (const name of names) writeFileSync(join(manifests, name), '')
  const left = () => names.filter((name) => existsSync(join(manifests, name)))
  await store.commits.tidy()
  expect(left()).toEqual([names[0], names[2]])
  await store.commits.tidyManifests(true)
  expect(left()).toEqual([names[0]])
})

test('a commit forgets what is recalled of its dataset, and of others only if it changes more', async () => {
  let reads = 0
  const read = () => store.database.cached('of another dataset', async () => (reads += 1))
  const record = async () => (await store.datasets.get(dataset)).version
  expect([await read(), await record()]).toEqual([1, 0])
  await commit([])
  expect([await read(), await record()]).toEqual([1, 1])
  const content = ({ columns }: Version) => ({ columns, parts: [], change })
  await store.commits.commit(dataset, [], content, { more: true })
  expect([await read(), await record()]).toEqual([2, 2])
})
