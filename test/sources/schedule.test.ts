import { describe, expect, it } from 'vitest'
import type { Interval } from '../../server/records/index.ts'
import { nextRun, retryRun } from '../../server/sources/sources.ts'

describe('the next run', () => {
  it.each<[Interval, string, string, string]>([
    ['hour', '2026-03-01T10:20:00Z', '2026-03-01T10:20:00Z', '2026-03-01T11:20:00Z'],
    ['hour', '2026-03-01T10:20:00Z', '2026-03-01T11:19:59Z', '2026-03-01T11:20:00Z'],
    ['day', '2026-03-01T10:20:00Z', '2026-03-02T10:20:00Z', '2026-03-03T10:20:00Z'],
    ['day', '2026-03-01T10:20:00Z', '2026-03-09T10:00:00Z', '2026-03-09T10:20:00Z'],
    ['week', '2026-03-01T10:20:00Z', '2026-03-20T00:00:00Z', '2026-03-22T10:20:00Z'],
    ['month', '2026-01-31T10:20:00Z', '2026-01-31T10:20:00Z', '2026-02-28T10:20:00Z'],
    ['month', '2026-01-31T10:20:00Z', '2026-02-28T10:20:00Z', '2026-03-31T10:20:00Z'],
    ['month', '2026-01-31T10:20:00Z', '2026-03-31T10:19:00Z', '2026-03-31T10:20:00Z'],
    ['month', '2023-11-30T10:20:00Z', '2024-02-01T00:00:00Z', '2024-02-29T10:20:00Z'],
    ['month', '2026-12-15T10:20:00Z', '2026-12-20T00:00:00Z', '2027-01-15T10:20:00Z'],
  ])('every %s since %s, at %s, is %s', (every, since, now, next) => {
    expect(nextRun(new Date(since), every, new Date(now))).toEqual(new Date(next))
  })
})

describe('a run after a failure', () => {
  const now = new Date('2026-03-01T10:00:00Z')
  const tomorrow = new Date('2026-03-02T10:00:00Z')

  it.each<[number, number | undefined, string]>([
    [1, undefined, '2026-03-01T10:05:00Z'],
    [2, undefined, '2026-03-01T10:10:00Z'],
    [1, 3600, '2026-03-01T11:00:00Z'],
    [9, undefined, '2026-03-02T07:20:00Z'],
    [20, undefined, '2026-03-02T10:00:00Z'],
    [1, 999_999, '2026-03-02T10:00:00Z'],
  ])('the %s. in a row, told to wait %s s: %s', (failures, seconds, next) => {
    expect(retryRun(now, failures, seconds, tomorrow)).toEqual(new Date(next))
  })
})
