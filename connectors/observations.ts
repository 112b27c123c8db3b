import type { Observation, SeriesRange } from './connector.ts'
import { ConnectorError, quoted } from './errors.ts'
import { isDate } from './periods.ts'

/** Oldest first and within the range, whatever order and range the provider kept to. Equal dates keep their order. */
export function arranged(
  observations: readonly Observation[],
  { start, end }: SeriesRange,
): readonly Observation[] {
  const within = observations.filter(
    ({ date }) => (start === undefined || date >= start) && (end === undefined || date <= end),
  )
  const isInOrder = within.every((each, index) => index === 0 || isAfter(each, within[index - 1]!) >= 0)
  return isInOrder ? within : within.sort(isAfter)
}

function isAfter(a: Observation, b: Observation): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1
  const [left = '', right = ''] = [a.period, b.period]
  return left === right ? 0 : left < right ? -1 : 1
}

/** The range, or `invalid_range`. */
export function checkedRange(range: SeriesRange): SeriesRange {
  const { start, end } = range
  for (const [name, value] of Object.entries({ start, end })) {
    if (value !== undefined && !isDate(value)) {
      throw new ConnectorError('invalid_range', `${name} must be a date as 2024-01-31, not ${quoted(value)}.`)
    }
  }
  if (start !== undefined && end !== undefined && start > end) {
    throw new ConnectorError('invalid_range', `start (${start}) must not be after end (${end}).`)
  }
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }
}
