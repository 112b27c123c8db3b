import type { SeriesRange } from '../connector.ts'
import { invalid, quoted } from '../errors.ts'
import { isDate } from '../periods.ts'

export const CONVERSIONS = ['monthly', 'quarterly', 'annual'] as const
export const AGGREGATES = ['mean', 'sum', 'end'] as const
const PLAIN = ['none', 'change', 'percent', 'yoy', 'log'] as const

/** How a series is changed: first to another frequency, then by a transformation of the result. */
export interface SeriesQuery extends SeriesRange {
  /**
   * `change`: difference to the period before; `percent`: the same in percent; `yoy`: in percent from a year ago;
   * `log`: the natural logarithm; `index:2015-01-01`: 100 in the period of that date.
   */
  readonly transform?: string | undefined
  readonly frequency?: string | undefined
  /** How the values of a period are combined into one. Default `mean`. */
  readonly aggregate?: string | undefined
}

export type Plan = ReturnType<typeof planOf>

/** The parsed options. Throws `invalid_option`. */
export function planOf({ transform = 'none', frequency, aggregate }: SeriesQuery) {
  if (aggregate !== undefined && frequency === undefined) {
    throw invalid(
      'aggregate says how values are combined into a lower frequency, so it needs the parameter frequency.',
    )
  }
  const conversion =
    frequency === undefined
      ? undefined
      : {
          frequency: oneOf('frequency', frequency, CONVERSIONS),
          aggregate: oneOf('aggregate', aggregate ?? 'mean', AGGREGATES),
        }
  const date = /^index:(.*)$/s.exec(transform)?.[1]
  if (date === undefined) {
    const shapes = [...PLAIN, 'index:2015-01-01']
    const kind = PLAIN.find((each) => each === transform)
    if (kind === undefined)
      throw invalid(`transform must be one of ${shapes.join(', ')}, not ${quoted(transform)}.`)
    return { transform: { kind }, conversion }
  }
  if (!isDate(date)) {
    throw invalid(`transform=index must name a date, as index:2015-01-01, not ${quoted(transform)}.`)
  }
  return { transform: { kind: 'index' as const, date }, conversion }
}

/** The dates that must be requested so that the first and the last wanted period can be calculated. */
export function reachOf(range: SeriesRange, { transform, conversion }: Plan): SeriesRange {
  const isPlain = transform.kind === 'none' || transform.kind === 'log'
  if (isPlain && conversion === undefined) return range
  const looksBack = transform.kind === 'change' || transform.kind === 'percent' || transform.kind === 'yoy'
  const base = transform.kind === 'index' ? [transform.date] : []
  const starts = range.start === undefined ? [] : [range.start, ...base]
  const ends = range.end === undefined ? [] : [range.end, ...base]
  const [start] = starts.sort()
  const end = ends.sort().at(-1)
  return {
    ...range,
    ...(start === undefined ? {} : { start: `${pad(yearOf(start) - (looksBack ? 2 : 0))}-01-01` }),
    ...(end === undefined ? {} : { end: `${pad(yearOf(end))}-12-31` }),
  }
}

function oneOf<T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value)
  if (found === undefined) throw invalid(`${name} must be one of ${known.join(', ')}, not ${quoted(value)}.`)
  return found
}

const yearOf = (date: string) => Number(date.slice(0, 4))
const pad = (year: number) => String(Math.max(0, year)).padStart(4, '0')
