import type { CstElement, CstNode, IToken } from 'chevrotain'
import { singleQuotes } from '../check/unknown-columns.ts'
import { invalid } from '../errors.ts'
import { DEFAULT_LIMITS, type FilterLimits, tooDeep } from '../limits.ts'
import { CASE, functionRow } from '../tables/functions.ts'
import { precedence } from '../tables/operators.ts'
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
  parseTime,
} from './literals.ts'
import { isBlank, tokenize } from './tokens.ts'
import type { ArithmeticOperator, ComparisonOperator, LogicalOperator, Syntax } from './tree.ts'

/** The longest name that the standard lets stand without quotes. */
const LONGEST_NAME = 128

/**
 * Text to tree.
 * @throws EngineError `invalid_filter`, `filter_too_complex`
 */
export function parse(text: string, limits: FilterLimits = DEFAULT_LIMITS): Syntax {
  const tokens = tokenize(text, limits)
  const { tree, error } = parseTokens(tokens)
  if (error) throw complain(text, tokens, error)
  return new Builder(text, limits).expression(tree)
}

/** Turns chevrotain's tree into ours. Its own stay in this file. */
class Builder {
  readonly #text: string
  readonly #limits: FilterLimits
  readonly #heights = new WeakMap<Syntax, number>()

  constructor(text: string, limits: FilterLimits) {
    this.#text = text
    this.#limits = limits
  }

  expression({ children }: CstNode): Syntax {
    const operands = nodes(children['operand'])
    const operators = tokens(children['Infix'])
    for (const operator of operators) this.#requireBlanks(operator)
    let next = 0
    // Precedence climbing: takes operators that bind at least as tightly as `least`, the same group from left to right.
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
      this.#requireBlanks(token)
      operand = this.#in(operand, token, list)
    })
    const prefixes = [...tokens(children['Minus']), ...tokens(children['not'])]
    // The innermost stands last in the text.
    for (const prefix of prefixes.sort((a, b) => b.startOffset - a.startOffset)) {
      const operator = prefix.image === '-' ? '-' : 'not'
      if (operator === 'not') this.#requireBlankAfter(prefix)
      const span = { at: prefix.startOffset, end: operand.end }
      operand = this.#grown({ ...span, kind: 'unary', operator, operand }, [operand])
    }
    return operand
  }

  #primary(children: CstNode['children']): Syntax {
    const [literal] = tokens(children['Literal'])
    if (literal) return this.#literal(literal)
    const [name] = [...tokens(children['Word']), ...tokens(children['QuotedName'])]
    if (name) return this.#column(name)
    const [call] = nodes(children['call'])
    if (call) return this.#call(call)
    return this.expression(nodes(children['expression'])[0]!)
  }

  #column(token: IToken): Syntax {
    const quoted = token.image.startsWith('"')
    const name = quoted ? token.image.slice(1, -1).replaceAll('""', '"') : token.image
    const at = token.startOffset
    if (name === '') throw invalid(at, 'the quoted name is empty.')
    if (!quoted && name.length > LONGEST_NAME && [...name].length > LONGEST_NAME) {
      throw invalid(at, `a name of more than ${LONGEST_NAME} characters. Write it in double quotes.`)
    }
    return { kind: 'column', at, end: at + token.image.length, name }
  }

  #literal(token: IToken): Syntax {
    const at = token.startOffset
    return { kind: 'literal', at, end: at + token.image.length, value: literalValue(token) }
  }

  #in(operand: Syntax, { startOffset }: IToken, list: CstNode): Syntax {
    const items = nodes(list.children['item']).map(({ children }): Syntax => {
      const [literal] = tokens(children['Literal'])
      return literal
        ? this.#literal(literal)
        : this.#column([...tokens(children['Word']), ...tokens(children['QuotedName'])][0]!)
    })
    const [column] = items.filter((item) => item.kind === 'column')
    if (column && items.length > 1) {
      const written = this.#text.slice(column.at, column.end)
      const [shown, hint] = written.startsWith('"')
        ? [written, ` ${singleQuotes(column.name)}`]
        : [`'${written}'`, '']
      throw invalid(column.at, `a list after 'in' holds literals only, not ${shown}.${hint}`)
    }
    const close = tokens(list.children['RParen'])[0]!
    const span = { at: operand.at, end: close.startOffset + 1 }
    return this.#grown({ ...span, kind: 'in', operatorAt: startOffset, operand, items }, [operand])
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
    if (!functionRow(name.image)) throw unknownFunction(name)
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
        ? " What holds for all others is written behind 'true:'."
        : ''
    return invalid(end, `case() takes pairs, a condition and a result with ':' between them.${hint}`)
  }

  /** Chains of operators make a tree as deep as they are long, and all that follows calls itself for each level. */
  #grown(node: Syntax, children: readonly Syntax[]): Syntax {
    let height = 0
    for (const child of children) height = Math.max(height, this.#heights.get(child) ?? 0)
    if (height >= this.#limits.nesting) throw tooDeep(this.#limits)
    this.#heights.set(node, height + 1)
    return node
  }

  #requireBlanks(operator: IToken): void {
    if (!isBlank(this.#text[operator.startOffset - 1])) {
      throw invalid(operator.startOffset, `'${operator.image}' needs a blank before it.`)
    }
    this.#requireBlankAfter(operator)
  }

  #requireBlankAfter(operator: IToken): void {
    if (!isBlank(this.#text[operator.startOffset + operator.image.length])) {
      throw invalid(operator.startOffset, `'${operator.image}' needs a blank after it.`)
    }
  }
}

function literalValue({ tokenType, image, startOffset: at }: IToken): LiteralValue {
  switch (tokenType.name) {
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
      throw unknownPrefix(prefix, at)
    }
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
