import { type AST, RegExpParser, type RegExpSyntaxError, visitRegExpAST } from '@eslint-community/regexpp'

/** `ignoreCase` is the flag `i`. `dotAll` is the flag `s`: a point matches line ends too. */
export interface PatternFlags {
  readonly ignoreCase: boolean
  readonly dotAll: boolean
}

const NO_FLAGS: PatternFlags = { ignoreCase: false, dotAll: false }

/**
 * Translates an ECMAScript regular expression (with the flag `u`) for RE2, with which DuckDB matches in linear time.
 * The two look alike and differ in detail: `.`, `\s`, `\u`, `[]`, `[^]`. What RE2 doesn't have (lookaround,
 * backreferences) is refused.
 * @throws Error whose message continues "the pattern …"
 */
export function translatePattern(pattern: string, flags: PatternFlags = NO_FLAGS): string {
  if (pattern.length > LONGEST) throw new Error(`is longer than ${LONGEST} characters.`)
  const text = translated(parsed(pattern), flags)
  if (flags.ignoreCase) return `(?i:${text})|${NOTHING}`
  return PLAIN.test(pattern) ? text : `${text}|${NOTHING}`
}

/**
 * DuckDB replaces some patterns by a search for a text, and gets those wrong that have a ^ in the middle or an empty
 * group. Only plain texts may be replaced; every other pattern gets an alternative that never matches, which keeps
 * DuckDB from replacing it.
 */
const PLAIN = /^\^?[^\\^$.*+?()[\]{}|]+\$?$/

/** RE2 refuses counted repetitions beyond 1000, and programs that are too large. */
const MOST_REPETITIONS = 1000
const LARGEST = 100_000
const DEEPEST = 100
const LONGEST = 20_000

const parser = new RegExpParser({ ecmaVersion: 2025 })

function parsed(pattern: string): AST.Pattern {
  try {
    return parseStrictly(pattern)
  } catch (error) {
    const other = lenient(pattern)
    if (other === pattern || error instanceof RangeError) throw refusal(error, pattern)
    try {
      return parseStrictly(other)
    } catch {
      throw refusal(error, pattern)
    }
  }
}

function parseStrictly(pattern: string): AST.Pattern {
  return parser.parsePattern(pattern, 0, undefined, { unicode: true })
}

/**
 * The pattern without needless backslashes. With the flag `u`, only characters of the syntax may be escaped; patterns
 * written for other engines often have `\-` and the like, whose meaning is clear.
 */
function lenient(pattern: string): string {
  return pattern.replaceAll(/\\([ !"#%&',\-:;<=>@_`~])|\\./gs, (whole, character?: string) => {
    if (character === undefined) return whole
    return character === '-' ? '\\x2d' : character
  })
}

function refusal(error: unknown, pattern: string): Error {
  if (error instanceof RangeError) return tooDeep()
  const { message, index } = error as RegExpSyntaxError
  const problem = message.slice(message.lastIndexOf(': ') + 2)
  const flags = /^\(\?[a-z]/.test(pattern) ? " Flags stand in a third argument, as 'i'." : ''
  return new Error(`is not valid at its character ${position(pattern, index)}: ${problem}.${flags}`)
}

/** The position of an index, in characters and counted from 1. */
function position(pattern: string, index: number): number {
  return [...pattern.slice(0, index)].length + 1
}

function tooDeep(): Error {
  return new Error(`nests deeper than ${DEEPEST} groups.`)
}

/** The size of RE2's program, in which what is repeated is written out as often. */
class Program {
  #times = 1
  /** Where the outermost repetition begins. */
  #outermost = 0
  #size = 0

  add(instructions: number): void {
    this.#size += instructions * this.#times
    if (this.#size > LARGEST) throw new Error('grows too large when its repetitions are written out.')
  }

  repeat(node: AST.Quantifier, raw: string): void {
    if (this.#times === 1) this.#outermost = node.start
    this.#times *= repetitions(node)
    if (this.#times <= MOST_REPETITIONS) return
    const most = `more than ${MOST_REPETITIONS} times`
    throw refused(`repeats ${most}, counting nested repetitions,`, raw, this.#outermost)
  }

  end(node: AST.Quantifier): void {
    this.#times /= repetitions(node)
  }
}

/** The pattern in the notation of RE2: all is copied but what RE2 writes or means in another way. */
function translated(pattern: AST.Pattern, { ignoreCase, dotAll }: PatternFlags): string {
  const { raw } = pattern
  const program = new Program()
  let [text, copied, depth] = ['', 0, 0]
  const replace = (start: number, end: number, other: string) => {
    text += raw.slice(copied, start) + other
    copied = end
  }
  const enter = ({ start, alternatives }: AST.Group | AST.CapturingGroup) => {
    depth++
    if (depth > DEEPEST) throw tooDeep()
    replace(start, alternatives[0]!.start, '(?:')
  }
  const leave = () => depth--
  visitRegExpAST(pattern, {
    onGroupEnter(node) {
      if (node.modifiers) throw unsupported('modifiers of flags', node, raw)
      enter(node)
    },
    onGroupLeave: leave,
    onCapturingGroupEnter: enter,
    onCapturingGroupLeave: leave,
    onAssertionEnter(node) {
      if (/^look/.test(node.kind)) throw unsupported(`a ${node.kind}`, node, raw)
    },
    onBackreferenceEnter(node) {
      throw unsupported('a backreference', node, raw)
    },
    onQuantifierEnter: (node) => program.repeat(node, raw),
    onQuantifierLeave(node) {
      program.end(node)
      // RE2 takes a count with a zero in front for a text.
      const { end } = node.element
      replace(end, node.end, raw.slice(end, node.end).replaceAll(/\b0+(?=\d)/g, ''))
    },
    onCharacterEnter({ value, start, end }) {
      if (value >= 0xd800 && value <= 0xdfff) throw refused('has half of a surrogate pair', raw, start)
      program.add(1)
      replace(start, end, literal(value))
    },
    onCharacterSetEnter(node) {
      program.add(8)
      const body = node.kind === 'any' ? '' : bodyOf(node, ignoreCase, raw)
      const alone = body === '' ? (dotAll ? ANYTHING : NOT_LINE_END) : `[${body}]`
      replace(node.start, node.end, node.parent.type === 'CharacterClass' ? body : alone)
    },
    onCharacterClassEnter({ elements, negate, start, end }) {
      if (elements.length === 0) replace(start, end, negate ? ANYTHING : NOTHING)
    },
  })
  return text + raw.slice(copied)
}

function repetitions({ min, max }: AST.Quantifier): number {
  return Math.max(Number.isFinite(max) ? max : min, 1)
}

/** What stands in a class for `\d`, `\s`, `\p{L}`, `\p{gc=Lu}`, `\p{Script=Greek}`. */
function bodyOf(
  node: Exclude<AST.CharacterSet, AST.AnyCharacterSet>,
  ignoreCase: boolean,
  raw: string,
): string {
  if (node.kind === 'property') return unicodeProperty(node, ignoreCase, raw)
  if (node.kind === 'space') return node.negate ? NOT_SPACE : SPACE
  if (node.kind === 'digit' || !ignoreCase) return node.raw
  return node.negate ? NOT_WORD_IGNORING_CASE : WORD_IGNORING_CASE
}

function unicodeProperty(node: AST.UnicodePropertyCharacterSet, ignoreCase: boolean, raw: string): string {
  const { key, value, negate } = node
  const name = value ?? key
  const script = value !== null && /^(?:sc|Script)$/.test(key)
  const category = value === null || /^(?:gc|General_Category)$/.test(key)
  if (!(script ? isScript(name) : category && CATEGORY.test(name))) {
    const { message } = unsupported(`the property ${node.raw}`, node, raw)
    throw new Error(`${message} Supported are categories by their short names, and Script=….`)
  }
  // The result would differ: RE2 folds the cases of a negated set after negating it, ECMAScript before.
  if (negate && ignoreCase) throw unsupported(`${node.raw} without regard to case`, node, raw)
  return `\\${negate ? 'P' : 'p'}{${name}}`
}

function unsupported(what: string, { start }: { readonly start: number }, raw: string): Error {
  return refused(`has ${what}, which is not supported,`, raw, start)
}

function refused(why: string, raw: string, at: number): Error {
  return new Error(`${why} at its character ${position(raw, at)}.`)
}

/** Sets of characters as ECMAScript means them, in the notation of RE2. */

const ANYTHING = '[\\x{0}-\\x{10FFFF}]'
const NOTHING = '[^\\x{0}-\\x{10FFFF}]'
const NOT_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

/** White space and line ends of ECMAScript, which are more than RE2's. */
const SPACE =
  '\\x{9}-\\x{D}\\x{20}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}-\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}'
const NOT_SPACE =
  '\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}' +
  '\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{FEFE}\\x{FF00}-\\x{10FFFF}'

/** Where case is ignored, the long s and the Kelvin sign are word characters too, because they fold to s and k. */
const WORD_IGNORING_CASE = '0-9A-Z_a-z'
const NOT_WORD_IGNORING_CASE =
  '\\x{0}-\\x{2F}\\x{3A}-\\x{40}\\x{5B}-\\x{5E}\\x{60}\\x{7B}-\\x{17E}\\x{180}-\\x{2129}\\x{212B}-\\x{10FFFF}'

/** The general categories that RE2 knows, by their short names. */
const CATEGORY = /^(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/

/** ASCII letters and digits are written as they are. All others are written by number, so that RE2 sees no syntax. */
function literal(point: number): string {
  const character = String.fromCodePoint(point)
  return /^[0-9A-Za-z]$/.test(character) ? character : `\\x{${point.toString(16).toUpperCase()}}`
}

/** Whether JavaScript knows a script of this name. Only long names are taken, because RE2 knows no abbreviations. */
function isScript(name: string): boolean {
  if (name.length <= 4) return false
  try {
    return new RegExp(`\\p{Script=${name}}`, 'u') !== undefined
  } catch {
    return false
  }
}
