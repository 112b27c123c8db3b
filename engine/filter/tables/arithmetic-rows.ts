import {
  all,
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  converted,
  fallible,
  infix,
  LEVEL,
  negative,
  postfix,
  raise,
  type Sql,
} from '../sql/dialect.ts'
import type { ArithmeticOperator } from '../syntax/tree.ts'
import { asDecimal, type Decimal, decimal, MOST_DIGITS, promote, TYPE, type ValueType } from '../values.ts'
import { forKinds, type Overload, of, type Rendering } from './overloads.ts'

/**
 * Arithmetic of sections 5.1.1.2.1 to 5.1.1.2.6. Each list at the end holds the exact pairs of types; the checker
 * promotes numbers before it looks up a pair.
 */

const plus = (a: Sql, b: Sql): Sql => infix(a, '+', b, LEVEL.additive)
const minus = (a: Sql, b: Sql): Sql => infix(a, '-', b, LEVEL.additive)
const times = (a: Sql, b: Sql): Sql => infix(a, '*', b, LEVEL.multiplicative)
const over = (a: Sql, b: Sql): Sql => infix(a, '/', b, LEVEL.multiplicative)
const wholeOver = (a: Sql, b: Sql): Sql => infix(a, '//', b, LEVEL.multiplicative)
const remainder = (a: Sql, b: Sql): Sql => infix(a, '%', b, LEVEL.multiplicative)

type Operation = (a: Sql, b: Sql) => Sql

const plain =
  (operation: Operation): Rendering =>
  ([a, b]) =>
    operation(a!, b!)

const mayFail =
  (rendering: Rendering): Rendering =>
  (args, site) =>
    fallible(rendering(args, site))

/** For integers and decimals, which can overflow. Doubles become INF instead. */
const overflowing = (operation: Operation): Rendering => mayFail(plain(operation))

/**
 * Adds a test for a divisor of zero, which raises our error. Without it, DuckDB would give null, where the standard
 * lets the request fail, and Trino would fail with its own message.
 */
const guarded =
  (operation: Operation): Rendering =>
  ([a, b], site) => {
    if (site.values[1]) return operation(a!, b!)
    const zero = `${site.subject} divides by zero: the right operand of the operator at position ${site.position} is 0 in a row.`
    // A null dividend makes the quotient null, even if the divisor is zero, so it must not raise the error.
    const nulls = site.nullWith[0]?.map(atom) ?? [a!]
    const known = nulls.map((part) => postfix(part, 'IS NOT NULL'))
    return caseWhen(
      [[all([comparison(b!, '=', atom('0')), ...known]), raise(zero, site.dialect)]],
      operation(a!, b!),
    )
  }

const DAY_MICROS = atom('86400000000')
const micros = (duration: Sql): Sql => call('to_microseconds', duration)
const asDouble = (x: Sql): Sql => cast(x, 'DOUBLE')
const asInteger = (x: Sql): Sql => fallible(cast(call('round', x), 'BIGINT'))

/** Sums and differences of a time and a duration. */
function shifts(operation: Operation): Overload[] {
  const shifted = (moment: Sql, duration: Sql) => operation(moment, micros(duration))
  return [
    // A date is shifted from its midnight, and the time of day of the result is dropped (XML Schema 2, E.3.3).
    of(
      ['date', 'duration'],
      TYPE.date,
      overflowing((...pair) => cast(shifted(...pair), 'DATE')),
      null,
    ),
    of(['timestamp', 'duration'], TYPE.timestamp, overflowing(shifted), null),
    of(['timestamptz', 'duration'], TYPE.timestamptz, overflowing(shifted), null),
    of(['duration', 'duration'], TYPE.duration, overflowing(operation)),
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

/** The overloads for two numbers. */
function ofNumbers(operation: Operation, decimals: Overload['gives']): Overload[] {
  return [
    of(['integer', 'integer'], TYPE.integer, overflowing(operation)),
    of(['decimal', 'decimal'], decimals, overflowing(operation)),
    of(['double', 'double'], TYPE.double, plain(operation)),
  ]
}

const apart = overflowing((a, b) => minus(call('epoch_us', a), call('epoch_us', b)))

const asDoubles = (duration: Sql, by: Sql): Sql => asInteger(over(asDouble(duration), by))

// In Trino the quotient of two integers is an integer.
const divideDuration: readonly Overload[] = [
  of(['duration', 'integer'], TYPE.duration, mayFail(guarded(wholeOver)), mayFail(guarded(over))),
  of(['duration', 'double'], TYPE.duration, mayFail(guarded(asDoubles))),
]

/** Division of the smallest integer by -1 overflows, and DuckDB reports an overflow for the remainder too. */
const integerOver =
  (operation: Operation): Rendering =>
  (args, site) => {
    const by = site.values[1]
    const sql = guarded(operation)(args, site)
    return by?.kind === 'number' && by.digits !== -1n ? sql : fallible(sql)
  }

/** As many digits a double carries without loss. */
const DOUBLE_DIGITS = 15

/**
 * The quotient of two decimals has a floating scale: fifteen digits. Rounding to them keeps 3.30 div 3 equal to 1.1,
 * which binary division alone misses by one unit in the last place. A dividend of more digits would lose some. This is
 * for DuckDB only, because Trino's format() cuts digits in another way.
 */
const decimalQuotient: Rendering = ([a, b], { types }) => {
  const [dividend, divisor] = [converted(a!, types[0]!, TYPE.double), converted(b!, types[1]!, TYPE.double)]
  const quotient = over(dividend, divisor)
  const most = atom(`1e${DOUBLE_DIGITS - asDecimal(types[0]!).scale}`)
  const rounded = asDouble(call('printf', atom("'%.15g'"), quotient))
  return caseWhen([[comparison(call('abs', dividend), '<', most), rounded]], quotient)
}

/** The double that is nearest to the quotient, of integers up to 2^53. */
const doubleQuotient: Rendering = ([a, b]) => over(asDouble(a!), asDouble(b!))

/** Whether a divisor of zero makes the request fail, rather than give INF. A literal zero is refused before it runs. */
export function zeroFails(operator: ArithmeticOperator, dividend: ValueType): boolean {
  if (operator === 'mod') return true
  if (dividend.kind === 'duration') return operator === 'div' || operator === 'divby'
  return (
    operator === 'div' && dividend.kind !== 'double' && !(dividend.kind === 'decimal' && dividend.floating)
  )
}

const fixedQuotient: Rendering = (args, site) =>
  zeroFails('div', site.types[0]!)
    ? guarded((...pair) => decimalQuotient(pair, site))(args, site)
    : decimalQuotient(args, site)

const ofDoubles = of(['double', 'double'], TYPE.double, plain(over))

/** What each operator takes and gives, and its SQL. `-` is the sign. */
export const ARITHMETIC: Readonly<Record<ArithmeticOperator | '-', readonly Overload[]>> = {
  add: [...ofNumbers(plus, sumType), ...shifts(plus)],
  sub: [
    ...ofNumbers(minus, sumType),
    ...shifts(minus),
    of(
      ['date', 'date'],
      TYPE.duration,
      overflowing((a, b) => times(minus(a, b), DAY_MICROS)),
      overflowing((a, b) => times(call('date_diff', atom("'day'"), b, a), DAY_MICROS)),
    ),
    of(['timestamp', 'timestamp'], TYPE.duration, apart, null),
    of(['timestamptz', 'timestamptz'], TYPE.duration, apart, null),
  ],
  mul: [
    ...ofNumbers(times, ([left, right]) => productType(left!, right!)),
    of(['duration', 'integer'], TYPE.duration, overflowing(times)),
    of(['integer', 'duration'], TYPE.duration, overflowing(times)),
    of(['duration', 'double'], TYPE.duration, ([a, b]) => asInteger(times(asDouble(a!), b!))),
    of(['double', 'duration'], TYPE.duration, ([a, b]) => asInteger(times(a!, asDouble(b!)))),
  ],
  div: [
    of(['integer', 'integer'], TYPE.integer, integerOver(wholeOver), integerOver(over)),
    of(['decimal', 'decimal'], TYPE.double, fixedQuotient, null),
    ofDoubles,
    ...divideDuration,
  ],
  divby: [
    of(['integer', 'integer'], TYPE.double, doubleQuotient, null),
    of(['decimal', 'decimal'], TYPE.double, decimalQuotient, null),
    ofDoubles,
    ...divideDuration,
  ],
  mod: [
    of(['integer', 'integer'], TYPE.integer, integerOver(remainder)),
    of(['decimal', 'decimal'], ([left, right]) => promote(left!, right!), guarded(remainder)),
    of(['double', 'double'], TYPE.double, guarded(remainder)),
  ],
  '-': [
    ...forKinds(['integer'], TYPE.integer, (x) => fallible(negative(x))),
    of(
      ['decimal'],
      ([type]) => type!,
      ([x]) => negative(x!),
    ),
    ...forKinds(['double'], TYPE.double, negative),
    ...forKinds(['duration'], TYPE.duration, (x) => fallible(negative(x))),
  ],
}
