import { excerpt, invalid, LIMITS, type Span, singleQuotes, tooDeep } from '../errors.ts'
import { CASE, CAST, functionRow } from '../tables/functions.ts'
import { precedences } from '../tables/operators.ts'
import {
  type LiteralValue,
  NULL,
  parseBinary,
  parseDate,
  parseDuration,
  parseGuid,
  parseMoment,
  parseNumber,
  parseOldPrefix,
  parseTime,
} from '../values.ts'
import { unknownFunction, unknownPrefix } from './complaints.ts'
import { QuotedName, type Token } from './tokens.ts'
import type {
  Argument,
  ArithmeticOperator,
  ComparisonOperator,
  GroupingElement,
  Keep,
  List,
  LogicalOperator,
  Name,
  NameItem,
  Search,
  Syntax,
  Transform,
} from './tree.ts'

/** The longest name that the standard allows without quotes. */
const LONGEST_NAME = 128
/** The most steps of a path into JSON. */
const LONGEST_PATH = 100

/** What the aliases of a text stand for: a literal, or a list after `in`. */
export type AliasedValues = ReadonlyMap<Token, readonly Syntax[]>

/** Makes the nodes of our tree from tokens and smaller nodes, and refuses what no rule of the grammar can. */
export class Builder {
  readonly #text: string
  readonly #aliased: AliasedValues
  readonly #heights = new WeakMap<Syntax, number>()

  constructor(text: string, aliased: AliasedValues) {
    this.#text = text
    this.#aliased = aliased
  }

  /** Operands with operators between them, by precedence; those of one group from left to right. */
  chain(operands: readonly Syntax[], operators: readonly Token[]): Syntax {
    if (operators.length === 0) return operands[0]!
    let next = 0
    // Precedence climbing: takes operators that bind at least as tightly as `least`.
    const climb = (least: number): Syntax => {
      let left = operands[next]!
      while (next < operators.length) {
        const token = operators[next]!
        const operator = token.image.toLowerCase()
        const group = precedences.get(operator)!
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

  /** The last prefix in the text is the innermost. */
  prefixed(prefixes: readonly Token[], operand: Syntax): Syntax {
    return prefixes.reduceRight((inner, { image, startOffset: at }) => {
      const operator = image === '-' ? '-' : 'not'
      return this.#grown({ kind: 'unary', operator, operand: inner, at, end: inner.end }, [inner])
    }, operand)
  }

  /**
   * An expression in parentheses. Its span includes the parentheses, so that messages quote them; only a column or a
   * literal keeps its own span.
   */
  parenthesised(open: Token, inner: Syntax, close: Token): Syntax {
    if (inner.kind === 'column' || inner.kind === 'literal') return inner
    const whole = { ...inner, at: open.startOffset, end: close.startOffset + 1 }
    this.#heights.set(whole, this.#heights.get(inner) ?? 0)
    return whole
  }

  /** A column, or a value in its JSON. */
  path(token: Token, segments: readonly Token[]): Syntax {
    const { at, end } = spanOf(token)
    const name = nameOf(token)
    if (name === token.image && name.length > LONGEST_NAME && [...name].length > LONGEST_NAME) {
      throw invalid(at, `a name of more than ${LONGEST_NAME} characters. Write it in double quotes.`)
    }
    const last = segments.at(-1)
    if (!last) return { kind: 'column', name, at, end }
    if (segments.length > LONGEST_PATH) throw tooDeep()
    return { kind: 'column', name, path: segments.map(segmentText), at, end: spanOf(last).end }
  }

  literal(token: Token): Syntax {
    const value = LITERALS[token.tokenType.name]!(token.image, token.startOffset)
    return { kind: 'literal', ...spanOf(token), value }
  }

  /** `Edm.String`, which only cast() takes. */
  type(token: Token): Syntax {
    return { kind: 'type', name: token.image, ...spanOf(token) }
  }

  /** The literal that an alias stands for, with the position of the alias. */
  alias(token: Token): Syntax {
    return { ...this.#valuesOf(token)[0]!, ...spanOf(token) }
  }

  aliasedList(token: Token): List {
    const span = spanOf(token)
    return { items: this.#valuesOf(token).map((item) => ({ ...item, ...span })), end: span.end }
  }

  #valuesOf(token: Token): readonly Syntax[] {
    const values = this.#aliased.get(token)
    if (!values) throw invalid(token.startOffset, `${token.image} can't stand in the value of an alias.`)
    return values
  }

  membership(operand: Syntax, { startOffset: operatorAt }: Token, { items, end }: List): Syntax {
    const column = items.find((item) => item.kind === 'column')
    if (column && items.length > 1) {
      const written = this.#text.slice(column.at, column.end)
      const [shown, hint] = written.startsWith('"')
        ? [written, ` ${singleQuotes(column.name)}`]
        : [`'${written}'`, '']
      throw invalid(column.at, `a list after 'in' holds literals only, not ${shown}.${hint}`)
    }
    return this.#grown({ kind: 'in', operatorAt, operand, items, at: operand.at, end }, [operand])
  }

  call(name: Token, args: readonly Argument[], close: Token): Syntax {
    const span = { at: name.startOffset, end: close.startOffset + 1 }
    const called = name.image.toLowerCase()
    if (called === CASE.name) return this.#case(span, args)
    if (!functionRow(called) && called !== CAST.name) throw unknownFunction(name)
    const pair = args.find(([, result]) => result)
    if (pair) throw invalid(pair[0].end, "':' can stand only in case().")
    const plain = args.map(([argument]) => argument)
    return this.#grown({ ...span, kind: 'call', name: name.image, args: plain }, plain)
  }

  #case(span: Span, args: readonly Argument[]): Syntax {
    if (args.length === 0)
      throw invalid(span.at, 'case() needs at least one pair, as in case(Price gt 5: 1).')
    const branches = args.map(([when, result], index) => {
      if (!result) throw this.#unpaired(when, index > 0 && index === args.length - 1)
      return { when, result }
    })
    return this.#grown(
      { ...span, kind: 'case', branches },
      branches.flatMap(({ when, result }) => [when, result]),
    )
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

  name(token: Token): Name {
    return { name: nameOf(token), at: token.startOffset }
  }

  /** A name in a list of plain names. */
  nameItem(token: Token, direction: Token | undefined): NameItem {
    const quoted = token.tokenType === QuotedName
    return { name: quoted ? nameOf(token) : token.image.trimEnd(), quoted, direction: direction?.image }
  }

  /**
   * A word, or a phrase without its quotes. In single quotes is what may not be complete yet, as `'"green te'`: all
   * words in it.
   */
  searchWord({ tokenType, image, startOffset: at }: Token): Search {
    if (tokenType.name === 'phrase')
      return { kind: 'word', text: image.slice(1, -1).replaceAll(/\\([\s\S])/g, '$1') }
    if (tokenType.name !== 'quoted') return { kind: 'word', text: image }
    const terms = unquote(image).match(/[^\s"()]+/g)
    if (!terms) throw invalid(at, 'the search is empty. Write a word.')
    const operands = terms.map((text): Search => ({ kind: 'word', text }))
    return operands.length === 1 ? operands[0]! : { kind: 'and', operands }
  }

  window({ image }: Token, count: Syntax): Transform {
    return { kind: image.toLowerCase() === 'top' ? 'top' : 'skip', count }
  }

  /** `bottomcount` keeps from the end `bottom` until `count`. */
  keep({ image }: Token, amount: Syntax, value: Syntax): Transform {
    const [, end, until] = /^(top|bottom)(.*)$/.exec(image.toLowerCase())!
    return { kind: 'keep', end: end as Keep['end'], until: until as Keep['until'], amount, value }
  }

  groupingColumn(token: Token): GroupingElement {
    return { names: [this.name(token)], rollup: false, at: token.startOffset }
  }

  /**
   * Records the height of a new node and refuses trees that are too high. A chain of operators makes a tree as high as
   * the chain is long, and the code that works on the tree later recurses once for each level.
   */
  #grown(node: Syntax, children: readonly Syntax[]): Syntax {
    let height = 0
    for (const child of children) height = Math.max(height, this.#heights.get(child) ?? 0)
    if (height >= LIMITS.nesting) throw tooDeep()
    this.#heights.set(node, height + 1)
    return node
  }
}

/** A name without its quotes. */
function nameOf({ image, startOffset: at }: Token): string {
  if (!image.startsWith('"')) return image
  const name = image.slice(1, -1).replaceAll('""', '"')
  if (name === '') throw invalid(at, 'the quoted name is empty.')
  return name
}

function segmentText(token: Token): string {
  if (token.image.startsWith('"')) return token.image.slice(1, -1).replaceAll('""', '"')
  return token.tokenType.name === 'string' ? unquote(token.image) : token.image
}

function spanOf({ startOffset, image }: Token): Span {
  return { at: startOffset, end: startOffset + image.length }
}

/** The value of a literal token by its name. @throws EngineError `invalid_filter` */
const LITERALS: Readonly<Record<string, (image: string, at: number) => LiteralValue>> = {
  jsonText: (image, at) => ({ kind: 'string', value: jsonText(image, at) }),
  string: (image) => ({ kind: 'string', value: unquote(image) }),
  number: parseNumber,
  date: parseDate,
  time: parseTime,
  moment: parseMoment,
  guid: parseGuid,
  null: () => NULL,
  boolean: (image) => ({ kind: 'boolean', value: image.toLowerCase() === 'true' }),
  NaN: () => ({ kind: 'special', value: 'NaN' }),
  INF: () => ({ kind: 'special', value: 'INF' }),
  negativeInfinity: () => ({ kind: 'special', value: '-INF' }),
  prefixed(image, at) {
    const quote = image.indexOf("'")
    const prefix = image.slice(0, quote)
    const body = unquote(image.slice(quote))
    if (/^duration$/i.test(prefix)) return parseDuration(body, at)
    if (/^binary$/i.test(prefix)) return parseBinary(body, at)
    const old = parseOldPrefix(prefix.toLowerCase(), body, at)
    if (old) return old
    throw unknownPrefix(prefix, at)
  },
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

/** A text without its single quotes. */
function unquote(image: string): string {
  return image.slice(1, -1).replaceAll("''", "'")
}
