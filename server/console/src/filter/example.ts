import { type ColumnStats, toLiteral, toNumber } from '../profile/stats.ts'
import { familyOf, filterLiteral, filterName } from './types.ts'

/** An example of a filter that matches some rows; undefined if no column is suitable. */
export function exampleFilter(stats: ReadonlyMap<string, ColumnStats>): string | undefined {
  const usable = [...stats.values()].filter((one) => exampleValue(one, 'ge') !== undefined)
  // Prefer a filter that doesn't match all rows.
  const chosen =
    usable.find((one) => familyOf(one.column.type) === 'number' && splits(one)) ??
    usable.find(splits) ??
    usable[0]
  if (!chosen) return undefined
  const { column, shape } = chosen
  const operator = shape.kind === 'bins' ? 'ge' : 'eq'
  const literal = filterLiteral(exampleValue(chosen, operator)!, column.type)
  return `${filterName(column.name)} ${operator} ${literal}`
}

/**
 * An example value, as a user would type it, for which a comparison is true for some rows: for `eq` a value that
 * occurs, for other operators one near the median.
 */
export function exampleValue(stats: ColumnStats, operator: string): string | undefined {
  const { column, shape, min, max } = stats
  switch (shape.kind) {
    case 'bins': {
      if (operator === 'eq' || operator === 'ne' || min === max) return max
      const half = shape.bins.reduce((sum, { count }) => sum + count, 0) / 2
      let seen = 0
      const middle = shape.bins.find(({ count }) => {
        seen += count
        return seen >= half
      })
      if (!middle) return undefined
      // The median lies in this bin, so at least half of the rows are above its lower edge.
      return toLiteral(familyOf(column.type) === 'number' ? shortened(middle.from) : middle.from, column.type)
    }
    case 'values':
      return shape.values[0]?.value
    case 'none':
      return undefined
    default:
      return shape satisfies never
  }
}

function splits(stats: ColumnStats): boolean {
  if (stats.shape.kind !== 'bins') return stats.distinct > 1
  return toNumber(exampleValue(stats, 'ge')!, stats.column.type) > toNumber(stats.min!, stats.column.type)
}

/** Rounds a number down to two significant digits. */
function shortened(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1)
  return Number((Math.floor(value / unit) * unit).toPrecision(12))
}
