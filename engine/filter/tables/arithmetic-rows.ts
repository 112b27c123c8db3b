import {
  asDecimal,
  type Decimal,
  decimal,
  MOST_DIGITS,
  promote,
  TYPE,
  type ValueType,
} from '../check/value-types.ts'
import { converted } from '../sql/duckdb.ts'
import {
  all,
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  type DialectName,
  fallible,
  infix,
  LEVEL,
  negative,
  postfix,
  raise,
  type Sql,
} from '../sql/fragments.ts'
import type { CallSite, Overload, Rendering } from './overloads.ts'

/**
 * Arithmetic of sections 5.1.1.2.1 to 5.1.1.2.6. Each list holds the exact pairs of types; the checker promotes numbers
 * before it looks up a pair.
 */

const plus = (a: Sql, b: Sql): Sql => infix(a, '+', b, LEVEL.additive)
const minus = (a: Sql, b: Sql): Sql => infix(a, '-', b, LEVEL.additive)
const times = (a: Sql, b: Sql): Sql => infix(a, '*', b, LEVEL.multiplicative)
const over = (a: Sql, b: Sql): Sql => infix(a, '/', b, LEVEL.multiplicative)
const wholeOver = (a: Sql, b: Sql): Sql => infix(a, '//', b, LEVEL.multiplicative)
const remainder = (a: Sql, b: Sql): Sql => infix(a, '%', b, LEVEL.multiplicative)

type Operation = (a: Sql, b: Sql) => Sql

/** For integers and decimals, which can overflow. Doubles become INF instead. */
const overflowing =
  (operation: Operation): Rendering =>
  ([a, b]) =>
    fallible(operation(a!, b!))

const plain =
  (operation: Operation): Rendering =>
  ([a, b]) =>
    operation(a!, b!)

/**
 * Adds a test for a divisor of zero, which raises our error. Without it, DuckDB would give null, where the standard
 * lets the request fail, and Trino would fail with its own message.
 */
const guarded =
  (operation: Operation, dialect: DialectName = 'duckdb'): Rendering =>
  ([a, b], site) => {
    if (site.values[1]) return operation(a!, b!)
    const zero = `${site.subject} divides by zero: the right operand of the operator at position ${site.position} is 0 in a row.`
    // A null dividend makes the quotient null, even if the divisor is zero, so it must not raise the error.
    const nulls = site.nullWith[0]?.map(atom) ?? [a!]
    const known = nulls.map((part) => postfix(part, 'IS NOT NULL'))
    return caseWhen(
      [[all([comparison(b!, '=', atom('0')), ...known]), raise(zero, dialect)]],
      operation(a!, b!),
    )
  }

const DAY_MICROS = atom('86400000000')
const micros = (duration: Sql): Sql => call('to_microseconds', duration)
const asDouble = (x: Sql): Sql => cast(x, 'DOUBLE')
/** The same SQL in every dialect. */
const everywhere = (rendering: Rendering) => ({ duckdb: rendering, trino: rendering }) as const

const asInteger = (x: Sql): Sql => fallible(cast(call('round', x), 'BIGINT'))

/** Shifts a date from its midnight, and drops the time of day of the result (XML Schema 2, E.3.3). */
const shiftDate =
  (operation: Operation): Rendering =>
  ([date, duration]) =>
    fallible(cast(operation(date!, micros(duration!)), 'DATE'))

const shiftMoment =
  (operation: Operation): Rendering =>
  ([moment, duration]) =>
    fallible(operation(moment!, micros(duration!)))

function shifts(operation: Operation): Overload[] {
  return [
    { takes: ['date', 'duration'], gives: TYPE.date, duckdb: shiftDate(operation) },
    { takes: ['timestamp', 'duration'], gives: TYPE.timestamp, duckdb: shiftMoment(operation) },
    { takes: ['timestamptz', 'duration'], gives: TYPE.timestamptz, duckdb: shiftMoment(operation) },
    { takes: ['duration', 'duration'], gives: TYPE.duration, ...everywhere(overflowing(operation)) },
  ]
}

export function sumType([left, right]: readonly ValueType[]): Decimal {
  const { precision, scale, floating } = asDecimal(promote(left!, right!))
  return decimal(Math.min(MOST_DIGITS, precision + 1), scale, floating)
}

export function productType(left: ValueType, right: ValueType): ValueType {
  const a = asDecimal(left)
  const b = asDecimal(right)
  const scale = a.scale + b.scale
  if (scale > MOST_DIGITS) return TYPE.double
  return decimal(Math.min(MOST_DIGITS, a.precision + b.precision), scale, a.floating && b.floating)
}

export const ADD: readonly Overload[] = [
  { takes: ['integer', 'integer'], gives: TYPE.integer, ...everywhere(overflowing(plus)) },
  { takes: ['decimal', 'decimal'], gives: sumType, ...everywhere(overflowing(plus)) },
  { takes: ['double', 'double'], gives: TYPE.double, ...everywhere(plain(plus)) },
  ...shifts(plus),
]

export const SUB: readonly Overload[] = [
  { takes: ['integer', 'integer'], gives: TYPE.integer, ...everywhere(overflowing(minus)) },
  { takes: ['decimal', 'decimal'], gives: sumType, ...everywhere(overflowing(minus)) },
  { takes: ['double', 'double'], gives: TYPE.double, ...everywhere(plain(minus)) },
  ...shifts(minus),
  {
    takes: ['date', 'date'],
    gives: TYPE.duration,
    duckdb: ([a, b]) => fallible(times(minus(a!, b!), DAY_MICROS)),
    trino: ([a, b]) => fallible(times(call('date_diff', atom("'day'"), b!, a!), DAY_MICROS)),
  },
  { takes: ['timestamp', 'timestamp'], gives: TYPE.duration, duckdb: momentsApart },
  { takes: ['timestamptz', 'timestamptz'], gives: TYPE.duration, duckdb: momentsApart },
]

function momentsApart([a, b]: readonly Sql[]): Sql {
  return fallible(minus(call('epoch_us', a!), call('epoch_us', b!)))
}

export const MUL: readonly Overload[] = [
  { takes: ['integer', 'integer'], gives: TYPE.integer, ...everywhere(overflowing(times)) },
  {
    takes: ['decimal', 'decimal'],
    gives: ([left, right]) => productType(left!, right!),
    ...everywhere(overflowing(times)),
  },
  { takes: ['double', 'double'], gives: TYPE.double, ...everywhere(plain(times)) },
  { takes: ['duration', 'integer'], gives: TYPE.duration, ...everywhere(overflowing(times)) },
  { takes: ['integer', 'duration'], gives: TYPE.duration, ...everywhere(overflowing(times)) },
  {
    takes: ['duration', 'double'],
    gives: TYPE.duration,
    ...everywhere(([a, b]) => asInteger(times(asDouble(a!), b!))),
  },
  {
    takes: ['double', 'duration'],
    gives: TYPE.duration,
    ...everywhere(([a, b]) => asInteger(times(a!, asDouble(b!)))),
  },
]

const divideDuration: readonly Overload[] = [
  {
    takes: ['duration', 'integer'],
    gives: TYPE.duration,
    duckdb: durationOver(wholeOver, 'duckdb'),
    trino: durationOver(over, 'trino'),
    zeroFails: true,
  },
  {
    takes: ['duration', 'double'],
    gives: TYPE.duration,
    duckdb: durationOver(asDoubles, 'duckdb'),
    trino: durationOver(asDoubles, 'trino'),
    zeroFails: true,
  },
]

function asDoubles(duration: Sql, by: Sql): Sql {
  return asInteger(over(asDouble(duration), by))
}

function durationOver(operation: Operation, dialect: DialectName): Rendering {
  return (args, site) => fallible(guarded(operation, dialect)(args, site))
}

/**
 * The quotient of two decimals has a floating scale: fifteen digits, which a double carries without loss. Rounding to
 * them keeps 3.30 div 3 equal to 1.1, which binary division alone misses by one unit in the last place. This is for
 * DuckDB only, because Trino's format() cuts digits in another way.
 */
const decimalQuotient: Rendering = ([a, b], { types }) => {
  const quotient = over(converted(a!, types[0]!, TYPE.double), converted(b!, types[1]!, TYPE.double))
  return asDouble(call('printf', atom("'%.15g'"), quotient))
}

export const DIV: readonly Overload[] = [
  {
    takes: ['integer', 'integer'],
    gives: TYPE.integer,
    duckdb: integerOver(wholeOver, 'duckdb'),
    // In Trino the quotient of two integers is an integer.
    trino: integerOver(over, 'trino'),
    zeroFails: true,
  },
  {
    takes: ['decimal', 'decimal'],
    gives: TYPE.double,
    duckdb: (args, site) =>
      fixedScale(site.types)
        ? guarded((...pair) => decimalQuotient(pair, site))(args, site)
        : decimalQuotient(args, site),
    zeroFails: fixedScale,
  },
  { takes: ['double', 'double'], gives: TYPE.double, ...everywhere(plain(over)) },
  ...divideDuration,
]

/** Whether the dividend has a fixed scale. If so, division by zero fails; a dividend of floating scale gives INF. */
function fixedScale([dividend]: readonly ValueType[]): boolean {
  return !(dividend!.kind === 'decimal' && dividend!.floating)
}

/** Division of the smallest integer by -1 overflows, and DuckDB reports an overflow for the remainder too. */
function integerOver(operation: Operation, dialect: DialectName): Rendering {
  return (args, site) => {
    const by = literalDigits(site, 1)
    const sql = guarded(operation, dialect)(args, site)
    return by !== undefined && by !== -1n ? sql : fallible(sql)
  }
}

function literalDigits(site: CallSite, index: number): bigint | undefined {
  const value = site.values[index]
  return value?.kind === 'number' ? value.digits : undefined
}

export const DIVBY: readonly Overload[] = [
  { takes: ['integer', 'integer'], gives: TYPE.double, duckdb: decimalQuotient },
  { takes: ['decimal', 'decimal'], gives: TYPE.double, duckdb: decimalQuotient },
  { takes: ['double', 'double'], gives: TYPE.double, ...everywhere(plain(over)) },
  ...divideDuration,
]

export const MOD: readonly Overload[] = [
  {
    takes: ['integer', 'integer'],
    gives: TYPE.integer,
    duckdb: integerOver(remainder, 'duckdb'),
    trino: integerOver(remainder, 'trino'),
    zeroFails: true,
  },
  {
    takes: ['decimal', 'decimal'],
    gives: ([left, right]) => promote(left!, right!),
    duckdb: guarded(remainder),
    trino: guarded(remainder, 'trino'),
    zeroFails: true,
  },
  {
    takes: ['double', 'double'],
    gives: TYPE.double,
    duckdb: guarded(remainder),
    trino: guarded(remainder, 'trino'),
    zeroFails: true,
  },
]

export const NEGATE: readonly Overload[] = [
  { takes: ['integer'], gives: TYPE.integer, ...everywhere(([x]) => fallible(negative(x!))) },
  { takes: ['decimal'], gives: ([type]) => type!, ...everywhere(([x]) => negative(x!)) },
  { takes: ['double'], gives: TYPE.double, ...everywhere(([x]) => negative(x!)) },
  { takes: ['duration'], gives: TYPE.duration, ...everywhere(([x]) => fallible(negative(x!))) },
]
