import type { CstElement, CstNode, IToken } from 'chevrotain'
import { EngineError } from '../../errors.ts'
import { singleQuotes } from '../check/unknown-columns.ts'
import { excerpt, invalid, type Span } from '../errors.ts'
import { DEFAULT_LIMITS, type FilterLimits, tooDeep } from '../limits.ts'
import { CASE, CAST, functionRow } from '../tables/functions.ts'
import { precedence } from '../tables/operators.ts'
import { Aliases } from './aliases.ts'
import { splitTimesInCase } from './case-times.ts'
import { complain, unknownFunction, unknownPrefix } from './complaints.ts'
import { parseTokens } from './grammar.ts'
import {
  type LiteralValue,
  NULL,
  parseBinary,
  parseDate,
  parseDuration,
  parseMoment,
  parseNumber,
  parseOldPrefix,
  parseTime,
} from './literals.ts'
import { QuotedName, type Token, tokenize } from './tokens.ts'
import type { ArithmeticOperator, ComparisonOperator, LogicalOperator, Syntax } from './tree.ts'

/** The longest name that the standard allows without quotes. */
const LONGEST_NAME = 128
/** The most steps of a path into JSON. */
const LONGEST_PATH = 100

export interface ParseOptions {
  readonly limits?: FilterLimits
  readonly aliases?: Aliases
}

/**
 * Parses the text of an expression into a tree.
 * @throws EngineError `invalid_filter`, `filter_too_complex`
 */
export function parse(text: string, options: ParseOptions = {}): Syntax {
  const tokens = tokenize(text, options.limits)
  return parseExpression(text, tokens, options)
}

/** Parses those tokens of a text that make up one expression into a tree. */
export function parseExpression(text: string, tokens: readonly Token[], options: ParseOptions): Syntax {
  const parted = splitTimesInCase(tokens)
  const { tree, error } = parseTokens(parted)
  if (error) throw complain(text, parted, error)
  return new Builder(text, options).expression(tree)
}

/** Turns chevrotain's tree into ours, so that no other file knows chevrotain's. */
class Builder {
  readonly #text: string
  readonly #limits: FilterLimits
  readonly #aliases: Aliases
  readonly #heights = new WeakMap<Syntax, number>()

  constructor(text: string, { limits = DEFAULT_LIMITS, aliases = new Aliases() }: ParseOptions) {
    this.#text = text
    this.#limits = limits
    this.#aliases = aliases
  }

  expression({ children }: CstNode): Syntax {
    const operands = nodes(children['operand'])
    const operators = tokens(children['Infix'])
    let next = 0
    // Precedence climbing: takes operators that bind at least as tightly as `least`, and those of one group from left
    // to right.
    const climb = (least: number): Syntax => {
      let left = this.#operand(operands[next]!)
      while (next < operators.length) {
        const token = operators[next]!
        const operator = token.image.toLowerCase()
        const group = precedence(operator)
        if (group < least) break
        if (operator === 'and' || operator === 'or') {
          const parts = [left]
          while (next < operators.length && operators[next]!.image.toLowerCase() === operator) {
            next++
            parts.push(climb(group + 1))
          }
          left = this.#logical(operator, parts)
        } else {
          next++
          left = this.#binary(operator, token.startOffset, left, climb(group + 1))
        }
      }
      return left
    }
    return climb(0)
  }

  #binary(name: string, operatorAt: number, left: Syntax, right: Syntax): Syntax {
    const operator = name as ComparisonOperator | ArithmeticOperator
    const span = { at: left.at, end: right.end }
    return this.#grown({ ...span, kind: 'binary', operator, operatorAt, left, right }, [left, right])
  }

  #logical(operator: LogicalOperator, parts: readonly Syntax[]): Syntax {
    const operands = parts.flatMap((part) =>
      part.kind === 'logical' && part.operator === operator ? part.operands : [part],
    )
    const span = { at: parts[0]!.at, end: parts.at(-1)!.end }
    return this.#grown({ ...span, kind: 'logical', operator, operands }, operands)
  }

  #operand({ children }: CstNode): Syntax {
    let operand = this.#primary(children)
    const ins = tokens(children['in'])
    nodes(children['list']).forEach((list, index) => {
      const token = ins[index]!
      operand = this.#in(operand, token, list)
    })
    const prefixes = [...tokens(children['Minus']), ...tokens(children['not'])]
    // The last prefix in the text is the innermost, so it is applied first.
    for (const prefix of prefixes.sort((a, b) => b.startOffset - a.startOffset)) {
      const operator = prefix.image === '-' ? '-' : 'not'
      const span = { at: prefix.startOffset, end: operand.end }
      operand = this.#grown({ ...span, kind: 'unary', operator, operand }, [operand])
    }
    return operand
  }

  #primary(children: CstNode['children']): Syntax {
    const [literal] = tokens(children['Literal'])
    if (literal) return this.#literal(literal)
    const [name] = nodes(children['name'])
    if (name) return this.#name(name)
    const [call] = nodes(children['call'])
    if (call) return this.#call(call)
    const [alias] = tokens(children['Alias'])
    if (alias) return this.#alias(alias)
    const [type] = tokens(children['TypeName'])
    if (type) return { kind: 'type', name: type.image, ...spanOf(type) }
    return this.#inParentheses(children)
  }

  /**
   * An expression in parentheses. Its span includes the parentheses, so that messages quote them; only a column or a
   * literal keeps its own span.
   */
  #inParentheses(children: CstNode['children']): Syntax {
    const inner = this.expression(nodes(children['expression'])[0]!)
    if (inner.kind === 'column' || inner.kind === 'literal') return inner
    const at = tokens(children['LParen'])[0]!.startOffset
    const whole = { ...inner, at, end: tokens(children['RParen'])[0]!.startOffset + 1 }
    this.#heights.set(whole, this.#heights.get(inner) ?? 0)
    return whole
  }

  #name({ children }: CstNode): Syntax {
    const column = this.#column([...tokens(children['Word']), ...tokens(children['QuotedName'])][0]!)
    const segments = nodes(children['segment']).map(
      (segment) => Object.values(segment.children)[0]![0] as IToken,
    )
    const last = segments.at(-1)
    if (!last) return column
    const path = segments.map(segmentText)
    if (path.length > LONGEST_PATH) throw tooDeep(this.#limits)
    return { ...column, path, end: last.startOffset + last.image.length }
  }

  #column(token: IToken): Extract<Syntax, { kind: 'column' }> {
    const quoted = token.image.startsWith('"')
    const name = quoted ? token.image.slice(1, -1).replaceAll('""', '"') : token.image
    const at = token.startOffset
    if (name === '') throw invalid(at, 'the quoted name is empty.')
    if (!quoted && name.length > LONGEST_NAME && [...name].length > LONGEST_NAME) {
      throw invalid(at, `a name of more than ${LONGEST_NAME} characters. Write it in double quotes.`)
    }
    return { kind: 'column', name, ...spanOf(token) }
  }

  /** The literal that an alias stands for, with the position of the alias. */
  #alias(token: IToken): Syntax {
    const text = this.#aliases.take(token.image)
    const value = inAlias(token, () => parse(text, { limits: this.#limits }))
    const negative = value.kind === 'unary' && value.operator === '-' && value.operand.kind === 'literal'
    if (value.kind !== 'literal' && !negative) {
      throw invalid(
        token.startOffset,
        `${token.image} stands for '${excerpt(text)}', but an alias holds a literal, or a list after 'in'.`,
      )
    }
    return { ...value, ...spanOf(token) }
  }

  #literal(token: IToken): Syntax {
    const at = token.startOffset
    return { kind: 'literal', at, end: at + token.image.length, value: literalValue(token) }
  }

  #in(operand: Syntax, { startOffset }: IToken, list: CstNode): Syntax {
    const [alias] = tokens(list.children['Alias'])
    const items = alias ? this.#aliasedItems(alias) : this.#items(list)
    const [column] = items.filter((item) => item.kind === 'column')
    if (column && items.length > 1) {
      const written = this.#text.slice(column.at, column.end)
      const [shown, hint] = written.startsWith('"')
        ? [written, ` ${singleQuotes(column.name)}`]
        : [`'${written}'`, '']
      throw invalid(column.at, `a list after 'in' holds literals only, not ${shown}.${hint}`)
    }
    const close = alias ?? [...tokens(list.children['RParen']), ...tokens(list.children['RBracket'])][0]!
    const span = { at: operand.at, end: close.startOffset + close.image.length }
    return this.#grown({ ...span, kind: 'in', operatorAt: startOffset, operand, items }, [operand])
  }

  #items(list: CstNode): readonly Syntax[] {
    const [items] = nodes(list.children['items'])
    return nodes(items?.children['item']).map(({ children }): Syntax => {
      const [literal] = tokens(children['Literal'])
      if (literal) return this.#literal(literal)
      const [alias] = tokens(children['Alias'])
      if (alias) return this.#alias(alias)
      return this.#column([...tokens(children['Word']), ...tokens(children['QuotedName'])][0]!)
    })
  }

  /** The items of a list that is given by an alias: `in @list`. */
  #aliasedItems(alias: IToken): readonly Syntax[] {
    const text = this.#aliases.take(alias.image)
    const items = inAlias(alias, () => {
      const found = tokenize(text, this.#limits)
      const { tree, error } = parseTokens(found, 'list')
      if (error || tree.children['Alias'])
        throw invalid(0, `'${excerpt(text)}' is not a list like (1, 2) or ["a", "b"].`)
      return new Builder(text, { limits: this.#limits }).#items(tree)
    })
    return items.map((item) => ({ ...item, ...spanOf(alias) }))
  }

  #call({ children }: CstNode): Syntax {
    const name = tokens(children['Word'])[0]!
    const close = tokens(children['RParen'])[0]!
    const span = { at: name.startOffset, end: close.startOffset + 1 }
    const args = nodes(children['argument']).map((argument) =>
      nodes(argument.children['expression']).map((expression) => this.expression(expression)),
    )
    if (name.image.toLowerCase() === CASE.name) {
      if (args.length === 0)
        throw invalid(span.at, 'case() needs at least one pair, as in case(Price gt 5: 1).')
      const branches = args.map(([when, result]) => {
        if (!result) throw this.#unpaired(when!, args.length > 1 && when === args.at(-1)![0])
        return { when: when!, result }
      })
      return this.#grown(
        { ...span, kind: 'case', branches },
        branches.flatMap(({ when, result }) => [when, result]),
      )
    }
    if (!functionRow(name.image) && name.image.toLowerCase() !== CAST.name) throw unknownFunction(name)
    const pair = args.find((argument) => argument.length > 1)
    if (pair) throw invalid(pair[0]!.end, "':' can stand only in case().")
    const plain = args.map(([argument]) => argument!)
    return this.#grown({ ...span, kind: 'call', name: name.image, args: plain }, plain)
  }

  #unpaired({ at, end }: Syntax, last: boolean): Error {
    const time = /\d\d:\d\d$/.exec(this.#text.slice(at, end))
    const hint = time
      ? ` ${time[0]} reads as a time of day: put blanks around the ':'.`
      : last
        ? " The result for all other rows is written after 'true:'."
        : ''
    return invalid(end, `case() takes pairs, a condition and a result with ':' between them.${hint}`)
  }

  /**
   * Records the height of a new node and refuses trees that are too high. A chain of operators makes a tree as high as
   * the chain is long, and the code that works on the tree later recurses once for each level.
   */
  #grown(node: Syntax, children: readonly Syntax[]): Syntax {
    let height = 0
    for (const child of children) height = Math.max(height, this.#heights.get(child) ?? 0)
    if (height >= this.#limits.nesting) throw tooDeep(this.#limits)
    this.#heights.set(node, height + 1)
    return node
  }
}

function literalValue({ tokenType, image, startOffset: at }: IToken): LiteralValue {
  switch (tokenType.name) {
    case 'jsonText':
      return { kind: 'string', value: jsonText(image, at) }
    case 'string':
      return { kind: 'string', value: unquote(image) }
    case 'number':
      return parseNumber(image, at)
    case 'date':
      return parseDate(image, at)
    case 'time':
      return parseTime(image, at)
    case 'moment':
      return parseMoment(image, at)
    case 'guid':
      return { kind: 'uuid', value: image.toLowerCase() }
    case 'null':
      return NULL
    case 'boolean':
      return { kind: 'boolean', value: image.toLowerCase() === 'true' }
    case 'NaN':
    case 'INF':
      return { kind: 'special', value: tokenType.name }
    case 'negativeInfinity':
      return { kind: 'special', value: '-INF' }
    default: {
      const quote = image.indexOf("'")
      const prefix = image.slice(0, quote)
      const body = unquote(image.slice(quote))
      if (/^duration$/i.test(prefix)) return parseDuration(body, at)
      if (/^binary$/i.test(prefix)) return parseBinary(body, at)
      const old = parseOldPrefix(prefix.toLowerCase(), body, at)
      if (old) return old
      throw unknownPrefix(prefix, at)
    }
  }
}

function jsonText(image: string, at: number): string {
  try {
    return JSON.parse(image) as string
  } catch {
    throw invalid(
      at,
      `${excerpt(image)} is not a JSON string. In brackets, strings are written in "…" as in JSON, or in '…'.`,
    )
  }
}

function segmentText(token: IToken): string {
  if (token.tokenType === QuotedName) return token.image.slice(1, -1).replaceAll('""', '"')
  return token.tokenType.name === 'string' ? unquote(token.image) : token.image
}

function spanOf({ startOffset, image }: IToken): Span {
  return { at: startOffset, end: startOffset + image.length }
}

/** Adds the name of the alias to errors in its text, because their positions refer to that text. */
function inAlias<T>({ image }: IToken, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new EngineError(error.code, `${image}: ${error.message}`, { cause: error })
  }
}

function unquote(image: string): string {
  return image.slice(1, -1).replaceAll("''", "'")
}

function nodes(elements: readonly CstElement[] | undefined): readonly CstNode[] {
  return (elements ?? []) as readonly CstNode[]
}

function tokens(elements: readonly CstElement[] | undefined): readonly IToken[] {
  return (elements ?? []) as readonly IToken[]
}
