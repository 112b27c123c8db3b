import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Part } from '../../engine/catalog/records.ts'
import { partsToMerge } from '../../engine/store/merge.ts'

let ids = 0
function part(rawBytes: number): Part {
  ids += 1
  return { id: ids, rows: 1, bytes: rawBytes, rawBytes, hash: null, statistics: null }
}

/** Appends parts one by one and merges as the store does; gives the parts left and the bytes rewritten. */
function append(sizes: readonly number[]): { parts: Part[]; rewritten: number } {
  let parts: Part[] = []
  let rewritten = 0
  for (const size of sizes) {
    parts.push(part(size))
    for (let run = partsToMerge(parts); run.length > 0; run = partsToMerge(parts)) {
      const merged = part(run.reduce((sum, one) => sum + one.rawBytes, 0))
      rewritten += merged.rawBytes
      parts = [...parts.slice(0, parts.length - run.length), merged]
    }
  }
  return { parts, rewritten }
}

test('a few parts are left alone', () => {
  expect(partsToMerge([part(10), part(10), part(10)])).toEqual([])
})

test('a thousand small appends leave a few dozen parts', () => {
  expect(append(Array(1000).fill(10_000)).parts.length).toBeLessThan(32)
})

test('each byte is rewritten a few times only', () => {
  const { rewritten } = append(Array(4096).fill(10_000))
  expect(rewritten / (4096 * 10_000)).toBeLessThan(6)
})

test('large parts are never rewritten', () => {
  const large = Array.from({ length: 40 }, () => part(200 * 1024 * 1024))
  expect(partsToMerge(large)).toEqual([])
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
