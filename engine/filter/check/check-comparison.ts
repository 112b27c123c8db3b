import { mistyped, type Span } from '../errors.ts'
import { compareNumbers } from '../sql/narrow.ts'
import type { BinarySyntax, ComparisonOperator, Syntax } from '../syntax/tree.ts'
import {
  common,
  decimal,
  isNumeric,
  type LiteralValue,
  literalType,
  MOST_DIGITS,
  NULL,
  parseQuoted,
  promote,
  TYPE,
  typeName,
  type ValueType,
} from '../values.ts'
import {
  beside,
  convert,
  type Expression,
  isLocal,
  isNull,
  literal,
  literalOf,
  requireZones,
  type Scope,
  show,
  showTyped,
  withoutOffset,
} from './expression.ts'

type Binary = BinarySyntax<ComparisonOperator>

export const FLIPPED = { eq: 'eq', ne: 'ne', gt: 'lt', ge: 'le', lt: 'gt', le: 'ge' } as const

/** Checks a comparison (sections 5.1.1.1.1 to 5.1.1.1.6). If one operand is a literal, it is put on the right. */
export function comparison(node: Binary, first: Expression, second: Expression, scope: Scope): Expression {
  const { operator } = node
  const wide = exactType(first, literalOf(second)) ?? exactType(second, literalOf(first))
  if (wide) return exactly(node, first, second, wide, scope)
  const left = beside(first, second.type)
  const right = beside(second, first.type)
  if (left.type.kind === 'json' && right.type.kind === 'json') throw untyped(node, scope)
  const isOrder = operator !== 'eq' && operator !== 'ne'
  if ((isOrder && isBinary(left, right)) || !comparable(left, right)) {
    throw incomparable(node, left, right, scope)
  }
  requireZones(left, right, scope)
  const a = literalOf(left)
  const b = literalOf(right)
  if (a && b && isNumeric(left.type) && isNumeric(right.type)) {
    return literal({ kind: 'boolean', value: compareNumbers(operator, a, b) }, node.at)
  }
  const base = { kind: 'comparison', type: TYPE.boolean, at: node.at } as const
  if ((a && !b) || isNull(left)) return { ...base, operator: FLIPPED[operator], left: right, right: left }
  if (b) return { ...base, operator, left, right }
  const [alikeLeft, alikeRight] = alike(left, right)
  return { ...base, operator, left: alikeLeft, right: alikeRight }
}

/** Beyond this, neighbouring whole numbers are the same double. */
const MOST_EXACT = 2n ** 53n

/** The decimal as which a value in JSON is read beside a whole number that doubles don't tell from its neighbours. */
function exactType(node: Expression, value: LiteralValue | undefined): ValueType | undefined {
  if (node.type.kind !== 'json' || value?.kind !== 'number' || !value.whole) return undefined
  const size = value.digits < 0n ? -value.digits : value.digits
  // With room for one digit more, what is out of its range is ten times as large as the literal.
  const places = MOST_DIGITS - String(size).length - 1
  return size < MOST_EXACT || places < 0 ? undefined : decimal(MOST_DIGITS, places)
}

/** Compares a value in JSON as a decimal, and in orders as a double where it is too large for that. */
function exactly(
  node: Binary,
  first: Expression,
  second: Expression,
  wide: ValueType,
  scope: Scope,
): Expression {
  const compared = (type: ValueType) => {
    const read = (operand: Expression) => (operand.type.kind === 'json' ? convert(operand, type) : operand)
    return comparison(node, read(first), read(second), scope)
  }
  const result = compared(wide)
  if (node.operator === 'eq' || node.operator === 'ne') return result
  const json = first.type.kind === 'json' ? first : second
  const isDecimal = comparison(
    { ...node, operator: 'ne' },
    convert(json, wide),
    literal(NULL, node.at),
    scope,
  )
  const always = literal({ kind: 'boolean', value: true }, node.at)
  const branches = [
    { when: isDecimal, result },
    { when: always, result: compared(TYPE.double) },
  ]
  return { kind: 'case', branches, type: TYPE.boolean, at: node.at }
}

/** Binary values "can only be compared to the null value using the eq and ne operators" (section 5.1.1.1). */
function isBinary(left: Expression, right: Expression): boolean {
  return left.type.kind === 'binary' || right.type.kind === 'binary'
}

function untyped(node: Binary, scope: Scope): Error {
  return mistyped(
    node.operatorAt,
    `the types of ${show(node.left, scope)} and ${show(node.right, scope)} are unknown. Give the type of one, as in ` +
      `cast(${show(node.left, scope)}, Edm.String).`,
  )
}

function comparable(left: Expression, right: Expression): boolean {
  if (isNull(left) || isNull(right)) return true
  return !isBinary(left, right) && common([left.type, right.type]) !== undefined
}

/**
 * Converts two operands that are no literals to one type. An integer beside a double is not converted, because the two
 * are compared exactly.
 */
function alike(left: Expression, right: Expression): [Expression, Expression] {
  const kinds = [left.type.kind, right.type.kind]
  if (kinds.includes('integer') && kinds.includes('double')) return [left, right]
  const type = isNumeric(left.type) ? promote(left.type, right.type) : common([left.type, right.type])!
  return [convert(left, type), convert(right, type)]
}

function incomparable(node: Binary, left: Expression, right: Expression, scope: Scope): Error {
  if (isBinary(left, right)) {
    return mistyped(
      node.operatorAt,
      `'${node.operator}' can't compare binary values; they can only be compared with null, by eq and ne.`,
    )
  }
  const chained = chainHint(node, left, scope)
  if (chained) return mistyped(node.operatorAt, chained)
  const sides = `${showTyped(node.left, left, scope)} with ${showTyped(node.right, right, scope)}`
  const hint =
    typeHint(node.left, left, right.type, scope) ?? typeHint(node.right, right, left.type, scope) ?? ''
  return mistyped(node.operatorAt, `'${node.operator}' can't compare ${sides}.${hint}`)
}

/** The message for chained comparisons such as `5 lt X lt 10`; undefined for all others. */
function chainHint(
  { operator, left: inner, right }: Binary,
  left: Expression,
  scope: Scope,
): string | undefined {
  if (left.type.kind !== 'boolean' || !isComparison(inner)) return undefined
  if (scope.text[inner.at] === '(') return undefined
  const middle = show(inner.right, scope)
  const both = `${show(inner.left, scope)} ${inner.operator} ${middle} and ${middle} ${operator} ${show(right, scope)}`
  return `comparisons don't chain. Write ${both}.`
}

export function isComparison(node: Syntax): node is Binary {
  return node.kind === 'binary' && node.operator in FLIPPED
}

/** A hint how to write the literal in the type that the other operand demands. */
function typeHint(span: Span, node: Expression, expected: ValueType, scope: Scope): string | undefined {
  const value = literalOf(node)
  if (!value) return undefined
  if (expected.kind === 'boolean') return ' Write true or false.'
  if (value.kind === 'string') return bareHint(value.value, expected, node.at)
  if (expected.kind === 'string') return ` Write it as text: '${show(span, scope)}'.`
  return isNumeric(expected) ? undefined : written(expected)
}

/** A hint how literals look, for types whose literals are neither numbers nor texts. */
function written(expected: ValueType): string | undefined {
  if (expected.kind === 'duration') {
    return " A duration is written like duration'P1D'; totalseconds() makes a number of one."
  }
  const example = EXAMPLES[expected.kind]
  return example && ` A ${typeName(expected)} is written as ${example}.`
}

const EXAMPLES: Readonly<Partial<Record<ValueType['kind'], string>>> = {
  integer: '5',
  decimal: '5.25',
  double: '5.25',
  date: '2024-02-29',
  time: '13:45:00',
  timestamp: '2024-02-29T13:45:00Z',
  timestamptz: '2024-02-29T13:45:00Z',
  uuid: '01234567-89ab-cdef-0123-456789abcdef',
}

function bareHint(text: string, expected: ValueType, at: number): string | undefined {
  const example = EXAMPLES[expected.kind]
  if (example === undefined) return undefined
  return readsAs(text, expected, at)
    ? ` Write ${text} without quotes.`
    : ` ${expected.kind === 'integer' ? 'An' : 'A'} ${typeName(expected)} is written without quotes, as ${example}.`
}

/** Whether a text would be a literal of the type if it were written without quotes. */
export function readsAs(text: string, type: ValueType, at: number): boolean {
  if (!isNumeric(type)) return parseQuoted(text, type, at) !== undefined
  return (type.kind === 'integer' ? /^[+-]?\d+$/ : /^[+-]?\d+(?:\.\d+)?$/).test(text)
}

/** Checks `in`, which compares a value with each item of a list by equality (section 5.1.1.1.11). */
export function membership(
  node: Extract<Syntax, { kind: 'in' }>,
  given: Expression,
  scope: Scope,
): Expression {
  const operand = beside(given, typeOfItems(node.items))
  const items = node.items.map((item) => listItem(node, item, operand, scope))
  if (isNull(operand)) {
    return literal({ kind: 'boolean', value: items.some((item) => item.kind === 'null') }, node.at)
  }
  const base = { type: TYPE.boolean, at: node.at } as const
  const rest = items.filter((item) => !exactType(given, item))
  const list: Expression = { ...base, kind: 'in', operand, items: rest }
  if (rest.length === items.length) return list
  // Whole numbers that doubles don't tell from their neighbours are compared with the value in JSON one by one.
  const equalities = items.flatMap((item, index) => {
    if (!exactType(given, item)) return []
    const { operand: left, at, end } = node
    const right = node.items[index]!
    const equality = { kind: 'binary', operator: 'eq', left, right, operatorAt: at, at, end } as const
    return [comparison(equality, given, literal(item, right.at), scope)]
  })
  const operands = rest.length > 0 ? [list, ...equalities] : equalities
  return operands.length === 1 ? operands[0]! : { ...base, kind: 'logical', operator: 'or', operands }
}

/** The type as which a value in JSON before the list is read. */
function typeOfItems(items: readonly Syntax[]): ValueType {
  const first = items.find((item) => item.kind === 'literal' && item.value.kind !== 'null')
  return first?.kind === 'literal' ? literalType(first.value) : TYPE.string
}

function listItem(
  node: Extract<Syntax, { kind: 'in' }>,
  item: Syntax,
  operand: Expression,
  scope: Scope,
): LiteralValue {
  if (item.kind !== 'literal') {
    throw mistyped(
      item.at,
      `'in' takes a list of literals, but ${show(item, scope)} is a column. To compare two columns, write eq.`,
    )
  }
  const plain = literal(item.value, item.at)
  const given = beside(plain, operand.type)
  if (given.type.kind === 'binary') {
    throw mistyped(
      item.at,
      "a list can't hold binary values; they can only be compared with null, by eq and ne.",
    )
  }
  if (!comparable(operand, given)) {
    const hint = typeHint(item, given, operand.type, scope) ?? ''
    throw mistyped(
      item.at,
      `'in' can't find ${showTyped(item, given, scope)} equal to ${showTyped(node.operand, operand, scope)}.${hint}`,
    )
  }
  if (isLocal(given) && (operand.type.kind !== 'timestamp' || isLocal(operand)))
    throw withoutOffset(given, scope)
  return literalOf(given)!
}
