import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Version } from '../../engine/catalog/records.ts'
import { Events } from '../../engine/events.ts'
import type { Content } from '../../engine/store/commits.ts'
import type { EditPlan } from '../../engine/store/edits.ts'
import { Store } from '../../engine/store/store.ts'

let directory: string
let store: Store
let dataset: number
const column = (name: string) => ({ name, type: 'integer', nullable: true, description: '' }) as const

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-meanwhile-'))
  store = await Store.open({ directory, role: 'server', threads: 1, events: new Events() })
  const { id: repositoryId } = await store.repositories.create({ name: 'r' })
  dataset = (await store.datasets.create({ repositoryId, name: 'd', columns: [column('n')] })).id
})
afterEach(async () => {
  vi.restoreAllMocks()
  await store.close()
  rmSync(directory, { recursive: true })
})

/** What another process may commit between two lines. */
const others: Record<string, Partial<Content>> = {
  'another version': {},
  'other columns': { columns: [column('n'), column('m')] },
  'another key': { key: ['n'] },
}
const commit = (more: Partial<Content>) =>
  store.commits.commit(dataset, [], ({ columns, parts }) => ({
    ...{ columns, parts, change: { operation: 'append', addedRows: 0, removedRows: 0 } as const },
    ...more,
  }))

test.each([
  ['another version', false, 1],
  ['another version', true, 2],
  ['other columns', false, 2],
  ['another key', false, 2],
])('an edit into which %s comes, of one version alone: %s, is planned %i times', async (other, isUndo, times) => {
  const planned: number[] = []
  const plan = async ({ id, number }: Version): Promise<EditPlan> => {
    planned.push(number)
    if (planned.length === 1) await commit(others[other]!)
    const instead = { made: [], parts: [], base: id, number, rows: 0 }
    return { mayHold: () => false, condition: { where: 'false', parameters: [] }, ...(isUndo && { instead }) }
  }
  const accept = vi.fn()
  const edited = { version: 1, matchedRows: 0 }
  expect(await store.writer.edit(dataset, plan, { accept })).toEqual(edited)
  // Where nothing is found, there is no version, but whoever is asked knows that.
  const { number, columns } = await store.versions.current(dataset)
  expect(number).toBe(1)
  expect(accept.mock.calls.map(([made]) => made)).toEqual([
    { columns: columns.length, rows: 0, bytes: 0, edited },
  ])
  expect(planned).toEqual([0, 1].slice(0, times))
})

test.each([
  ['another version', 1],
  ['other columns', 2],
  ['another key', 2],
])('an upload into which %s comes is read %i times', async (other, times) => {
  const { makeParts } = store.commits
  const making = vi.spyOn(store.commits, 'makeParts')
  making.mockImplementationOnce(async (...given) => {
    const made = await makeParts.apply(store.commits, given)
    await commit(others[other]!)
    return made
  })
  const body = Buffer.from('n\n1\n')
  expect(await store.writer.write(dataset, { format: 'csv', body, missing: 'null' }, 'append')).toMatchObject(
    {
      version: 2,
      rowCount: 1,
    },
  )
  expect(making).toHaveBeenCalledTimes(times)
})

test('what is declared is declared of the version that is there then, and accepted once', async () => {
  const { take } = store.members
  const taking = vi.spyOn(store.members, 'take')
  taking.mockImplementationOnce(async (id) => {
    const lease = await take.call(store.members, id)
    await commit(others['other columns']!)
    return lease
  })
  const accept = vi.fn()
  const record = await store.writer.declareKey(dataset, ['n'], { accept, by: 'ada' })
  expect(record).toMatchObject({ version: 2, key: ['n'], columns: [{ name: 'n' }, { name: 'm' }] })
  expect([accept.mock.calls.length, accept.mock.calls[0]![0].version]).toEqual([1, 1])
  // The same again is no new version, but is asked for.
  expect(await store.writer.declareKey(dataset, ['n'], { accept })).toEqual(record)
  expect(accept).toHaveBeenCalledTimes(2)
  expect(await store.writer.declareKey(dataset, [], {})).toMatchObject({ version: 3 })
})

test('an edit is prepared again for parts that come before it is committed', async () => {
  const body = Buffer.from('n\n1\n2\n')
  await store.writer.write(dataset, { format: 'csv', body, missing: 'null' }, 'append')
  const { parts } = await store.versions.current(dataset)
  await commit({ parts: [] })
  const original = store.commits.commit
  const committing = vi.spyOn(store.commits, 'commit')
  committing.mockImplementationOnce(async (...given) => {
    await commit({ parts })
    return original.apply(store.commits, given)
  })
  const plan = async () => ({ mayHold: () => true, condition: { where: 'c0 = 1', parameters: [] } })
  expect(await store.writer.edit(dataset, plan, {})).toEqual({ version: 4, matchedRows: 1 })
  // The one that comes, and the edit twice.
  expect(committing).toHaveBeenCalledTimes(3)
  expect((await store.versions.current(dataset)).rows).toBe(1)
})
