import type { CstNode, CstParser, IRecognitionException } from 'chevrotain'
import { chevrotain } from './chevrotain.ts'
import {
  Alias,
  Colon,
  Comma,
  In,
  Infix,
  LBracket,
  Literal,
  LParen,
  Minus,
  Not,
  QuotedName,
  RBracket,
  RParen,
  Slash,
  type Token,
  TypeName,
  VOCABULARY,
  Word,
} from './tokens.ts'

type FilterParser = CstParser & Readonly<Record<'expression' | 'list', () => CstNode>>

/**
 * The grammar of section 5.1.1, as a flat sequence of operands and the operators between them. Like the standard's ABNF
 * it has no precedence; `parse.ts` builds the tree with the precedence in the table of operators. Because the sequence
 * is flat, a chain of any length takes no stack; only parentheses and calls do.
 * @param skipValidations whether chevrotain skips checks of the grammar itself, which only tests need
 */
export function defineGrammar(skipValidations = true): FilterParser {
  class FilterGrammar extends chevrotain().CstParser {
    constructor() {
      super(VOCABULARY, { maxLookahead: 2, nodeLocationTracking: 'none', skipValidations })
      this.performSelfAnalysis()
    }

    /** `a eq 1 and b gt 2` */
    readonly expression = this.RULE('expression', () => {
      this.SUBRULE(this.operand)
      this.MANY(() => {
        this.CONSUME(Infix)
        this.SUBRULE2(this.operand)
      })
    })

    /** `not -x in (1, 2)`: prefixes are outermost, because `in` binds more tightly. */
    readonly operand = this.RULE('operand', () => {
      this.MANY({
        GATE: () => this.LA(1).tokenType === Minus || this.#isNegation(),
        DEF: () => this.OR1([{ ALT: () => this.CONSUME(Minus) }, { ALT: () => this.CONSUME(Not) }]),
      })
      this.OR2([
        { GATE: () => this.#isCall(), ALT: () => this.SUBRULE(this.call) },
        { ALT: () => this.SUBRULE(this.name) },
        { ALT: () => this.CONSUME(Literal) },
        { ALT: () => this.CONSUME(Alias) },
        { ALT: () => this.CONSUME(TypeName) },
        {
          ALT: () => {
            this.CONSUME(LParen)
            this.SUBRULE(this.expression)
            this.CONSUME(RParen)
          },
        },
      ])
      this.MANY2(() => {
        this.CONSUME(In)
        this.SUBRULE(this.list)
      })
    })

    /** `Name`, `"Unit price"`, and into JSON: `Doc/items/0/"unit price"` */
    readonly name = this.RULE('name', () => {
      this.OR([{ ALT: () => this.CONSUME(Word) }, { ALT: () => this.CONSUME(QuotedName) }])
      this.MANY(() => {
        this.CONSUME(Slash)
        this.SUBRULE(this.segment)
      })
    })

    readonly segment = this.RULE('segment', () => {
      this.OR([
        { ALT: () => this.CONSUME(Word) },
        { ALT: () => this.CONSUME(QuotedName) },
        { ALT: () => this.CONSUME(Literal) },
      ])
    })

    /** `substring(Name, 1)`, `case(a: 1, b: 2)` */
    readonly call = this.RULE('call', () => {
      this.CONSUME(Word)
      this.CONSUME(LParen)
      this.OPTION(() => {
        this.SUBRULE(this.argument)
        this.MANY(() => {
          this.CONSUME(Comma)
          this.SUBRULE2(this.argument)
        })
      })
      this.CONSUME(RParen)
    })

    readonly argument = this.RULE('argument', () => {
      this.SUBRULE(this.expression)
      this.OPTION(() => {
        this.CONSUME(Colon)
        this.SUBRULE2(this.expression)
      })
    })

    /** The list after `in`. Its items may be names, so that a later check can refuse them with a helpful message. */
    readonly list = this.RULE('list', () => {
      this.OR([
        {
          ALT: () => {
            this.CONSUME(LParen)
            this.OPTION(() => this.SUBRULE(this.items))
            this.CONSUME(RParen)
          },
        },
        {
          ALT: () => {
            this.CONSUME(LBracket)
            this.OPTION2(() => this.SUBRULE2(this.items))
            this.CONSUME(RBracket)
          },
        },
        { ALT: () => this.CONSUME(Alias) },
      ])
    })

    readonly items = this.RULE('items', () => {
      this.SUBRULE(this.item)
      this.MANY(() => {
        this.CONSUME(Comma)
        this.SUBRULE2(this.item)
      })
    })

    readonly item = this.RULE('item', () => {
      this.OR([
        { ALT: () => this.CONSUME(Literal) },
        { ALT: () => this.CONSUME(Alias) },
        { ALT: () => this.CONSUME(Word) },
        { ALT: () => this.CONSUME(QuotedName) },
      ])
    })

    /** A name before a parenthesis is the name of a function, except `not`, which is the operator. */
    #isCall(): boolean {
      return this.LA(2).tokenType === LParen && this.LA(1).tokenType !== Not
    }

    /**
     * Whether `not` is the operator here, rather than a column of that name. It is a column where an operator that has
     * a right operand follows it.
     */
    #isNegation(): boolean {
      if (this.LA(1).tokenType !== Not) return false
      const next = this.LA(2)
      const isOperator = next.tokenType === In || next.tokenType.CATEGORIES?.includes(Infix)
      if (!isOperator)
        return OPERAND_STARTS.has(next.tokenType) || !!next.tokenType.CATEGORIES?.includes(Literal)
      const after = this.LA(3).tokenType
      return !(
        after === LParen ||
        after === Minus ||
        after === QuotedName ||
        after.CATEGORIES?.includes(Literal) ||
        after === Word
      )
    }
  }
  return new FilterGrammar()
}

const OPERAND_STARTS = new Set([LParen, Minus, Not, Word, QuotedName, Alias])

let grammar: FilterParser | undefined

/** Chevrotain's tree of a filter, and the first error if the tokens don't form a filter. */
export function parseTokens(
  tokens: readonly Token[],
  rule: 'expression' | 'list' = 'expression',
): {
  tree: CstNode
  error: IRecognitionException | undefined
} {
  grammar ??= defineGrammar()
  grammar.input = tokens as Token[]
  const tree = grammar[rule]()
  return { tree, error: grammar.errors[0] }
}
