import { readdirSync, readFileSync } from 'node:fs'
import type { Random } from './random.ts'

const folder = new URL('../cases/', import.meta.url)

/** The filters of all cases: what is nearly right finds more than noise does. */
const FILTERS = readdirSync(folder).flatMap((file) =>
  readFileSync(new URL(file, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { filter: string }).filter),
)

const WORDS = [
  ...[
    'eq',
    'ne',
    'gt',
    'ge',
    'lt',
    'le',
    'in',
    'and',
    'or',
    'not',
    'add',
    'sub',
    'mul',
    'div',
    'divby',
    'mod',
  ],
  ...['contains(', 'substring(', 'case(', 'now()', 'matchesPattern(', 'year(', 'round(', 'concat(', 'cast('],
  ...['Name', 'Stock', 'Price', 'Rate', 'Sold', 'Made', 'Seen', '"Name"', 'nope', 'toString', '__proto__'],
  ...[
    'null',
    'true',
    'NaN',
    'INF',
    '-INF',
    '5',
    '-5',
    '2.5',
    '1e3',
    '1e999',
    '9223372036854775808',
    '2024-02-29',
  ],
  ...[
    '2024-02-29T13:45Z',
    '13:45',
    "'x'",
    "''",
    "duration'P1D'",
    "binary'AA'",
    '(',
    ')',
    ',',
    ':',
    '-',
    ' ',
    '\t',
  ],
  ...[
    "'",
    '"',
    '[',
    '{',
    '$',
    '@',
    '/',
    '\\',
    '%',
    '\0',
    '\n',
    '🎉',
    '\ud800',
    '\u2028',
    'é',
    '.',
    '..',
    '+',
    '*',
  ],
]

/** Strings of every degree of nonsense. */
export class Mutator {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  next(): string {
    const kind = this.#random.below(10)
    if (kind === 0) return this.#noise()
    if (kind < 3) return this.#salad()
    let text = this.#random.pick(FILTERS)
    for (let times = this.#random.below(4); times >= 0; times--) text = this.#mutated(text)
    return text
  }

  #noise(): string {
    const length = this.#random.below(60)
    const highest = this.#random.pick([0x7f, 0xff, 0x2fff, 0xffff])
    return Array.from({ length }, () => String.fromCharCode(this.#random.below(highest + 1))).join('')
  }

  #salad(): string {
    const words = Array.from({ length: 1 + this.#random.below(12) }, () => this.#random.pick(WORDS))
    return words.join(this.#random.chance(0.8) ? ' ' : '')
  }

  #mutated(text: string): string {
    const from = this.#random.below(text.length + 1)
    const to = Math.min(text.length, from + this.#random.below(8))
    switch (this.#random.below(8)) {
      case 0:
        return text.slice(0, from) + text.slice(to)
      case 1:
        return text.slice(0, from) + this.#random.pick(WORDS) + text.slice(from)
      case 2:
        return text.slice(0, from) + this.#random.pick(WORDS) + text.slice(to)
      case 3:
        return text.slice(0, to) + text.slice(from)
      case 4:
        return `${text} ${this.#random.pick(['and', 'or', 'eq', 'ne'])} ${this.#random.pick(FILTERS)}`
      case 5:
        return `(${text}) ${this.#random.pick(['and', 'or'])} not (${this.#random.pick(FILTERS)})`
      case 6:
        return text.slice(0, from) + text.slice(from, to).repeat(1 + this.#random.below(300)) + text.slice(to)
      default: {
        const other = this.#random.pick(FILTERS)
        return text.slice(0, from) + other.slice(this.#random.below(other.length + 1))
      }
    }
  }
}
