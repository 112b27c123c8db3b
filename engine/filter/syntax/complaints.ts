import type { IRecognitionException, IToken } from 'chevrotain'
import { nearest } from '../../util/known-options.ts'
import { excerpt, invalid } from '../errors.ts'
import { functionRow, functionTable } from '../tables/functions.ts'
import { INFIX_NAMES } from '../tables/operators.ts'
import {
  Colon,
  Comma,
  Foreign,
  In,
  Infix,
  isA,
  LParen,
  Minus,
  QuotedName,
  RParen,
  SearchOpen,
  Slash,
  type Token,
  Word,
} from './tokens.ts'

/** Where a text stops following the grammar. */
export interface Fault {
  readonly text: string
  readonly tokens: readonly Token[]
  /** The token that no rule takes; undefined at the end of the text. */
  readonly found: Token | undefined
  /** Its index; -1 at the end. */
  readonly index: number
  readonly before: Token | undefined
  readonly at: number
  /** The innermost rule. */
  readonly rule: string
  /** The name of the token that must stand here, if there is only one. */
  readonly expected: string | undefined
  /** Whether the text is complete, and more follows. */
  readonly leftOver: boolean
}

export function faultOf(text: string, tokens: readonly Token[], error: IRecognitionException): Fault {
  const index = tokens.indexOf(error.token)
  const found = index < 0 ? undefined : tokens[index]
  const before = index < 0 ? tokens.at(-1) : tokens[index - 1]
  const at = found?.startOffset ?? (before ? before.startOffset + before.image.length : text.length)
  return {
    ...{ text, tokens, found, index, before, at },
    rule: error.context.ruleStack.at(-1)!,
    expected: error.name === 'MismatchedTokenException' ? error.message : undefined,
    leftOver: error.name === 'NotAllInputParsedException',
  }
}

/** The error for a text that is no expression. It says where, what was found and expected, and what was probably meant. */
export function complain(fault: Fault): Error {
  const { text, tokens, found, index, before, at, rule } = fault
  if (/^\s*select\s/i.test(text) && index > 0) {
    return invalid(0, "'SELECT' begins a statement of SQL; a filter is only its condition, as in Price gt 5.")
  }
  const { callee } = openParenthesis(tokens, found) ?? {}
  if (callee && Object.hasOwn(NOT_HERE, callee.image.toLowerCase())) return unknownFunction(callee)
  if (found && isA(found, Foreign)) return foreign(found)
  if (found?.tokenType === LParen && tokens[index - 2]?.tokenType === Slash) return lambda(before!, at)
  if (found?.tokenType === Slash) return slash(found, before)
  if (found?.tokenType === SearchOpen) {
    return invalid(at, "search(…) can stand only in $apply. Write contains(x, 'a'), or use $search.")
  }
  const time = found?.tokenType === Colon ? timeBefore(text, before) : undefined
  if (time) return time
  if (rule === 'list' || rule === 'items' || before?.tokenType === In) return inList(at, found, before)
  return fault.expected === undefined && !fault.leftOver ? noOperand(at, found, before) : noOperator(fault)
}

function lambda({ image }: IToken, at: number): Error {
  return invalid(at, `${excerpt(image)}(…) on a path is not supported here: no column holds a collection.`)
}

function slash({ startOffset: at }: IToken, before: Token | undefined): Error {
  return invalid(
    at,
    `'/' leads only from a json column into its values, as in doc/a/b.${
      isNumber(before) ? ' To divide, write div or divby; a date is written as 2024-02-29.' : ''
    }`,
  )
}

/** A token in quotes, for a message. A token that has quotes already gets no others. */
export function quote({ image }: IToken): string {
  return /^['"]/.test(image) ? excerpt(image) : `'${excerpt(image)}'`
}

/** The error where a value is expected. */
function noOperand(at: number, found: Token | undefined, before: Token | undefined): Error {
  const what = found ? `found ${quote(found)}` : 'the filter ends'
  const where = before ? ` after ${quote(before)}` : ''
  return invalid(at, `${what}${where}, where a column, a literal, a function or '(' is expected.`)
}

/**
 * The error where a value is complete, so that an operator is expected, or what comes next.
 * @param next what that is; a parenthesis or the end if not given
 */
export function noOperator(fault: Fault, next?: string): Error {
  const { found, tokens, at } = fault
  const open = openParenthesis(tokens, found)
  if (!found) return invalid(at, `the filter ends, but the '(' at position ${open!.at + 1} is not closed.`)
  switch (found.tokenType) {
    case RParen:
      return invalid(at, "found ')' without a '(' before it.")
    case Comma:
      return outsideOfList(fault)
    case Colon:
      return invalid(at, "found ':', which can stand only in case().")
  }
  const word = found.image.toLowerCase()
  if (Object.hasOwn(OTHER_LANGUAGES, word)) {
    return invalid(at, `'${found.image}' is not an operator here${OTHER_LANGUAGES[word]}`)
  }
  const end = (next ?? (open ? "')'" : 'the end')).replace(/,$/, '')
  const hint = operatorHint(found, fault)
  return invalid(
    at,
    `found ${quote(found)}, where an operator like eq or and, or ${end}, is expected.${hint}`,
  )
}

function outsideOfList({ tokens, index, before, at }: Fault): Error {
  const hint =
    isNumber(before) && isNumber(tokens[index + 1])
      ? 'A number has no commas; its decimal sign is a point.'
      : "A list can stand only after 'in'."
  return invalid(at, `found ',' outside of a function and of a list. ${hint}`)
}

function isNumber(token: Token | undefined): boolean {
  return token?.tokenType.name === 'number'
}

function operatorHint(found: Token, fault: Fault): string {
  const { before } = fault
  if (found.tokenType.name === 'time' && before?.tokenType.name === 'moment') {
    return " If this is an offset, its '+' was lost: in a URL it is written %2B."
  }
  if (found.tokenType.name === 'time' && before?.tokenType.name === 'date') {
    return ` A moment is written with a T: ${before.image}T${found.image}Z.`
  }
  if (found.tokenType === Minus) {
    return " To subtract, write sub. A name that holds a '-' stands in double quotes."
  }
  if (isNumber(found) && /^[+-]/.test(found.image)) {
    return ` Write ${found.image.startsWith('-') ? 'sub' : 'add'} ${found.image.slice(1)}.`
  }
  if (isA(before, Infix)) return ` '${before!.image}' was read as a column, because of where it stands.`
  if (!isA(found, Word)) return ''
  const name = isA(before, Word) || before?.tokenType === QuotedName ? before!.image : undefined
  const row = functionRow(found.image)
  const blank = blankName(fault)
  const quotes = blank ? ` A name that holds a blank stands in double quotes: "${excerpt(blank)}".` : ''
  if (name && row) return ` ${row.name} is a function: write ${row.name}(${excerpt(name)}, …).${quotes}`
  const meant = nearest(found.image, [...INFIX_NAMES, 'in'])
  return meant ? ` Did you mean ${meant}?` : quotes
}

/** The text from the token before to the next operator, if all of it may be a name: `Body Mass (g)`. */
function blankName({ text, tokens, index }: Fault): string | undefined {
  const end = tokens.findIndex((token, at) => at > index && (isA(token, Infix) || token.tokenType === In))
  const parts = index > 0 && end > 0 ? tokens.slice(index - 1, end) : []
  if (!isA(parts[0], Word) || !isA(parts[1], Word)) return undefined
  if (!parts.every((part) => isA(part, Word) || isNumber(part) || isParenthesis(part))) return undefined
  const count = (type: typeof LParen) => parts.filter(({ tokenType }) => tokenType === type).length
  if (count(LParen) !== count(RParen)) return undefined
  const last = parts.at(-1)!
  return text.slice(parts[0]!.startOffset, last.startOffset + last.image.length)
}

function isParenthesis({ tokenType }: Token): boolean {
  return tokenType === LParen || tokenType === RParen
}

/** Operators of SQL and other languages, each with the rest of a message that begins with "is not an operator here". */
const OTHER_LANGUAGES: Readonly<Record<string, string>> = {
  has: ', because no column has an enumeration type.',
  is: '. Write eq, as in x eq null or x eq true.',
  isnull: '. Write eq null.',
  like: ". Write contains(x, 'a'), startswith(x, 'a') or endswith(x, 'a').",
  ilike: ". Write contains(tolower(x), 'a').",
  between: '. Write x ge 1 and x le 9.',
  equals: '. Write eq.',
  not: '. It stands before a whole condition: not (x in (1, 2)), not (x eq 1).',
  asc: '. Rows are ordered by $orderby.',
  desc: '. Rows are ordered by $orderby.',
  xor: '. Write ne between two conditions.',
}

function inList(at: number, found: Token | undefined, before: Token | undefined): Error {
  const example = "as in x in (1, 2) or x in ('a', 'b')"
  const what = found ? `found ${quote(found)}` : 'the filter ends'
  if (before?.tokenType === In) {
    return invalid(at, `${what} after 'in', where '(' and a list of literals are expected, ${example}.`)
  }
  return invalid(at, `${what} in a list, which holds literals parted by commas, ${example}.`)
}

const SYMBOLS: Readonly<Record<string, string>> = {
  '=': 'eq',
  '==': 'eq',
  '===': 'eq',
  '!=': 'ne',
  '<>': 'ne',
  '!==': 'ne',
  '>': 'gt',
  '>=': 'ge',
  '<': 'lt',
  '<=': 'le',
  '&&': 'and',
  '&': 'and',
  '||': 'or',
  '|': 'or',
  '!': 'not',
  '+': 'add',
  '*': 'mul',
  '%': 'mod',
}

/** The errors for tokens that no rule of the grammar takes. */
export function foreign(token: Token): Error {
  const { image, startOffset: at, tokenType } = token
  switch (tokenType.name) {
    case 'malformed':
      return malformed(image, at)
    case 'malformedTime':
      return invalid(
        at,
        `'${excerpt(image)}' is not a time of day. Write 13:45 or 13:45:00.5, without an offset.`,
      )
    case 'qualified':
      return image.toLowerCase().startsWith('geo.')
        ? invalid(at, `'${image}' is not supported here: no column has a geographic type.`)
        : invalid(
            at,
            `'${excerpt(image)}' has a point, which no plain name has. If it is a column, write "${excerpt(image)}".`,
          )
    case 'alias':
      return invalid(
        at,
        `'${excerpt(image)}' is not supported here: annotations and $it, $root, $this mean nothing on a table.`,
      )
    case 'count':
      return invalid(at, `'${image}' can stand only in aggregate(), as in aggregate($count as Number).`)
    case 'bracket':
      return invalid(
        at,
        image === ']'
          ? "found ']' without a '[' before it."
          : `'${image}' is not supported here: a table has no objects.`,
      )
    case 'quotes':
      return invalid(at, `the quote ${image} is not a straight one. Text is written in '…', names in "…".`)
    default: {
      const meant = Object.hasOwn(SYMBOLS, image) ? SYMBOLS[image] : undefined
      return invalid(at, `'${excerpt(image)}' is not an operator here.${meant ? ` Write ${meant}.` : ''}`)
    }
  }
}

/** The error for a time of day like `3:26:05`, which the lexer reads as a number and a colon. */
function timeBefore(text: string, before: Token | undefined): Error | undefined {
  const time = before && /^\d:\d\d(?::\d\d)?(?!\w)/.exec(text.slice(before.startOffset))
  return time
    ? invalid(before.startOffset, `'${time[0]}' is not a time of day. Write 0${time[0]}.`)
    : undefined
}

function malformed(image: string, at: number): Error {
  const shown = excerpt(image)
  if (/^[+-]?\d+\.$/.test(image))
    return invalid(at, `'${shown}' ends in a point. Write ${image}0 or ${image.slice(0, -1)}.`)
  if (/^[+-]?\.\d+$/.test(image)) {
    return invalid(at, `'${shown}' begins with a point. Write ${image.replace('.', '0.')}.`)
  }
  if (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(image)) {
    return invalid(
      at,
      `'${shown}' is not a date: a date has a day. Write ${image}-01, or use year() and month().`,
    )
  }
  const subtraction = /^(\d+(?:\.\d+)?)([+-])(\d+(?:\.\d+)?)$/.exec(image)
  if (subtraction) {
    const [, left, sign, right] = subtraction
    return invalid(at, `'${shown}' is not a literal. Write ${left} ${sign === '-' ? 'sub' : 'add'} ${right}.`)
  }
  if (/^\d+-\d+-\d+/.test(image)) {
    return invalid(
      at,
      `'${shown}' is not a date, moment or guid. Write 2024-02-29, 2024-02-29T13:45:00Z or ` +
        '01234567-89ab-cdef-0123-456789abcdef.',
    )
  }
  if (/^\d+[A-Za-z_]/.test(image)) {
    return invalid(
      at,
      `'${shown}' is not a number, and a name that begins with a digit is written "${shown}".`,
    )
  }
  return invalid(at, `'${shown}' is not a number, date, time or guid.`)
}

/** The error for a text with an unknown prefix. */
export function unknownPrefix(prefix: string, at: number): Error {
  const name = prefix.toLowerCase()
  if (name === 'x')
    return invalid(
      at,
      `the prefix ${prefix}'…' is no longer in the language. Write binary'…' with base64url.`,
    )
  const kind = name === 'geography' || name === 'geometry' ? 'a geographic' : 'an enumeration'
  return invalid(
    at,
    `${excerpt(prefix)}'…' is not supported here: no column has ${kind} type. Only duration and binary may prefix a ` +
      'text.',
  )
}

const NOT_HERE: Readonly<Record<string, string>> = {
  isof: 'every column has one known type',
  hassubset: 'no column holds a collection',
  hassubsequence: 'no column holds a collection',
  any: 'no column holds a collection',
  all: 'no column holds a collection',
}

const OLD_FUNCTIONS: Readonly<Record<string, string>> = {
  substringof: 'contains, with the arguments the other way round',
  today: 'date(now())',
  curdate: 'date(now())',
  getdate: 'now',
  if: 'case, as in case(x gt 5: 1, true: 0)',
  iif: 'case, as in case(x gt 5: 1, true: 0)',
  iff: 'case, as in case(x gt 5: 1, true: 0)',
  coalesce: 'case, as in case(x ne null: x, true: 0)',
  ifnull: 'case, as in case(x ne null: x, true: 0)',
  isnull: 'x eq null',
  ceil: 'ceiling',
  len: 'length',
  lower: 'tolower',
  upper: 'toupper',
  strlen: 'length',
  regexmatch: 'matchesPattern',
}

export function unknownFunction({ image, startOffset: at }: IToken): Error {
  const name = image.toLowerCase()
  if (name === 'and' || name === 'or') {
    return invalid(at, `'${image}' stands between two conditions, as in x gt 1 ${name} (…).`)
  }
  if (name === 'replace') {
    return invalid(at, 'replace() is not a function: OData has none that replaces text.')
  }
  if (name === 'in') return invalid(at, "'in' stands between a value and a list, as in x in (1, 2).")
  if (Object.hasOwn(NOT_HERE, name)) {
    return invalid(at, `${image}() is not supported here: ${NOT_HERE[name]}.`)
  }
  const old = Object.hasOwn(OLD_FUNCTIONS, name) ? OLD_FUNCTIONS[name] : undefined
  const meant =
    old ??
    nearest(
      name,
      functionTable.map((row) => row.name),
    )
  return invalid(at, `${excerpt(image)}() is not a function.${meant ? ` Did you mean ${meant}?` : ''}`)
}

interface Open {
  readonly at: number
  /** The name of the function, if the parenthesis opens its arguments. */
  readonly callee: Token | undefined
}

/** The innermost parenthesis that is still open before a token. */
function openParenthesis(tokens: readonly Token[], until: Token | undefined): Open | undefined {
  const open: Open[] = []
  let before: Token | undefined
  for (const token of tokens) {
    if (token === until) break
    if (token.tokenType === LParen) {
      const called = isA(before, Word) && before!.startOffset + before!.image.length === token.startOffset
      open.push({ at: token.startOffset, callee: called ? before : undefined })
    } else if (token.tokenType === RParen) open.pop()
    before = token
  }
  return open.at(-1)
}
