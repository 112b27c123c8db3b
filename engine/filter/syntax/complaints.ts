import type { IRecognitionException, IToken } from 'chevrotain'
import { excerpt, invalid, nearest } from '../errors.ts'
import { functionRow, functionTable } from '../tables/functions.ts'
import { INFIX_NAMES } from '../tables/operators.ts'
import {
  Colon,
  Comma,
  Foreign,
  In,
  Infix,
  LParen,
  Minus,
  QuotedName,
  RParen,
  type Token,
  Word,
} from './tokens.ts'

/** What to say where the text is no filter: where, what was found, what was expected, and what was probably meant. */
export function complain(text: string, tokens: readonly Token[], error: IRecognitionException): Error {
  const index = tokens.indexOf(error.token)
  const found = index < 0 ? undefined : tokens[index]
  const before = index < 0 ? tokens.at(-1) : tokens[index - 1]
  const at = found?.startOffset ?? text.length
  const open = openParenthesis(tokens, found)
  const callee = open?.callee?.image.toLowerCase() ?? ''
  if (open?.callee && Object.hasOwn(NOT_HERE, callee)) return unknownFunction(open.callee)
  if (found && isA(found, Foreign)) return foreign(found, before)
  const rule = error.context.ruleStack.at(-1)
  if (rule === 'list' || rule === 'item' || before?.tokenType === In) return inList(at, found, before)
  return error.name === 'NoViableAltException'
    ? noOperand(at, found, before)
    : noOperator(at, found, { before, after: found && tokens[index + 1] }, open)
}

function isA(token: Token | undefined, type: typeof Infix): boolean {
  return token !== undefined && (token.tokenType === type || !!token.tokenType.CATEGORIES?.includes(type))
}

/** A token as a message names it; what has quotes of its own needs no others. */
function quote({ image }: IToken): string {
  return /^['"]/.test(image) ? excerpt(image) : `'${excerpt(image)}'`
}

/** A value is wanted. */
function noOperand(at: number, found: Token | undefined, before: Token | undefined): Error {
  const what = found ? `found ${quote(found)}` : 'the filter ends'
  const where = before ? ` after ${quote(before)}` : ''
  return invalid(at, `${what}${where}, where a column, a literal, a function or '(' is expected.`)
}

interface Neighbours {
  readonly before: Token | undefined
  readonly after: Token | undefined
}

/** A value is complete; an operator, a parenthesis or the end is wanted. */
function noOperator(at: number, found: Token | undefined, around: Neighbours, open: Open | undefined): Error {
  if (!found) return invalid(at, `the filter ends, but the '(' at position ${open!.at + 1} is not closed.`)
  switch (found.tokenType) {
    case RParen:
      return invalid(at, "found ')' without a '(' before it.")
    case Comma:
      return invalid(
        at,
        `found ',' outside of a function and of a list. ${
          isNumber(around.before) && isNumber(around.after)
            ? 'A number has no commas; its decimal sign is a point.'
            : "A list can stand only after 'in'."
        }`,
      )
    case Colon:
      return invalid(at, "found ':', which can stand only in case().")
  }
  const word = found.image.toLowerCase()
  if (Object.hasOwn(OTHER_LANGUAGES, word)) {
    return invalid(at, `'${found.image}' is no operator here${OTHER_LANGUAGES[word]}`)
  }
  const next = open ? "')'" : 'the end'
  const hint = operatorHint(found, around)
  return invalid(
    at,
    `found ${quote(found)}, where an operator like eq or and, or ${next}, is expected.${hint}`,
  )
}

function isNumber(token: Token | undefined): boolean {
  return token?.tokenType.name === 'number'
}

function operatorHint(found: Token, { before, after }: Neighbours): string {
  if (found.tokenType === LParen && before && functionRow(before.image)) {
    return ` No blank may stand between ${before.image} and its '('.`
  }
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
  if (name && row) return ` ${row.name} is a function: write ${row.name}(${excerpt(name)}, …).`
  const meant = nearest(found.image, [...INFIX_NAMES, 'in'])
  if (meant) return ` Did you mean ${meant}?`
  const parted = name !== undefined && before!.tokenType !== QuotedName && isA(after, Infix)
  return parted
    ? ` A name that holds a blank stands in double quotes: "${excerpt(`${name} ${found.image}`)}".`
    : ''
}

/** Words of SQL and other dialects, and what to say of them after "is no operator here". */
const OTHER_LANGUAGES: Readonly<Record<string, string>> = {
  has: ', because no column has an enumeration type.',
  is: '. Write eq null or ne null.',
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

/** Tokens that no rule takes, there for their messages. */
function foreign(token: Token, before: Token | undefined): Error {
  const { image, startOffset: at, tokenType } = token
  switch (tokenType.name) {
    case 'malformed':
      return malformed(image, at)
    case 'malformedTime':
      return invalid(
        at,
        `'${excerpt(image)}' is no time of day. Write 13:45 or 13:45:00.5, without an offset.`,
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
        `'${excerpt(image)}' is not supported here: parameter aliases, annotations and $it, $root, $this mean nothing on a table.`,
      )
    case 'path':
      return isA(before, Word)
        ? invalid(
            at,
            "'/' is not supported here: a table has no paths, no any and no all. To divide, write div or divby.",
          )
        : invalid(
            at,
            `'/' is not supported here.${
              isNumber(before) ? ' To divide, write div or divby; a date is written as 2024-02-29.' : ''
            }`,
          )
    case 'bracket':
      return invalid(
        at,
        image === '[' || image === ']'
          ? `'${image}' is not supported here: a list is written in parentheses, as in x in ('a', 'b').`
          : `'${image}' is not supported here: a table has no objects.`,
      )
    case 'quotes':
      return invalid(at, `the quote ${image} is not a straight one. Texts stand in '…', names in "…".`)
    default: {
      const meant = Object.hasOwn(SYMBOLS, image) ? SYMBOLS[image] : undefined
      return invalid(at, `'${excerpt(image)}' is no operator here.${meant ? ` Write ${meant}.` : ''}`)
    }
  }
}

function malformed(image: string, at: number): Error {
  const shown = excerpt(image)
  if (/^[+-]?\d+\.$/.test(image))
    return invalid(at, `'${shown}' ends in a point. Write ${image}0 or ${image.slice(0, -1)}.`)
  if (/^[+-]?\.\d+$/.test(image)) {
    return invalid(at, `'${shown}' begins with a point. Write ${image.replace('.', '0.')}.`)
  }
  if (/^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?[ldfm]$/i.test(image)) {
    return invalid(at, `'${shown}' has a suffix, which numbers no longer have. Write ${image.slice(0, -1)}.`)
  }
  const subtraction = /^(\d+(?:\.\d+)?)([+-])(\d+(?:\.\d+)?)$/.exec(image)
  if (subtraction) {
    const [, left, sign, right] = subtraction
    return invalid(at, `'${shown}' is no literal. Write ${left} ${sign === '-' ? 'sub' : 'add'} ${right}.`)
  }
  if (/^\d+-\d+-\d+/.test(image)) {
    return invalid(
      at,
      `'${shown}' is no date, moment or guid. Write 2024-02-29, 2024-02-29T13:45:00Z or 01234567-89ab-cdef-0123-456789abcdef.`,
    )
  }
  if (/^\d+[A-Za-z_]/.test(image)) {
    return invalid(at, `'${shown}' is no number, and a name that begins with a digit is written "${shown}".`)
  }
  return invalid(at, `'${shown}' is no number, date, time or guid.`)
}

const OLD_PREFIXES: Readonly<Record<string, string>> = {
  datetime: 'Write the moment bare, as 2024-02-29T13:45:00Z.',
  datetimeoffset: 'Write the moment bare, as 2024-02-29T13:45:00Z.',
  date: 'Write the date bare, as 2024-02-29.',
  time: 'Write the time bare, as 13:45:00.',
  guid: 'Write the guid bare, as 01234567-89ab-cdef-0123-456789abcdef.',
  x: "Write binary'…' with base64url.",
}

/** A text with a prefix that is neither `duration` nor `binary`. */
export function unknownPrefix(prefix: string, at: number): Error {
  const name = prefix.toLowerCase()
  const old = Object.hasOwn(OLD_PREFIXES, name) ? OLD_PREFIXES[name] : undefined
  if (old) return invalid(at, `the prefix ${prefix}'…' is no longer in the language. ${old}`)
  const kind = name === 'geography' || name === 'geometry' ? 'a geographic' : 'an enumeration'
  return invalid(
    at,
    `${excerpt(prefix)}'…' is not supported here: no column has ${kind} type. Only duration and binary may prefix a text.`,
  )
}

const NOT_HERE: Readonly<Record<string, string>> = {
  cast: 'numbers, and dates with moments, compare without it',
  isof: 'every column has one known type',
  hassubset: 'no column holds a collection',
  hassubsequence: 'no column holds a collection',
  any: 'no column holds a collection',
  all: 'no column holds a collection',
}

const OLD_FUNCTIONS: Readonly<Record<string, string>> = {
  substringof: 'contains, with the arguments the other way round',
  replace: 'no function: OData has none to replace text',
  ceil: 'ceiling',
  len: 'length',
  lower: 'tolower',
  upper: 'toupper',
  strlen: 'length',
  regexmatch: 'matchesPattern',
}

export function unknownFunction({ image, startOffset: at }: IToken): Error {
  const name = image.toLowerCase()
  if (name === 'not' || name === 'and' || name === 'or') {
    return invalid(at, `'${image}' needs a blank after it, as in ${name} (…).`)
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
  return invalid(at, `${excerpt(image)}() is no function.${meant ? ` Did you mean ${meant}?` : ''}`)
}

interface Open {
  readonly at: number
  /** The function, if it is its parenthesis. */
  readonly callee: Token | undefined
}

/** The innermost parenthesis that is open before a token. */
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
