import { notUnderstood } from '../../failures.ts'
import {
  asInstant,
  frequencyName,
  inferFrequency,
  MONTHS_IN,
  type Period,
  parsePeriod,
  periodOfDate,
} from '../../periods.ts'
import type { DataSeries, RawObservation } from '../data/message.ts'
import { meaningOf } from '../meanings.ts'
import { FREQUENCIES, firstComponent, type Names } from './describe.ts'

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

/** Reads `2024-01`, or `2024-01-01/P1M` for the same. */
export function readPeriod(text: string): Period {
  const period = parsePeriod(text.split('/', 1)[0]!)
  if (!period) throw notUnderstood('A period is in no notation of SDMX.')
  return period
}

/** A day or a month in a series of longer periods stands for the period that contains it. */
export function inFrequency(period: Period, frequency: string | null): Period {
  if (frequency === null || frequency === 'daily') return period
  if (frequency === 'intraday') return asInstant(period)
  const isPart = period.frequency === 'daily' || isPartOf(period.frequency, frequency)
  return isPart ? periodOfDate(period.date, frequency) : period
}

function isPartOf(shorter: string, longer: string): boolean {
  const [short = 0, long = 0] = [MONTHS_IN[shorter], MONTHS_IN[longer]]
  return short > 0 && short < long && long <= MONTHS_IN['annual']!
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
