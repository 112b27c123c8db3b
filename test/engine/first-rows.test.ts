import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Dataset, Format, QueryOptions } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace } from './workplace.ts'

const ROWS = 5_000
let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset

beforeAll(async () => {
  place = await openWorkplace()
  dataset = await newDataset(place.engine)
  const lines = Array.from({ length: ROWS }, (_, n) => `${n},${n % 100},text ${n}`)
  await dataset.replace({ body: bytesOf(`n,rest,text\n${lines.join('\n')}\n`), format: 'csv' })
})
afterAll(() => place[Symbol.asyncDispose]())

/** Statements that were started so far. */
async function started(): Promise<number> {
  await place.engine.executor()
  return (await place.engine.stats()).executor!.started
}

/** What a query gives, with its count, and in how many statements. */
async function read(options: QueryOptions, format: Format = 'csv', from = dataset) {
  using query = await from.query(options)
  const before = await started()
  const stream = await query.bytes(format, { counted: true })
  const count = await stream.matches
  const text = Buffer.concat(await Array.fromAsync(stream)).toString()
  return { text, count, statements: (await started()) - before }
}

describe('first rows and their number', () => {
  test('come of one scan where few rows match', async () => {
    expect(await read({ filter: 'n ge 4990', top: 5, select: 'n' })).toEqual({
      text: 'n\n4990\n4991\n4992\n4993\n4994\n',
      count: 10,
      statements: 1,
    })
  })

  test('come of one scan where none matches', async () => {
    expect(await read({ filter: 'n eq 77777', top: 5, select: 'n' })).toEqual({
      text: 'n\n',
      count: 0,
      statements: 1,
    })
  })

  test('come of one scan where many match in a table that is read soon', async () => {
    expect(await read({ filter: 'rest eq 3', top: 2, select: 'n' })).toEqual({
      text: 'n\n3\n103\n',
      count: 50,
      statements: 1,
    })
    expect(await read({ filter: 'n ge 1', skip: 10, top: 1, select: 'n' })).toEqual({
      text: 'n\n11\n',
      count: ROWS - 1,
      statements: 1,
    })
  })

  test('come of two where many match and would have to be sorted, or the table is larger', async () => {
    expect(await read({ filter: 'rest eq 4', orderBy: 'text', top: 2, select: 'n' })).toEqual({
      text: 'n\n1004\n104\n',
      count: 50,
      statements: 2,
    })
    const large = await newDataset(place.engine)
    const lines = Array.from({ length: 30_000 }, (_, n) => n)
    await large.replace({ body: bytesOf(`n\n${lines.join('\n')}\n`), format: 'csv' })
    expect(await read({ filter: 'n ge 9', top: 2 }, 'csv', large)).toEqual({
      text: 'n\n9\n10\n',
      count: 29_991,
      statements: 2,
    })
  })

  test('are right beyond skipped rows, also where none is left', async () => {
    expect(await read({ filter: 'n ge 4980', skip: 18, top: 1, select: 'n' })).toMatchObject({
      text: 'n\n4998\n',
      count: 20,
      statements: 1,
    })
    expect(await read({ filter: 'n ge 4970', skip: 400, top: 5, select: 'n' })).toMatchObject({
      text: 'n\n',
      count: 30,
    })
  })

  test('are right where the wanted number is nothing', async () => {
    expect(await read({ filter: 'n ge 4965', top: 0, select: 'n' })).toMatchObject({ text: 'n\n', count: 35 })
  })

  test('come of one scan where the whole table is small, whatever the filter and the window', async () => {
    const small = await newDataset(place.engine)
    for (const rows of ['1\n2\n', '3\n4\n'])
      await small.append({ body: bytesOf(`n\n${rows}`), format: 'csv' })
    expect(await read({ filter: 'n gt 1' }, 'csv', small)).toEqual({
      text: 'n\n2\n3\n4\n',
      count: 3,
      statements: 1,
    })
    expect(await read({ filter: 'n gt 2', skip: 1, top: 5000 }, 'json', small)).toEqual({
      text: '[{"n":4}]\n',
      count: 2,
      statements: 1,
    })
  })

  test('keep their order', async () => {
    const options = { filter: 'n lt 15', orderBy: 'n desc', top: 3, select: 'n' }
    expect(await read(options)).toEqual({ text: 'n\n14\n13\n12\n', count: 15, statements: 1 })
  })

  test.for([
    'csv',
    'tsv',
    'json',
    'ndjson',
    'arrow',
  ] as const)('are in %s what they are without a count', async (format) => {
    const filter = { filter: "rest eq 7 and text ne 'text 7'" }
    using whole = await dataset.query({ ...filter, skip: 3, top: 4, orderBy: 'n' })
    await whole.count()
    const plain = Buffer.concat(await Array.fromAsync(await whole.bytes(format))).toString()
    expect((await read({ ...filter, skip: 3, top: 4, orderBy: 'n' }, format)).text).toBe(plain)
  })

  test('that fail tell why, and the count does, too', async () => {
    const options = { filter: 'n div (n sub 4999) eq 1', top: 5 }
    using query = await dataset.query(options)
    await expect(query.bytes('csv', { counted: true })).rejects.toMatchObject({ code: 'filter_failed' })
    await expect(query.count()).rejects.toMatchObject({ code: 'filter_failed' })
  })

  test('of which a client has heard enough end at once', async () => {
    const gone = new AbortController()
    using query = await dataset.query({ filter: 'n ge 4990', top: 5 })
    const stream = await query.bytes('csv', { signal: gone.signal })
    gone.abort()
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: 'cancelled' })
  })
})

describe('first rows of several files', () => {
  const SIZES = [900, 300, 100]
  let parts: Dataset

  beforeAll(async () => {
    parts = await newDataset(place.engine)
    let n = 0
    for (const size of SIZES) {
      const lines = Array.from({ length: size }, () => `${n},${n++ % 100},text ${n}`)
      await parts.append({ body: bytesOf(`n,rest,text\n${lines.join('\n')}\n`), format: 'csv' })
    }
    using query = await parts.query({ filter: 'rest eq 3' })
    expect(query.plan.scan).toMatchObject({ slices: { length: SIZES.length } })
  })

  test('are searched for in the columns of the filter, and only they are read', async () => {
    using query = await parts.query({ filter: 'rest eq 3 and n gt 700', skip: 1, top: 3 })
    expect(await query.explain()).toContain('after a first statement has found where they are')
    const before = await started()
    expect(Buffer.concat(await Array.fromAsync(await query.bytes('csv'))).toString()).toBe(
      'n,rest,text\n803,3,text 804\n903,3,text 904\n1003,3,text 1004\n',
    )
    expect(await query.count()).toBe(6)
    expect((await started()) - before).toBe(2)
  })

  test.for<[string, QueryOptions]>([
    ['in all files', { filter: 'rest eq 3', top: 9 }],
    ['in the last file alone', { filter: 'rest eq 3 and n gt 1150 or n eq 0', skip: 1, top: 9 }],
    ['behind the last', { filter: 'rest eq 3', skip: 50, top: 9 }],
    ['that do not exist', { filter: "text eq 'none' or rest eq -1", top: 9 }],
    ['of which none is wanted', { filter: 'rest eq 3', top: 0 }],
    ['in another order', { filter: 'rest eq 3', orderBy: 'n desc', top: 4 }],
    ['of some columns', { filter: 'rest eq 3', select: 'text', top: 9 }],
  ])('are those %s', async ([, options]) => {
    const { filter, skip = 0, top, select } = options
    using all = await parts.query({ filter, select, orderBy: options.orderBy })
    const lines = Buffer.concat(await Array.fromAsync(await all.bytes('csv')))
      .toString()
      .split('\n')
    const [head, ...rows] = lines.slice(0, -1)
    const wanted = [head, ...rows.slice(skip, skip + top!), ''].join('\n')
    expect(await read(options, 'csv', parts)).toMatchObject({ text: wanted, count: rows.length })
  })

  test('have the order of the upload, however they lie', async () => {
    // DuckDB works on 2,048 rows at a time, and may gather those of which few are left.
    const places = [2_000, 2_010, 2_020, ...Array.from({ length: 90 }, (_, index) => 2_100 + 3 * index)]
    const lines = Array.from({ length: 6_000 }, (_, n) => `${n},${Number(places.includes(n))}`)
    const large = await newDataset(place.engine)
    for (const rows of [lines, ['6000,1', '6001,0']])
      await large.append({ body: bytesOf(`n,kind\n${rows.join('\n')}\n`), format: 'csv' })
    using query = await large.query({ filter: 'kind eq 1', select: 'n', top: 500 })
    expect(Buffer.concat(await Array.fromAsync(await query.bytes('csv'))).toString()).toBe(
      `n\n${[...places, 6_000].join('\n')}\n`,
    )
  })

  test('have the numbers of a view', async () => {
    using snapshot = await parts.snapshot()
    const view = { names: ['n', 'rest', 'text'], rowNumbers: ['row'] }
    using query = snapshot.query({ filter: 'rest eq 3 and row gt 800', select: 'row,n', top: 3 }, view)
    expect(Buffer.concat(await Array.fromAsync(await query.bytes('csv'))).toString()).toBe(
      'row,n\n804,803\n904,903\n1004,1003\n',
    )
  })

  test('tell why they fail', async () => {
    using query = await parts.query({ filter: 'n div (n sub 1299) eq 1', top: 5 })
    await expect(query.bytes('csv')).rejects.toMatchObject({ code: 'filter_failed' })
  })
})

describe('some rows of a large sorted table', () => {
  let large: Dataset

  beforeAll(async () => {
    large = await newDataset(place.engine)
    const note = 'x'.repeat(90_000)
    for (const part of [0, 1]) {
      const lines = Array.from({ length: 100 }, (_, n) => {
        const row = part * 100 + n
        return `${row},${row % 7},${row % 11 === 0 ? '' : (row * 37) % 200},${note}`
      })
      await large.append({ body: bytesOf(`n,rest,key,note\n${lines.join('\n')}\n`), format: 'csv' })
    }
  })

  const select = 'n'

  test('are found by their keys first, with nulls and ties in their places', async () => {
    expect(await read({ orderBy: 'key', skip: 18, top: 3, select }, 'csv', large)).toMatchObject({
      text: 'n\n198\n173\n146\n',
      statements: 2,
    })
    expect(await read({ orderBy: 'rest desc', top: 4, select }, 'csv', large)).toMatchObject({
      text: 'n\n6\n13\n20\n27\n',
      statements: 2,
    })
  })

  test('are the last ones, too, without a count', async () => {
    expect(await read({ orderBy: 'rest', last: 3, select }, 'csv', large)).toMatchObject({
      text: 'n\n181\n188\n195\n',
      statements: 2,
    })
  })

  test('are those of a filter, with their number', async () => {
    const filter = 'rest eq 3 and key ne null'
    expect(await read({ filter, orderBy: 'n desc', top: 2, select }, 'csv', large)).toMatchObject({
      text: 'n\n199\n192\n',
      count: 27,
    })
    expect(
      await read({ filter: 'rest eq 9', orderBy: 'n desc', top: 2, select }, 'csv', large),
    ).toMatchObject({
      text: 'n\n',
      count: 0,
    })
  })

  test('are the same as rows and in a file', async () => {
    using query = await large.query({ orderBy: 'rest desc,n desc', top: 3, select })
    expect(await Array.fromAsync(query.rows())).toEqual([{ n: 195 }, { n: 188 }, { n: 181 }])
    const file = Buffer.concat(await Array.fromAsync(await query.bytes('parquet')))
    expect(file.subarray(0, 4).toString()).toBe('PAR1')
    expect(await query.explain('csv')).toContain('a first statement has found where they are')
  })
})
