import type { Span } from '../errors.ts'
import type { LiteralValue } from '../values.ts'

/** The syntax tree of a filter, before columns are looked up and types are checked. */
export type Syntax =
  | (Span & { readonly kind: 'literal'; readonly value: LiteralValue })
  /** `path` leads into the JSON of the column. */
  | (Span & { readonly kind: 'column'; readonly name: string; readonly path?: readonly string[] })
  /** `Edm.String`, which only cast() takes. */
  | (Span & { readonly kind: 'type'; readonly name: string })
  | (Span & { readonly kind: 'unary'; readonly operator: 'not' | '-'; readonly operand: Syntax })
  | BinarySyntax<ComparisonOperator>
  | BinarySyntax<ArithmeticOperator>
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

export interface BinarySyntax<Operator> extends Span {
  readonly kind: 'binary'
  readonly operator: Operator
  /** Where the operator stands; errors point there. */
  readonly operatorAt: number
  readonly left: Syntax
  readonly right: Syntax
}

export type LogicalOperator = 'and' | 'or'
export type ComparisonOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod'

/** The list after `in`, and the offset of its end. */
export interface List {
  readonly items: readonly Syntax[]
  readonly end: number
}

/** An argument of a function; in case() there are two expressions, with a colon between them. */
export type Argument = readonly [Syntax, Syntax?]

/** A name that a text gives, without its quotes, and its position. */
export interface Name {
  readonly name: string
  readonly at: number
}

/** `Price mul 2 as Twice` */
export interface Computed {
  readonly expression: Syntax
  readonly name: Name
}

/** `Price desc` */
export interface OrderItem {
  readonly expression: Syntax
  readonly descending: boolean
}

/** `"Unit price" desc`, in a list of plain names. */
export interface NameItem {
  readonly name: string
  readonly quoted: boolean
  /** `asc` or `desc` as it is written. */
  readonly direction: string | undefined
}

/** `Price with sum as Total`, or `$count as Number`. */
export interface Aggregated {
  readonly what: { readonly expression: Syntax; readonly method: Name } | '$count'
  readonly name: Name
}

/** What to search for. */
export type Search =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'not'; readonly operand: Search }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Search[] }

/** A column to group by, or several in `rollup(…)`. */
export interface GroupingElement {
  readonly names: readonly Name[]
  readonly rollup: boolean
  readonly at: number
}

/** A transformation of $apply, and the position of its name. */
export type Transformation = { readonly at: number } & Transform

export type Transform =
  | { readonly kind: 'identity' }
  | { readonly kind: 'filter'; readonly condition: Syntax }
  | { readonly kind: 'search'; readonly search: Search }
  | { readonly kind: 'compute'; readonly computed: readonly Computed[] }
  | { readonly kind: 'orderby'; readonly items: readonly OrderItem[] }
  | { readonly kind: 'top' | 'skip'; readonly count: Syntax }
  | Keep
  | { readonly kind: 'aggregate'; readonly aggregated: readonly Aggregated[] }
  | {
      readonly kind: 'groupby'
      readonly elements: readonly GroupingElement[]
      readonly sequence: Sequence | undefined
    }
  | { readonly kind: 'concat'; readonly branches: readonly Sequence[] }

/** `topcount(5,Price)` and its like: the rows with the largest or smallest values. */
export interface Keep {
  readonly kind: 'keep'
  readonly end: 'top' | 'bottom'
  readonly until: 'count' | 'sum' | 'percent'
  readonly amount: Syntax
  readonly value: Syntax
}

/** `filter(…)/groupby(…)` */
export type Sequence = readonly Transformation[]
