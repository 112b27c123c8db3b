import type { Observation, SeriesRange } from '../../connector.ts'
import { notUnderstood } from '../../failures.ts'
import { arranged, hasOnlyUnread, statusOfCode, statusOfFlags, statusOfValue } from '../../observations.ts'
import { periodOfDate } from '../../periods.ts'
import { type Json, number, text, timesTenTo } from '../../read.ts'
import { STATUSES } from '../data/assemble.ts'
import type { RawObservation } from '../data/message.ts'
import type { KeyPattern } from '../ids.ts'
import { meaningOf } from '../meanings.ts'
import type { Multiplier, PeriodRange, Scale } from '../session.ts'
import type { Names } from './describe.ts'
import { inFrequency, readPeriod } from './frequency.ts'

/**
 * Observations within a range of dates, oldest first, whatever their order in the message. Anything that is not a
 * number is null, with a status that says what was written (`NaN`, `:`, `<5`). Throws `unreadable` for a
 * period that can't be read, and for two values in one period, which mean that the answer mixes several series.
 */
export function observationsOf(
  raw: readonly RawObservation[],
  range: SeriesRange,
  frequency: string | null,
  scale: Scale & { readonly names?: Names; readonly provider?: string },
): readonly Observation[] {
  const found = new Map<string, Observation & { readonly written: Json | undefined }>()
  for (const one of raw) {
    const { date, period } = inFrequency(readPeriod(one.period), frequency)
    const written = one.value as Json | undefined
    const value = number(timesTenTo(shiftOf(scale.multiplier, one.multiplier ?? scale.power), written))
    const name = period ?? date
    const earlier = found.get(name)
    const known = earlier?.value ?? null
    if (known !== null && value !== null && known !== value) {
      throw notUnderstood('The answer has two values for one period.')
    }
    const isDay = period === undefined || frequency === 'daily'
    const status = statusOf(one, scale) ?? earlier?.status
    found.set(name, {
      date,
      ...(isDay ? {} : { period }),
      value: value ?? known,
      written: value === null && (known !== null || text(written) === null) ? earlier?.written : written,
      ...(status === undefined ? {} : { status }),
    })
  }
  if (hasOnlyUnread(raw.map(({ value }) => value as Json))) {
    throw notUnderstood('The answer has values, none of which is a number.')
  }
  const observations = [...found.values()].map(({ written, status: given, ...observation }) => {
    const status = statusOfValue(written, given)
    return { ...observation, ...(status === undefined ? {} : { status }) }
  })
  return arranged(observations, range)
}

/**
 * The provider's own meaning of a code first. Of the others, a single capital letter is an SDMX code, small letters are
 * Eurostat's flags, and the rest are replaced by their names.
 */
function statusOf(
  { status: code, revised }: RawObservation,
  { names, provider = '' }: { readonly names?: Names; readonly provider?: string },
): string | undefined {
  const text = code?.trim() ?? ''
  const label = STATUSES.map((id) => names?.(id, text)).find((one) => one !== undefined)
  const meaning = () => {
    if (/^[A-Z]$/.test(text)) return statusOfCode(text, label)
    return label?.toLowerCase() ?? (/^[a-z:]+$/.test(text) ? statusOfFlags(text) : text || undefined)
  }
  const words = meaningOf(provider, 'status', text) ?? meaning()
  return revised ? [words, 'revised'].filter((each) => each !== undefined).join(', ') : words
}

/** By how many places the decimal points move. */
function shiftOf(multiplier: Multiplier, power: string | undefined): number {
  const exponent = Number(power ?? 0)
  if (multiplier === 'named' || !Number.isInteger(exponent)) return 0
  return multiplier === 'multiply' ? exponent : -exponent
}

/** The frequency in whose periods a range is asked for, by the code of a key. */
const FREQUENCIES: Readonly<Record<string, string>> = {
  A: 'annual',
  S: 'annual',
  H: 'annual',
  T: 'annual',
  Q: 'quarterly',
  M: 'monthly',
  W: 'daily',
  D: 'daily',
  B: 'daily',
}

/**
 * Writes a range of dates in periods of the key's frequency, so that no service leaves out the period in which the
 * range ends. If the frequency may be any part of the key, the longest period that any part could mean is used: the
 * answer may then have more than the range, never less, and is cut to the dates afterwards.
 */
export function periodRange(range: SeriesRange, key: KeyPattern, frequencyFirst = false): PeriodRange {
  const meant = key.map((codes) => (codes.length === 1 ? FREQUENCIES[codes[0]!] : undefined))
  const longest = ['annual', 'quarterly', 'monthly'].find((one) => meant.includes(one))
  const frequency = (frequencyFirst && meant[0]) || longest || 'daily'
  const written = (day: string | undefined) => day && (periodOfDate(day, frequency).period ?? day)
  return { start: written(range.start), end: written(range.end) }
}
