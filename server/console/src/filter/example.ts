import { type ColumnProfile, comparison, type Profiles } from './types.ts'

/** An example of a filter that matches some rows; undefined if no column is suitable. */
export function exampleFilter(profiles: Profiles): string | undefined {
  const usable = [...profiles.values()].filter((one) => exampleValue(one, 'ge') !== undefined)
  // Prefer a filter that doesn't match all rows.
  const chosen =
    usable.find(({ histogram, mean }) => histogram && mean !== undefined) ??
    usable.find(({ distinct }) => distinct && distinct.value > 1) ??
    usable[0]
  if (!chosen) return undefined
  const operator = chosen.histogram ? 'ge' : 'eq'
  return comparison(chosen, operator, exampleValue(chosen, operator)!)
}

/** A value, as a user would type it, for which a comparison is true for some rows. */
export function exampleValue({ histogram, top, max }: ColumnProfile, operator: string): string | undefined {
  const middle = histogram?.[Math.floor(histogram.length / 2)]?.from
  if (operator !== 'eq' && operator !== 'ne' && middle !== undefined) {
    return String(typeof middle === 'number' ? shortened(middle) : middle)
  }
  const value = top?.[0]?.value ?? max
  return value === undefined ? undefined : String(value)
}

/** Rounds a number down to two significant digits. */
function shortened(value: number): number {
  if (value === 0) return value
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1)
  return Number((Math.floor(value / unit) * unit).toPrecision(12))
}
