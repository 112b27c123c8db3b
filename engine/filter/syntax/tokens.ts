import type { IToken, ITokenConfig, Lexer, TokenType } from 'chevrotain'
import { excerpt, invalid, tooComplex } from '../errors.ts'
import { DEFAULT_LIMITS, type FilterLimits, tooDeep } from '../limits.ts'
import { INFIX_NAMES } from '../tables/operators.ts'
import { chevrotain } from './chevrotain.ts'

/**
 * The tokens of a filter. Whether a word is a column, a function or an operator depends on where it stands, so every
 * operator's token is also a Word, and the grammar asks for the one or the other.
 */

const WORD = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*/uy

/**
 * Does the same as chevrotain's createToken(), for which chevrotain would have to be loaded. The lexer numbers the
 * types when it is made.
 */
function createToken(config: Omit<ITokenConfig, 'categories'> & { categories?: TokenType[] }): TokenType {
  const { name, pattern, categories, longer_alt, line_breaks, push_mode, pop_mode } = config
  return {
    name,
    ...(pattern !== undefined && { PATTERN: pattern }),
    ...(categories && { CATEGORIES: categories }),
    ...(longer_alt && { LONGER_ALT: longer_alt }),
    ...(line_breaks !== undefined && { LINE_BREAKS: line_breaks }),
    ...(push_mode !== undefined && { PUSH_MODE: push_mode }),
    ...(pop_mode !== undefined && { POP_MODE: pop_mode }),
  }
}

export const Word = createToken({
  name: 'Word',
  pattern: (text: string, offset: number) => {
    WORD.lastIndex = offset
    return WORD.exec(text) as [string] | null
  },
  line_breaks: false,
})

/** A literal of any kind; the kind is the token's name. */
export const Literal = createToken({ name: 'Literal' })
export const Infix = createToken({ name: 'Infix' })

/** The longest names come first, because `divby` begins with `div`. */
const infixTokens = INFIX_NAMES.toSorted((a, b) => b.length - a.length).map((name) =>
  createToken({ name, pattern: new RegExp(name, 'i'), longer_alt: Word, categories: [Infix, Word] }),
)
export const In = createToken({ name: 'in', pattern: /in/i, longer_alt: Word, categories: [Word] })
export const Not = createToken({ name: 'not', pattern: /not/i, longer_alt: Word, categories: [Word] })

/** `null`, `NaN` and `INF` are the only words whose case matters. Columns with these names must be quoted. */
function wordLiteral(name: string, pattern: RegExp): TokenType {
  return createToken({ name, pattern, longer_alt: Word, categories: [Literal] })
}

/**
 * A literal ends where no letter, digit, point or sign follows: `5-3` is neither a number nor a subtraction. A colon
 * may follow, because it separates conditions from results in case().
 */
function numberLike(name: string, pattern: RegExp): TokenType {
  return createToken({
    name,
    pattern: new RegExp(`(?:${pattern.source})(?![\\w.+-])`, 'i'),
    categories: [Literal],
    line_breaks: false,
  })
}

const TIME = /\d\d:\d\d(?::\d\d(?:\.\d+)?|(?!:\d\d))/.source
const DATE = /-?\d{4,}-\d\d-\d\d/.source

export const LParen = createToken({ name: 'LParen', pattern: '(' })
export const RParen = createToken({ name: 'RParen', pattern: ')' })
export const Comma = createToken({ name: 'Comma', pattern: ',' })
export const Colon = createToken({ name: 'Colon', pattern: ':' })
export const Minus = createToken({ name: 'Minus', pattern: '-' })
export const Slash = createToken({ name: 'Slash', pattern: '/' })
/** `[` begins a list in the notation of JSON, with texts in double quotes; `]` ends it. */
export const LBracket = createToken({ name: 'LBracket', pattern: '[', push_mode: 'list' })
export const RBracket = createToken({ name: 'RBracket', pattern: ']', pop_mode: true })
export const Alias = createToken({ name: 'Alias', pattern: /@[A-Za-z_]\w*(?![.\w])/, line_breaks: false })
export const TypeName = createToken({ name: 'TypeName', pattern: /Edm\.\w+(?![.\w])/i, line_breaks: false })
export const QuotedName = createToken({
  name: 'QuotedName',
  pattern: /"[^"]*(?:""[^"]*)*"/,
  line_breaks: true,
})

export const TimeLiteral = numberLike('time', new RegExp(TIME))
/** Numbers, also with the type suffixes of OData version 3, which add nothing to the digits. */
export const NumberLiteral = numberLike('number', /[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?[ldfm]?/)

/**
 * Common mistakes, and parts of the standard that make no sense for a flat table. They are recognised only so that the
 * error message can be helpful.
 */
export const Foreign = createToken({ name: 'Foreign' })
function foreign(name: string, pattern: RegExp): TokenType {
  return createToken({ name, pattern, categories: [Foreign], line_breaks: false })
}

/** The standard allows blanks and tabs only, but people also write line breaks and paste non-breaking spaces. */
const Blank = createToken({ name: 'Blank', pattern: /\s+/, line_breaks: true })

const TOKENS: TokenType[] = [
  Blank,
  createToken({ name: 'string', pattern: /'[^']*(?:''[^']*)*'/, categories: [Literal], line_breaks: true }),
  createToken({
    name: 'prefixed',
    pattern: /[A-Za-z_]\w*(?:\.\w+)*'[^']*(?:''[^']*)*'/,
    categories: [Literal],
    line_breaks: true,
  }),
  QuotedName,
  numberLike('guid', /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/),
  numberLike('moment', new RegExp(`${DATE}T${TIME}(?:Z|[+-]\\d\\d:\\d\\d)?`)),
  numberLike('date', new RegExp(DATE)),
  TimeLiteral,
  foreign('malformedTime', /\d\d:\d\d[\w:.]*/),
  NumberLiteral,
  createToken({ name: 'negativeInfinity', pattern: /-INF(?!\w)/, categories: [Literal] }),
  foreign('malformed', /[+-]?\.?\d(?:[\w.+-]|:(?=\d))*/),
  TypeName,
  foreign('qualified', /[A-Za-z_]\w*(?:\.\w+)+/),
  foreign('quotes', /[\u2018-\u201f\u00b4]/),
  Alias,
  foreign('alias', /[@$][\w.]*/),
  Slash,
  LBracket,
  foreign('bracket', /[\]{}]/),
  foreign('symbol', /[=<>!&|+*%^~?;#\\`]+/),
  wordLiteral('null', /null/),
  wordLiteral('boolean', /true|false/i),
  wordLiteral('NaN', /NaN/),
  wordLiteral('INF', /INF/),
  ...infixTokens,
  In,
  Not,
  Word,
  LParen,
  RParen,
  Comma,
  Colon,
  Minus,
]

/** Text in double quotes within a list in brackets. */
const JsonText = createToken({
  name: 'jsonText',
  pattern: /"(?:[^"\\\n]|\\.)*"/,
  categories: [Literal],
  line_breaks: false,
})

const LIST_TOKENS = [RBracket, ...TOKENS.map((token) => (token === QuotedName ? JsonText : token))]

/** All types of tokens, for the grammar. */
export const VOCABULARY: TokenType[] = [...TOKENS, RBracket, JsonText, Literal, Infix, Foreign]

let made: Lexer | undefined

/** @param skipValidations whether chevrotain skips checks of the patterns themselves, which only tests need */
export function defineLexer(skipValidations = true): Lexer {
  const { Lexer } = chevrotain()
  Blank.GROUP = Lexer.SKIPPED
  // The lexer chooses patterns by the first character. Beyond 255 it puts 255 characters into one class, so one
  // character in every 128 is enough to name all classes.
  Word.START_CHARS_HINT = [
    ...'ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz',
    ...Array.from({ length: 128 }, (_, index) => index + 0x80),
    ...Array.from({ length: 511 }, (_, index) => (index + 2) * 0x80 - 1),
  ]
  return new Lexer(
    { modes: { filter: TOKENS, list: LIST_TOKENS }, defaultMode: 'filter' },
    {
      positionTracking: 'onlyOffset',
      recoveryEnabled: false,
      ensureOptimizations: true,
      skipValidations,
    },
  )
}

export type Token = IToken

/**
 * Splits a text into tokens, and enforces the limits of length, number of tokens and nesting.
 * @throws EngineError `invalid_filter`, `filter_too_complex`
 */
export function tokenize(text: string, limits: FilterLimits = DEFAULT_LIMITS): readonly Token[] {
  if (text.length > limits.length) {
    throw tooComplex(`The filter has ${text.length} characters; the limit is ${limits.length}.`)
  }
  checkCharacters(text)
  made ??= defineLexer()
  const { tokens, errors } = made.tokenize(text)
  const error = errors[0]
  if (error) throw unreadable(text, error.offset)
  if (tokens.length > limits.tokens) {
    throw tooComplex(`The filter has ${tokens.length} tokens; the limit is ${limits.tokens}.`)
  }
  checkNesting(tokens, limits)
  return tokens
}

function checkCharacters(text: string): void {
  if (text.trim() === '') throw invalid(0, 'the filter is empty. Write a condition, as in Price gt 5.')
  if (!text.isWellFormed()) {
    throw invalid(/\p{Surrogate}/u.exec(text)!.index, 'half of a surrogate pair, which is no character.')
  }
  const nul = text.indexOf('\0')
  if (nul >= 0) throw invalid(nul, 'the character U+0000, which no filter may hold.')
}

/** Checks the nesting before parsing, because the parser recurses once for each level. */
function checkNesting(tokens: readonly Token[], limits: FilterLimits): void {
  let depth = 0
  let prefixes = 0
  for (const token of tokens) {
    if (token.tokenType === LParen) depth++
    else if (token.tokenType === RParen) depth--
    prefixes = token.tokenType === Minus || token.tokenType === Not ? prefixes + 1 : 0
    if (depth + prefixes > limits.nesting) throw tooDeep(limits)
  }
}

function unreadable(text: string, at: number): Error {
  const character = String.fromCodePoint(text.codePointAt(at)!)
  if (character === "'") return invalid(at, "this text has no closing '. A ' inside a text is written twice.")
  if (character === '"')
    return invalid(at, 'this quoted name has no closing ". A " inside a name is written twice.')
  return invalid(
    at,
    `the character '${excerpt(character)}' can't stand here. A name that contains it is written in double quotes.`,
  )
}
