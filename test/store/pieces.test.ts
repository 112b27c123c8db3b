import { describe, expect, test } from 'vitest'
import { piecesOf } from '../../engine/store/commits.ts'

const SIZES = { rows: 4_096, bytes: 2 ** 30 }

describe('pieces', () => {
  test.for([
    ['of a small part are one', { rows: 1_000, bytes: 10, rawBytes: 20 }, 1],
    ['are not cut off for a little', { rows: 5_000, bytes: 10, rawBytes: 20 }, 1],
    ['are not cut off for a little more', { rows: 5_120, bytes: 10, rawBytes: 20 }, 1],
    ['are bounded by rows', { rows: 5_121, bytes: 10, rawBytes: 20 }, 2],
    ['may have a last one that is a little longer', { rows: 9_216, bytes: 10, rawBytes: 20 }, 2],
    ['have a last one that is no longer than that', { rows: 9_217, bytes: 10, rawBytes: 20 }, 3],
    ['are not cut for a few bytes', { rows: 1_000, bytes: 2 ** 30 * 1.25, rawBytes: 2 ** 24 }, 1],
    ['are cut for more bytes', { rows: 1_000, bytes: 2 ** 30 * 1.26, rawBytes: 2 ** 24 }, 2],
    ['are bounded by bytes', { rows: 1_000, bytes: 2 ** 32, rawBytes: 2 ** 24 }, 4],
    ['are never less than a row', { rows: 2, bytes: 2 ** 40, rawBytes: 2 ** 40 }, 2],
    ['of no rows are one', { rows: 0, bytes: 10, rawBytes: 0 }, 1],
    ['of wide rows are bounded by their bytes', { rows: 4_096, bytes: 10, rawBytes: 2 ** 30 }, 32],
    ['of very wide rows have 64 rows', { rows: 2_048, bytes: 10, rawBytes: 2 ** 32 }, 32],
    ['of the widest rows have fewer', { rows: 64, bytes: 10, rawBytes: 2 ** 32 }, 8],
    ['of narrow rows may have more bytes', { rows: 4_096, bytes: 10, rawBytes: 2 ** 26 }, 1],
    ['of one wide row are one', { rows: 1, bytes: 10, rawBytes: 2 ** 30 }, 1],
    ['of many columns of numbers are one', { rows: 4_096, bytes: 10, rawBytes: 2 ** 29 }, 1, 20_000],
    ['of many columns of texts are larger', { rows: 4_096, bytes: 10, rawBytes: 2 ** 31 }, 16, 1_024],
  ] as const)('%s', ([, part, expected, columns = 2]) => {
    const pieces = piecesOf(part, columns, SIZES)
    expect(pieces).toHaveLength(expected)
    expect(pieces[0]!.from).toBe(0)
    expect(pieces.at(-1)!.to).toBe(part.rows)
    for (const { from, to } of pieces.slice(0, -1)) expect(to - from).toBe(pieces[0]!.to)
    for (const [index, { from }] of pieces.entries()) expect(from).toBe(index && pieces[index - 1]!.to)
  })
})
