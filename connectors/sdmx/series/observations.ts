import type { Observation, SeriesRange } from '../../connector.ts'
import { statusOfCode, statusOfFlags, statusOfValue } from '../../observation-status.ts'
import { arranged, hasOnlyUnread } from '../../observations.ts'
import { asInstant, inferFrequency, parsePeriod, periodOfDate } from '../../periods.ts'
import { type Json, number, text, timesTenTo } from '../../read.ts'
import { STATUSES } from '../data/assemble.ts'
import type { RawObservation } from '../data/message.ts'
import { SdmxFailure } from '../failures.ts'
import type { Multiplier, Scale } from '../provider.ts'
import type { Names } from './describe.ts'

/**
 * Observations within a range of dates, oldest first, whatever their order in the message. Anything that is not a
 * number is null, with a status that says what was written (`NaN`, `:`, `<5`). Throws `unreadable` for a
 * period that can't be read, and for two values in one period, which mean that the answer mixes several series.
 */
export function observationsOf(
  raw: readonly RawObservation[],
  range: SeriesRange,
  frequency: string | null,
  scale: Scale & { readonly names?: Names },
): readonly Observation[] {
  const found = new Map<string, Observation & { readonly written: Json | undefined }>()
  for (const one of raw) {
    const { date, period } = periodOf(one.period, frequency)
    const written = one.value as Json | undefined
    const value = scaled(number(written), scale.multiplier, one.multiplier ?? scale.power)
    const name = period ?? date
    const earlier = found.get(name)
    const known = earlier?.value ?? null
    if (known !== null && value !== null && known !== value) {
      throw new SdmxFailure('unreadable', 'The answer has two values for one period.')
    }
    const isDay = period === undefined || frequency === 'daily'
    const status = statusOf(one.status, scale.names) ?? earlier?.status
    found.set(name, {
      date,
      ...(isDay ? {} : { period }),
      value: value ?? known,
      written: value === null && (known !== null || text(written) === null) ? earlier?.written : written,
      ...(status === undefined ? {} : { status }),
    })
  }
  if (hasOnlyUnread(raw.map(({ value }) => value as Json))) {
    throw new SdmxFailure('unreadable', 'The answer has values, none of which is a number.')
  }
  const observations = [...found.values()].map(({ written, status: given, ...observation }) => {
    const status = statusOfValue(written, given)
    return { ...observation, ...(status === undefined ? {} : { status }) }
  })
  return arranged(observations, range)
}

/**
 * A single capital letter is an SDMX code, small letters are Eurostat's flags; other codes are replaced by their name.
 */
function statusOf(code: string | undefined, names: Names | undefined): string | undefined {
  const text = code?.trim() ?? ''
  if (text === '') return undefined
  if (/^[A-Z]$/.test(text)) return statusOfCode(text)
  const name = STATUSES.map((id) => names?.(id, text)).find((one) => one !== undefined)
  return name?.toLowerCase() ?? (/^[a-z:]+$/.test(text) ? statusOfFlags(text) : text)
}

/**
 * The frequency that a series names, or the one that its periods show. The periods also decide what a letter with two
 * meanings stands for: `B` for business days, or for two months at INSEE, and `H` for half years or for hours.
 */
export function frequencyIn(raw: readonly RawObservation[], named: string | null): string | null {
  const isWritten = (frequency: string) =>
    raw.some(({ period }) => periodOf(period, null).frequency === frequency)
  if (named === 'daily' && isWritten('bimonthly')) return 'bimonthly'
  if (named === 'semiannual' && isWritten('intraday')) return 'intraday'
  return named ?? frequencyOfPeriods(raw)
}

/**
 * The frequency shown by the notation of the periods, and for plain days by the gaps between them; null if they differ.
 */
function frequencyOfPeriods(raw: readonly RawObservation[]): string | null {
  const periods = raw.map(({ period }) => periodOf(period, null))
  const [frequency, ...others] = new Set(periods.map((period) => period.frequency))
  if (frequency === undefined || others.length > 0) return null
  return frequency === 'daily' ? inferFrequency(periods.map(({ date }) => date).sort()) : frequency
}

/** Reads `2024-01`, or `2024-01-01/P1M` for the same; a day in a monthly series stands for its month. */
function periodOf(text: string, frequency: string | null) {
  const period = parsePeriod(text.split('/', 1)[0]!)
  if (!period) throw new SdmxFailure('unreadable', 'A period is in no notation of SDMX.')
  if (frequency === 'intraday') return asInstant(period)
  const isCoarser = frequency !== null && frequency !== 'daily'
  return period.frequency === 'daily' && isCoarser ? periodOfDate(period.date, frequency) : period
}

function scaled(value: number | null, multiplier: Multiplier, power: string | undefined): number | null {
  const exponent = Number(power ?? 0)
  if (value === null || !Number.isInteger(exponent)) return value
  if (multiplier !== 'multiply' && multiplier !== 'divide') return value
  return timesTenTo(multiplier === 'multiply' ? exponent : -exponent, value)
}
