import { invalid, tooComplex } from '../errors.ts'
import { Unsaid } from '../sql/dialect.ts'
import type { Building } from './building.ts'
import type { StepColumn } from './steps.ts'

/** The most words of a `$search`. The number is limited because each word is looked for in every text column. */
const MOST_WORDS = 100
const DEEPEST = 50

/** A word, a phrase without its quotes, or one of `AND OR NOT ( )`. */
interface Piece {
  readonly kind: 'text' | 'sign'
  readonly text: string
  readonly at: number
}

/**
 * A condition that holds where the text columns match a search expression (OData 4.01 part 2, section 5.1.7): words and
 * "phrases" that occur in one of them, joined by AND, OR and NOT in capital letters; words side by side must all occur.
 * Case and accents don't count, and a word may be part of a longer one.
 */
export function searchCondition(text: string, columns: readonly StepColumn[], building: Building): string {
  const { dialect } = building
  const texts = columns.filter(({ type }) => type === 'string')
  if (texts.length === 0) throw invalid(0, 'there is no text column to search in.')
  const reader = new SearchReader(text, (word) => {
    const wanted = dialect.plain(building.parameter(word))
    const found = texts.map(({ sql }) => dialect.contains(dialect.plain(sql), wanted))
    return `coalesce(${found.join(' OR ')}, FALSE)`
  })
  const condition = reader.read()
  if (condition.length > building.limits.sql) {
    if (dialect.name !== 'duckdb') throw new Unsaid('$search for so many words')
    throw tooComplex('The search grows too long as SQL. Search for fewer words.')
  }
  return condition
}

class SearchReader {
  readonly #pieces: readonly Piece[]
  readonly #word: (text: string) => string
  readonly #end: number
  #next = 0

  constructor(text: string, word: (text: string) => string) {
    this.#pieces = piecesOf(text)
    this.#word = word
    this.#end = text.length
  }

  read(): string {
    const condition = this.#alternatives(0)
    if (this.#piece) throw this.#unexpected()
    return condition
  }

  get #piece(): Piece | undefined {
    return this.#pieces[this.#next]
  }

  #takes(sign: string): boolean {
    const piece = this.#piece
    if (piece?.kind !== 'sign' || piece.text !== sign) return false
    this.#next++
    return true
  }

  #alternatives(depth: number): string {
    if (depth > DEEPEST) throw tooComplex(`The search nests deeper than ${DEEPEST} levels.`)
    const parts = [this.#all(depth)]
    while (this.#takes('OR')) parts.push(this.#all(depth))
    return parts.length === 1 ? parts[0]! : `(${parts.join(' OR ')})`
  }

  #all(depth: number): string {
    const parts = [this.#denied(depth)]
    while (this.#takes('AND') || this.#begins()) parts.push(this.#denied(depth))
    return parts.length === 1 ? parts[0]! : `(${parts.join(' AND ')})`
  }

  /** Whether another operand comes next: a word, `NOT` or a parenthesis. `AND` before it may be left out. */
  #begins(): boolean {
    const piece = this.#piece
    return piece !== undefined && (piece.kind === 'text' || piece.text === 'NOT' || piece.text === '(')
  }

  #denied(depth: number): string {
    let denied = false
    while (this.#takes('NOT')) denied = !denied
    const operand = this.#operand(depth)
    return denied ? `(NOT ${operand})` : operand
  }

  #operand(depth: number): string {
    if (this.#takes('(')) {
      const inner = this.#alternatives(depth + 1)
      if (!this.#takes(')')) throw this.#unexpected("')'")
      return inner
    }
    const piece = this.#piece
    if (piece?.kind !== 'text') throw this.#unexpected()
    this.#next++
    return this.#word(piece.text)
  }

  #unexpected(wanted = 'a word'): Error {
    const piece = this.#piece
    return invalid(
      piece?.at ?? this.#end,
      `${piece ? `found ${piece.text}` : 'the search ends'}, where ${wanted} is expected. Words like AND are searched for in quotes, as "AND".`,
    )
  }
}

const PIECE = /\s+|"((?:[^"\\]|\\[\s\S])*)"|([()])|([^\s()"]+)/y

function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  PIECE.lastIndex = 0
  for (let at = 0; at < text.length; at = PIECE.lastIndex) {
    const match = PIECE.exec(text)
    if (!match) throw invalid(at, 'this phrase has no closing ".')
    const [, phrase, parenthesis, word] = match
    if (parenthesis) pieces.push({ kind: 'sign', text: parenthesis, at })
    else if (phrase !== undefined)
      pieces.push({ kind: 'text', text: phrase.replaceAll(/\\([\s\S])/g, '$1'), at })
    else if (word !== undefined)
      pieces.push({ kind: /^(?:AND|OR|NOT)$/.test(word) ? 'sign' : 'text', text: word, at })
  }
  if (pieces.length === 0) throw invalid(0, 'the search is empty. Write a word.')
  if (pieces.filter(({ kind }) => kind === 'text').length > MOST_WORDS) {
    throw tooComplex(`The search has more than ${MOST_WORDS} words.`)
  }
  return pieces
}
