import { invalid, mistyped } from '../errors.ts'
import { isHeld, type NonNull } from '../sql/narrow.ts'
import { floorDivide } from '../syntax/calendar.ts'
import type { ArithmeticOperator, BinarySyntax, Syntax } from '../syntax/tree.ts'
import { ARITHMETIC, productType, sumType, zeroFails } from '../tables/arithmetic-rows.ts'
import type { Overload } from '../tables/overloads.ts'
import {
  asDecimal,
  common,
  isMoment,
  isNumeric,
  type LiteralValue,
  NULL,
  PICOS_PER_DAY,
  PICOS_PER_MICRO,
  promote,
  TYPE,
  type ValueKind,
  type ValueType,
} from '../values.ts'
import {
  beside,
  called,
  convert,
  type Expression,
  isNull,
  literal,
  literalOf,
  requireZones,
  type Scope,
  showTyped,
  tightType,
} from './expression.ts'

type Binary = BinarySyntax<ArithmeticOperator>

/**
 * Checks arithmetic (section 5.1.1.2). The result is null if an operand is the literal null. Numbers are promoted;
 * dates, moments and durations have their own rules.
 */
export function arithmetic(node: Binary, first: Expression, second: Expression, scope: Scope): Expression {
  const { operator } = node
  const shift = operator === 'add' || operator === 'sub'
  const left = operandBeside(first, second, shift)
  const right = operandBeside(second, first, shift)
  if (isNull(left) || isNull(right)) {
    const suits = (side: Expression) => isNull(side) || isNumeric(side.type) || isTemporal(side)
    if (!suits(left) || !suits(right)) throw unsuitable(node, left, right, scope)
    return literal(NULL, node.at)
  }
  const folded = foldMoments(node, left, right, scope)
  if (folded) return folded
  const args = align(operator, left, right)
  const overload = find(ARITHMETIC[operator], kindsOf(operator, args))
  if (!overload) throw unsuitable(node, left, right, scope)
  requireZones(left, right, scope)
  const divisor = literalOf(right)
  if (divisor?.kind === 'number' && divisor.digits === 0n && zeroFails(operator, args[0].type)) {
    throw invalid(node.operatorAt, `'${operator}' divides by zero.`)
  }
  return called(operator, overload, args, node.operatorAt)
}

/** Reads a value in JSON as a number, and quoted text that is added to or subtracted from a moment as a duration. */
function operandBeside(node: Expression, other: Expression, shift: boolean): Expression {
  if (node.type.kind === 'json') return beside(node, TYPE.double)
  return shift && isTemporal(other) ? beside(node, TYPE.duration) : node
}

function find(overloads: readonly Overload[], kinds: readonly ValueKind[]): Overload | undefined {
  return overloads.find(({ takes }) => takes.every((kind, index) => kind === kinds[index]))
}

/**
 * The types to look up. In a division of an integer and a decimal, the integer counts as a decimal without conversion.
 */
function kindsOf(operator: ArithmeticOperator, args: readonly Expression[]): readonly ValueKind[] {
  const kinds = args.map((arg) => arg.type.kind)
  const mixed = kinds.includes('integer') && kinds.includes('decimal')
  return isDivision(operator) && mixed ? ['decimal', 'decimal'] : kinds
}

function isDivision(operator: ArithmeticOperator): boolean {
  return operator === 'div' || operator === 'divby'
}

function isTemporal({ type }: Expression): boolean {
  return isMoment(type) || type.kind === 'duration'
}

/** Converts the operands to types that an overload takes, if there is such an overload. */
function align(operator: ArithmeticOperator, left: Expression, right: Expression): [Expression, Expression] {
  if (isNumeric(left.type) && isNumeric(right.type)) return alignNumbers(operator, left, right)
  if (isMoment(left.type) && isMoment(right.type)) {
    const type = common([left.type, right.type])!
    return [convert(left, type), convert(right, type)]
  }
  // A duration is multiplied by a decimal, or divided by one, as if the decimal were a double.
  const inexact = (node: Expression) => (node.type.kind === 'decimal' ? convert(node, TYPE.double) : node)
  return [inexact(left), inexact(right)]
}

function alignNumbers(
  operator: ArithmeticOperator,
  left: Expression,
  right: Expression,
): [Expression, Expression] {
  if (left.type.kind === right.type.kind && left.type.kind !== 'decimal') return [left, right]
  const exact = left.type.kind !== 'double' && right.type.kind !== 'double'
  if (exact && isDivision(operator)) return [left, right]
  const [a, b] = [tightType(left), tightType(right)]
  const kind: ValueType = exact && operator === 'mul' ? productType(a, b) : promote(a, b)
  if (kind.kind === 'double') return [convert(left, TYPE.double), convert(right, TYPE.double)]
  if (operator === 'mod') return [convert(left, kind), convert(right, kind)]
  return roomy(operator, asDecimals(left), asDecimals(right))
}

/**
 * DuckDB adds and multiplies two decimals of at most 18 digits in 64-bit integers, which hold no more than 18 digits.
 * So where the result may need more, one operand is widened.
 */
const SMALL_DECIMAL = 18

function roomy(operator: ArithmeticOperator, left: Expression, right: Expression): [Expression, Expression] {
  const [a, b] = [asDecimal(left.type), asDecimal(right.type)]
  const result = asDecimal(operator === 'mul' ? productType(a, b) : sumType([a, b]))
  const outgrown = result.precision > SMALL_DECIMAL && Math.max(a.precision, b.precision) <= SMALL_DECIMAL
  return [outgrown ? convert(left, { ...a, precision: SMALL_DECIMAL + 1 }) : left, right]
}

/** Converts an integer to a decimal: a literal gets as many digits as it has, everything else gets all nineteen. */
function asDecimals(node: Expression): Expression {
  return node.type.kind === 'integer' ? convert(node, asDecimal(tightType(node))) : node
}

const TAKES: Readonly<Record<ArithmeticOperator, string>> = {
  add: 'two numbers, or a date, moment or duration and a duration',
  sub: 'two numbers, a date, moment or duration and a duration, or two moments',
  mul: 'two numbers, or a duration and a number',
  div: 'two numbers, or a duration and a number',
  divby: 'two numbers, or a duration and a number',
  mod: 'two numbers',
}

function unsuitable(node: Binary, left: Expression, right: Expression, scope: Scope): Error {
  const sides = `${showTyped(node.left, left, scope)} and ${showTyped(node.right, right, scope)}`
  return mistyped(
    node.operatorAt,
    `'${node.operator}' takes ${TAKES[node.operator]}, not ${sides}.${hint(node, left, right)}`,
  )
}

function hint(node: Binary, left: Expression, right: Expression): string {
  const kinds = [left.type.kind, right.type.kind]
  if (kinds.includes('boolean') && (node.left.kind === 'in' || node.right.kind === 'in')) {
    return " 'in' binds more tightly: put the arithmetic in parentheses."
  }
  if (isMoment(left.type)) return " A duration is written like duration'P1D' or duration'PT12H'."
  return node.operator === 'add' && kinds.includes('string') ? ' To join texts, write concat(a, b).' : ''
}

export function negate(
  node: Extract<Syntax, { kind: 'unary' }>,
  given: Expression,
  scope: Scope,
): Expression {
  const operand = beside(given, TYPE.double)
  if (isNull(operand)) return literal(NULL, node.at)
  const value = literalOf(operand)
  const negated = value && negatedLiteral(value)
  if (negated) return literal(negated, node.at)
  const overload = find(ARITHMETIC['-'], [operand.type.kind])
  if (!overload) {
    throw mistyped(
      node.at,
      `'-' changes the sign of a number or a duration, not of ${showTyped(node.operand, operand, scope)}.`,
    )
  }
  return called('-', overload, [operand], node.at)
}

const NEGATED = { NaN: 'NaN', INF: '-INF', '-INF': 'INF' } as const

function negatedLiteral(value: LiteralValue): LiteralValue | undefined {
  if (value.kind === 'number') return { ...value, digits: -value.digits }
  if (value.kind === 'duration') return { ...value, micros: -value.micros }
  return value.kind === 'special' ? { ...value, value: NEGATED[value.value] } : undefined
}

/**
 * Computes literal arithmetic such as `now() sub duration'P7D'` before the query runs, because DuckDB can skip row
 * groups only by a known value.
 */
function foldMoments(
  { operator, ...node }: Binary,
  left: Expression,
  right: Expression,
  scope: Scope,
): Expression | undefined {
  const value = literalOf(left)
  const by = literalOf(right)
  if ((operator !== 'add' && operator !== 'sub') || by?.kind !== 'duration') return undefined
  const moved = value && movedBy(value, operator === 'add' ? by.micros : -by.micros)
  if (moved && !isHeld(moved)) {
    throw invalid(node.operatorAt, `${showTyped(node, left, scope)} is beyond what can be held.`)
  }
  return moved && literal(moved, node.at)
}

function movedBy(value: LiteralValue, micros: bigint): NonNull | undefined {
  const picos = micros * PICOS_PER_MICRO
  if (value.kind === 'moment') return { ...value, picos: value.picos + picos }
  if (value.kind === 'duration') return { kind: 'duration', micros: value.micros + micros }
  if (value.kind !== 'date') return undefined
  return { kind: 'date', days: value.days + Number(floorDivide(picos, PICOS_PER_DAY)) }
}
