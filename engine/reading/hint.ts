import type { Expression } from '../filter/check/expression.ts'

/**
 * What to try where a filter matches nothing: it compares a column of doubles with a number that is no float32, such as
 * 0.1. A column that came from float32 has the nearest one instead, as a double. Undefined if there is no such comparison.
 */
export function hintFor(filter: Expression): string | undefined {
  switch (filter.kind) {
    case 'logical':
      return filter.operands.map(hintFor).find((hint) => hint !== undefined)
    case 'comparison': {
      const { operator, left, right } = filter
      if (operator !== 'eq' || left.kind !== 'column' || left.type.kind !== 'double') return undefined
      if (right.kind !== 'literal' || right.value.kind !== 'number') return undefined
      const { digits, scale } = right.value
      const value = Number(`${digits}e${-scale}`)
      const nearest = Math.fround(value)
      if (nearest === value || !Number.isFinite(nearest)) return undefined
      return `A column that came from float32 holds ${nearest} for ${value}: compare with cast(${value}, Edm.Single).`
    }
    default:
      return undefined
  }
}
