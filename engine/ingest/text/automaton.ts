/**
 * A set of patterns compiled into one deterministic automaton over bytes, so that a cell of a text upload is classified
 * by one table look-up per byte. The first pattern in the list that matches gives the label.
 *
 * Patterns may have literals, `[…]` with ranges, `\d`, `\.`, groups, `|`, `?`, `*`, `+`, `{n}` and `{m,n}`.
 */
export interface Automaton {
  /** The class of each byte value. Bytes that no pattern tells apart share one; class 0 is for bytes in no pattern. */
  readonly classOf: Uint8Array
  /** `next[state + class]` is the next state; states are multiples of `stride`. No pattern can match from state 0. */
  readonly next: Uint16Array
  readonly start: number
  /** `label[state / stride]`: the index of the pattern that matches if the text ends here, or -1. */
  readonly label: Int8Array
  readonly stride: number
}

type Node =
  | { readonly kind: 'set'; readonly bytes: ReadonlySet<number> }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number }

/** Tables with 256 entries for each state then have no entry that needs more than 16 bits. */
const MOST_STATES = 256

/**
 * Compiles `patterns`.
 * @throws RangeError if they distinguish more than 31 classes of bytes, or need more than 256 states
 */
export function compile(patterns: readonly string[]): Automaton {
  const nfa = new Nfa()
  const start = nfa.state()
  const labelOf = new Map<number, number>()
  patterns.forEach((pattern, index) => {
    const end = nfa.add(new PatternReader(pattern).read(), start)
    labelOf.set(end, index)
  })
  return determine(nfa, start, labelOf)
}

class PatternReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Node {
    const parts = [this.#sequence()]
    while (this.#take('|')) parts.push(this.#sequence())
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#at < this.#text.length && this.#text[this.#at] !== '|' && this.#text[this.#at] !== ')') {
      parts.push(this.#repeated(this.#atom()))
    }
    return { kind: 'sequence', parts }
  }

  #repeated(part: Node): Node {
    if (this.#take('?')) return { kind: 'repeat', part, least: 0, most: 1 }
    if (this.#take('*')) return { kind: 'repeat', part, least: 0, most: Number.POSITIVE_INFINITY }
    if (this.#take('+')) return { kind: 'repeat', part, least: 1, most: Number.POSITIVE_INFINITY }
    const braces = /^\{(\d+)(?:,(\d+))?\}/.exec(this.#text.slice(this.#at))
    if (!braces) return part
    this.#at += braces[0].length
    return { kind: 'repeat', part, least: Number(braces[1]), most: Number(braces[2] ?? braces[1]) }
  }

  #atom(): Node {
    if (this.#take('(')) {
      const inner = this.read()
      this.#at++
      return inner
    }
    const bytes = new Set<number>()
    if (this.#take('[')) {
      while (!this.#take(']')) {
        const from = this.#byte()
        const ranges = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']'
        if (ranges) this.#at++
        const to = ranges ? this.#byte() : from
        for (let byte = from; byte <= to; byte++) bytes.add(byte)
      }
    } else if (this.#text.startsWith('\\d', this.#at)) {
      this.#at += 2
      for (let byte = 0x30; byte <= 0x39; byte++) bytes.add(byte)
    } else {
      bytes.add(this.#byte())
    }
    return { kind: 'set', bytes }
  }

  #byte(): number {
    if (this.#text[this.#at] === '\\') this.#at++
    return this.#text.charCodeAt(this.#at++)
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }
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

  /** Adds `node` behind `from` and returns the state reached once it has matched. */
  add(node: Node, from: number): number {
    const entry = this.state()
    this.free[from]!.push(entry)
    switch (node.kind) {
      case 'set': {
        const end = this.state()
        this.edges[entry]!.push({ bytes: node.bytes, to: end })
        return end
      }
      case 'sequence':
        return node.parts.reduce((state, part) => this.add(part, state), entry)
      case 'choice': {
        const end = this.state()
        for (const part of node.parts) this.free[this.add(part, entry)]!.push(end)
        return end
      }
      case 'repeat': {
        const end = this.state()
        let state = entry
        for (let count = 0; count < node.least; count++) state = this.add(node.part, state)
        this.free[state]!.push(end)
        if (node.most === Number.POSITIVE_INFINITY) {
          const loop = this.add(node.part, state)
          this.free[loop]!.push(state)
        } else {
          for (let count = node.least; count < node.most; count++) {
            state = this.add(node.part, state)
            this.free[state]!.push(end)
          }
        }
        return end
      }
    }
  }

  /** All states that can be reached from `states` by free edges alone, sorted. */
  close(states: Iterable<number>): number[] {
    const seen = new Set(states)
    for (const state of seen) for (const to of this.free[state]!) seen.add(to)
    return [...seen].sort((a, b) => a - b)
  }
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

/**
 * Makes the automaton deterministic by the subset construction, with one edge per class of bytes, and as small as it can
 * be.
 */
function determine(nfa: Nfa, start: number, labelOf: ReadonlyMap<number, number>): Automaton {
  const { classOf, members } = byteClasses(nfa)
  const stride = 32
  if (members.length > stride) throw new RangeError(`${members.length} byte classes do not fit in ${stride}.`)
  const sets: number[][] = [[]]
  const indexOf = new Map<string, number>([['', 0]])
  const enter = (set: number[]): number => {
    const key = set.join()
    let index = indexOf.get(key)
    if (index === undefined) {
      index = sets.push(set) - 1
      indexOf.set(key, index)
    }
    return index
  }
  const first = enter(nfa.close([start]))
  const rows: number[][] = []
  for (let index = 0; index < sets.length; index++) {
    const edges = sets[index]!.flatMap((state) => nfa.edges[state]!)
    rows.push(
      members.map((byte) =>
        enter(nfa.close(edges.filter((edge) => edge.bytes.has(byte)).map((edge) => edge.to))),
      ),
    )
  }
  const labels = sets.map((set) =>
    set.reduce((best, state) => {
      const found = labelOf.get(state) ?? -1
      return found >= 0 && (best < 0 || found < best) ? found : best
    }, -1),
  )
  const { groupOf, representatives } = minimise(rows, labels)
  if (representatives.length > MOST_STATES) {
    throw new RangeError(`${representatives.length} states are more than ${MOST_STATES}.`)
  }
  const next = new Uint16Array(representatives.length * stride)
  representatives.forEach((state, group) => {
    next.set(
      rows[state]!.map((to) => groupOf[to]! * stride),
      group * stride,
    )
  })
  const label = Int8Array.from(representatives, (state) => labels[state]!)
  return { classOf, next, start: groupOf[first]! * stride, label, stride }
}

/**
 * Groups states from which the same texts match, by Moore's algorithm: states of a group are told apart until none of
 * them leads to other groups than the rest. Groups are numbered in the order of their first states.
 */
function minimise(
  rows: readonly (readonly number[])[],
  labels: readonly number[],
): { groupOf: readonly number[]; representatives: readonly number[] } {
  let groupOf = labels
  for (let count = 0; ; ) {
    const keys = rows.map((row, state) => `${groupOf[state]} ${row.map((to) => groupOf[to]).join()}`)
    const firsts = new Map<string, number>()
    const representatives: number[] = []
    groupOf = keys.map((key, state) => {
      if (!firsts.has(key)) firsts.set(key, representatives.push(state) - 1)
      return firsts.get(key)!
    })
    if (representatives.length === count) return { groupOf, representatives }
    count = representatives.length
  }
}
