import type { IRecognitionException } from 'chevrotain'
import { hint } from '../../errors.ts'
import { nearest } from '../../util/nearest.ts'
import { excerpt, invalid } from '../errors.ts'
import { functionRow, functionTable } from '../tables/functions.ts'
import { INFIX_NAMES } from '../tables/operators.ts'
import * as T from './tokens.ts'
import { isA, type Token } from './tokens.ts'

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
  const [, opening] = /^\s*(where\s|\$filter)/i.exec(text) ?? []
  if (opening && index >= 0 && index <= 1) {
    return invalid(
      0,
      `'${opening.trim()}' is not part of a filter, which is only a condition, as in Price gt 5.`,
    )
  }
  const { callee } = openParenthesis(tokens, found) ?? {}
  if (callee && Object.hasOwn(OTHER_FUNCTIONS, callee.image.toLowerCase())) return unknownFunction(callee)
  if (found && isA(found, T.Foreign)) return foreign(found)
  if (found?.tokenType === T.LParen && tokens[index - 2]?.tokenType === T.Slash) {
    const shown = excerpt(before!.image)
    return invalid(at, `${shown}(…) on a path is not supported here: no column holds a collection.`)
  }
  if (found?.tokenType === T.Slash) {
    const hint = isNumber(before) ? ' To divide, write div or divby; a date is written as 2024-02-29.' : ''
    return invalid(at, `'/' leads only from a json column into its values, as in doc/a/b.${hint}`)
  }
  if (found?.tokenType === T.SearchOpen) {
    return invalid(
      at,
      `search(…) can stand only in ${hint('$apply')}. Write contains(x, 'a'), or use ${hint('$search')}.`,
    )
  }
  const time = found?.tokenType === T.Colon ? timeBefore(text, before) : undefined
  if (time) return time
  if (rule === 'list' || rule === 'items' || before?.tokenType === T.In) return inList(at, found, before)
  return fault.expected === undefined && !fault.leftOver ? noOperand(at, found, before) : noOperator(fault)
}

/** A token in quotes, for a message. A token that has quotes already gets no others. */
export function quote({ image }: Token): string {
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
    case T.RParen:
      return invalid(at, "found ')' without a '(' before it.")
    case T.Comma:
      return outsideOfList(fault)
    case T.Colon:
      return invalid(at, "found ':', which can stand only in case().")
  }
  const word = found.image.toLowerCase()
  if (Object.hasOwn(OTHER_LANGUAGES, word)) {
    return invalid(at, `'${found.image}' is not an operator here${OTHER_LANGUAGES[word]}`)
  }
  const end = (next ?? (open ? "')'" : 'the end')).replace(/,$/, '')
  const meant = isA(found, T.Word) ? blankName(fault) : undefined
  const hint = operatorHint(found, fault, meant)
  return invalid(
    at,
    `found ${quote(found)}, where an operator like eq or and, or ${end}, is expected.${hint}`,
    meant === undefined ? {} : { columns: [meant] },
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

function operatorHint(found: Token, { before }: Fault, blank: string | undefined): string {
  if (found.tokenType.name === 'time' && before?.tokenType.name === 'moment') {
    return " If this is an offset, its '+' was lost: in a URL it is written %2B."
  }
  if (found.tokenType.name === 'time' && before?.tokenType.name === 'date') {
    return ` A moment is written with a T: ${before.image}T${found.image}Z.`
  }
  if (found.tokenType === T.Minus) {
    return " To subtract, write sub. A name that holds a '-' stands in double quotes."
  }
  if (isNumber(found) && /^[+-]/.test(found.image)) {
    return ` Write ${found.image.startsWith('-') ? 'sub' : 'add'} ${found.image.slice(1)}.`
  }
  if (isA(before, T.Infix)) return ` '${before!.image}' was read as a column, because of where it stands.`
  if (!isA(found, T.Word)) return ''
  const name = isA(before, T.Word) || before?.tokenType === T.QuotedName ? before!.image : undefined
  const row = functionRow(found.image)
  const quotes = blank ? ` A name that holds a blank stands in double quotes: "${excerpt(blank)}".` : ''
  if (name && row) return ` ${row.name} is a function: write ${row.name}(${excerpt(name)}, …).${quotes}`
  const meant = nearest(found.image, [...INFIX_NAMES, 'in'])
  return meant ? ` Did you mean ${meant}?` : quotes
}

const PARENTHESES = new Set([T.LParen, T.RParen])

/** The text from the token before to the next operator, if all of it may be a name: `Body Mass (g)`. */
function blankName({ text, tokens, index }: Fault): string | undefined {
  const end = tokens.findIndex((token, at) => at > index && (isA(token, T.Infix) || token.tokenType === T.In))
  const parts = index > 0 && end > 0 ? tokens.slice(index - 1, end) : []
  if (!isA(parts[0], T.Word) || !isA(parts[1], T.Word)) return undefined
  if (!parts.every((part) => isA(part, T.Word) || isNumber(part) || PARENTHESES.has(part.tokenType)))
    return undefined
  const count = (type: typeof T.LParen) => parts.filter(({ tokenType }) => tokenType === type).length
  if (count(T.LParen) !== count(T.RParen)) return undefined
  const last = parts.at(-1)!
  return text.slice(parts[0]!.startOffset, last.startOffset + last.image.length)
}

const ORDER = `. Rows are ordered by ${hint('$orderby')}.`

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
  ...{
    asc: ORDER,
    desc: ORDER,
    order: ORDER,
    orderby: ORDER,
    limit: `. Write ${hint('$top')} beside the filter.`,
  },
  xor: '. Write ne between two conditions.',
}

function inList(at: number, found: Token | undefined, before: Token | undefined): Error {
  const example = "as in x in (1, 2) or x in ('a', 'b')"
  const what = found ? `found ${quote(found)}` : 'the filter ends'
  if (before?.tokenType === T.In) {
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
  '≠': 'ne',
  '≤': 'le',
  '≥': 'ge',
  '−': '-',
  '&&': 'and',
  '&': 'and',
  '||': 'or',
  '|': 'or',
  '!': 'not',
  '+': 'add',
  '*': 'mul',
  '%': 'mod',
}

/** What is said of tokens that no rule of the grammar takes, by their names. */
const FOREIGN: Readonly<Record<string, (image: string, shown: string) => string>> = {
  malformed,
  malformedTime: malformed,
  qualified: (image, shown) =>
    /^geo\./i.test(image)
      ? `'${shown}' is not supported here: no column has a geographic type.`
      : `'${shown}' has a point, which no plain name has. If it is a column, write "${shown}".`,
  alias: (_, shown) =>
    `'${shown}' is not supported here: annotations and $it, $root, $this mean nothing on a table.`,
  count: (image) => `'${image}' can stand only in aggregate(), as in aggregate($count as Number).`,
  bracket: (image) =>
    image === ']'
      ? "found ']' without a '[' before it."
      : `'${image}' is not supported here: a table has no objects.`,
  quotes: (image) => `the quote ${image} is not a straight one. Text is written in '…', names in "…".`,
  symbol: (image, shown) => {
    const meant = Object.hasOwn(SYMBOLS, image) ? ` Write ${SYMBOLS[image]}.` : ''
    return `'${shown}' is not an operator here.${meant}`
  },
}

/** The error for a token that no rule of the grammar takes. */
export function foreign({ image, startOffset: at, tokenType: { name } }: Token): Error {
  return invalid(at, (FOREIGN[name] ?? FOREIGN['symbol']!)(image, excerpt(image)))
}

/** What looks like a time, a number or a date and is none. The first that fits counts. */
const MALFORMED: readonly (readonly [like: RegExp, sentence: (match: readonly string[]) => string])[] = [
  [/^\d\d:/, () => 'is not a time of day. Write 13:45 or 13:45:00.5, without an offset.'],
  [/^([+-]?\d+)\.$/, ([all, whole]) => `ends in a point. Write ${all}0 or ${whole}.`],
  [/^([+-]?)(\.\d+)$/, ([, sign, fraction]) => `begins with a point. Write ${sign}0${fraction}.`],
  [
    /^\d{4}-(?:0[1-9]|1[0-2])$/,
    ([all]) => `is not a date: a date has a day. Write ${all}-01, or use year() and month().`,
  ],
  [
    /^(\d+(?:\.\d+)?)([+-])(\d+(?:\.\d+)?)$/,
    ([, left, sign, right]) => `is not a literal. Write ${left} ${sign === '-' ? 'sub' : 'add'} ${right}.`,
  ],
  [
    /^\d+-\d+-\d+|^\d\d?\.\d\d?\.(?:\d\d){1,2}$/,
    () =>
      'is not a date, moment or guid. Write 2024-02-29, 2024-02-29T13:45:00Z or 01234567-89ab-cdef-0123-456789abcdef.',
  ],
  [
    /^(\d+[A-Za-z_].*)$/,
    ([all]) => `is not a number, and a name that begins with a digit is written "${excerpt(all!)}".`,
  ],
  [/^/, () => 'is not a number, date, time or guid.'],
]

function malformed(image: string, shown: string): string {
  const [like, sentence] = MALFORMED.find(([form]) => form.test(image))!
  return `'${shown}' ${sentence(like.exec(image)!)}`
}

/** The error for a time of day like `3:26:05`, which the lexer reads as a number and a colon. */
function timeBefore(text: string, before: Token | undefined): Error | undefined {
  const time = before && /^\d:\d\d(?::\d\d)?(?!\w)/.exec(text.slice(before.startOffset))
  return time
    ? invalid(before.startOffset, `'${time[0]}' is not a time of day. Write 0${time[0]}.`)
    : undefined
}

/** The error for a text with an unknown prefix. */
export function unknownPrefix(prefix: string, at: number): Error {
  const name = prefix.toLowerCase()
  if (name === 'x') {
    return invalid(
      at,
      `the prefix ${prefix}'…' is no longer in the language. Write binary'…' with base64url.`,
    )
  }
  const kind = name === 'geography' || name === 'geometry' ? 'a geographic' : 'an enumeration'
  return invalid(
    at,
    `${excerpt(prefix)}'…' is not supported here: no column has ${kind} type. Only duration and binary may prefix a ` +
      'text.',
  )
}

const NO_COLLECTION = 'is not supported here: no column holds a collection.'
const CHOICE = 'is not a function. Did you mean case, as in case(x gt 5: 1, true: 0)?'
const INSTEAD_OF_NULL = 'is not a function. Did you mean case, as in case(x ne null: x, true: 0)?'
const OF_ROWS = `is not a function here: it takes many rows. Write it in ${hint('$apply')}, as in aggregate(x with max as y).`
const TODAY = 'is not a function. Did you mean date(now())?'

/** Functions of the standard and of other languages that are not here, each with what is said of it. */
const OTHER_FUNCTIONS: Readonly<Record<string, string>> = {
  isof: 'is not supported here: every column has one known type.',
  ...{ hassubset: NO_COLLECTION, hassubsequence: NO_COLLECTION, any: NO_COLLECTION, all: NO_COLLECTION },
  replace: 'is not a function: OData has none that replaces text.',
  substringof: 'is not a function. Did you mean contains, with the arguments the other way round?',
  ...{ today: TODAY, curdate: TODAY, if: CHOICE, iif: CHOICE, iff: CHOICE },
  ...{ coalesce: INSTEAD_OF_NULL, ifnull: INSTEAD_OF_NULL },
  ...{ count: OF_ROWS, sum: OF_ROWS, min: OF_ROWS, max: OF_ROWS, avg: OF_ROWS, average: OF_ROWS },
  isnull: 'is not a function. Did you mean x eq null?',
}

/** Functions that other languages call by names too far from ours. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{ getdate: 'now', len: 'length', strlen: 'length', regexmatch: 'matchesPattern' },
  ...{ lower: 'tolower', upper: 'toupper', ceil: 'ceiling' },
}

export function unknownFunction(token: Token): Error {
  const { image, startOffset: at } = token
  const name = image.toLowerCase()
  if (isA(token, T.Infix) || token.tokenType === T.In) {
    const example = { in: 'x in (1, 2)', and: 'x gt 1 and (…)', or: 'x gt 1 or (…)' }[name] ?? `x ${name} (…)`
    return invalid(at, `'${image}' stands between two operands, as in ${example}.`)
  }
  if (Object.hasOwn(OTHER_FUNCTIONS, name)) return invalid(at, `${image}() ${OTHER_FUNCTIONS[name]}`)
  const names = functionTable.map((row) => row.name)
  const meant = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : nearest(name, names)
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
    if (token.tokenType === T.LParen) {
      const called = isA(before, T.Word) && before!.startOffset + before!.image.length === token.startOffset
      open.push({ at: token.startOffset, callee: called ? before : undefined })
    } else if (token.tokenType === T.RParen) open.pop()
    before = token
  }
  return open.at(-1)
}
