import { expect, test, vi } from 'vitest'
import type { Dataset, Engine, Query, QueryOptions } from '../../engine/index.ts'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from './workplace.ts'

/** A dataset of two parts, with nulls, and values of many widths. */
async function tableOf(engine: Engine, rows: number): Promise<Dataset> {
  const dataset = await newDataset(engine)
  const line = (n: number) => {
    const day = `2024-01-${10 + (n % 20)}`
    const flag = n % 3 === 0 ? '' : n % 2 === 0
    return `${n},${n % 7 === 0 ? '' : n / 4},${`text ${n} `.repeat(n % 5)},${flag},${day},${day} 12:30:0${n % 10}\n`
  }
  const csv = (from: number, to: number) =>
    bytesOf(
      `n,half,text,flag,day,time\n${Array.from({ length: to - from }, (_, index) => line(from + index)).join('')}`,
    )
  await dataset.append({ body: csv(0, rows - 5_000), format: 'csv' })
  await dataset.append({ body: csv(rows - 5_000, rows), format: 'csv' })
  await engine.settled()
  return dataset
}

const ROWS = 30_000
const VIEW = { names: ['n', 'half', 'text', 'flag', 'day', 'time'], rowNumbers: ['Row'] }

const statements = async (engine: Engine) => (await engine.stats()).executor!.statements

async function textOfPage(query: Query): Promise<string> {
  return textOf(await query.bytes('json', { paged: true }))
}

test.each<[string, QueryOptions, number[]]>([
  ['all rows', {}, [1_500]],
  ['all rows in pages of changing sizes', {}, [1_001, 9_000, 4_096, 2_048]],
  ['the rows behind some', { skip: 777 }, [7_000]],
  ['the rows that match', { filter: 'n ge 100 and half ne null' }, [3_333]],
  ['the rows that match, behind some', { filter: 'n mod 2 eq 0', skip: 1_234 }, [5_000]],
  ['sorted rows', { orderBy: 'n desc' }, [8_000]],
])('pages of %s are together the same rows as one export', async (_, options, sizes) => {
  await using place = await openWorkplace()
  const dataset = await tableOf(place.engine, ROWS)
  using snapshot = await dataset.snapshot()
  using whole = snapshot.query(options, VIEW)
  const expected = JSON.parse(await textOf(await whole.bytes('json')))
  expect(expected.length).toBeGreaterThan(10_000)
  const found: unknown[] = []
  for (let page = 0; ; page++) {
    const top = sizes[page % sizes.length]!
    using query = snapshot.query({ ...options, skip: (options.skip ?? 0) + found.length, top }, VIEW)
    const rows: unknown[] = JSON.parse(await textOfPage(query))
    if (rows.length === 0) break
    expect(rows).toEqual(expected.slice(found.length, found.length + top))
    found.push(...rows)
  }
  expect(found.length).toBe(expected.length)
})

test.each<[string, QueryOptions]>([
  // From an object store, the next part is fetched only when a page needs it.
  ...(IS_CLUSTER ? [] : [['all rows', {}] satisfies [string, QueryOptions]]),
  ['the rows that match', { filter: 'n ge 0' }],
])('a page of %s goes on with the statement of the page before, beyond the end of a part', async (_, options) => {
  await using place = await openWorkplace()
  const { engine } = place
  const dataset = await tableOf(engine, ROWS)
  const page = async (skip: number, top: number) => {
    using query = await dataset.query({ ...options, skip, top })
    return await textOfPage(query)
  }
  await page(0, 12_000)
  expect(await statements(engine)).toBe(1)
  await page(12_000, 12_000)
  expect(await statements(engine)).toBe(1)
  // Nothing waits for these rows, so a second statement is needed, and both wait.
  await page(5_000, 12_000)
  expect(await statements(engine)).toBe(2)
  await page(24_000, 12_000)
  expect(await statements(engine)).toBe(1)
})

test('now() is the moment at which the query was made', async () => {
  await using place = await openWorkplace()
  const dataset = await tableOf(place.engine, ROWS)
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2024-01-15T00:00:00Z') })
  try {
    const options = { filter: 'day lt date(now())' }
    using query = await dataset.query({ ...options, top: 5_000 })
    using whole = await dataset.query(options)
    vi.setSystemTime(new Date('2024-01-25T00:00:00Z'))
    const rows = JSON.parse(await textOfPage(query))
    expect(rows).toEqual(JSON.parse(await textOf(await whole.bytes('json'))).slice(0, 5_000))
    expect(rows.length).toBe(5_000)
  } finally {
    vi.useRealTimers()
  }
})

test('a page that was begun for one form is not given in another', async () => {
  await using place = await openWorkplace()
  const dataset = await tableOf(place.engine, ROWS)
  using snapshot = await dataset.snapshot()
  const page = async (skip: number, ieee754: boolean) => {
    using query = snapshot.query({ skip, top: 5_000 }, VIEW)
    return textOf(await query.bytes('json', { paged: true, odata: { ieee754 } }))
  }
  await page(0, false)
  expect(JSON.parse(await page(5_000, true))[1]).toMatchObject({ Row: '5002', n: '5001' })
  await page(0, true)
  expect(JSON.parse(await page(5_000, false))[1]).toMatchObject({ Row: 5_002, n: 5_001 })
})

test('the rows are those of the version, although it is replaced between two pages', async () => {
  await using place = await openWorkplace()
  const { engine } = place
  const dataset = await tableOf(engine, ROWS)
  const snapshot = await dataset.snapshot()
  using first = snapshot.query({ top: 10_000 })
  using second = snapshot.query({ skip: 10_000, top: 2_000 })
  snapshot[Symbol.dispose]()
  await textOfPage(first)
  first[Symbol.dispose]()
  await dataset.replace({ body: bytesOf('n\n1\n'), format: 'csv', missing: 'null' })
  await engine.settled()
  expect(JSON.parse(await textOfPage(second))[0]).toMatchObject({ n: 10_000 })
  // A query of the new version doesn't get rows of the old one.
  using anew = await dataset.query({ skip: 12_000, top: 2_000 })
  expect(await textOfPage(anew)).toBe('[]\n')
})

test('a statement whose next page nobody asks for ends after some seconds, and its version is released', async () => {
  await using place = await openWorkplace()
  const { engine } = place
  const dataset = await tableOf(engine, ROWS)
  {
    using query = await dataset.query({ top: 10_000 })
    const stream = await query.bytes('json', { paged: true })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const began = performance.now()
    const now = vi.spyOn(performance, 'now').mockReturnValue(began)
    try {
      await textOf(stream)
      expect(await statements(engine)).toBe(1)
      now.mockReturnValue(began + 4_000)
      vi.advanceTimersByTime(4_000)
      expect(await statements(engine)).toBe(1)
      now.mockReturnValue(began + 6_000)
      vi.advanceTimersByTime(2_000)
    } finally {
      now.mockRestore()
      vi.useRealTimers()
    }
  }
  await vi.waitFor(async () => expect(await statements(engine)).toBe(0))
  expect((await engine.stats()).readers).toBe(0)
})

test('a page that is left in its middle ends its statement', async () => {
  await using place = await openWorkplace()
  const { engine } = place
  const dataset = await tableOf(engine, ROWS)
  using query = await dataset.query({ top: 25_000 })
  for await (const _ of await query.bytes('json', { paged: true })) break
  expect(await statements(engine)).toBe(0)
})

test('no more than a few statements wait', async () => {
  await using place = await openWorkplace()
  const { engine } = place
  const dataset = await tableOf(engine, ROWS)
  for (let skip = 0; skip < 12; skip++) {
    using query = await dataset.query({ skip, top: 2_000 })
    await textOfPage(query)
  }
  // A statement ends when the threads have encoded what was fetched, and they may only just be starting.
  await vi.waitFor(async () => expect(await statements(engine)).toBe(8), 10_000)
})
