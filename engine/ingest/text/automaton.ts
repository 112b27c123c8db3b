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

/** What is left of a pattern behind some text. */
interface Rest {
  readonly id: number
  /** The index of the pattern. */
  readonly label: number
  /** The bytes that it may go on with; undefined if nothing is left. */
  readonly bytes: ReadonlySet<number> | undefined
  /** What is left behind one of these bytes. */
  readonly behind: () => readonly Rest[]
}

/**
 * Compiles `patterns`. A state is the set of all that may be left of them.
 * @throws RangeError if they need more than 256 states
 */
export function compile(patterns: readonly string[]): Automaton {
  const restsOf = restReader()
  const states: (readonly Rest[])[] = [[]]
  const indexOf = new Map([['', 0]])
  const enter = (rests: readonly Rest[]): number => {
    const state = [...new Set(rests)].sort((a, b) => a.id - b.id)
    const key = state.map(({ id }) => id).join()
    const index = indexOf.get(key) ?? states.push(state) - 1
    indexOf.set(key, index)
    return index * 256
  }
  const parser = new RegExpParser()
  const start = enter(
    patterns.flatMap((pattern, label) =>
      parser.parsePattern(pattern).alternatives.flatMap(({ elements }) => restsOf(label, elements)),
    ),
  )
  const rows: number[][] = []
  for (let index = 0; index < states.length; index++) rows.push(rowOf(states[index]!, enter))
  if (states.length > MOST_STATES)
    throw new RangeError(`${states.length} states are more than ${MOST_STATES}.`)
  const next = new Uint16Array(states.length * 256)
  for (const [index, row] of rows.entries()) next.set(row, index * 256)
  const label = Int8Array.from(states, (state) => {
    const matching = state.filter(({ bytes }) => !bytes).map(({ label }) => label)
    return matching.length > 0 ? Math.min(...matching) : -1
  })
  return { next, start, label }
}

const ASCII = Array.from({ length: 0x80 }, (_, byte) => byte)

/** The next state for each byte. */
function rowOf(state: readonly Rest[], enter: (rests: readonly Rest[]) => number): number[] {
  const known = new Map<string, number>()
  return ASCII.map((byte) => {
    const going = state.filter(({ bytes }) => bytes?.has(byte))
    const key = going.map(({ id }) => id).join()
    const target = known.get(key) ?? enter(going.flatMap(({ behind }) => behind()))
    known.set(key, target)
    return target
  })
}

/** A function that gives what may be left where elements are left, each time as the same objects. */
function restReader() {
  const rests = new Map<string, Rest>()
  const sets = new Map<string, ReadonlySet<number>>()
  const bytesOf = ({ raw }: AST.Element): ReadonlySet<number> => {
    const pattern = new RegExp(`^${raw}$`)
    const bytes = sets.get(raw) ?? new Set(ASCII.filter((byte) => pattern.test(String.fromCharCode(byte))))
    sets.set(raw, bytes)
    return bytes
  }
  const restsOf = (label: number, elements: readonly AST.Element[]): readonly Rest[] => {
    const [first, ...others] = elements
    if (first?.type === 'CapturingGroup') {
      return first.alternatives.flatMap((one) => restsOf(label, [...one.elements, ...others]))
    }
    if (first?.type === 'Quantifier') {
      const { element, min, max } = first
      const fewer = { ...first, min: Math.max(min - 1, 0), max: max - 1 }
      return [
        ...(min === 0 ? restsOf(label, others) : []),
        ...(max > 0 ? restsOf(label, [element, fewer, ...others]) : []),
      ]
    }
    const key = [
      label,
      ...elements.map((one) => ('min' in one ? `${one.raw}${one.min},${one.max}` : one.raw)),
    ].join(' ')
    let behind: readonly Rest[] | undefined
    const rest = rests.get(key) ?? {
      id: rests.size,
      label,
      bytes: first && bytesOf(first),
      behind: () => (behind ??= restsOf(label, others)),
    }
    rests.set(key, rest)
    return [rest]
  }
  return restsOf
}
