import { excerpt, mistyped, type Span } from '../errors.ts'
import { durationMicros, type LiteralValue, literalType } from '../syntax/literals.ts'
import type { Expression } from './expression.ts'
import type { Scope } from './scope.ts'
import { asDecimal, TYPE, typeName, type ValueType } from './value-types.ts'

/** What the parts of the checker share: making nodes, and naming them in messages. */

export function literal(value: LiteralValue, at: number, type: ValueType = literalType(value)): Expression {
  return { kind: 'literal', value, type, at }
}

export function isNull(node: Expression): boolean {
  return node.kind === 'literal' && node.value.kind === 'null'
}

export function literalOf(node: Expression): LiteralValue | undefined {
  return node.kind === 'literal' ? node.value : undefined
}

/** The same value in another type. A literal takes the type at once. */
export function convert(node: Expression, type: ValueType): Expression {
  if (isNull(node) || sameType(node.type, type)) return node
  if (node.kind === 'literal') return { ...node, type }
  return { kind: 'convert', operand: node, type, at: node.at }
}

/** The type beside decimals: a whole number that is a literal takes no more digits than it has. */
export function tightType(node: Expression): ValueType {
  const value = literalOf(node)
  if (node.type.kind !== 'integer' || value?.kind !== 'number') return node.type
  const digits = String(value.digits < 0n ? -value.digits : value.digits).length
  return { ...asDecimal(node.type), precision: digits }
}

function sameType(a: ValueType, b: ValueType): boolean {
  if (a.kind !== 'decimal' || b.kind !== 'decimal') return a.kind === b.kind
  return a.precision === b.precision && a.scale === b.scale
}

/** 4.01 lets a duration be written without its prefix, as a text; what it stands beside decides. */
export function asDuration(node: Expression): Expression {
  const value = literalOf(node)
  if (value?.kind !== 'string') return node
  const micros = durationMicros(value.value)
  return micros === undefined ? node : literal({ kind: 'duration', micros }, node.at)
}

/** A moment written without an offset: legal beside columns that have none, and only there. */
export function isLocal(node: Expression): boolean {
  const value = literalOf(node)
  return value?.kind === 'moment' && value.offset === undefined
}

export function requireZone(node: Expression, scope: Scope): Error {
  const text = wordAt(node.at, scope)
  return mistyped(
    node.at,
    `${text} has no offset, which only a column of type timestamp may be compared with. Write ${text}Z, or the offset.`,
  )
}

/** The word at an offset, to its next blank, comma or parenthesis. */
function wordAt(at: number, scope: Scope): string {
  return excerpt(/^[^ \t,()]*/.exec(scope.text.slice(at))![0])
}

/** A part of the filter as it was written. */
export function show({ at, end }: Span, scope: Scope): string {
  return excerpt(scope.text.slice(at, end))
}

/** A part as it was written, with its type. */
export function showTyped(span: Span, node: Expression, scope: Scope): string {
  return `${show(span, scope)} (${isNull(node) ? 'null' : typeName(node.type)})`
}

/** Beside what may a moment without an offset stand? */
export function requireZones(left: Expression, right: Expression, scope: Scope): void {
  for (const [node, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (isLocal(node) && !isNull(other) && (other.type.kind !== TYPE.timestamp.kind || isLocal(other))) {
      throw requireZone(node, scope)
    }
  }
}
