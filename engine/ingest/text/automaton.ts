import { type AST, RegExpParser } from '@eslint-community/regexpp'

/**
 * A set of patterns compiled into one deterministic automaton over bytes, so that a cell of a text upload is classified
 * by one table look-up per byte. The first pattern in the list that matches gives the label.
 *
 * Patterns are regular expressions over ASCII: characters, classes, groups, alternatives and repetitions.
 */
export interface Automaton {
  /** `next[state + byte]` is the next state; states are multiples of 256. No pattern can match from state 0. */
  readonly next: Uint16Array
  readonly start: number
  /** `label[state / 256]`: the index of the pattern that matches if the text ends here, or -1. */
  readonly label: Int8Array
}

/** Tables with 256 entries for each state then have no entry that needs more than 16 bits. */
const MOST_STATES = 256

/**
 * Compiles `patterns`.
 * @throws RangeError if they need more than 256 states
 */
export function compile(patterns: readonly string[]): Automaton {
  const nfa = new Nfa()
  const start = nfa.state()
  const labelOf = new Map<number, number>()
  patterns.forEach((pattern, index) => {
    const { alternatives } = new RegExpParser().parsePattern(pattern)
    labelOf.set(nfa.choice(alternatives, start), index)
  })
  return determine(nfa, start, labelOf)
}

/** An automaton by Thompson's construction: its edges take a byte (`edges`) or none (`free`). */
class Nfa {
  readonly free: number[][] = []
  readonly edges: { bytes: ReadonlySet<number>; to: number }[][] = []

  state(): number {
    this.free.push([])
    this.edges.push([])
    return this.free.length - 1
  }

  /** Adds alternatives behind `from`, and returns the state reached once one of them has matched. */
  choice(alternatives: readonly AST.Alternative[], from: number): number {
    const end = this.state()
    for (const { elements } of alternatives) {
      const last = elements.reduce((state, element) => this.#add(element, state), this.#behind(from))
      this.free[last]!.push(end)
    }
    return end
  }

  #behind(from: number): number {
    const state = this.state()
    this.free[from]!.push(state)
    return state
  }

  #add(element: AST.Element, from: number): number {
    if (element.type === 'CapturingGroup') return this.choice(element.alternatives, from)
    if (element.type === 'Quantifier') return this.#repeated(element, this.#behind(from))
    const to = this.state()
    this.edges[this.#behind(from)]!.push({ bytes: bytesOf(element), to })
    return to
  }

  #repeated({ element, min, max }: AST.Quantifier, from: number): number {
    const end = this.state()
    let state = from
    for (let count = 0; count < min; count++) state = this.#add(element, state)
    this.free[state]!.push(end)
    if (max === Number.POSITIVE_INFINITY) this.free[this.#add(element, state)]!.push(state)
    else {
      for (let count = min; count < max; count++) {
        state = this.#add(element, state)
        this.free[state]!.push(end)
      }
    }
    return end
  }

  /** All states that can be reached from `states` by free edges alone, sorted. */
  close(states: Iterable<number>): number[] {
    const seen = new Set(states)
    for (const state of seen) for (const to of this.free[state]!) seen.add(to)
    return [...seen].sort((a, b) => a - b)
  }
}

const ASCII = Array.from({ length: 0x80 }, (_, byte) => byte)
const sets = new Map<string, ReadonlySet<number>>()

/** The bytes that a character or a class of characters stands for; the same set each time. */
function bytesOf({ raw }: AST.Element): ReadonlySet<number> {
  const pattern = new RegExp(`^${raw}$`)
  const bytes = sets.get(raw) ?? new Set(ASCII.filter((byte) => pattern.test(String.fromCharCode(byte))))
  sets.set(raw, bytes)
  return bytes
}

/** Puts bytes that are in the same sets of the automaton's edges into one class; bytes in none of them are class 0. */
function byteClasses(nfa: Nfa): { classOf: Uint8Array; members: readonly number[] } {
  const sets = [...new Set(nfa.edges.flat().map((edge) => edge.bytes))]
  const classes = new Map<string, number>([['', 0]])
  const members = [-1]
  const classOf = Uint8Array.from({ length: 256 }, (_, byte) => {
    const key = sets.flatMap((set, index) => (set.has(byte) ? [index] : [])).join()
    const known = classes.get(key)
    if (known !== undefined) return known
    classes.set(key, classes.size)
    return members.push(byte) - 1
  })
  return { classOf, members }
}

/** Makes the automaton deterministic by the subset construction, with one edge per class of bytes. */
function determine(nfa: Nfa, start: number, labelOf: ReadonlyMap<number, number>): Automaton {
  const { classOf, members } = byteClasses(nfa)
  const sets: number[][] = [[]]
  const indexOf = new Map<string, number>([['', 0]])
  const enter = (states: Iterable<number>): number => {
    // The others lead nowhere by themselves. With them, sets would differ from which the same texts match.
    const set = nfa.close(states).filter((state) => nfa.edges[state]!.length > 0 || labelOf.has(state))
    const key = set.join()
    const index = indexOf.get(key) ?? sets.push(set) - 1
    indexOf.set(key, index)
    return index * 256
  }
  const first = enter([start])
  const rows: number[][] = []
  for (let index = 0; index < sets.length; index++) {
    const edges = sets[index]!.flatMap((state) => nfa.edges[state]!)
    rows.push(members.map((byte) => enter(edges.filter(({ bytes }) => bytes.has(byte)).map(({ to }) => to))))
  }
  if (sets.length > MOST_STATES) throw new RangeError(`${sets.length} states are more than ${MOST_STATES}.`)
  const next = Uint16Array.from(
    { length: sets.length * 256 },
    (_, at) => rows[at >> 8]![classOf[at & 0xff]!]!,
  )
  const label = Int8Array.from(sets, (set) => {
    const found = set.flatMap((state) => labelOf.get(state) ?? [])
    return found.length > 0 ? Math.min(...found) : -1
  })
  return { next, start: first, label }
}
