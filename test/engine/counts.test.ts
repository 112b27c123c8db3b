import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import type { Dataset, Engine } from '../../engine/index.ts'
import { Counts } from '../../engine/plan/counts.ts'
import { bytesOf, newDataset, useWorkplace } from './workplace.ts'

const place = useWorkplace()

const upload = (...rows: number[]) => ({ body: bytesOf(`n\n${rows.join('\n')}\n`), format: 'csv' as const })

/** Statements that were started so far. */
async function started(engine: Engine): Promise<number> {
  await engine.executor()
  return (await engine.stats()).executor!.started
}

async function count(dataset: Dataset, filter: string): Promise<number> {
  using query = await dataset.query({ filter })
  return await query.count()
}

test('a filter is counted once for each version of each dataset', async () => {
  const dataset = await newDataset(place.engine)
  const other = await newDataset(place.engine)
  await dataset.replace(upload(1, 2, 3))
  await other.replace(upload(2))
  const before = await started(place.engine)
  expect(await count(dataset, 'n gt 1')).toBe(2)
  expect(await count(dataset, 'n gt 1')).toBe(2)
  expect((await started(place.engine)) - before).toBe(1)
  expect(await count(dataset, 'n gt 2')).toBe(1)
  expect(await count(other, 'n gt 1')).toBe(1)
  await dataset.append(upload(4))
  expect(await count(dataset, 'n gt 1')).toBe(3)
  expect((await started(place.engine)) - before).toBe(4)
})

test('a count that one caller gives up is not lost for another', async () => {
  const dataset = await newDataset(place.engine)
  await dataset.replace(upload(1, 2, 3))
  using query = await dataset.query({ filter: 'n gt 1' })
  const gone = new AbortController()
  const first = query.count({ signal: gone.signal })
  const second = query.count()
  gone.abort()
  await expect(first).rejects.toMatchObject({ code: 'cancelled' })
  expect(await second).toBe(2)
})

test('a query counts once for those who ask at the same time', async () => {
  const dataset = await newDataset(place.engine)
  await dataset.replace(upload(1, 2, 3))
  const before = await started(place.engine)
  using query = await dataset.query({ filter: 'n gt 1' })
  const { signal } = new AbortController()
  expect(await Promise.all([query.count({ signal }), query.count({ signal })])).toEqual([2, 2])
  expect(await query.count()).toBe(2)
  expect((await started(place.engine)) - before).toBe(1)
})

test('queries that ask for the same count at the same time have it read once', async () => {
  const counts = new Counts()
  const plan = { filter: { sql: 'c0 > 1', parameters: [] } }
  const answer = Promise.withResolvers<number>()
  const read = vi.fn((_: AbortSignal) => answer.promise)
  const gone = new AbortController()
  const first = counts.of('1.1', plan, read, gone.signal)
  const second = counts.of('1.1', plan, read)
  gone.abort()
  await expect(first).rejects.toMatchObject({ code: 'cancelled' })
  expect(read.mock.calls[0]![0].aborted).toBe(false)
  answer.resolve(3)
  expect(await second).toBe(3)
  expect(read).toHaveBeenCalledTimes(1)
})

test('a count that nobody waits for any more is given up', async () => {
  const counts = new Counts()
  const plan = { filter: { sql: 'c0 > 1', parameters: [] } }
  const read = vi.fn((_: AbortSignal) => new Promise<number>(() => {}))
  const gone = new AbortController()
  const asked = [1, 2].map(() => counts.of('1.1', plan, read, gone.signal))
  gone.abort()
  for (const one of asked) await expect(one).rejects.toMatchObject({ code: 'cancelled' })
  expect(read.mock.calls[0]![0].aborted).toBe(true)
  expect(await counts.of('1.1', plan, async () => 5)).toBe(5)
})

test('rows in memory with other types have another tag', async () => {
  const tag = (type: 'string' | 'integer') => {
    using query = place.engine.relation([{ name: 'a', type }], [['1']]).query()
    return query.etag
  }
  expect(tag('string')).not.toBe(tag('integer'))
})

test('a count that failed is read again', async () => {
  const dataset = await newDataset(place.engine)
  await dataset.replace(upload(1, 2, 3))
  const executor = await place.engine.executor()
  vi.spyOn(executor, 'rows').mockRejectedValueOnce(new Error('disk'))
  await expect(count(dataset, 'n gt 1')).rejects.toThrow('disk')
  expect(await count(dataset, 'n gt 1')).toBe(2)
})

test('the counts that nobody asked for longest are forgotten', async () => {
  const counts = new Counts()
  const read = vi.fn(async () => 7)
  const ask = (sql: number) => counts.of('1.1', { filter: { sql: `c0 > ${sql}`, parameters: [] } }, read)
  for (let n = 0; n < 1_000; n++) await ask(n)
  await ask(0)
  await ask(1_000)
  expect(read).toHaveBeenCalledTimes(1_001)
  await ask(0)
  expect(read).toHaveBeenCalledTimes(1_001)
  expect(await ask(1)).toBe(7)
  expect(read).toHaveBeenCalledTimes(1_002)
})

test('a remembered count takes little, however long the filter was', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const held = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const counts = new Counts()
  const before = held()
  for (let n = 0; n < 300; n++) {
    const parameters = [`${n}${'x'.repeat(200_000)}`]
    await counts.of('1.1', { filter: { sql: 'c0 = $1', parameters } }, async () => n)
  }
  expect(held() - before).toBeLessThan(10_000_000)
})

test('what depends on the time of day has another tag and another count later', async () => {
  const dataset = await newDataset(place.engine)
  await dataset.replace({ body: bytesOf('at\n2024-01-01T00:00:00Z\n2024-01-03T00:00:00Z\n'), format: 'csv' })
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const ask = async (day: string) => {
      vi.setSystemTime(day)
      using query = await dataset.query({ filter: 'at lt now()' })
      return { tag: query.etag, count: await query.count() }
    }
    const first = await ask('2024-01-02')
    const again = await ask('2024-01-02')
    const later = await ask('2024-01-04')
    expect(first).toEqual({ tag: again.tag, count: 1 })
    expect(later.count).toBe(2)
    expect(later.tag).not.toBe(first.tag)
  } finally {
    vi.useRealTimers()
  }
})

test.each([
  { orderBy: 'at lt now()' },
  { compute: 'at lt now() as past' },
  { apply: 'filter(at lt now())' },
])('%j has another tag later', async (options) => {
  const relation = place.engine.relation([{ name: 'at', type: 'timestamptz' }], [['2024-01-01T00:00:00Z']])
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const tag = (day: string) => {
      vi.setSystemTime(day)
      using query = relation.query(options)
      return query.etag
    }
    const first = tag('2024-01-02')
    expect(tag('2024-01-02')).toBe(first)
    expect(tag('2024-01-04')).not.toBe(first)
  } finally {
    vi.useRealTimers()
  }
})
