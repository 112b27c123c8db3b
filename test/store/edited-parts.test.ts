import { expect, test } from 'vitest'
import type { Origin, Part, Version } from '../../engine/catalog/records.ts'
import { EngineError } from '../../engine/errors.ts'
import type { MakingOptions, WorkContext } from '../../engine/store/commits.ts'
import { addingColumns, changeOf, type EditPlan, Edits, requireDistinct } from '../../engine/store/edits.ts'
import type { Column, PartStatistics } from '../../engine/types/index.ts'

const COLUMNS: readonly Column[] = ['n', 'word'].map((name) => ({
  name,
  type: 'integer',
  nullable: true,
  description: '',
}))

let ids = 0
function part(rows = 4, more: Partial<Part> = {}): Part {
  ids += 1
  return { id: ids, rows, bytes: 100, rawBytes: 10 * rows, hash: `hash ${ids}`, statistics: null, ...more }
}
const version = (...parts: Part[]) => ({ parts, columns: COLUMNS }) as unknown as Version
const idsOf = (parts: readonly Part[]) => parts.map(({ id }) => id)

interface Made {
  /** The file of the part that was copied. */
  readonly from: string
  readonly origin: Origin | undefined
  readonly oldColumns: number | undefined
}

/**
 * What edits need of a store. Its jobs only note what they are asked.
 * @param bits which rows of the part with an id are found, as 0 and 1
 */
function store(bits: (id: number) => string | undefined, fails: (file: string) => boolean = () => false) {
  const searched: number[][] = []
  const asked: object[] = []
  const made: Made[] = []
  const filled: { given: readonly string[]; old: readonly string[] }[] = []
  const discarded: number[] = []
  const idOf = (file: string) => Number(file.slice('file '.length))
  let pins = 0
  let repeated: readonly object[] = []
  const jobs = {
    find: async (input: { parts: readonly string[]; rows: number; selection: object }, hooks: object) => {
      const { parts, rows, selection } = input
      searched.push([...parts.map(idOf), rows])
      asked.push({ selection, ...hooks })
      const found = parts.map((file, index) => [index, bits(idOf(file))] as const)
      return Object.fromEntries(
        found.flatMap(([index, one]) =>
          one === undefined ? [] : [[index, { count: one.replaceAll('0', '').length, bits: one }]],
        ),
      )
    },
    edit: async ({ part, oldColumns }: { part: string; oldColumns: number }) => {
      if (fails(part)) throw new EngineError('filter_failed', `of ${part}`)
      return { from: part, oldColumns }
    },
    fill: async ({ parts, old }: { parts: readonly string[]; old: readonly string[] }) => {
      filled.push({ given: parts, old })
      return { from: 'the upload' }
    },
    repeated: async (input: object, hooks: object) => {
      asked.push({ ...input, ...hooks })
      return repeated
    },
  }
  const context = {
    ingestor: async () => ({ jobs }),
    integrity: {
      pinWhole: async (parts: readonly Part[]) => {
        pins += 1
        return { files: parts.map(({ id }) => `file ${id}`), [Symbol.dispose]: () => (pins -= 1) }
      },
    },
    commits: {
      makeParts: async (
        write: (job: typeof jobs, target: string) => Promise<{ from: string; oldColumns?: number }>,
        { origin }: MakingOptions,
      ) => {
        const { from, oldColumns } = await write(jobs, 'target')
        made.push({ from, origin, oldColumns })
        return { parts: [part(1)] }
      },
      discard: async (parts: readonly Part[]) => void discarded.push(...idsOf(parts)),
    },
  } as unknown as WorkContext
  return {
    context,
    searched,
    asked,
    made,
    filled,
    discarded,
    pins: () => pins,
    repeat: (found: readonly object[]) => {
      repeated = found
    },
  }
}

const WHERE = { where: 'c0 = 1', parameters: [] }
const edits = (context: WorkContext, plan: Partial<EditPlan> = {}) =>
  new Edits(context, COLUMNS, { mayHold: () => true, condition: WHERE, ...plan })

test('parts without such rows stay, those with such rows alone fall away, others are written again', async () => {
  const [apart, without, whole, some] = [part(), part(), part(), part()]
  const at = store((id) => ({ [whole.id]: '1111', [some.id]: '0101' })[id])
  const deletion = edits(at.context, { mayHold: ({ id }) => id !== apart.id })
  const all = [apart, without, whole, some]
  await deletion.prepare(version(...all), {})
  const changed = deletion.changed(all)!
  expect(at.searched).toEqual([[without.id, whole.id, some.id, 4]])
  expect(idsOf(changed.parts)).toEqual([apart.id, without.id, ...idsOf(deletion.made)])
  expect([changed.count, deletion.made.length, at.pins()]).toEqual([6, 1, 0])
  expect(at.made).toEqual([
    { from: `file ${some.id}`, origin: { hash: some.hash, rows: [1, 3] }, oldColumns: 2 },
  ])
})

test('where columns of rows are set, a part of which all rows are meant is written again', async () => {
  const whole = part()
  const at = store(() => '1111')
  const setting = edits(at.context, { set: {} as never })
  await setting.prepare(version(whole), {})
  expect(setting.changed([whole])).toMatchObject({ count: 4, parts: setting.made })
  expect(at.made).toMatchObject([{ from: `file ${whole.id}` }])
})

test('where columns are added, each part is written with them, found or not', async () => {
  const all = [part(), part()]
  const at = store(() => undefined)
  const adding = edits(at.context, addingColumns(1))
  await adding.prepare(version(...all), {})
  expect(at.made).toMatchObject(all.map(({ id }) => ({ from: `file ${id}`, oldColumns: 1 })))
  expect(adding.changed(all)).toMatchObject({ count: 0, parts: adding.made })
  expect(at.asked).toMatchObject([{ selection: { where: 'false', parameters: [] } }])
})

test('which rows were changed is not noted for a part without a hash, nor for very many', async () => {
  const [unhashed, many, most] = [part(4, { hash: null }), part(10_002), part(10_002)]
  const at = store((id) =>
    id === unhashed.id ? '1000' : `0${id === many.id ? '1' : '0'}${'1'.repeat(10_000)}`,
  )
  await edits(at.context).prepare(version(unhashed, many, most), {})
  expect(at.made.map(({ origin }) => origin?.rows.length)).toEqual([undefined, undefined, 10_000])
})

test('parts that others commit meanwhile are the only ones to be prepared for another try', async () => {
  const [first, second, later] = [part(), part(), part()]
  const at = store(() => '1000')
  const deletion = edits(at.context)
  await deletion.prepare(version(first, second), {})
  expect(deletion.changed([first, later])).toBeUndefined()
  await deletion.prepare(version(first, later), {})
  expect(at.searched).toEqual([
    [first.id, second.id, 4],
    [later.id, 4],
  ])
  expect(deletion.changed([first, later])!.count).toBe(2)
  // All that was written for either version is known, so that what no version gets is removed.
  expect(deletion.made).toHaveLength(3)
})

test('large parts are searched some at a time', async () => {
  const all = [part(5_000_000), part(3_000_000), part(7_999_999), part(1), part(2)]
  const [a, b, c, d, e] = idsOf(all)
  const at = store(() => undefined)
  await edits(at.context).prepare(version(...all), {})
  expect(at.searched).toEqual([
    [a, b, 5_000_000],
    [c, d, 7_999_999],
    [e, 2],
  ])
})

test('what was written is known also when a later part fails', async () => {
  const [fine, broken, kept] = [part(), part(), part()]
  const at = store(
    (id) => (id === kept.id ? undefined : '1000'),
    (file) => file === `file ${broken.id}`,
  )
  const deletion = edits(at.context)
  await expect(deletion.prepare(version(fine, broken, kept), {})).rejects.toThrow(`of file ${broken.id}`)
  expect([deletion.made.length, at.made.length, at.pins()]).toEqual([1, 1, 0])
})

const UNNAMED = { all: [1], some: [], marked: false }

test('an upload takes what it does not name from the parts with its rows, again where these are others', async () => {
  const upload = [part(2), part(2)]
  const [first, second, later] = [part(), part(), part()]
  const at = store((id) => (id === second.id ? undefined : '1000'))
  const upsert = edits(at.context, { condition: { like: upload, on: [0] }, unnamed: UNNAMED })
  const given = upload.map(({ id }) => `file ${id}`)
  await upsert.prepare(version(first, second), {})
  expect(at.asked).toMatchObject([{ selection: { like: given, on: [0] } }])
  expect(at.filled).toEqual([{ given, old: [`file ${first.id}`] }])
  const { filled } = upsert.changed([first, second])!
  expect(filled).toHaveLength(1)
  expect(upsert.made).toContain(filled![0])
  // A part without such rows changes nothing of it.
  await upsert.prepare(version(second, first), {})
  expect(at.filled).toHaveLength(1)
  expect(upsert.changed([second, first])!.filled).toEqual(filled)

  await upsert.prepare(version(first, second, later), {})
  expect(at.filled.slice(1)).toEqual([{ given, old: [`file ${first.id}`, `file ${later.id}`] }])
  expect(at.discarded).toEqual(idsOf(filled!))
  expect(upsert.made).not.toContain(filled![0])
  // Rows filled from other parts than those of the version are not committed.
  expect(upsert.changed([first, second])).toBeUndefined()
  expect(upsert.changed([later, first, second])).toBeUndefined()
  expect(upsert.changed([first, second, later])!.count).toBe(2)
  expect(at.pins()).toBe(0)
})

test('an upload whose rows have fewer keys than the rows found is refused, as one of them has several', async () => {
  const upload = [part(1), part(1)]
  const upsert = (bits: string) => {
    const old = part()
    const { context } = store((id) => (id === old.id ? bits : undefined))
    return edits(context, { condition: { like: upload, on: [0] }, unnamed: UNNAMED }).prepare(
      version(old),
      {},
    )
  }
  await upsert('1100')
  await expect(upsert('1110')).rejects.toMatchObject({ code: 'duplicate_key' })
})

test('an append is refused where its keys are there, and only then they are looked for one by one', async () => {
  const [upload, old] = [part(2), part()]
  const append = async (bits: string | undefined, refuse: boolean) => {
    const at = store((id) => (id === old.id ? bits : undefined))
    at.repeat([{ places: [[0, 1]], key: ['7'] }])
    await edits(at.context, { condition: { like: [upload], on: [0] }, refuse }).prepare(version(old), {})
  }
  await append(undefined, true)
  await append('1000', false)
  await expect(append('1000', true)).rejects.toMatchObject({
    code: 'duplicate_key',
    message: expect.stringMatching(/^Row 2 has a key that the dataset has already: n = 7\./),
  })
})

const nulls = (...counts: number[]): PartStatistics =>
  counts.map((count) => ({ min: null, max: null, nulls: count }))

test('a row without a key is told with its number among all rows', async () => {
  const [first, second, third] = [
    part(4, { statistics: nulls(0, 1) }),
    part(5, { statistics: nulls(2, 1) }),
    part(4, { statistics: nulls(2, 1) }),
  ]
  const at = store((id) => (id === third.id ? '0010' : undefined))
  const { signal } = new AbortController()
  const check = (on: readonly number[]) =>
    requireDistinct(at.context, [first, second, third], COLUMNS, on, { signal })
  await expect(check([0])).rejects.toMatchObject({
    code: 'duplicate_key',
    message: 'Row 12 has no key: "n" is null.',
    details: { row: 12, columns: ['n'] },
  })
  await expect(check([0, 1])).rejects.toMatchObject({ message: 'Row 12 has no key: "n", "word" are null.' })
  // A part that has no null in a column of the key is not searched.
  expect(at.searched).toEqual(Array(2).fill([second.id, third.id, 5]))
  expect(at.asked).toEqual(
    ['c0 IS NULL', 'c0 IS NULL AND c1 IS NULL'].map((where) => ({
      selection: { where, parameters: [] },
      signal,
    })),
  )
  expect(at.pins()).toBe(0)
})

test('rows without a key are looked for where statistics tell nothing, and nowhere if each column has values', async () => {
  const unknown = store(() => '1000')
  await expect(requireDistinct(unknown.context, [part()], COLUMNS, [0], {})).rejects.toThrow(
    'Row 1 has no key',
  )
  const known = store(() => '1000')
  await requireDistinct(known.context, [part(4, { statistics: nulls(0, 4) })], COLUMNS, [0, 1], {})
  await requireDistinct(known.context, [], COLUMNS, [0], {})
  expect(known.searched).toEqual([])
})

test('rows that repeat a key are told with their numbers among all rows, and the values', async () => {
  const at = store(() => undefined)
  at.repeat([
    {
      places: [
        [0, 3],
        [1, 0],
      ],
      key: ['7', null],
    },
    {
      places: [
        [1, 1],
        [1, 2],
      ],
      key: ['8', '9'],
    },
  ])
  const parts = [part(), part()]
  const { signal } = new AbortController()
  const twice = requireDistinct(at.context, parts, COLUMNS, [0, 1], { signal })
  await expect(twice).rejects.toMatchObject({
    code: 'duplicate_key',
    message: 'Rows 4 and 5 have the same key: n = 7, word = null.',
    details: {
      row: 5,
      value: 'n = 7, word = null',
      columns: ['n', 'word'],
      errors: [
        { row: 5, value: 'n = 7, word = null' },
        { row: 7, value: 'n = 8, word = 9' },
      ],
    },
  })
  const files = parts.map(({ id }) => `file ${id}`)
  expect(at.asked.at(-1)).toEqual({ parts: files, on: [0, 1], like: undefined, signal })
})

test('rows are compared with those of other parts, whatever their own keys are', async () => {
  const [given, other] = [part(), part()]
  const at = store(() => '1000')
  await requireDistinct(at.context, [given], COLUMNS, [0], { others: [other] })
  expect(at.asked).toEqual([
    { parts: [`file ${given.id}`], on: [0], like: [`file ${other.id}`], signal: undefined },
  ])
})

test('a change says what it was, and how many rows it added and removed', () => {
  const plan = { mayHold: () => true, condition: WHERE }
  const by = { by: 'ada', note: undefined }
  expect(changeOf(plan, 3, { by: 'ada', note: 'wrong' })).toEqual({
    ...{ by: 'ada', note: 'wrong', operation: 'delete', addedRows: 0, removedRows: 3 },
  })
  const set = {} as never
  expect(changeOf({ ...plan, set }, 3, by)).toEqual({
    ...{ ...by, operation: 'edit', addedRows: 3, removedRows: 3 },
  })
  const parts = [part(2), part(3)]
  const instead = { made: parts, parts, base: 1, number: 7, rows: 5 }
  const undone = { ...by, operation: 'restore', addedRows: 5, removedRows: 3 }
  expect(changeOf({ ...plan, instead }, 3, by)).toEqual({
    ...undone,
    note: 'The change of version 7, undone.',
  })
  expect(changeOf({ ...plan, instead }, 3, { ...by, note: 'Oops' })).toEqual({ ...undone, note: 'Oops' })
})
