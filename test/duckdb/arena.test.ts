import { expect, test } from 'vitest'
import { Arena } from '../../engine/duckdb/batch.ts'

test.for([0, 1, 8, 9, 2 ** 31 - 1])('an arena has room for %d bytes, and a word behind them', (bytes) => {
  for (const use of ['reused', 'kept'] as const) {
    const arena = new Arena(use)
    arena.begin()
    // The memory is not touched, so that the system does not have to find it.
    const room = arena.take(bytes)
    expect(room.bytes.length).toBeGreaterThanOrEqual(bytes + 8)
    expect(room.words.length).toBeGreaterThanOrEqual(Math.ceil(bytes / 8) * 2)
    expect(room.doubles.length).toBe(room.words.length / 2)
  }
})
