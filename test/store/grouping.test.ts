import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Handle } from '../../engine/catalog/database.ts'
import { EngineError } from '../../engine/errors.ts'
import { acceptAll, Groups, SMALL_BYTES, type SmallWrite, smallWrite } from '../../engine/store/groups.ts'
import type { Upload, WriteMode } from '../../engine/store/upload.ts'
import type { WrittenRecord } from '../../engine/store/written.ts'

const LIMIT = 2 ** 30
const upload = (more: Partial<Upload> = {}): Upload => ({
  format: 'csv',
  body: Buffer.from('n\n1\n'),
  ...more,
})

const isSmall = (more: Partial<Upload> = {}, mode: WriteMode = 'append', limit = LIMIT) =>
  smallWrite(upload(more), mode, limit) !== undefined

test.each<[string, Partial<Upload>, WriteMode]>([
  ['an append', {}, 'append'],
  ['an upsert', {}, 'upsert'],
  ['as many bytes as there may be', { body: Buffer.alloc(SMALL_BYTES, 'a') }, 'append'],
])('%s may be written with others', (_, more, mode) => {
  expect(isSmall(more, mode)).toBe(true)
})

test.each<[string, Partial<Upload>, WriteMode?]>([
  ['one that replaces all rows', {}, 'replace'],
  ['one byte more than there may be', { body: Buffer.alloc(SMALL_BYTES + 1, 'a') }],
  ['a body that is still to come', { body: (async function* () {})() }],
  ['a file', { body: { file: '/rows.csv' } }],
  ['one of an unknown format', { format: undefined as never }],
  ['Parquet', { format: 'parquet' }],
  ['a compressed one', { gzip: true }],
  ['one with columns of its own', { columns: [{ name: 'n', type: 'integer' }] }],
  ['one with options', { options: { dialect: 'auto' } }],
  ['one that adds columns', { addColumns: true }],
  ['one with a column for its file', { fileColumn: 'file' }],
  ['one that is to be by itself', { alone: true }],
  ['one whose progress is watched', { onProgress: () => {} }],
])('%s is written by itself', (_, more, mode) => {
  expect(isSmall(more, mode)).toBe(false)
})

test('an upload that is larger than the limit is refused as others are, by itself', () => {
  expect([isSmall({}, 'append', 4), isSmall({}, 'append', 3)]).toEqual([true, false])
})

/** What a group was committed as: `alone`, or the names of the writes that were committed together. */
type Step = readonly string[]

/**
 * Groups over a dataset: a first write is under way while all others come. A write is known by its note in `accept`.
 * @param together what writing some together gives or throws; by default, all are taken
 */
function grouping(
  together: (names: readonly string[]) => readonly number[] | undefined = (names) => [...names.keys()],
  alone: (name: string) => void = () => {},
) {
  const steps: Step[] = []
  const gate = Promise.withResolvers<void>()
  const nameOf = new Map<SmallWrite, string>()
  const groups = new Groups({
    alone: async (_, write) => {
      const name = nameOf.get(write)!
      if (name === 'first') await gate.promise
      else steps.push([name])
      alone(name)
      return { id: 1, name } as unknown as WrittenRecord
    },
    together: async (_, writes) => {
      const names = writes.map((write) => nameOf.get(write)!)
      steps.push(names)
      const taken = together(names)
      return taken && { record: { id: 1, name: names.join() } as unknown as WrittenRecord, taken }
    },
  })
  const write = (name: string, more: Partial<Upload> = {}, mode: WriteMode = 'append', datasetId = 1) => {
    const small = smallWrite(upload(more), mode, LIMIT)!
    nameOf.set(small, name)
    return groups.write(datasetId, small)
  }
  const first = write('first')
  return {
    write,
    /** Lets the first write end; gives how the others were committed. */
    steps: async (others: readonly Promise<unknown>[]) => {
      gate.resolve()
      await Promise.allSettled([first, ...others])
      return steps
    },
  }
}

test.each<[string, Partial<Upload>, WriteMode?]>([
  ['in another way', {}, 'upsert'],
  ['in another format', { format: 'ndjson' }],
  ['by another author', { by: 'bob' }],
  ['with another note', { note: 'late' }],
  ['with nulls for what it lacks', { missing: 'null' }],
  ['by another key', { on: ['n'] }],
  ['as a refresh', { isRefresh: true }],
])('a write %s is not committed with others, which keep their order', async (_, more, mode) => {
  const { write, steps } = grouping()
  const others = [write('a'), write('b'), write('other', more, mode), write('c'), write('d')]
  expect(await steps(others)).toEqual([['a', 'b', 'c', 'd'], ['other']])
})

test('a group has at most a thousand writes and four mebibytes', async () => {
  const many = grouping()
  const sizes = (all: readonly Step[]) => all.map(({ length }) => length)
  expect(sizes(await many.steps(Array.from({ length: 1_001 }, (_, n) => many.write(`${n}`))))).toEqual([
    1_000, 1,
  ])
  const large = grouping()
  const body = Buffer.alloc(SMALL_BYTES, 'a')
  const writes = Array.from({ length: 65 }, (_, n) => large.write(`${n}`, { body }))
  expect(sizes(await large.steps(writes))).toEqual([64, 1])
})

test('a write to another dataset waits for none of these', async () => {
  const { write, steps } = grouping()
  const waiting = write('a')
  await write('other', {}, 'append', 2)
  expect(await steps([waiting])).toEqual([['other'], ['a']])
})

test('a write that comes when all are done begins anew', async () => {
  const { write, steps } = grouping()
  expect(await steps([write('a'), write('b')])).toEqual([['a', 'b']])
  await write('c')
  expect(await steps([write('d')])).toEqual([['a', 'b'], ['c'], ['d']])
})

test('what was written together is one record, and those that were not taken follow by themselves', async () => {
  const { write, steps } = grouping(() => [0, 2])
  const others = ['a', 'b', 'c', 'd'].map((name) => write(name))
  expect(await steps(others)).toEqual([['a', 'b', 'c', 'd'], ['b'], ['d']])
  expect((await Promise.all(others)).map(({ name }) => name)).toEqual(['a,b,c,d', 'b', 'a,b,c,d', 'd'])
})

test('a fault of one write is looked for by halves, and the others are committed', async () => {
  const isBad = (name: string) => {
    if (name === 'c') throw new EngineError('duplicate_key', 'c is there.')
  }
  const { write, steps } = grouping((names) => {
    for (const name of names) isBad(name)
    return [...names.keys()]
  }, isBad)
  const others = ['a', 'b', 'c', 'd', 'e'].map((name) => write(name))
  expect(await steps(others)).toEqual([
    ['a', 'b', 'c', 'd', 'e'],
    ['a', 'b', 'c'],
    ['a', 'b'],
    ['c'],
    ['d', 'e'],
  ])
  expect((await Promise.allSettled(others)).map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  ])
})

test('an error of the machine is that of all, and none is tried again', async () => {
  const { write, steps } = grouping(() => {
    throw new EngineError('storage_full', 'The disk is full.')
  })
  const others = ['a', 'b', 'c'].map((name) => write(name))
  expect(await steps(others)).toEqual([['a', 'b', 'c']])
  const full = { status: 'rejected', reason: { code: 'storage_full' } }
  expect(await Promise.allSettled(others)).toMatchObject([full, full, full])
})

test('an error that nobody knows may be of one write', async () => {
  const { write, steps } = grouping((names) => {
    if (names.includes('a')) throw new Error('refused')
    return [...names.keys()]
  })
  expect(await steps(['a', 'b', 'c'].map((name) => write(name)))).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b'],
    ['a'],
    ['b'],
    ['c'],
  ])
})

test('where writes can not be read together, the first is by itself, then the others are tried again', async () => {
  let tried = 0
  const { write, steps } = grouping((names) => (++tried === 1 ? undefined : [...names.keys()]))
  expect(await steps(['a', 'b', 'c'].map((name) => write(name)))).toEqual([
    ['a', 'b', 'c'],
    ['a'],
    ['b', 'c'],
  ])
})

test('writes whose clients have all left are not written, and the next one is', async () => {
  const { write, steps } = grouping()
  const left = AbortSignal.abort(new Error('left'))
  const gone = [write('a', { signal: left }), write('b', { signal: left })]
  expect(await steps(gone)).toEqual([])
  expect(await Promise.allSettled(gone)).toMatchObject(Array(2).fill({ reason: { message: 'left' } }))
  await nextTurn()
  await write('c')
  expect(await steps([])).toEqual([['c']])
})

test('each write of a group is accepted, in their order, in the one transaction', async () => {
  const accepted: unknown[] = []
  const writes = ['a', undefined, 'b'].map(
    (name) =>
      smallWrite(
        upload({
          accept: name === undefined ? undefined : async (...given) => void accepted.push([name, ...given]),
        } as Upload),
        'append',
        LIMIT,
      )!,
  )
  const [made, t] = [{ columns: 1, rows: 2, bytes: 3 }, {} as Handle]
  await acceptAll(writes)(made, t)
  expect(accepted).toEqual([
    ['a', made, t],
    ['b', made, t],
  ])
})
