import type { Span } from '../errors.ts'
import type { LiteralValue } from './literals.ts'

/** The syntax tree of a filter, before columns are looked up and types are checked. */
export type Syntax =
  | (Span & { readonly kind: 'literal'; readonly value: LiteralValue })
  /** `path` leads into the JSON of the column. */
  | (Span & { readonly kind: 'column'; readonly name: string; readonly path?: readonly string[] })
  /** `Edm.String`, which only cast() takes. */
  | (Span & { readonly kind: 'type'; readonly name: string })
  | (Span & { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Syntax })
  | (Span & BinarySyntax)
  /** All operands of a chain in one node, so that a chain of thousands doesn't become a tree of that depth. */
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
