import { momentOfOurYears, ofOurYears } from './bounds.ts'
import type { TextReason } from './errors.ts'
import { dayText, timestampText } from './value-text.ts'

/** What pandas calls a period, as Arrow's extension type: a month, say, stored as its number. */
export interface Period {
  /** `M`, `Q-DEC`, `W-SUN`. */
  readonly frequency: string
  readonly type: 'date' | 'timestamp'
  /** The period begins `each * number + shift` of these after 1970-01-01. */
  readonly unit: 'months' | 'days' | 'micros'
  readonly each: number
  readonly shift: number
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ')
const MICROS: Readonly<Record<string, number>> = {
  h: 3_600_000_000,
  min: 60_000_000,
  s: 1_000_000,
  ms: 1000,
  us: 1,
}

/**
 * The periods of a column.
 * @param metadata of its field in Arrow
 * @returns undefined if it has none, or those of a frequency that has no fixed steps (business days) or is too fine
 */
export function periodsIn(metadata: ReadonlyMap<string, string>): Period | undefined {
  if (metadata.get('ARROW:extension:name') !== 'pandas.period') return undefined
  const frequency = /"freq": *"([^"]+)"/.exec(metadata.get('ARROW:extension:metadata') ?? '')?.[1] ?? ''
  const [, code = '', anchor = ''] = /^\d*([A-Za-z]+)(?:-([A-Z]{3}))?$/.exec(frequency) ?? []
  const month = anchor === '' ? 12 : MONTHS.indexOf(anchor) + 1
  const date = { frequency, type: 'date', shift: 0 } as const
  // A year or quarter is named for the year in which it ends; before pandas 2.2, years were called A.
  if (/^[YA]$/.test(code) && month > 0) return { ...date, unit: 'months', each: 12, shift: month - 12 }
  if (code === 'Q' && month > 0) return { ...date, unit: 'months', each: 3, shift: month - 12 }
  if (code === 'M') return { ...date, unit: 'months', each: 1 }
  // The week of 1970-01-01 is the first; pandas names weeks for the day on which they end.
  if (code === 'W')
    return { ...date, unit: 'days', each: 7, shift: Math.max(0, WEEKDAYS.indexOf(anchor)) - 10 }
  if (code === 'D') return { ...date, unit: 'days', each: 1 }
  const micros = MICROS[code.length > 1 ? code : code.toLowerCase()]
  return micros ? { ...date, type: 'timestamp', unit: 'micros', each: micros } : undefined
}

/** What is said of a column of periods, whose values are days or moments now. */
export function periodReason(metadata: ReadonlyMap<string, string>): TextReason | undefined {
  const period = periodsIn(metadata)
  return period && { row: 1, value: `period[${period.frequency}]` }
}

/** The first day or moment of a period, by its number. @throws BadValue if it is not of the years 1 to 9999 */
export function periodText({ unit, each, shift }: Period, number: bigint): string {
  const count = number * BigInt(each) + BigInt(shift)
  if (unit === 'micros') return timestampText(momentOfOurYears(count), false)
  if (unit === 'days') return dayText(ofOurYears(Number(count)))
  const months = Math.min(Math.max(Number(count), -MOST_STEPS), MOST_STEPS)
  return dayText(ofOurYears(new Date(0).setUTCMonth(months) / 86_400_000))
}

/** So many months or days lead out of the years 1 to 9999. */
const MOST_STEPS = 4_000_000

/** The same as SQL. Numbers that lead out of the years 1 to 9999 give days outside of them, too. */
export function periodSql({ unit, each, shift }: Period, sql: string): string {
  const most = unit === 'micros' ? Math.ceil(4e17 / each) : MOST_STEPS
  const count = `(least(greatest(${sql}, -${most}), ${most}) * ${each} + ${shift})`
  if (unit === 'micros') return `make_timestamp(${count})`
  if (unit === 'days') return `(DATE '1970-01-01' + CAST(${count} AS INTEGER))`
  return `CAST(DATE '1970-01-01' + to_months(CAST(${count} AS INTEGER)) AS DATE)`
}
