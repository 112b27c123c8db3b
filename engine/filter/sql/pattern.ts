import { type AST, RegExpParser, type RegExpSyntaxError } from '@eslint-community/regexpp'

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
  const { text } = new Translator(pattern, flags).alternatives(parsed(pattern).alternatives, 0)
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

interface Piece {
  readonly text: string
  /** Estimated number of instructions in RE2's program. */
  readonly size: number
  /** The product of the counts of nested repetitions: how often the innermost part is written out. */
  readonly counted: number
}

class Translator {
  readonly #pattern: string
  readonly #flags: PatternFlags

  constructor(pattern: string, flags: PatternFlags) {
    this.#pattern = pattern
    this.#flags = flags
  }

  alternatives(alternatives: readonly AST.Alternative[], depth: number): Piece {
    if (depth > DEEPEST) throw tooDeep()
    const texts: string[] = []
    let size = alternatives.length
    let counted = 1
    for (const { elements } of alternatives) {
      let text = ''
      for (const element of elements) {
        const piece = this.#element(element, depth)
        text += piece.text
        size += piece.size
        counted = Math.max(counted, piece.counted)
        if (size > LARGEST) throw new Error('grows too large when its repetitions are written out.')
      }
      texts.push(text)
    }
    return { text: texts.join('|'), size, counted }
  }

  #element(element: AST.Element, depth: number): Piece {
    switch (element.type) {
      case 'Character':
        return piece(literal(this.#codePoint(element)), 1)
      case 'CharacterSet':
        return element.kind === 'any'
          ? piece(this.#flags.dotAll ? ANYTHING : NOT_LINE_END, 4)
          : piece(`[${this.#set(element)}]`, 8)
      case 'CharacterClass':
        return this.#class(element)
      case 'Assertion':
        return piece(this.#assertion(element), 1)
      case 'Quantifier':
        return this.#quantifier(element, depth)
      case 'Group':
        if (element.modifiers) throw this.#unsupported('modifiers of flags', element)
        return this.#group(element, depth)
      case 'CapturingGroup':
        return this.#group(element, depth)
      case 'Backreference':
        throw this.#unsupported('a backreference', element)
      default:
        throw this.#unsupported('a set of the flag v', element)
    }
  }

  #group({ alternatives }: AST.Group | AST.CapturingGroup, depth: number): Piece {
    const inner = this.alternatives(alternatives, depth + 1)
    return { ...inner, text: `(?:${inner.text})` }
  }

  #assertion(node: AST.Assertion): string {
    switch (node.kind) {
      case 'start':
        return '^'
      case 'end':
        return '$'
      case 'word':
        return node.negate ? '\\B' : '\\b'
      case 'lookahead':
      case 'lookbehind':
        throw this.#unsupported(`a ${node.kind}`, node)
      default:
        return node satisfies never
    }
  }

  #quantifier({ element, min, max, greedy, start }: AST.Quantifier, depth: number): Piece {
    const inner = this.#element(element, depth)
    const times = Number.isFinite(max) ? Math.max(max, 1) : Math.max(min, 1)
    const counted = inner.counted * times
    if (counted > MOST_REPETITIONS) {
      throw new Error(
        `repeats more than ${MOST_REPETITIONS} times, counting nested repetitions, at its character ${position(this.#pattern, start)}.`,
      )
    }
    const text = `${inner.text}${quantifierText(min, max)}${greedy ? '' : '?'}`
    return { text, size: inner.size * Math.max(times, 2), counted }
  }

  #class({ elements, negate }: AST.CharacterClass): Piece {
    const body = elements.map((element) => this.#member(element)).join('')
    if (body === '') return piece(negate ? ANYTHING : NOTHING, 4)
    return piece(`[${negate ? '^' : ''}${body}]`, 4 + body.length / 4)
  }

  #member(element: AST.CharacterClass['elements'][number]): string {
    switch (element.type) {
      case 'Character':
        return literal(this.#codePoint(element))
      case 'CharacterClassRange':
        return `${literal(this.#codePoint(element.min))}-${literal(this.#codePoint(element.max))}`
      case 'CharacterSet':
        return this.#set(element)
      default:
        throw this.#unsupported('a class within a class', element)
    }
  }

  /** The body of a class: `\d`, `\p{L}`, `\p{gc=Lu}`, `\p{Script=Greek}`. */
  #set(node: AST.CharacterSet): string {
    switch (node.kind) {
      case 'digit':
        return CLASS_BODIES[node.negate ? 'D' : 'd']
      case 'space':
        return CLASS_BODIES[node.negate ? 'S' : 's']
      case 'word':
        if (node.negate && this.#flags.ignoreCase) return NOT_WORD_IGNORING_CASE
        return CLASS_BODIES[node.negate ? 'W' : 'w']
      case 'property':
        return this.#property(node)
      case 'any':
        throw new TypeError('a point is not a set in a class')
      default:
        return node satisfies never
    }
  }

  #property(node: AST.UnicodePropertyCharacterSet): string {
    const { key, value, negate } = node
    const name = value ?? key
    const script = value !== null && /^(?:sc|Script)$/.test(key)
    const category = value === null || /^(?:gc|General_Category)$/.test(key)
    if (!(script ? isScript(name) : category && CATEGORY.test(name))) {
      throw new Error(
        `has the property ${node.raw}, which is not supported, at its character ${position(this.#pattern, node.start)}. ` +
          'Supported are categories by their short names, and Script=….',
      )
    }
    // The result would differ: RE2 folds the cases of a negated set after negating it, ECMAScript before.
    if (negate && this.#flags.ignoreCase) throw this.#unsupported(`${node.raw} without regard to case`, node)
    return `\\${negate ? 'P' : 'p'}{${name}}`
  }

  /** The code point of a character. Half of a surrogate pair is refused, because no text can hold one. */
  #codePoint({ value, start }: AST.Character): number {
    if (value < 0xd800 || value > 0xdfff) return value
    throw new Error(`has half of a surrogate pair at its character ${position(this.#pattern, start)}.`)
  }

  #unsupported(what: string, { start }: { readonly start: number }): Error {
    return new Error(
      `has ${what}, which is not supported, at its character ${position(this.#pattern, start)}.`,
    )
  }
}

function quantifierText(min: number, max: number): string {
  if (max === 1 && min === 0) return '?'
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`
  return min === max ? `{${min}}` : `{${min},${max}}`
}

function piece(text: string, size: number): Piece {
  return { text, size, counted: 1 }
}

/** Sets of characters as ECMAScript means them, in the notation of RE2. */

const LAST_CODE_POINT = 0x10ffff
const ANYTHING = '[\\x{0}-\\x{10FFFF}]'
const NOTHING = '[^\\x{0}-\\x{10FFFF}]'
const NOT_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

/** White space and line ends of ECMAScript, which are more than RE2's. */
const SPACES: readonly (readonly [number, number])[] = [
  [0x9, 0xd],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]

const DIGITS = [[0x30, 0x39]] as const
const WORD = [...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]] as const

const CLASS_BODIES = {
  d: ranges(DIGITS),
  D: ranges(complement(DIGITS)),
  w: '0-9A-Z_a-z',
  W: ranges(complement(WORD)),
  s: ranges(SPACES),
  S: ranges(complement(SPACES)),
} as const

/** Where case is ignored, the long s and the Kelvin sign are word characters too, because they fold to s and k. */
const NOT_WORD_IGNORING_CASE = ranges(complement([...WORD, [0x17f, 0x17f], [0x212a, 0x212a]]))

/** The general categories that RE2 knows, by their short names. */
const CATEGORY = /^(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/

/** ASCII letters and digits are written as they are. All others are written by number, so that RE2 sees no syntax. */
export function literal(point: number): string {
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

function ranges(list: readonly (readonly [number, number])[]): string {
  return list
    .map(([low, high]) => (low === high ? literal(low) : `${literal(low)}-${literal(high)}`))
    .join('')
}

function complement(list: readonly (readonly [number, number])[]): [number, number][] {
  const rest: [number, number][] = []
  let next = 0
  for (const [low, high] of list) {
    if (low > next) rest.push([next, low - 1])
    next = high + 1
  }
  rest.push([next, LAST_CODE_POINT])
  return rest
}
