import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type { Part, Version } from '../../engine/catalog/records.ts'
import { EngineError } from '../../engine/errors.ts'
import { PART_SIZES, piecesOf, type WorkContext } from '../../engine/store/commits.ts'
import { Merger, partsAtRest, partsToMerge } from '../../engine/store/merger.ts'

const COLUMNS = 2
let ids = 0
function part(rawBytes: number, rows = Math.ceil(rawBytes / 2_000)): Part {
  ids += 1
  return { id: ids, rows, bytes: rawBytes / 8, rawBytes, hash: null, statistics: null }
}

const total = (parts: readonly Part[], what: 'rawBytes' | 'rows') =>
  parts.reduce((sum, part) => sum + part[what], 0)

/** Appends parts one by one and merges as the store does; gives the parts left and the bytes rewritten. */
function append(sizes: readonly number[]): { parts: Part[]; rewritten: number } {
  let parts: Part[] = []
  let rewritten = 0
  for (const size of sizes) {
    parts.push(part(size))
    for (let run = partsToMerge(parts, COLUMNS); run.length > 0; run = partsToMerge(parts, COLUMNS)) {
      const merged = part(run.reduce((sum, one) => sum + one.rawBytes, 0))
      rewritten += merged.rawBytes
      parts = [...parts.slice(0, parts.length - run.length), merged]
    }
  }
  return { parts, rewritten }
}

test('a few parts are left alone', () => {
  expect(partsToMerge([part(10), part(10), part(10)], COLUMNS)).toEqual([])
})

test('eight small parts are merged, and none before them that is as large as they may become', () => {
  const small = Array.from({ length: 8 }, () => part(10))
  expect(partsToMerge(small, COLUMNS)).toEqual(small)
  expect(partsToMerge([part(8 * 4_096), ...small], COLUMNS)).toEqual(small)
})

test('parts are merged that have up to half of the rows of the largest', () => {
  const run = (rows: number) =>
    partsToMerge(
      Array.from({ length: 8 }, () => part(10, rows)),
      COLUMNS,
      { ...PART_SIZES, rows: 100 },
    )
  expect(run(50)).toHaveLength(2)
  expect(run(51)).toEqual([])
})

test('a thousand small appends leave a few dozen parts', () => {
  expect(append(Array(1000).fill(10_000)).parts.length).toBeLessThan(32)
})

test('each byte is rewritten a few times only', () => {
  const { rewritten } = append(Array(4096).fill(10_000))
  expect(rewritten / (4096 * 10_000)).toBeLessThan(6)
})

test('what appends left is merged at rest, unless there is little of it or it is large', () => {
  const { parts } = append(Array(1023).fill(300))
  expect(parts.length).toBeGreaterThan(8)
  expect(partsAtRest(parts, COLUMNS)).toEqual(parts)
  expect(partsAtRest(parts.slice(-7), COLUMNS)).toEqual([])
  const large = part(4 * 2 ** 20)
  expect(partsAtRest([large, ...parts], COLUMNS)).toEqual(parts)
  const larger = Array.from({ length: 20 }, () => part(2 ** 20))
  expect(partsAtRest(larger, COLUMNS)).toHaveLength(8)
})

test('rows that arrive seldom rewrite the others a few times only', () => {
  let parts: readonly Part[] = []
  let rewritten = 0
  for (let row = 0; row < 10_000; row++) {
    parts = [...parts, part(5_000)]
    const run = partsAtRest(parts, COLUMNS)
    if (run.length === 0) continue
    rewritten += total(run, 'rawBytes')
    parts = [...parts.slice(0, parts.length - run.length), part(total(run, 'rawBytes'))]
  }
  expect(rewritten / (10_000 * 5_000)).toBeLessThan(16)
  expect(parts.length).toBeLessThan(32)
})

test('large parts are never rewritten', () => {
  const large = Array.from({ length: 40 }, () => part(200 * 1024 * 1024))
  expect(partsToMerge(large, COLUMNS)).toEqual([])
})

test('whatever is appended, the parts stay few and nothing is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5_000_000 }), { maxLength: 400 }), (sizes) => {
      const { parts } = append(sizes)
      expect(parts.reduce((sum, one) => sum + one.rawBytes, 0)).toBe(
        sizes.reduce((sum, size) => sum + size, 0),
      )
      expect(parts.length).toBeLessThan(80)
    }),
    { numRuns: 200 },
  )
})

test('small parts of wide rows are merged until they have as many bytes as such a part may have', () => {
  const MEBIBYTE = 2 ** 20
  let parts: Part[] = []
  let merges = 0
  for (let appended = 0; appended < 1_000; appended++) {
    parts.push(part(MEBIBYTE, 4))
    for (let run = partsToMerge(parts, COLUMNS); run.length > 0; run = partsToMerge(parts, COLUMNS)) {
      const merged = part(total(run, 'rawBytes'), total(run, 'rows'))
      expect(piecesOf(merged, COLUMNS, PART_SIZES)).toHaveLength(1)
      merges += 1
      parts = [...parts.slice(0, parts.length - run.length), merged]
    }
  }
  expect(Math.max(...parts.map(({ rawBytes }) => rawBytes))).toBeLessThanOrEqual(32 * MEBIBYTE)
  expect(parts.length).toBeLessThan(160)
  expect(merges).toBeLessThan(200)
})

test('the pieces of a part of wide rows are never merged again', () => {
  const pieces = Array.from({ length: 43 }, () => part(64 * 2 ** 20, 53))
  expect(partsToMerge(pieces, COLUMNS)).toEqual([])
})

/** What a merge would commit, if the version that it finds then has other parts or columns than the one it began with. */
async function mergeInto(
  change: (current: Version) => Partial<Version>,
): Promise<readonly Part[] | undefined> {
  const column = { name: 'a', type: 'integer', nullable: true, description: '' } as const
  const parts = Array.from({ length: 20 }, () => part(10_000))
  const version = { id: 1, number: 1, columns: [column], key: [], parts } as unknown as Version
  const merged = part(10_000 * parts.length)
  let committed: readonly Part[] | undefined
  const lease = { version, [Symbol.dispose]: () => {} }
  const context = {
    sizes: PART_SIZES,
    members: { take: async () => lease },
    versions: { current: async () => version },
    commits: {
      rewriteParts: async () => ({ parts: [merged] }),
      commit: async (
        _: number,
        __: unknown,
        content: (current: Version) => { parts: readonly Part[] } | undefined,
      ) => {
        committed = content({ ...version, ...change(version) })?.parts
        // Ends the merging after one run.
        return false
      },
    },
  } as unknown as WorkContext
  const merger = new Merger(context)
  await merger.merge(1)
  merger.end()
  return committed
}

test('a merge commits next to what was appended meanwhile', async () => {
  const [added] = [part(10)]
  const committed = await mergeInto(({ parts }) => ({ parts: [...parts, added] }))
  expect(committed!.at(-1)).toBe(added)
  expect(total(committed!, 'rawBytes')).toBe(20 * 10_000 + 10)
})

test.each([
  ['were replaced', () => ({ parts: [part(10)] })],
  ['lost one', ({ parts }: Version) => ({ parts: parts.toSpliced(10, 1) })],
  ['were written again', ({ parts }: Version) => ({ parts: parts.with(10, part(10_000)) })],
  ['got one between', ({ parts }: Version) => ({ parts: parts.toSpliced(10, 0, part(10)) })],
  ['lost the last one', ({ parts }: Version) => ({ parts: parts.slice(0, -1) })],
  ['got other columns', ({ columns }: Version) => ({ columns: [...columns, { ...columns[0]!, name: 'b' }] })],
])('a merge of parts that %s meanwhile is given up', async (_, change) => {
  expect(await mergeInto(change)).toBeUndefined()
})

afterEach(() => vi.useRealTimers())

/** A merger over a dataset of ten parts that appends left, and how many parts its merges leave. */
function atRest() {
  vi.useFakeTimers()
  const version = { columns: [{}, {}], parts: append(Array(1023).fill(300)).parts }
  const merged: number[] = []
  const rewriting = vi.fn(async (run: readonly Part[], _signal: AbortSignal) => ({
    parts: [part(total(run, 'rawBytes'))],
  }))
  const context = {
    sizes: PART_SIZES,
    members: { take: async () => ({ version, [Symbol.dispose]: () => {} }) },
    versions: { current: async () => version },
    commits: {
      rewriteParts: (
        _: unknown,
        run: readonly Part[],
        __: unknown,
        ___: unknown,
        { signal }: { signal: AbortSignal },
      ) => rewriting(run, signal),
      commit: async (_: number, __: unknown, content: (current: unknown) => { parts: Part[] }) => {
        version.parts = content(version).parts
        merged.push(version.parts.length)
        return true
      },
    },
    background: { later: (work: () => void) => work() },
    events: { failure: () => {} },
  } as unknown as WorkContext
  return { merger: new Merger(context), version, merged, rewriting }
}

test('what is left is merged five seconds after the last write', async () => {
  const { merger, version, merged } = atRest()
  version.parts.unshift(part(40_000_000))
  await merger.merge(1)
  await vi.advanceTimersByTimeAsync(4_000)
  await merger.merge(1)
  await vi.advanceTimersByTimeAsync(4_000)
  expect(merged).toEqual([])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(merged).toEqual([2])
  await vi.advanceTimersByTimeAsync(60_000)
  expect([merged, vi.getTimerCount()]).toEqual([[2], 0])
})

test('a merge under way is aborted when merging is given up, and none begins later', async () => {
  const { merger, version, merged, rewriting } = atRest()
  version.parts = Array.from({ length: 8 }, () => part(10))
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  rewriting.mockImplementationOnce((_, signal) => {
    begin()
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new EngineError('cancelled', 'given up'))),
    )
  })
  const merging = merger.merge(1)
  await begun
  merger.giveUp()
  await merging
  await merger.merge(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([merged, rewriting.mock.calls.length, vi.getTimerCount()]).toEqual([[], 1, 0])
})

test('a dataset that rests when merging is given up stays as it is', async () => {
  const { merger, merged } = atRest()
  await merger.merge(1)
  merger.giveUp()
  expect(vi.getTimerCount()).toBe(0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(merged).toEqual([])
})

test('nothing is merged any more once the store closes', async () => {
  const { merger, merged } = atRest()
  await merger.merge(1)
  merger.end()
  await vi.advanceTimersByTimeAsync(60_000)
  await merger.merge(1)
  expect([merged, vi.getTimerCount()]).toEqual([[], 0])
})
