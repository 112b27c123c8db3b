import { type ColumnStats, toLiteral, toNumber } from '../profile/stats.ts'
import { familyOf, filterLiteral, filterName } from './types.ts'

/** A filter that some rows match, to show how one looks; undefined where no column lends itself to one. */
export function exampleFilter(stats: ReadonlyMap<string, ColumnStats>): string | undefined {
  const usable = [...stats.values()].filter((one) => exampleValue(one, 'ge') !== undefined)
  // Best one that some rows match and others don't.
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
 * A value of a column as a person types it, with which a comparison is true for some rows: one that occurs for `eq`,
 * else one in the middle.
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
      // The middle row lies in this bin: as many rows are above its lower edge as below, or more.
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

/** A number of few digits that is not above the given one. */
function shortened(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1)
  return Number((Math.floor(value / unit) * unit).toPrecision(12))
}
