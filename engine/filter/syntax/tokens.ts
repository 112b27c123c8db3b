import { createToken, type IToken, Lexer, type TokenType } from 'chevrotain'
import { excerpt, invalid, LIMITS, tooComplex, tooDeep } from '../errors.ts'
import { INFIX_NAMES } from '../tables/operators.ts'

/**
 * The tokens of a filter. Whether a word is a column, a function or an operator depends on where it stands, so every
 * operator's token is also a Word, and the grammar asks for the one or the other.
 */

const WORD = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*/uy

/** What names a column: a Word, or any text in double quotes. */
export const Name = createToken({ name: 'Name' })

export const Word = createToken({
  name: 'Word',
  categories: [Name],
  pattern: (text: string, offset: number) => {
    WORD.lastIndex = offset
    return WORD.exec(text) as [string] | null
  },
})

/** A literal of any kind; the kind is the token's name. */
export const Literal = createToken({ name: 'Literal' })
export const Infix = createToken({ name: 'Infix' })

/** The longest names come first, because `divby` begins with `div`. */
const infixTokens = INFIX_NAMES.toSorted((a, b) => b.length - a.length).map((name) =>
  createToken({ name, pattern: new RegExp(name, 'i'), longer_alt: Word, categories: [Infix, Word] }),
)
/** A word with a meaning in $apply, and in other places a name like any other. */
export const Keyword = createToken({ name: 'Keyword' })

function keyword(word: string, ...categories: TokenType[]): TokenType {
  return createToken({
    name: word.toUpperCase(),
    pattern: new RegExp(word, 'i'),
    longer_alt: Word,
    categories: [...categories, Word],
  })
}

/** top and skip */
export const WindowKeyword = createToken({ name: 'window' })
/** topcount and its like */
export const KeepKeyword = createToken({ name: 'keep' })
export const Identity = keyword('identity', Keyword)
export const Filter = keyword('filter', Keyword)
export const Compute = keyword('compute', Keyword)
export const OrderBy = keyword('orderby', Keyword)
export const Aggregate = keyword('aggregate', Keyword)
export const GroupBy = keyword('groupby', Keyword)
export const Concat = keyword('concat', Keyword)
export const Rollup = keyword('rollup', Keyword)
const windows = ['top', 'skip'].map((name) => keyword(name, WindowKeyword, Keyword))
const keeps = ['count', 'sum', 'percent'].flatMap((until) =>
  ['top', 'bottom'].map((end) => keyword(`${end}${until}`, KeepKeyword, Keyword)),
)
/** These follow an expression. */
export const As = keyword('as')
export const With = keyword('with')
export const Asc = keyword('asc')
export const Desc = keyword('desc')
/** The longest come first, because `topcount` begins with `top`. */
const keywords = [
  ...[Identity, Filter, Compute, OrderBy, Aggregate, GroupBy, Concat, Rollup, ...keeps],
  ...[...windows, With, Desc, Asc, As],
]

/** `search(` in $apply, after which the text is one to search for. */
export const SearchOpen = createToken({ name: 'SearchOpen', pattern: /search\s*\(/i, push_mode: 'search' })

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
export const Alias = createToken({ name: 'Alias', pattern: /@[A-Za-z_]\w*(?![.\w])/ })
export const TypeName = createToken({ name: 'TypeName', pattern: /Edm\.\w+(?![.\w])/i })
export const QuotedName = createToken({
  name: 'QuotedName',
  pattern: /"[^"]*(?:""[^"]*)*"/,
  categories: [Name],
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
  return createToken({ name, pattern, categories: [Foreign] })
}

/** `$count`, which stands in aggregate() only. */
export const Count = foreign('count', /\$count(?![.\w])/i)

/** The standard allows blanks and tabs only, but people also write line breaks and paste non-breaking spaces. */
const Blank = createToken({ name: 'Blank', pattern: /\s+/, group: Lexer.SKIPPED })

const TOKENS: TokenType[] = [
  Blank,
  SearchOpen,
  createToken({ name: 'string', pattern: /'[^']*(?:''[^']*)*'/, categories: [Literal] }),
  createToken({
    name: 'prefixed',
    pattern: /[A-Za-z_]\w*(?:\.\w+)*'[^']*(?:''[^']*)*'/,
    categories: [Literal],
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
  foreign('quotes', /[\u2018-\u201f\u00b4\u00ab\u00bb`]/),
  Alias,
  Count,
  foreign('alias', /[@$][\w.]*/),
  Slash,
  LBracket,
  foreign('bracket', /[\]{}]/),
  foreign('symbol', /[=<>!&|+*%^~?;#\\≠≤≥−]+/),
  wordLiteral('null', /null/),
  wordLiteral('boolean', /true|false/i),
  wordLiteral('NaN', /NaN/),
  wordLiteral('INF', /INF/),
  ...keywords,
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
const JsonText = createToken({ name: 'jsonText', pattern: /"(?:[^"\\\n]|\\.)*"/, categories: [Literal] })

const LIST_TOKENS = [RBracket, ...TOKENS.map((token) => (token === QuotedName ? JsonText : token))]

/** A word or a phrase to search for; between others, the words AND, OR and NOT are operators. */
export const SearchWord = createToken({ name: 'SearchWord', pattern: /[^\s()"]+/ })
function searchOperator(word: string): TokenType {
  return createToken({
    name: `Search ${word}`,
    pattern: new RegExp(`${word}(?![^\\s()"])`),
    categories: [SearchWord],
  })
}
export const SearchAnd = searchOperator('AND')
export const SearchOr = searchOperator('OR')
export const SearchNot = searchOperator('NOT')
export const SearchLParen = createToken({ name: 'SearchLParen', pattern: '(', push_mode: 'search' })
export const SearchRParen = createToken({ name: 'SearchRParen', pattern: ')', pop_mode: true })

const SEARCH_TOKENS = [
  Blank,
  createToken({ name: 'phrase', pattern: /"(?:[^"\\]|\\[\s\S])*"/, categories: [SearchWord] }),
  createToken({ name: 'quoted', pattern: /'[^']*(?:''[^']*)*'(?![^\s()])/, categories: [SearchWord] }),
  foreign('openPhrase', /"/),
  SearchAnd,
  SearchOr,
  SearchNot,
  SearchWord,
  SearchLParen,
  SearchRParen,
]

/** A name without quotes in a list of names: all up to the next comma, or up to a direction before it. */
const BareName = createToken({
  name: 'BareName',
  // The lookahead matches one blank only. With `\s+`, a long row of blanks would be tried from each of its positions,
  // which takes time that grows with the square of its length.
  pattern: /[^\s",](?:(?!\s(?:asc|desc)(?!\s*[^\s,]))[^,])*/i,
  categories: [Name],
})
export const Direction = createToken({
  name: 'Direction',
  pattern: /(?:asc|desc)(?!\s*[^\s,])/i,
  categories: [BareName, Name],
})

const NAME_TOKENS = [Blank, Comma, QuotedName, foreign('openName', /"/), Direction, BareName]

const MODES = { expression: TOKENS, list: LIST_TOKENS, search: SEARCH_TOKENS, names: NAME_TOKENS }
/** What a text consists of; the lexer begins in this mode. */
export type Mode = 'expression' | 'search' | 'names'

/** All types of tokens, for the grammar. */
export const VOCABULARY: TokenType[] = [
  ...new Set([...Object.values(MODES).flat(), Literal, Infix, Name, Foreign]),
  ...[Keyword, WindowKeyword, KeepKeyword],
]

let made: Lexer | undefined

/** @param skipValidations whether chevrotain skips checks of the patterns themselves, which only tests need */
export function defineLexer(skipValidations = true): Lexer {
  Word.START_CHARS_HINT = startingWith(/[A-Za-z_]/)
  SearchWord.START_CHARS_HINT = startingWith(/[^\s()"]/)
  BareName.START_CHARS_HINT = startingWith(/[^\s",]/)
  return new Lexer(
    { modes: MODES, defaultMode: 'expression' },
    {
      positionTracking: 'onlyOffset',
      recoveryEnabled: false,
      ensureOptimizations: true,
      skipValidations,
    },
  )
}

/**
 * The characters that a pattern may begin with, by which the lexer chooses patterns: those of ASCII that are given, and
 * all others. Beyond 255 the lexer puts 255 characters into one class, so one character in every 128 names all classes.
 */
function startingWith(ascii: RegExp): string[] {
  const characters = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code))
  const others = Array.from({ length: 128 }, (_, index) => String.fromCharCode(index + 0x80))
  const classes = Array.from({ length: 511 }, (_, index) => String.fromCharCode((index + 2) * 0x80 - 1))
  return [...characters.filter((character) => ascii.test(character)), ...others, ...classes]
}

export type Token = IToken

/** Whether a token is of a type, or of a category. */
export function isA(token: Token | undefined, type: TokenType): boolean {
  return token !== undefined && (token.tokenType === type || !!token.tokenType.CATEGORIES?.includes(type))
}

/**
 * Splits a text into tokens, and enforces the limits of length, number of tokens and nesting.
 * @throws EngineError `invalid_filter`, `filter_too_complex`
 */
export function tokenize(text: string, mode: Mode = 'expression'): readonly Token[] {
  if (text.length > LIMITS.length) {
    throw tooComplex(`The filter has ${text.length} characters; the limit is ${LIMITS.length}.`)
  }
  checkCharacters(text)
  made ??= defineLexer()
  const { tokens, errors } = made.tokenize(text, mode)
  const error = errors[0]
  if (error) throw unreadable(text, error.offset)
  if (tokens.length > LIMITS.tokens) {
    throw tooComplex(`The filter has ${tokens.length} tokens; the limit is ${LIMITS.tokens}.`)
  }
  checkNesting(tokens)
  return tokens
}

function checkCharacters(text: string): void {
  if (!text.isWellFormed()) {
    throw invalid(/\p{Surrogate}/u.exec(text)!.index, 'half of a surrogate pair, which is no character.')
  }
  const nul = text.indexOf('\0')
  if (nul >= 0) throw invalid(nul, 'the character U+0000, which no filter may hold.')
}

const OPENING = new Set([LParen, SearchOpen, SearchLParen])
const CLOSING = new Set([RParen, SearchRParen])
const PREFIXES = new Set([Minus, Not, SearchNot])

/** Checks the nesting before parsing, because the parser recurses once for each level. */
function checkNesting(tokens: readonly Token[]): void {
  let depth = 0
  let prefixes = 0
  for (const token of tokens) {
    if (OPENING.has(token.tokenType)) depth++
    else if (CLOSING.has(token.tokenType)) depth--
    prefixes = PREFIXES.has(token.tokenType) ? prefixes + 1 : 0
    if (depth + prefixes > LIMITS.nesting) throw tooDeep()
  }
}

function unreadable(text: string, at: number): Error {
  const character = String.fromCodePoint(text.codePointAt(at)!)
  if (character === ')') return invalid(at, "found ')' without a '(' before it.")
  if (character === "'") return invalid(at, "this text has no closing '. A ' inside a text is written twice.")
  if (character === '"')
    return invalid(at, 'this quoted name has no closing ". A " inside a name is written twice.')
  return invalid(
    at,
    `the character '${excerpt(character)}' can't stand here. A name that contains it is written in double quotes.`,
  )
}
