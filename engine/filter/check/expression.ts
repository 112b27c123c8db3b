import type { ColumnType } from '../../types/index.ts'
import { excerpt, mistyped, type Span } from '../errors.ts'
import type { ComparisonOperator, LogicalOperator, Syntax, Transformation } from '../syntax/tree.ts'
import type { Overload } from '../tables/overloads.ts'
import {
  asDecimal,
  isNumeric,
  type LiteralValue,
  literalType,
  parseQuoted,
  TYPE,
  typeName,
  type ValueType,
} from '../values.ts'

/**
 * An expression in which every part has a type, and every operator has operands that it takes. Conversions are separate
 * nodes. DuckDB's SQL of it can fail only by growing too long.
 */
export type Expression =
  | (Typed & { readonly kind: 'literal'; readonly value: LiteralValue })
  | (Typed & {
      readonly kind: 'column'
      readonly name: string
      readonly sql: string
      readonly stored?: number | undefined
    })
  /** A value in the JSON of a column. */
  | (Typed & {
      readonly kind: 'path'
      readonly sql: string
      readonly stored?: number | undefined
      readonly pointer: string
    })
  | (Typed & {
      readonly kind: 'logical'
      readonly operator: LogicalOperator
      readonly operands: readonly Expression[]
    })
  | (Typed & { readonly kind: 'not'; readonly operand: Expression })
  | (Typed & {
      readonly kind: 'comparison'
      readonly operator: ComparisonOperator
      readonly left: Expression
      readonly right: Expression
    })
  | (Typed & { readonly kind: 'in'; readonly operand: Expression; readonly items: readonly LiteralValue[] })
  /** An arithmetic operator or a function, with the overload that fits its operands. */
  | (Typed & {
      readonly kind: 'call'
      readonly name: string
      readonly overload: Overload
      readonly args: readonly Expression[]
    })
  | (Typed & {
      readonly kind: 'case'
      readonly branches: readonly { readonly when: Expression; readonly result: Expression }[]
    })
  /** The same value in a wider type. A value in JSON is read from its text, and is null where that is not possible. */
  | (Typed & { readonly kind: 'convert'; readonly operand: Expression })

interface Typed {
  readonly type: ValueType
  /** The offset in the text that errors point to. */
  readonly at: number
}

/** A column of a relation: its name for users, its type, and its name in SQL. */
export interface SqlColumn {
  readonly name: string
  readonly type: ColumnType
  /** A physical identifier, quoted where need be. */
  readonly sql: string
  /** The position of the stored column that it is; undefined where its values are calculated. */
  readonly stored?: number | undefined
}

/** The information that checking needs besides the tree. */
export interface Scope {
  /** The text of the filter, which messages quote. */
  readonly text: string
  /** What now() returns. */
  readonly now: () => Date
  readonly columns: ReadonlyMap<string, SqlColumn>
}

/** The names of the columns in a tree, or in a transformation, in the order of the text, each with its first position. */
export function columnsOf(
  tree: Syntax | Transformation,
  names = new Map<string, number>(),
): ReadonlyMap<string, number> {
  if (tree.kind === 'column' && !names.has(tree.name)) names.set(tree.name, tree.at)
  for (const part of Object.values(tree)) {
    if (typeof part === 'object' && part !== null) columnsOf(part as Syntax, names)
  }
  return names
}

/** Functions that the files of the checker share. They make nodes, and name them in messages. */

export function literal(value: LiteralValue, at: number, type: ValueType = literalType(value)): Expression {
  return { kind: 'literal', value, type, at }
}

/** A call of an operator or a function by one of its overloads. */
export function called(
  name: string,
  overload: Overload,
  args: readonly Expression[],
  at: number,
): Expression {
  const { gives } = overload
  const type = typeof gives === 'function' ? gives(args.map((arg) => arg.type)) : gives
  return { kind: 'call', name, overload, args, type, at }
}

export function isNull(node: Expression): boolean {
  return node.kind === 'literal' && node.value.kind === 'null'
}

export function literalOf(node: Expression): LiteralValue | undefined {
  return node.kind === 'literal' ? node.value : undefined
}

/** The same value in another type. A literal gets the type itself, and other nodes are wrapped in a conversion. */
export function convert(node: Expression, type: ValueType): Expression {
  if (isNull(node) || sameType(node.type, type)) return node
  if (node.kind === 'literal') return { ...node, type }
  return { kind: 'convert', operand: node, type, at: node.at }
}

/** The type of a node beside decimals: a literal whole number becomes a decimal with no more digits than it has. */
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

/**
 * Reads a node as the type of the value beside it. Quoted text becomes a date, a moment, a time of day, a guid or a
 * duration where the type is one of these, and a value in JSON is read as the type. Every number in JSON becomes a double,
 * the only type of numbers there; comparisons with large whole numbers don't do this (`check-comparison.ts`).
 */
export function beside(node: Expression, type: ValueType): Expression {
  const value = literalOf(node)
  if (value?.kind === 'string') {
    const read = parseQuoted(value.value, type, node.at)
    return read ? literal(read, node.at) : node
  }
  if (node.type.kind !== 'json' || type.kind === 'null' || type.kind === 'json') return node
  if (type.kind === 'duration' || type.kind === 'binary') {
    throw mistyped(node.at, `a value in JSON can't be read as ${typeName(type)}.`)
  }
  return convert(node, isNumeric(type) ? TYPE.double : type)
}

/** Whether a node is a literal moment without an offset. It is legal only beside columns without offsets. */
export function isLocal(node: Expression): boolean {
  const value = literalOf(node)
  return value?.kind === 'moment' && value.offset === undefined
}

export function withoutOffset(node: Expression, scope: Scope): Error {
  const [, quoted, bare] = /^(?:\w*'([^']*)'|([^\s,()]*))/.exec(scope.text.slice(node.at))!
  const text = excerpt((quoted ?? bare!).replace(' ', 'T'))
  return mistyped(
    node.at,
    `${text} has no offset, which only a column of type timestamp may be compared with. Write ${text}Z, or the offset.`,
  )
}

/** A part of the filter as it was written. */
export function show({ at, end }: Span, scope: Scope): string {
  return excerpt(scope.text.slice(at, end))
}

/** A part as it was written, with its type. */
export function showTyped(span: Span, node: Expression, scope: Scope): string {
  return `${show(span, scope)} (${isNull(node) ? 'null' : typeName(node.type)})`
}

/** Refuses a literal moment without an offset, unless the other operand is a timestamp and no such literal itself. */
export function requireZones(left: Expression, right: Expression, scope: Scope): void {
  for (const [node, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (isLocal(node) && !isNull(other) && (other.type.kind !== TYPE.timestamp.kind || isLocal(other))) {
      throw withoutOffset(node, scope)
    }
  }
}
