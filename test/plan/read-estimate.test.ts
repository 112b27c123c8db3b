import { expect, test } from 'vitest'
import type { Part } from '../../engine/catalog/records.ts'
import { readsLittle } from '../../engine/plan/parts.ts'

const MIB = 2 ** 20
/** Rows of 1 KiB, in row groups of 2,048. */
const wide = part(100_000, 100 * MIB)
/** Rows of 16 bytes, in row groups of 122,880. */
const narrow = part(1_000_000, 16 * MIB)

function part(rows: number, bytes: number): Part {
  return { id: 1, rows, bytes, rawBytes: bytes, hash: null, statistics: [null, null] }
}

test.each([
  [wide, 0, 10, true],
  [wide, 2_040, 2_050, true],
  [wide, 50_000, 70_000, true],
  [wide, 50_000, 80_000, false],
  [narrow, 0, 10, true],
  [narrow, 122_870, 122_890, true],
  [narrow, 0, 300_000, false],
])('the row groups of a window are those that parts have (%#)', (of, from, to, isSmall) => {
  const estimate = { columns: [0, 1], of: 2, share: 1 }
  expect(readsLittle(of, { file: 'f', first: 0, from, to }, estimate)).toBe(isSmall)
})
