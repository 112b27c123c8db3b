import type { LiteralValue } from '../syntax/literals.ts'
import type { ComparisonOperator, LogicalOperator } from '../syntax/tree.ts'
import type { CastTarget } from '../tables/casts.ts'
import type { Overload } from '../tables/overloads.ts'
import type { ValueType } from './value-types.ts'

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
  | (Typed & { readonly kind: 'path'; readonly sql: string; readonly pointer: string })
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
  /** cast() to a type that the user names; null where a value can't be cast. */
  | (Typed & { readonly kind: 'cast'; readonly operand: Expression; readonly target: CastTarget })
  /** The same value in a wider type. A value in JSON is read from its text, and is null where that is not possible. */
  | (Typed & { readonly kind: 'convert'; readonly operand: Expression })

interface Typed {
  readonly type: ValueType
  /** The offset in the text that errors point to. */
  readonly at: number
}
