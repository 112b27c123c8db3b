import { dateOf, floorDivide } from './calendar.ts'
import { type LiteralValue, PICOS_PER_DAY } from './literals.ts'

export type MomentPartName =
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'date'
  | 'time'
  | 'offset'

const PICOS_PER_SECOND = 1_000_000_000_000n

/** A part of a literal moment, as the moment reads in its own offset, or of a literal date. */
export function partOfMoment(
  name: MomentPartName,
  value: Extract<LiteralValue, { kind: 'moment' | 'date' }>,
): LiteralValue | undefined {
  const offset = value.kind === 'moment' ? (value.offset ?? 0) : 0
  const picos =
    value.kind === 'date'
      ? BigInt(value.days) * PICOS_PER_DAY
      : value.picos + BigInt(offset) * 60n * PICOS_PER_SECOND
  const days = floorDivide(picos, PICOS_PER_DAY)
  const clock = picos - days * PICOS_PER_DAY
  const seconds = clock / PICOS_PER_SECOND
  switch (name) {
    case 'year':
    case 'month':
    case 'day':
      return whole(BigInt(dateOf(Number(days))[name]))
    case 'hour':
      return whole(seconds / 3600n)
    case 'minute':
      return whole((seconds / 60n) % 60n)
    case 'second':
      return whole(seconds % 60n)
    case 'date':
      return { kind: 'date', days: Number(days) }
    case 'time':
      return { kind: 'time', picos: clock }
    case 'offset':
      return whole(BigInt(offset))
    default:
      return name satisfies never
  }
}

function whole(digits: bigint): LiteralValue {
  return { kind: 'number', digits, scale: 0, whole: true }
}
