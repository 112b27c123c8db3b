import {
  defaultParserErrorProvider,
  EmbeddedActionsParser,
  type IRecognitionException,
  type ParserMethod,
} from 'chevrotain'
import type { Builder } from './build.ts'
import * as T from './tokens.ts'
import { isA, type Token } from './tokens.ts'
import type { Argument, List, Syntax } from './tree.ts'

export type Rule<T> = ParserMethod<[], T>

/** Stands for the builder while chevrotain runs each rule once without tokens, to see what it consists of. */
const NO_NODES = new Proxy({} as Builder, { get: () => () => undefined })

/**
 * The grammar of section 5.1.1, as a flat sequence of operands and the operators between them. Like the standard's ABNF
 * it has no precedence; `build.ts` makes the tree with the precedence in the table of operators. Because the sequence
 * is flat, a chain of any length takes no stack; only parentheses and calls do.
 */
export abstract class ExpressionRules extends EmbeddedActionsParser {
  /** Makes the nodes of the text that is being read. */
  protected build: Builder = NO_NODES

  /** @param skipValidations whether chevrotain skips checks of the grammar itself, which only tests need */
  constructor(skipValidations: boolean) {
    super(T.VOCABULARY, {
      maxLookahead: 2,
      skipValidations,
      // The names of tokens are enough: `complaints.ts` makes sentences of them.
      errorMessageProvider: {
        ...defaultParserErrorProvider,
        buildMismatchTokenMessage: ({ expected }) => expected.name,
      },
    })
  }

  /** Reads tokens by a rule. The error is set if they don't follow it. */
  read<T>(
    rule: Rule<T>,
    tokens: readonly Token[],
    build: Builder,
  ): { readonly tree: T; readonly error: IRecognitionException | undefined } {
    this.build = build
    this.input = [...tokens]
    const tree = rule.call(this)
    return { tree, error: this.errors[0] }
  }

  /** Items with commas between them, at least one. */
  protected separated<T>(item: () => T): readonly T[] {
    const items: T[] = []
    this.AT_LEAST_ONE_SEP({ SEP: T.Comma, DEF: () => items.push(item()) })
    return items
  }

  /** `a eq 1 and b gt 2` */
  readonly expression = this.RULE('expression', (): Syntax => {
    const operands = [this.SUBRULE(this.operand)]
    const operators: Token[] = []
    this.MANY(() => {
      operators.push(this.CONSUME(T.Infix))
      operands.push(this.SUBRULE2(this.operand))
    })
    return this.build.chain(operands, operators)
  })

  /** `not -x in (1, 2)`: prefixes are outermost, because `in` binds more tightly. */
  readonly operand = this.RULE('operand', (): Syntax => {
    const prefixes: Token[] = []
    this.MANY({
      GATE: () => this.#isPrefix(),
      DEF: () => prefixes.push(this.#prefix()),
    })
    let operand = this.#primary()
    this.MANY2(() => {
      const operator = this.CONSUME(T.In)
      const list = this.SUBRULE(this.list)
      operand = this.build.membership(operand, operator, list)
    })
    return this.build.prefixed(prefixes, operand)
  })

  #prefix(): Token {
    return this.OR([{ ALT: () => this.CONSUME(T.Minus) }, { ALT: () => this.CONSUME(T.Not) }])
  }

  #primary(): Syntax {
    return this.OR2([
      { GATE: () => this.#isCall(), ALT: () => this.SUBRULE(this.call) },
      { ALT: () => this.SUBRULE(this.path) },
      { ALT: () => this.build.literal(this.CONSUME(T.Literal)) },
      { ALT: () => this.build.alias(this.CONSUME(T.Alias)) },
      { ALT: () => this.build.type(this.CONSUME(T.TypeName)) },
      { ALT: () => this.SUBRULE(this.parenthesised) },
    ])
  }

  readonly parenthesised = this.RULE('parenthesised', (): Syntax => {
    const open = this.CONSUME(T.LParen)
    const inner = this.SUBRULE(this.expression)
    const close = this.CONSUME(T.RParen)
    return this.build.parenthesised(open, inner, close)
  })

  /** `Name`, `"Unit price"`, and into JSON: `Doc/items/0/"unit price"` */
  readonly path = this.RULE('path', (): Syntax => {
    const name = this.CONSUME(T.Name)
    const segments: Token[] = []
    this.MANY(() => {
      this.CONSUME(T.Slash)
      segments.push(this.OR([{ ALT: () => this.CONSUME2(T.Name) }, { ALT: () => this.CONSUME(T.Literal) }]))
    })
    return this.build.path(name, segments)
  })

  /** `substring(Name, 1)`, `case(a: 1, b: 2)` */
  readonly call = this.RULE('call', (): Syntax => {
    const name = this.CONSUME(T.Word)
    this.CONSUME(T.LParen)
    const args: Argument[] = []
    this.MANY_SEP({ SEP: T.Comma, DEF: () => args.push(this.SUBRULE(this.argument)) })
    const close = this.CONSUME(T.RParen)
    return this.build.call(name, args, close)
  })

  readonly argument = this.RULE('argument', (): Argument => {
    const value = this.SUBRULE(this.expression)
    const result = this.OPTION(() => {
      this.CONSUME(T.Colon)
      return this.SUBRULE2(this.expression)
    })
    return [value, result] as const
  })

  /** The list after `in`. */
  readonly list = this.RULE(
    'list',
    (): List =>
      this.OR([
        {
          ALT: () => {
            this.CONSUME(T.LParen)
            const items = this.SUBRULE(this.items)
            return { items, end: this.CONSUME(T.RParen).startOffset + 1 }
          },
        },
        {
          ALT: () => {
            this.CONSUME(T.LBracket)
            const items = this.SUBRULE2(this.items)
            return { items, end: this.CONSUME(T.RBracket).startOffset + 1 }
          },
        },
        { ALT: () => this.build.aliasedList(this.CONSUME(T.Alias)) },
      ]),
  )

  /** Items may be names, so that a later check can refuse them with a helpful message. */
  readonly items = this.RULE('items', (): readonly Syntax[] => {
    const items: Syntax[] = []
    const item = () =>
      this.OR([
        { ALT: () => this.build.literal(this.CONSUME(T.Literal)) },
        { ALT: () => this.build.alias(this.CONSUME(T.Alias)) },
        { ALT: () => this.build.path(this.CONSUME(T.Name), []) },
      ])
    this.MANY_SEP({ SEP: T.Comma, DEF: () => items.push(item()) })
    return items
  })

  /** A name before a parenthesis is the name of a function, except `not`, which is the operator. */
  #isCall(): boolean {
    return this.LA(2).tokenType === T.LParen && this.LA(1).tokenType !== T.Not
  }

  /**
   * Whether a prefix comes next. `not` is a column where an operator that has a right operand follows it.
   */
  #isPrefix(): boolean {
    const { tokenType } = this.LA(1)
    if (tokenType === T.Minus) return true
    if (tokenType !== T.Not) return false
    const next = this.LA(2)
    if (next.tokenType !== T.In && !isA(next, T.Infix)) return startsOperand(next)
    return !startsOperand(this.LA(3))
  }
}

const OPERAND_STARTS = new Set([T.LParen, T.Minus, T.Not, T.Word, T.QuotedName, T.Alias])

function startsOperand(token: Token): boolean {
  return OPERAND_STARTS.has(token.tokenType) || isA(token, T.Keyword) || isA(token, T.Literal)
}
