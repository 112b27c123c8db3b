import type { SeriesRange } from '../../connector.ts'
import type { KeyPattern } from '../keys.ts'
import type { PeriodRange } from '../provider.ts'

type Granularity = 'year' | 'quarter' | 'month' | 'day'

const GRANULARITY: Readonly<Record<string, Granularity>> = {
  A: 'year',
  S: 'year',
  H: 'year',
  T: 'year',
  Q: 'quarter',
  M: 'month',
  W: 'day',
  D: 'day',
  B: 'day',
}

const COARSEST: readonly Granularity[] = ['year', 'quarter', 'month']

/**
 * Writes a range of dates in periods of the key's frequency, so that no service leaves out the period in which the
 * range ends. If the frequency may be any part of the key, the longest period that any part could mean is used: the
 * answer may then have more than the range, never less, and is cut to the dates afterwards.
 */
export function periodRange(range: SeriesRange, key: KeyPattern, frequencyFirst = false): PeriodRange {
  const meant = key.map((codes) => (codes.length === 1 ? GRANULARITY[codes[0]!] : undefined))
  const granularity = (frequencyFirst && meant[0]) || COARSEST.find((one) => meant.includes(one)) || 'day'
  return { start: inPeriods(range.start, granularity), end: inPeriods(range.end, granularity) }
}

function inPeriods(date: string | undefined, granularity: Granularity): string | undefined {
  if (date === undefined) return undefined
  const [year, month] = date.split('-')
  switch (granularity) {
    case 'year':
      return year
    case 'quarter':
      return `${year}-Q${Math.ceil(Number(month) / 3)}`
    case 'month':
      return `${year}-${month}`
    case 'day':
      return date
    default:
      return granularity satisfies never
  }
}
