import type { ValueType } from '../check/value-types.ts'
import { dateText, floorDivide, momentText, timeText } from '../syntax/calendar.ts'
import {
  FIRST_DAY,
  FIRST_INTEGER,
  FIRST_MOMENT,
  LAST_DAY,
  LAST_INTEGER,
  LAST_MOMENT,
  type LiteralValue,
  PICOS_PER_DAY,
  PICOS_PER_MICRO,
} from '../syntax/literals.ts'
import type { ComparisonOperator } from '../syntax/tree.ts'

/**
 * The result of putting the literal of a comparison into the type of the column that it is compared with. Casting the
 * column instead would be inexact (a BIGINT as DOUBLE) and would keep DuckDB from skipping row groups.
 */
export type Narrowed =
  | (Keyed & { readonly kind: 'compare'; readonly operator: Exclude<ComparisonOperator, 'ne'> })
  /** The comparison is false for every value of the type, and for null. */
  | { readonly kind: 'none' }
  /** The comparison is true for every value of the type, but not for null. */
  | { readonly kind: 'every' }

/** A value as text that DuckDB casts, and as a key by which values can be sorted. */
export interface Keyed {
  readonly text: string
  readonly key: bigint | number | string
}

const NONE: Narrowed = { kind: 'none' }
const EVERY: Narrowed = { kind: 'every' }

/**
 * Puts the literal of a comparison into the type of the other operand. For an integer x, `x gt 2.5` becomes `x > 2`,
 * and `x eq 2.5` is never true. `ne` is not taken, because callers negate `eq`.
 */
export function narrow(
  operator: Exclude<ComparisonOperator, 'ne'>,
  value: LiteralValue,
  type: ValueType,
): Narrowed {
  if (value.kind === 'special') return beyondNumbers(operator, value.value, type)
  if (type.kind === 'double') return beside(operator, value)
  const units = unitsOf(value, type)
  if (!units) {
    const text = literalText(value, type)
    return { kind: 'compare', operator, text, key: text }
  }
  const { floor, exact } = units
  const [first, last] = rangeOf(type)
  if (floor > last) return operator === 'lt' || operator === 'le' ? EVERY : NONE
  if (floor < first) return operator === 'gt' || operator === 'ge' ? EVERY : NONE
  const held = { kind: 'compare', text: unitText(floor, type), key: floor } as const
  if (exact) return { ...held, operator }
  switch (operator) {
    case 'eq':
      return NONE
    case 'gt':
    case 'ge':
      return { ...held, operator: 'gt' }
    case 'lt':
    case 'le':
      return { ...held, operator: 'le' }
    default:
      return operator satisfies never
  }
}

function beyondNumbers(
  operator: Exclude<ComparisonOperator, 'ne'>,
  value: 'NaN' | 'INF' | '-INF',
  type: ValueType,
): Narrowed {
  if (value === 'NaN') return NONE
  if (type.kind === 'double') return double(operator, SPECIAL[value])
  const below = operator === 'lt' || operator === 'le'
  return operator !== 'eq' && below === (value === 'INF') ? EVERY : NONE
}

/**
 * Compares a double with a literal. A literal with a point or an exponent becomes the nearest double. A whole number is
 * compared exactly, as an integer column would be: 9007199254740993 equals no double.
 */
function beside(operator: Exclude<ComparisonOperator, 'ne'>, value: LiteralValue): Narrowed {
  if (value.kind !== 'number') return NONE
  const near = nearestDouble(value)
  if (!value.whole) return double(operator, near)
  const nearest = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, near))
  const held = BigInt(nearest)
  if (held === value.digits) return double(operator, nearest)
  if (operator === 'eq') return NONE
  const upward = operator === 'gt' || operator === 'ge'
  if (held < value.digits) return double(upward ? 'gt' : 'le', nearest)
  return double(upward ? 'ge' : 'lt', nearest)
}

function double(operator: Exclude<ComparisonOperator, 'ne'>, value: number): Narrowed {
  return { kind: 'compare', operator, text: doubleText(value), key: value }
}

function nearestDouble({ digits, scale }: { digits: bigint; scale: number }): number {
  return Number(`${digits}e${-scale}`)
}

function doubleText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

const SPECIAL = { NaN: Number.NaN, INF: Number.POSITIVE_INFINITY, '-INF': Number.NEGATIVE_INFINITY } as const

/** A literal as text that DuckDB casts to a type. Digits that the type can't hold are cut off. */
export function literalText(value: LiteralValue, type: ValueType): string {
  switch (value.kind) {
    case 'special':
      return doubleText(SPECIAL[value.value])
    case 'string':
    case 'uuid':
      return value.value
    case 'number':
      if (type.kind === 'double') return doubleText(nearestDouble(value))
      break
    case 'boolean':
      return String(value.value)
    case 'null':
    case 'binary':
      return ''
    case 'date':
    case 'time':
    case 'moment':
    case 'duration':
      break
    default:
      value satisfies never
  }
  return unitText(unitsOf(value, type)!.floor, type)
}

/** The value in the smallest steps of a type, rounded down; undefined for types without steps. */
function unitsOf(value: LiteralValue, type: ValueType): { floor: bigint; exact: boolean } | undefined {
  switch (value.kind) {
    case 'number': {
      const places = (type.kind === 'decimal' ? type.scale : 0) - value.scale
      return places >= 0
        ? { floor: value.digits * 10n ** BigInt(places), exact: true }
        : divided(value.digits, 10n ** BigInt(-places))
    }
    case 'time':
      return divided(value.picos, PICOS_PER_MICRO)
    case 'date':
    case 'moment': {
      const picos = value.kind === 'date' ? BigInt(value.days) * PICOS_PER_DAY : value.picos
      return divided(picos, type.kind === 'date' ? PICOS_PER_DAY : PICOS_PER_MICRO)
    }
    case 'duration':
      return { floor: value.micros, exact: true }
    case 'null':
    case 'boolean':
    case 'special':
    case 'string':
    case 'uuid':
    case 'binary':
      return undefined
    default:
      return value satisfies never
  }
}

function divided(value: bigint, by: bigint): { floor: bigint; exact: boolean } {
  return { floor: floorDivide(value, by), exact: value % by === 0n }
}

function rangeOf(type: ValueType): readonly [first: bigint, last: bigint] {
  switch (type.kind) {
    case 'decimal': {
      const last = 10n ** BigInt(type.precision) - 1n
      return [-last, last]
    }
    case 'date':
      return [BigInt(FIRST_DAY), BigInt(LAST_DAY)]
    case 'timestamp':
    case 'timestamptz':
      return [FIRST_MOMENT, LAST_MOMENT]
    default:
      return [FIRST_INTEGER, LAST_INTEGER]
  }
}

function unitText(units: bigint, type: ValueType): string {
  switch (type.kind) {
    case 'decimal':
      return decimalText(units, type.scale)
    case 'date':
      return dateText(Number(units))
    case 'time':
      return timeText(units)
    case 'timestamp':
      return momentText(units)
    case 'timestamptz':
      return `${momentText(units)}+00`
    default:
      return String(units)
  }
}

function decimalText(units: bigint, scale: number): string {
  if (scale === 0) return String(units)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Compares two literal numbers exactly, without rounding either. */
export function compareNumbers(operator: ComparisonOperator, a: LiteralValue, b: LiteralValue): boolean {
  const order = orderOf(a, b)
  switch (operator) {
    case 'eq':
      return order === 0
    case 'ne':
      return order !== 0
    case 'gt':
      return order !== undefined && order > 0
    case 'ge':
      return order !== undefined && order >= 0
    case 'lt':
      return order !== undefined && order < 0
    case 'le':
      return order !== undefined && order <= 0
    default:
      return operator satisfies never
  }
}

/** Negative, zero or positive; undefined where one of the two is NaN. */
function orderOf(a: LiteralValue, b: LiteralValue): number | undefined {
  const x = infinity(a)
  const y = infinity(b)
  if (x === undefined || y === undefined) return undefined
  if (a.kind !== 'number' || b.kind !== 'number') return x - y
  const scale = Math.max(a.scale, b.scale)
  const difference = a.digits * 10n ** BigInt(scale - a.scale) - b.digits * 10n ** BigInt(scale - b.scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function infinity(value: LiteralValue): number | undefined {
  if (value.kind !== 'special') return 0
  return value.value === 'NaN' ? undefined : value.value === 'INF' ? 1 : -1
}

/** Sorts the values of a list as DuckDB orders them: numbers by size, texts by their code points. */
export function byKey(a: Keyed, b: Keyed): number {
  if (typeof a.key === 'string' && typeof b.key === 'string') return byCodePoints(a.key, b.key)
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}

/** Compares by code points. JavaScript's own comparison, by UTF-16 units, misplaces characters beyond U+FFFF. */
function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const x = a.charCodeAt(index)
    const y = b.charCodeAt(index)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Moves surrogates behind all other units, because they stand for the characters beyond U+FFFF. */
function rank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800
  return unit >= 0xd800 ? unit + 0x2000 : unit
}
