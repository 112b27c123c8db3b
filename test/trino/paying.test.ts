import { expect, test } from 'vitest'
import { payingBytes } from '../../engine/trino/trino.ts'

test('Trino pays from fewer bytes on if it has more cores, and later beside a machine with more of them', () => {
  expect(payingBytes(32, 2)).toBeLessThan(payingBytes(16, 2))
  expect(payingBytes(64, 4)).toBeGreaterThan(payingBytes(64, 2))
})

test('Trino never pays if it has as few cores that a machine alone is as quick', () => {
  expect(payingBytes(2, 1)).toBe(Number.POSITIVE_INFINITY)
  expect(payingBytes(16, 8)).toBe(Number.POSITIVE_INFINITY)
})
