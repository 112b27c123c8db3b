import {
  ANYTHING,
  CATEGORY,
  CLASS_BODIES,
  CONTROL_ESCAPES,
  isScript,
  LAST_CODE_POINT,
  literal,
  NOT_LINE_END,
  NOTHING,
} from './pattern-sets.ts'

/**
 * ECMAScript regular expressions (as with the flag `u`) for RE2, which DuckDB matches with in linear time. The two
 * look alike and differ in detail: `.`, `\s`, `\u`, `[]`, `[^]`, POSIX classes and inline flags. So a pattern is read by
 * ECMAScript's grammar and written anew by RE2's. What RE2 has not (lookaround, backreferences) is refused.
 */
export function translatePattern(pattern: string): string {
  const reader = new Reader(pattern)
  const { text } = reader.alternatives(0)
  if (!reader.atEnd) throw reader.error("has a ')' without its '('")
  return PLAIN.test(pattern) ? text : `${text}|${NOTHING}`
}

/**
 * Where it can, DuckDB puts a search for a text in the place of a pattern, and errs in doing so: it overlooks a ^ in the
 * midst and an empty group. So this is left to it only for texts, and all else gets an alternative that never matches,
 * which it leaves alone.
 */
const PLAIN = /^\^?[^\\^$.*+?()[\]{}|]+\$?$/

/** RE2 refuses larger repetitions, and programs that are too large. */
const MOST_REPETITIONS = 1000
const LARGEST = 100_000
const DEEPEST = 100

interface Piece {
  readonly text: string
  /** Instructions of the matching program, roughly. */
  readonly size: number
  /** How often its innermost part is repeated by counts, all multiplied. */
  readonly counted: number
  /** Assertions can't be repeated. */
  readonly repeatable: boolean
}

class Reader {
  readonly #characters: readonly string[]
  #at = 0

  constructor(pattern: string) {
    this.#characters = [...pattern]
  }

  get atEnd(): boolean {
    return this.#at >= this.#characters.length
  }

  error(problem: string, hint = ''): Error {
    return new Error(`${problem} at its character ${this.#at + 1}.${hint}`)
  }

  alternatives(depth: number): Piece {
    if (depth > DEEPEST) throw this.error(`nests deeper than ${DEEPEST} groups`)
    const parts: string[] = []
    let size = 0
    let counted = 1
    do {
      let part = ''
      while (!this.atEnd && this.#peek() !== '|' && this.#peek() !== ')') {
        const piece = this.#repeated(depth)
        part += piece.text
        size += piece.size
        counted = Math.max(counted, piece.counted)
        if (size > LARGEST) throw this.error('grows too large when its repetitions are written out')
      }
      parts.push(part)
    } while (this.#take('|'))
    return { text: parts.join('|'), size: size + parts.length, counted, repeatable: true }
  }

  #repeated(depth: number): Piece {
    const piece = this.#atom(depth)
    const start = this.#at
    const quantifier = this.#quantifier()
    if (!quantifier) return piece
    if (!piece.repeatable) {
      this.#at = start
      throw this.error('repeats something that matches no character')
    }
    const lazy = this.#take('?') ? '?' : ''
    if (this.#peekQuantifier()) throw this.error('repeats a repetition')
    const counted = piece.counted * quantifier.count
    if (counted > MOST_REPETITIONS) {
      this.#at = start
      throw this.error(`repeats more than ${MOST_REPETITIONS} times, counting nested repetitions,`)
    }
    const size = piece.size * Math.max(quantifier.count, 2)
    return { text: `${piece.text}${quantifier.text}${lazy}`, size, counted, repeatable: true }
  }

  #peekQuantifier(): boolean {
    const next = this.#peek()
    return next === '*' || next === '+' || next === '?' || (next === '{' && this.#braces() !== undefined)
  }

  #quantifier(): { text: string; count: number } | undefined {
    const next = this.#peek()
    if (next === '*' || next === '+' || next === '?') {
      this.#at++
      return { text: next, count: 1 }
    }
    if (next !== '{') return undefined
    const braces = this.#braces()
    if (!braces) return undefined
    const { low, high, length } = braces
    if (high !== undefined && high < low) throw this.error('has a repetition whose bounds are out of order')
    this.#at += length
    const most = high === undefined ? ',' : high === low ? '' : `,${high}`
    return { text: `{${low}${most}}`, count: Math.max(high ?? low, 1) }
  }

  /** `{n}`, `{n,}` or `{n,m}` here, or undefined: then the brace is a plain character. */
  #braces(): { low: number; high: number | undefined; length: number } | undefined {
    const ahead = this.#characters.slice(this.#at, this.#at + 24).join('')
    const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(ahead)
    if (!match) return undefined
    const low = Number(match[1])
    const high = match[2] === undefined ? low : match[3] === '' ? undefined : Number(match[3])
    return { low, high, length: match[0].length }
  }

  #atom(depth: number): Piece {
    const character = this.#peek()!
    switch (character) {
      case '^':
      case '$':
        this.#at++
        return assertion(character)
      case '.':
        this.#at++
        return one(NOT_LINE_END, 4)
      case '(':
        return this.#group(depth)
      case '[':
        return this.#class()
      case '\\':
        return this.#escape()
      case '*':
      case '+':
      case '?':
        throw this.error('has nothing to repeat')
      case '{':
        if (this.#braces()) throw this.error('has nothing to repeat')
        break
    }
    this.#at++
    return one(literal(character.codePointAt(0)!), 1)
  }

  #group(depth: number): Piece {
    this.#at++
    if (this.#take('?')) this.#groupKind()
    const inner = this.alternatives(depth + 1)
    if (!this.#take(')')) throw this.error("lacks the ')' of a group")
    return { ...inner, text: `(?:${inner.text})` }
  }

  /** After `(?`: what kind of group it is. Names are of no use without replacement, so they are dropped. */
  #groupKind(): void {
    if (this.#take(':')) return
    const next = this.#peek()
    if (next === '=' || next === '!') throw this.error('has a lookahead, which is not supported,')
    if (next !== '<') {
      const flags = /^[a-z-]$/.test(next ?? '')
      throw this.error(
        "has a '(?' of a kind that is not supported,",
        flags ? ' To ignore case, match tolower(…) with a pattern in lower case.' : '',
      )
    }
    this.#at++
    if (this.#peek() === '=' || this.#peek() === '!') {
      throw this.error('has a lookbehind, which is not supported,')
    }
    const close = this.#characters.indexOf('>', this.#at)
    const name = close < 0 ? '' : this.#characters.slice(this.#at, close).join('')
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name))
      throw this.error('has a group without a valid name')
    this.#at = close + 1
  }

  #escape(): Piece {
    const next = this.#characters[this.#at + 1]
    if (next === 'b' || next === 'B') {
      this.#at += 2
      return assertion(`\\${next}`)
    }
    if (next !== undefined && /[1-9k]/.test(next)) {
      throw this.error('has a backreference, which is not supported,')
    }
    const body = this.#classEscape()
    return typeof body === 'string' ? one(`[${body}]`, 8) : one(literal(body), 1)
  }

  /** An escape that may also stand in a class: a code point, or the body of a class. */
  #classEscape(): number | string {
    const start = this.#at
    this.#at += 2
    const name = this.#characters[start + 1]
    if (name === undefined) {
      this.#at = start
      throw this.error('ends in a backslash')
    }
    if (Object.hasOwn(CLASS_BODIES, name)) return CLASS_BODIES[name]!
    if (Object.hasOwn(CONTROL_ESCAPES, name)) return CONTROL_ESCAPES[name]!
    if (name === 'p' || name === 'P') return this.#property(name)
    const point = this.#codePoint(name)
    if (point !== undefined) return point
    this.#at = start
    throw this.error(`has the unknown escape \\${name}`)
  }

  #codePoint(name: string): number | undefined {
    switch (name) {
      case '0':
        return /\d/.test(this.#peek() ?? '') ? undefined : 0
      case 'c': {
        const letter = this.#peek() ?? ''
        if (!/^[A-Za-z]$/.test(letter)) return undefined
        this.#at++
        return letter.charCodeAt(0) % 32
      }
      case 'x':
        return this.#hex(2)
      case 'u':
        return this.#unicode()
      default:
        // Punctuation may always be escaped; letters and digits only where that means something.
        return /^[!-/:-@[-^`{-~_ ]$/.test(name) ? name.charCodeAt(0) : undefined
    }
  }

  #unicode(): number | undefined {
    if (this.#take('{')) {
      const close = this.#characters.indexOf('}', this.#at)
      const digits = close < 0 ? '' : this.#characters.slice(this.#at, close).join('')
      if (!/^[0-9a-fA-F]{1,16}$/.test(digits)) return undefined
      this.#at = close + 1
      const point = Number.parseInt(digits, 16)
      return point <= LAST_CODE_POINT ? this.#whole(point) : undefined
    }
    const first = this.#hex(4)
    if (first === undefined || first < 0xd800 || first > 0xdbff) return this.#whole(first)
    // A pair of surrogates is one character.
    if (this.#characters[this.#at] !== '\\' || this.#characters[this.#at + 1] !== 'u') return undefined
    this.#at += 2
    const second = this.#hex(4)
    if (second === undefined || second < 0xdc00 || second > 0xdfff) return undefined
    return 0x10000 + (first - 0xd800) * 0x400 + (second - 0xdc00)
  }

  /** Half a pair is no character of a text. */
  #whole(point: number | undefined): number | undefined {
    return point !== undefined && point >= 0xd800 && point <= 0xdfff ? undefined : point
  }

  #hex(digits: number): number | undefined {
    const text = this.#characters.slice(this.#at, this.#at + digits).join('')
    if (text.length !== digits || !/^[0-9a-fA-F]+$/.test(text)) return undefined
    this.#at += digits
    return Number.parseInt(text, 16)
  }

  /** `\p{L}`, `\p{gc=Lu}`, `\p{Script=Greek}`: as the body of a class. */
  #property(letter: 'p' | 'P'): string {
    const close = this.#peek() === '{' ? this.#characters.indexOf('}', this.#at) : -1
    const text = close < 0 ? '' : this.#characters.slice(this.#at + 1, close).join('')
    const [, key, value] = /^(?:(gc|General_Category|sc|Script)=)?(\w+)$/.exec(text) ?? []
    const script = key === 'sc' || key === 'Script'
    if (value === undefined || (script ? !isScript(value) : !CATEGORY.test(value))) {
      throw this.error(
        `has the property \\${letter}{${text}}, which is not supported,`,
        ' Supported are categories by their short names, and Script=….',
      )
    }
    this.#at = close + 1
    return `\\${letter}{${value}}`
  }

  #class(): Piece {
    this.#at++
    const negated = this.#take('^')
    let body = ''
    while (this.#peek() !== ']') {
      if (this.atEnd) throw this.error("lacks the ']' of a class")
      const low = this.#classMember()
      const dash = this.#peek() === '-' && this.#characters[this.#at + 1] !== ']'
      if (!dash || this.#characters[this.#at + 1] === undefined) {
        body += typeof low === 'string' ? low : literal(low)
        continue
      }
      this.#at++
      const high = this.#classMember()
      if (typeof low === 'string' || typeof high === 'string') {
        throw this.error('has a range whose end is not one character')
      }
      if (high < low) throw this.error('has a range out of order')
      body += `${literal(low)}-${literal(high)}`
    }
    this.#at++
    if (body === '') return one(negated ? ANYTHING : NOTHING, 4)
    return one(`[${negated ? '^' : ''}${body}]`, 4 + body.length / 4)
  }

  #classMember(): number | string {
    if (this.#peek() !== '\\') return this.#characters[this.#at++]!.codePointAt(0)!
    if (this.#characters[this.#at + 1] === 'b') {
      this.#at += 2
      return 8
    }
    return this.#classEscape()
  }

  #peek(): string | undefined {
    return this.#characters[this.#at]
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at++
    return true
  }
}

function one(text: string, size: number): Piece {
  return { text, size, counted: 1, repeatable: true }
}

function assertion(text: string): Piece {
  return { text, size: 1, counted: 1, repeatable: false }
}
