import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Dataset, type Format, openFiles, type QueryOptions } from '../../engine/index.ts'
import { newDataset, openWorkplace, textOf } from './workplace.ts'

/** Rows so wide that sorted ones are read in three turns. */
const ROWS = 900
const WIDE = 'x'.repeat(180_000)
const NUMBERS = Array.from({ length: ROWS }, (_, n) => n)
/** Each hundredth row has none; of the others three have the same. */
const keyOf = (n: number) => (n % 100 === 0 ? null : ((n * 7) % ROWS) % 300)
const before = (a: number | null, b: number | null) => (a ?? -1) - (b ?? -1)
const SORTED = NUMBERS.toSorted((a, b) => before(keyOf(a), keyOf(b)))

let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset

beforeAll(async () => {
  place = await openWorkplace()
  dataset = await newDataset(place.engine)
  async function* lines(from: number) {
    yield Buffer.from('n,k,text\n')
    for (let n = from; n < from + ROWS / 3; n++) yield Buffer.from(`${n},${keyOf(n) ?? ''},${n} ${WIDE}\n`)
  }
  for (const from of [0, ROWS / 3, (2 * ROWS) / 3]) await dataset.append({ format: 'csv', body: lines(from) })
}, 60_000)
afterAll(() => place[Symbol.asyncDispose]())

async function read(options: QueryOptions, format: Format = 'csv'): Promise<string> {
  using query = await dataset.query(options)
  return await textOf(await query.bytes(format))
}

/** Statements that were started so far. */
async function started(): Promise<number> {
  await place.engine.executor()
  return (await place.engine.stats()).executor!.started
}

test('sorted wide rows are found first, and then read some at a time', async () => {
  using query = await dataset.query({ orderBy: 'k' })
  expect(await query.explain()).toContain('some rows at a time')
  const before = await started()
  const lines = (await textOf(await query.bytes('csv'))).trimEnd().split('\n').slice(1)
  expect((await started()) - before).toBe(1 + 3)
  expect(lines.map((line) => line.replace(/,[^,]*$/, ''))).toEqual(
    SORTED.map((n) => `${n},${keyOf(n) ?? ''}`),
  )
  expect(lines.every((line) => line.endsWith(`,${line.split(',')[0]} ${WIDE}`))).toBe(true)
})

test.each([
  ['descending', { orderBy: 'k desc' }, NUMBERS.toSorted((a, b) => before(keyOf(b), keyOf(a)))],
  ['of a filter', { orderBy: 'k', filter: 'n ge 450' }, SORTED.filter((n) => n >= 450)],
  ['behind others', { orderBy: 'k', skip: 100, top: 700 }, SORTED.slice(100, 800)],
  ['at the end', { orderBy: 'k', last: 700 }, SORTED.slice(-700)],
  ['where none match', { orderBy: 'k', filter: 'n lt 0' }, []],
] satisfies [string, QueryOptions, number[]][])('wide rows are right %s', async (_, options, wanted) => {
  const text = await read({ ...options, select: ['n', 'text'] }, 'ndjson')
  expect(text === wanted.map((n) => `{"n":${n},"text":"${n} ${WIDE}"}\n`).join('')).toBe(true)
  using query = await dataset.query({ ...options, select: ['n', 'text'] })
  expect(await query.explain('ndjson')).toContain('some rows at a time')
  expect((await Array.fromAsync(query.rows())).map(({ n }) => n)).toEqual(wanted)
})

test('narrow columns of wide rows are sorted by one statement', async () => {
  const before = await started()
  expect(await read({ orderBy: 'k', select: ['n'] })).toBe(`n\n${SORTED.join('\n')}\n`)
  expect((await started()) - before).toBe(1)
})

test('a Parquet file of sorted wide rows is made of files of some rows each', async () => {
  const file = join(place.directory, 'sorted.parquet')
  using query = await dataset.query({ orderBy: 'k', select: ['n', 'text'] })
  expect(await query.explain('parquet')).toContain('some rows at a time')
  expect(await query.toFile(file, 'parquet')).toMatchObject({ rows: ROWS })
  await using files = await openFiles(file)
  using all = files.query()
  const rows = await Array.fromAsync(all.rows())
  expect(rows.map(({ n, text }) => [n, text])).toEqual(SORTED.map((n) => [n, `${n} ${WIDE}`]))
})

test('an explanation of sorted wide rows runs all turns, and has the steps of the first', async () => {
  using query = await dataset.query({ orderBy: 'k' })
  const before = await started()
  const { strategy, steps } = await query.analyse()
  expect((await started()) - before).toBe(1 + 3)
  expect(strategy).toContain('some rows at a time')
  expect(steps[0]!.rows).toBeGreaterThan(0)
  expect(steps[0]!.rows).toBeLessThan(ROWS / 2)
})

test('whoever leaves sorted wide rows early, or cancels them, leaves nothing behind', async () => {
  using query = await dataset.query({ orderBy: 'k' })
  for await (const _ of await query.bytes('csv')) break
  const cancelling = new AbortController()
  const reading = (async () => {
    for await (const _ of await query.bytes('csv', { signal: cancelling.signal })) cancelling.abort()
  })()
  await expect(reading).rejects.toMatchObject({ code: 'cancelled' })
  expect((await place.engine.stats()).executor).toMatchObject({ exports: 0, statements: 0 })
})

test('a csv file of 20,000 columns of numbers is read within the memory of one upload', async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `x${index}`)
  const row = (n: number) => names.map((_, index) => (n * index) % 977).join()
  const lines = [names.join(), ...Array.from({ length: 100 }, (_, n) => row(n))]
  const body = Readable.from(lines.map((line) => Buffer.from(`${line}\n`)))
  const written = await (await newDataset(place.engine)).replace({ format: 'csv', body })
  expect(written).toMatchObject({ rowCount: 100, columns: { length: names.length } })
}, 300_000)
