import type { TokenType } from 'chevrotain'
import { EngineError, invalidOption } from '../../errors.ts'
import { excerpt, invalid } from '../errors.ts'
import { type AliasedValues, Builder } from './build.ts'
import { complain, faultOf } from './complaints.ts'
import type { Rule } from './expression-rules.ts'
import { Grammar } from './grammar.ts'
import { complainOption } from './option-complaints.ts'
import * as T from './tokens.ts'
import { type Token, tokenize } from './tokens.ts'
import type { Syntax } from './tree.ts'

/** The rules that whole texts follow, and the message for a text of blanks. */
const EMPTY = {
  expression: 'the filter is empty. Write a condition, as in Price gt 5.',
  compute: 'the text is empty. Write an expression and its name, as in Price mul 2 as double.',
  orderby: 'the text is empty. Write a column or an expression, as in Price desc.',
  apply: 'the text is empty. Write a transformation, as in groupby((City)).',
  search: 'the search is empty. Write a word.',
  names: 'a column name is missing at position 1.',
} as const

type RuleName = keyof typeof EMPTY
type Tree<R extends RuleName | 'list'> = ReturnType<Grammar[R]>

let grammar: Grammar | undefined

/** Parses a text by its rule into a tree. @throws EngineError `invalid_filter`, `filter_too_complex` */
export function parseRule<R extends RuleName>(rule: R, text: string, aliases = new Aliases()): Tree<R> {
  const tokens = tokensOf(rule, text)
  return read(rule, text, tokens, new Builder(text, aliasedValues(tokens, aliases)))
}

function tokensOf(rule: RuleName, text: string): readonly Token[] {
  if (text.trim() === '') {
    throw rule === 'names' ? new EngineError('invalid_filter', EMPTY[rule]) : invalid(0, EMPTY[rule])
  }
  return splitTimesInCase(tokenize(text, rule === 'search' || rule === 'names' ? rule : 'expression'))
}

function read<R extends RuleName>(rule: R, text: string, tokens: readonly Token[], build: Builder): Tree<R> {
  const { tree, error } = attempt(rule, tokens, build)
  if (!error) return tree
  const fault = faultOf(text, tokens, error)
  throw rule === 'expression' ? complain(fault) : complainOption(rule, fault)
}

function attempt<R extends RuleName | 'list'>(rule: R, tokens: readonly Token[], build: Builder) {
  grammar ??= new Grammar()
  return grammar.read(grammar[rule] as Rule<Tree<R>>, tokens, build)
}

/** What the aliases among the tokens stand for. */
function aliasedValues(tokens: readonly Token[], aliases: Aliases): AliasedValues {
  const values = new Map<Token, readonly Syntax[]>()
  tokens.forEach((token, index) => {
    if (token.tokenType !== T.Alias) return
    const read = tokens[index - 1]?.tokenType === T.In ? aliasedList : aliasedLiteral
    values.set(token, read(token, aliases.take(token.image)))
  })
  return values
}

const NONE: AliasedValues = new Map()

function aliasedLiteral(alias: Token, text: string): readonly Syntax[] {
  const value = inAlias(alias, () =>
    read('expression', text, tokensOf('expression', text), new Builder(text, NONE)),
  )
  const negative = value.kind === 'unary' && value.operator === '-' && value.operand.kind === 'literal'
  if (value.kind === 'literal' || negative) return [value]
  throw invalid(
    alias.startOffset,
    `${alias.image} stands for '${excerpt(text)}', but an alias holds a literal, or a list after 'in'.`,
  )
}

function aliasedList(alias: Token, text: string): readonly Syntax[] {
  return inAlias(alias, () => {
    const { tree, error } = attempt('list', tokensOf('expression', text), new Builder(text, NONE))
    if (error) throw invalid(0, `'${excerpt(text)}' is not a list like (1, 2) or ["a", "b"].`)
    return tree.items
  })
}

/** Adds the name of the alias to errors in its text, because their positions refer to that text. */
function inAlias<T>({ image }: Token, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new EngineError(error.code, `${image}: ${error.marked.message}`, { cause: error })
  }
}

/** Parameter aliases of a query, `@p=5`, and which of them were used (OData 4.01 part 2, 5.3). */
export class Aliases {
  readonly #values: ReadonlyMap<string, string>
  readonly #used = new Set<string>()

  /** @throws EngineError `invalid_option` for a name that is no alias */
  constructor(values: Readonly<Record<string, string>> = {}) {
    for (const name of Object.keys(values)) {
      if (!/^@[A-Za-z_]\w*$/.test(name)) {
        throw invalidOption(`${name} is not the name of an alias; one is written like @p.`)
      }
    }
    this.#values = new Map(Object.entries(values))
  }

  /** The text that an alias stands for. The standard says that an alias without a value is null. */
  take(name: string): string {
    this.#used.add(name)
    return this.#values.get(name) ?? 'null'
  }

  /**
   * Refuses aliases that have a value but are not used. Without this check, a misspelt alias in the filter would
   * silently be null.
   * @throws EngineError `invalid_option`
   */
  requireAllUsed(): void {
    const unused = [...this.#values.keys()].filter((name) => !this.#used.has(name))
    if (unused.length > 0) {
      throw invalidOption(`The query does not use ${unused.join(', ')}.`)
    }
  }
}

/**
 * Splits tokens where the lexer took `10:15` in `case(Price gt 10:15, …)` for a time of day. Every argument of case()
 * must have a colon, so where an argument has none, its last time of day is split at its last colon.
 */
function splitTimesInCase(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some(isCase)) return tokens
  const splits = new Set<Token>()
  /** The argument of each open parenthesis; undefined where it is none of case(). */
  const open: ({ hasColon?: boolean; time?: Token } | undefined)[] = []
  for (const [index, token] of tokens.entries()) {
    const { tokenType } = token
    const argument = open.at(-1)
    if (tokenType === T.LParen || tokenType === T.LBracket)
      open.push(isCase(tokens[index - 1]) ? {} : undefined)
    else if (tokenType === T.RParen || tokenType === T.RBracket || tokenType === T.Comma) {
      if (argument?.time && !argument.hasColon) splits.add(argument.time)
      open.pop()
      if (tokenType === T.Comma) open.push(argument && {})
    } else if (argument && tokenType === T.Colon) argument.hasColon = true
    else if (argument && (tokenType === T.TimeLiteral || tokenType.name === 'malformedTime'))
      argument.time = token
  }
  return splits.size === 0 ? tokens : tokens.flatMap((token) => (splits.has(token) ? parted(token) : [token]))
}

function isCase(token: Token | undefined): boolean {
  return token?.image.toLowerCase() === 'case'
}

/** `10:15` as `10`, `:`, `15`; `10:15:20` as `10:15`, `:`, `20`. */
function parted(token: Token): readonly Token[] {
  const [, first, second] = /^(.*):(\d+(?:\.\d+)?)$/.exec(token.image) ?? []
  if (first === undefined || second === undefined) return [token]
  const piece = (image: string, tokenType: TokenType, from: number): Token => {
    const startOffset = token.startOffset + from
    return { ...token, image, startOffset, tokenType, tokenTypeIdx: tokenType.tokenTypeIdx! }
  }
  return [
    piece(first, first.includes(':') ? T.TimeLiteral : T.NumberLiteral, 0),
    piece(':', T.Colon, first.length),
    piece(second, T.NumberLiteral, first.length + 1),
  ]
}
