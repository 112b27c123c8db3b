import type { Row, SeriesRange } from '../../connector.ts'
import { notUnderstood } from '../../failures.ts'
import { statusOfCode, statusOfFlags } from '../../observations.ts'
import {
  frequencyName,
  inFrequency,
  inferFrequency,
  isPartOf,
  MONTHS_IN,
  type Period,
  parsePeriod,
  periodOfDate,
} from '../../periods.ts'
import { type Json, number, text, timesTenTo } from '../../read.ts'
import { type DataSeries, type RawObservation, STATUSES } from '../data/message.ts'
import type { KeyPattern } from '../ids.ts'
import { meaningOf } from '../meanings.ts'
import type { Multiplier, PeriodRange, Scale } from '../session.ts'
import { FREQUENCIES, firstComponent, type Names } from './describe.ts'

/**
 * One row for each period. Of several observations in one, those without a value add only a status. Throws `unreadable`
 * for a period that can't be read, and for two values in one period, which mean that the answer mixes several series.
 */
export function rowsOf(
  raw: readonly RawObservation[],
  frequency: string | null,
  scale: Scale & { readonly names?: Names; readonly provider?: string },
): readonly Row[] {
  const found = new Map<string, Row>()
  for (const one of raw) {
    const { date, period = date } = inFrequency(readPeriod(one.period), frequency)
    const earlier = found.get(period)
    const value = timesTenTo(shiftOf(scale.multiplier, one.multiplier ?? scale.power), one.value as Json)
    const [now, known] = [number(value), number(earlier?.value)]
    if (known !== null && now !== null && known !== now) {
      throw notUnderstood('The answer has two values for one period.')
    }
    const isLess = now === null && (known !== null || text(value) === null)
    const status = statusOf(one, scale) ?? earlier?.status
    found.set(period, { time: withoutLength(one.period), value: isLess ? earlier?.value : value, status })
  }
  return [...found.values()]
}

/**
 * The provider's own meaning of a code first. Of the others, a single capital letter is an SDMX code, small letters are
 * Eurostat's flags, and the rest are replaced by their names.
 */
function statusOf(
  { status: code, confidential, revised }: RawObservation,
  { names, provider = '' }: { readonly names?: Names; readonly provider?: string },
): string | undefined {
  const text = code?.trim() ?? ''
  const label = STATUSES.map((id) => names?.(id, text)).find((one) => one !== undefined)
  const meaning = () => {
    if (/^[A-Z]$/.test(text)) return statusOfCode(text, label)
    return label?.toLowerCase() ?? (/^[a-z:]+$/.test(text) ? statusOfFlags(text) : text || undefined)
  }
  const words = meaningOf(provider, 'status', text) ?? meaning()
  const all = [
    words,
    confidential && !words?.includes('confidential') && 'confidential',
    revised && 'revised',
  ]
  return all.filter(Boolean).join(', ') || undefined
}

/** By how many places the decimal points move. */
function shiftOf(multiplier: Multiplier, power: string | undefined): number {
  const exponent = Number(power ?? 0)
  if (multiplier === 'named' || !Number.isInteger(exponent)) return 0
  return multiplier === 'multiply' ? exponent : -exponent
}

/** The frequency in whose periods a range is asked for, by the code of a key; undefined for a code of no frequency. */
function askedIn(code: string): string | undefined {
  const frequency = /^[A-Z]$/.test(code) ? frequencyName(code) : null
  if (frequency === null) return undefined
  const months = MONTHS_IN[frequency] ?? 0
  return months > 3 ? 'annual' : months > 0 ? frequency : 'daily'
}

/**
 * Writes a range of dates in periods of the key's frequency, so that no service leaves out the period in which the
 * range ends. If the frequency may be any part of the key, the longest period that any part could mean is used: the
 * answer may then have more than the range, never less, and is cut to the dates afterwards.
 */
export function periodRange(range: SeriesRange, key: KeyPattern, frequencyFirst = false): PeriodRange {
  const meant = key.map((codes) => (codes.length === 1 ? askedIn(codes[0]!) : undefined))
  const longest = ['annual', 'quarterly', 'monthly'].find((one) => meant.includes(one))
  const frequency = (frequencyFirst && meant[0]) || longest || 'daily'
  const written = (day: string | undefined) => day && (periodOfDate(day, frequency).period ?? day)
  return { start: written(range.start), end: written(range.end) }
}

/** Letters with two meanings in the code lists of agencies, of which the notation of the periods tells one. */
const AMBIGUOUS: Readonly<Record<string, readonly string[]>> = {
  B: ['daily', 'bimonthly'],
  H: ['semiannual', 'intraday'],
  T: ['four-monthly', 'quarterly'],
}

interface Frequency {
  readonly name: string | null
  /** Why the name may be wrong, as a sentence for the notes of the series. */
  readonly doubt?: string
}

/** The frequency that a series names; undefined if it names none. */
export function namedFrequency(series: DataSeries, names: Names, provider: string) {
  for (const id of FREQUENCIES) {
    const found = firstComponent(series, [id])
    if (found === undefined) continue
    const code = found.value.trim()
    // What the provider's own code list says, and what the letter means in SDMX's list.
    const listed =
      frequencyName(names(found.id, found.value)) ?? meaningOf(provider, 'frequency', code) ?? null
    const letter = frequencyName(code)
    if (listed !== null || letter !== null) return { code, listed, letter }
  }
  return undefined
}

/**
 * The frequency of a series: what the provider's code list says, else what the notation of its periods shows
 * (`2024-Q1`), else what the letter means in SDMX's code list. Where the first of these that there is contradicts
 * another, the result says so.
 */
export function frequencyOf(
  raw: readonly RawObservation[],
  named: ReturnType<typeof namedFrequency>,
): Frequency {
  const written = raw.map(({ period }) => readPeriod(period))
  if (named === undefined) return { name: inferred(written) }
  const { code, listed, letter } = named
  const possible = listed === null ? (AMBIGUOUS[code] ?? [letter!]) : [listed]
  const fitting = possible.find((name) => fits(written, name))
  if (fitting !== undefined) return { name: fitting }
  const shown = [...new Set(written.map(({ frequency }) => frequency))].join(' and ')
  const name = listed ?? inferred(written)
  return {
    name,
    doubt: `The frequency code ${code} stands for ${possible[0]}, but the periods are written as ${shown}.`,
  }
}

function readPeriod(text: string): Period {
  const period = parsePeriod(withoutLength(text))
  if (!period) throw notUnderstood('A period is in no notation of SDMX.')
  return period
}

/** `2024-01-01` of `2024-01-01/P1M`. */
function withoutLength(period: string): string {
  return period.split('/', 1)[0]!
}

/** Whether periods may be written like this in a series of this frequency: each in a period of its own. */
function fits(written: readonly Period[], frequency: string): boolean {
  if (frequency === 'irregular') return true
  const months = MONTHS_IN[frequency] ?? 0
  const isWrittenSo = (own: string) =>
    own === frequency ||
    own === 'daily' ||
    (own === 'annual' && months > MONTHS_IN['annual']!) ||
    (own === 'weekly' && frequency === 'biweekly') ||
    isPartOf(own, frequency)
  if (!written.every((period) => isWrittenSo(period.frequency))) return false
  const names = new Set(written.map(({ date, period }) => period ?? date))
  const periods = new Set(written.map(({ date }) => periodOfDate(date, frequency).date))
  return months === 0 || periods.size === names.size
}

/** What the notation shows, and for plain days the gaps between them; null if the periods differ. */
function inferred(written: readonly Period[]): string | null {
  const [frequency, ...others] = new Set(written.map((period) => period.frequency))
  if (frequency === undefined || others.length > 0) return null
  return frequency === 'daily' ? inferFrequency(written.map(({ date }) => date).sort()) : frequency
}
