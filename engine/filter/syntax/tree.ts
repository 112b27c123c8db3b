import type { ValueType } from '../check/value-types.ts'
import type { Span } from '../errors.ts'
import type { Overload } from '../tables/overloads.ts'
import type { LiteralValue } from './literals.ts'

/** What the text says, before anything is known of columns and types. */
export type Syntax =
  | (Span & { readonly kind: 'literal'; readonly value: LiteralValue })
  | (Span & { readonly kind: 'column'; readonly name: string })
  | (Span & { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Syntax })
  | (Span & BinarySyntax)
  /** Flat, however long: a chain of thousands must not become a tree of that depth. */
  | (Span & {
      readonly kind: 'logical'
      readonly operator: LogicalOperator
      readonly operands: readonly Syntax[]
    })
  | (Span & {
      readonly kind: 'in'
      readonly operatorAt: number
      readonly operand: Syntax
      readonly items: readonly Syntax[]
    })
  | (Span & { readonly kind: 'call'; readonly name: string; readonly args: readonly Syntax[] })
  | (Span & {
      readonly kind: 'case'
      readonly branches: readonly { readonly when: Syntax; readonly result: Syntax }[]
    })

interface BinarySyntax {
  readonly kind: 'binary'
  readonly operator: ComparisonOperator | ArithmeticOperator
  /** Where the operator stands; errors point there. */
  readonly operatorAt: number
  readonly left: Syntax
  readonly right: Syntax
}

export type UnaryOperator = 'not' | '-'
export type LogicalOperator = 'and' | 'or'
export type ComparisonOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod'

/**
 * An expression whose every part has a type, and in which every operator has operands that it takes: conversions are
 * nodes of their own. Making SQL of it can't fail.
 */
export type Expression =
  | (Typed & { readonly kind: 'literal'; readonly value: LiteralValue })
  | (Typed & { readonly kind: 'column'; readonly name: string; readonly sql: string })
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
  /** An arithmetic operator or a function, as one row of their table has it. */
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
  /** The same value in a wider type. */
  | (Typed & { readonly kind: 'convert'; readonly operand: Expression })

interface Typed {
  readonly type: ValueType
  /** Where it begins in the text. */
  readonly at: number
}
