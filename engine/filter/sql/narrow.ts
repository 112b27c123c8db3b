import { dateText, floorDivide, momentText, timeText } from '../syntax/calendar.ts'
import type { ComparisonOperator } from '../syntax/tree.ts'
import {
  FIRST_DAY,
  FIRST_INTEGER,
  FIRST_MOMENT,
  LAST_DAY,
  LAST_INTEGER,
  LAST_MOMENT,
  type LiteralValue,
  literalType,
  PICOS_PER_DAY,
  PICOS_PER_MICRO,
  type ValueType,
} from '../values.ts'

/**
 * The result of putting the literal of a comparison into the type of the column that it is compared with. Casting the
 * column instead would be inexact (a BIGINT as DOUBLE) and would keep DuckDB from skipping row groups.
 */
export type Narrowed =
  | (Keyed & { readonly kind: 'compare'; readonly operator: Operator })
  /** The comparison is false for every value of the type, and for null. */
  | { readonly kind: 'none' }
  /** The comparison is true for every value of the type, but not for null. */
  | { readonly kind: 'every' }

/** A value as text that DuckDB casts, and as a key by which values can be sorted. */
export interface Keyed {
  readonly text: string
  readonly key: bigint | number | string
}

/** null compares in ways of its own. */
export type NonNull = Exclude<LiteralValue, { kind: 'null' }>

const NONE: Narrowed = { kind: 'none' }
const EVERY: Narrowed = { kind: 'every' }

/**
 * Puts the literal of a comparison into the type of the other operand. For an integer x, `x gt 2.5` becomes `x > 2`,
 * and `x eq 2.5` is never true. `ne` is not taken, because callers negate `eq`.
 */
export function narrow(operator: Operator, value: NonNull, type: ValueType): Narrowed {
  if (value.kind === 'special') {
    if (value.value === 'NaN') return NONE
    if (type.kind === 'double') return double(operator, SPECIAL[value.value])
    return (value.value === 'INF' ? isBelow : isAbove)(operator) ? EVERY : NONE
  }
  if (type.kind === 'double') return beside(operator, value)
  const units = unitsOf(value, type)
  if (!units) {
    const text = literalText(value, type)
    return { kind: 'compare', operator, text, key: text }
  }
  const { floor, exact } = units
  const [first, last] = rangeOf(type)
  if (floor > last) return isBelow(operator) ? EVERY : NONE
  if (floor < first) return isAbove(operator) ? EVERY : NONE
  const held = { kind: 'compare', text: unitText(floor, type), key: floor } as const
  if (exact) return { ...held, operator }
  return operator === 'eq' ? NONE : { ...held, operator: isAbove(operator) ? 'gt' : 'le' }
}

export type Operator = Exclude<ComparisonOperator, 'ne'>

const isAbove = (operator: Operator) => operator === 'gt' || operator === 'ge'
const isBelow = (operator: Operator) => operator === 'lt' || operator === 'le'

/**
 * Compares a double with a literal. A literal with a point or an exponent becomes the nearest double. A whole number is
 * compared exactly, as an integer column would be: 9007199254740993 equals no double.
 */
function beside(operator: Operator, value: NonNull): Narrowed {
  if (value.kind !== 'number') return NONE
  const near = nearestDouble(value)
  if (!value.whole) return double(operator, near)
  const nearest = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, near))
  const held = BigInt(nearest)
  if (held === value.digits) return double(operator, nearest)
  if (operator === 'eq') return NONE
  if (held < value.digits) return double(isAbove(operator) ? 'gt' : 'le', nearest)
  return double(isAbove(operator) ? 'ge' : 'lt', nearest)
}

function double(operator: Operator, value: number): Narrowed {
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
export function literalText(value: NonNull, type: ValueType): string {
  if (value.kind === 'special') return doubleText(SPECIAL[value.value])
  if (value.kind === 'number' && type.kind === 'double') return doubleText(nearestDouble(value))
  const units = unitsOf(value, type)
  if (units) return unitText(units.floor, type)
  return 'value' in value ? String(value.value) : ''
}

/** The value in the smallest steps of a type, rounded down; undefined for types without steps. */
function unitsOf(value: NonNull, type: ValueType): { floor: bigint; exact: boolean } | undefined {
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
    default:
      return undefined
  }
}

/** Whether a value is in the range of its type. */
export function isHeld(value: NonNull): boolean {
  const type = literalType(value)
  const units = unitsOf(value, type)
  const [first, last] = rangeOf(type)
  return !units || (units.floor >= first && units.floor <= last)
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

/** The text of a value as DuckDB casts it, where its own text is the number of its smallest steps. */
export function keyText({ text, key }: Keyed, type: ValueType): string {
  return typeof key === 'bigint' ? unitText(key, type) : text
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

type Amount = bigint | number

const HOLDS: Readonly<Record<ComparisonOperator, (a: Amount, b: Amount) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
}

/** Compares two literal numbers exactly, without rounding either. NaN only differs. */
export function compareNumbers(operator: ComparisonOperator, a: LiteralValue, b: LiteralValue): boolean {
  const scaleOf = (value: LiteralValue) => (value.kind === 'number' ? value.scale : 0)
  const scale = Math.max(scaleOf(a), scaleOf(b))
  const amountOf = (value: LiteralValue): Amount => {
    if (value.kind === 'number') return value.digits * 10n ** BigInt(scale - value.scale)
    return value.kind === 'special' ? SPECIAL[value.value] : 0
  }
  return HOLDS[operator](amountOf(a), amountOf(b))
}

/** Sorts the values of a list as DuckDB orders them: numbers by size, texts by their code points. */
export function byKey(a: Keyed, b: Keyed): number {
  if (typeof a.key === 'string' && typeof b.key === 'string') return byCodePoints(a.key, b.key)
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}

/** Compares by code points. JavaScript's own comparison, by UTF-16 units, misplaces characters beyond U+FFFF. */
function byCodePoints(a: string, b: string): number {
  let at = 0
  // Beyond its end a text has NaN, which equals nothing.
  while (a.charCodeAt(at) === b.charCodeAt(at)) at++
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1)
}
