import { Failure } from '../../failures.ts'
import { type KeyPattern, matches } from '../ids.ts'

export interface RawObservation {
  readonly period: string
  /** As sent: text, a number, null or undefined. */
  readonly value: unknown
  /** `UNIT_MULT`, if it is given for each observation. */
  readonly multiplier: string | undefined
  /** `OBS_STATUS`, or Eurostat's flags, which take its place. */
  readonly status?: string | undefined
  /** Whether the attribute of its own for that says that the value is confidential. */
  readonly confidential?: boolean
  /** `OBS_REV`, with which INSEE marks a revised value. */
  readonly revised?: boolean
  /** Whether the provider took the observation back, in an answer with the history of its data. */
  readonly withdrawn?: boolean
}

export interface DataSeries {
  /** Codes in the order of the key; `''` if the message leaves the dimension out. */
  readonly key: readonly string[]
  /** Attributes of data set, group and series by id; dimensions are included. */
  readonly attributes: ReadonlyMap<string, string>
  /** In the order of the message, which may differ from that of time. */
  readonly observations: readonly RawObservation[]
}

/**
 * The names that a message contains for its own codes: by component, then by code. Each component here has at least
 * one.
 */
export type Labels = ReadonlyMap<string, ReadonlyMap<string, string>>

export interface DataMessage {
  /** The message's name for its dataflow; undefined if it has none. */
  readonly name: string | undefined
  readonly dimensions: readonly string[]
  /** False if neither the structure nor the message names the dimensions, so that they were guessed from the codes. */
  readonly certain: boolean
  /** True if a wildcard of the key may as well stand for another component than the one that it was given. */
  readonly guessed: boolean
  readonly series: readonly DataSeries[]
  /** The key of a series in the answer that was not asked for; undefined if there is none. */
  readonly other?: string | undefined
  readonly labels: Labels
}

/** A message without series. */
export const NOTHING: DataMessage = {
  name: undefined,
  dimensions: [],
  certain: true,
  guessed: false,
  series: [],
  labels: new Map(),
}

/** What may be known before an answer is read: the key that was asked for, and the dimensions of the data structure. */
export interface Expected {
  readonly pattern: KeyPattern | undefined
  readonly dimensions: readonly string[] | undefined
  /** Of an answer with the history of its data, only what was valid at the end of this day, as an ISO date. */
  readonly asOf?: string | undefined
}

/** The id that every reader gives to the time dimension, whatever the message calls it. */
export const TIME = 'TIME_PERIOD'

/** Components that contain the power of ten of a value, under the names of UNICEF and the Bundesbank as well. */
export const MULTIPLIERS = ['UNIT_MULT', 'UNIT_MULTIPLIER', 'BBK_UNIT_MULT'] as const

/** Components that describe the kind of value of an observation; the last is the IMF's. */
export const STATUSES = ['OBS_STATUS', 'OBS_FLAG', 'STATUS'] as const

/** The attributes for confidentiality, under the names of SDMX's cross-domain concept and of the ECB. */
const CONFIDENTIALITY = ['CONF_STATUS', 'OBS_CONF'] as const

/**
 * Whether a code of CL_CONF_STATUS means that a value is confidential: `C`, and where there is no value any of the others
 * but `F`, free for publication.
 */
function isConfidential(code: string, value: unknown): boolean {
  return code === 'C' || (code !== '' && code !== 'F' && (value === '' || value == null))
}

/**
 * A part of a message: its observations and the components that are the same for all of them. Where it has no
 * observations and leaves dimensions open, its components are attributes of all series with its other codes.
 */
export interface Block {
  readonly components: ReadonlyMap<string, string>
  readonly observations: readonly BlockObservation[]
  readonly withdrawn?: boolean
}

export interface BlockObservation {
  /** Components of this observation alone; the time is one of them unless the block has it. */
  readonly components: ReadonlyMap<string, string>
  readonly value: unknown
}

/**
 * Attributes for all series that have these codes. The map contains both codes and attributes, since formats do not
 * always distinguish them.
 */
export type Group = ReadonlyMap<string, string>

/**
 * Builds series from blocks. The time and any dimension may be given for the block or for the observation, in any
 * order: each observation is assigned to its series by the complete key. Series that were not asked for are left out.
 * `among` has lists of the components that may be dimensions, of which the first that is certain is taken; default: all.
 */
export function assemble(
  blocks: readonly Block[],
  groups: readonly Group[],
  { name, labels }: Pick<DataMessage, 'name' | 'labels'>,
  expected: Expected,
  among?: readonly (readonly string[])[],
): DataMessage {
  const codes = codesIn(blocks)
  const { ids, certain, guessed } = dimensionsOf(blocks, codes, expected, among ?? [[...codes.keys()]])
  // At Eurostat the ids in data and structure may differ in case (`FREQ`, `freq`).
  const written = [...codes.keys()]
  const own = ids.map((id) => written.find((one) => one.toLowerCase() === id.toLowerCase()) ?? id)
  const isOpen = ({ components, observations }: Block) =>
    certain && observations.length === 0 && own.some((id) => codes.has(id) && !components.has(id))
  const shared = [...groups, ...blocks.filter(isOpen).map(({ components }) => components)]
  const statuses = STATUSES.filter((id) => !own.includes(id))
  const found = new Map<string, DataSeries & { readonly observations: RawObservation[] }>()
  let other: string | undefined
  for (const block of blocks) {
    if (isOpen(block)) continue
    const ofBlock = own.map((id) => block.components.get(id))
    /** The list of observations of a series, to add to; undefined if the series was not asked for. */
    const at = (components: ReadonlyMap<string, string>) => {
      const key = own.map((id, i) => ofBlock[i] || (components.get(id) ?? ''))
      const text = key.join('.')
      const known = found.get(text)
      if (known) return known.observations
      if (expected.pattern && !matches(key, expected.pattern)) {
        other ??= text
        return undefined
      }
      const all = new Map([...block.components, ...components])
      const isOf = (group: Group) => own.every((id) => !group.has(id) || group.get(id) === all.get(id))
      const common = shared.filter(isOf).flatMap((group) => [...group])
      const made = { key, attributes: new Map([...common, ...all]), observations: [] }
      found.set(text, made)
      return made.observations
    }
    if (block.observations.length === 0) at(new Map())
    for (const { components, value } of block.observations) {
      const period = components.get(TIME) ?? block.components.get(TIME)
      if (period === undefined) throw new Failure('no-time', { what: 'An observation has no time.' })
      const status = statuses.map((id) => components.get(id)).find(Boolean)
      const multiplier = MULTIPLIERS.map((id) => components.get(id)).find((one) => one !== undefined)
      const secrecy = CONFIDENTIALITY.map((id) => components.get(id)).find(Boolean) ?? ''
      const confidential = isConfidential(secrecy, value)
      const revised = components.get('OBS_REV') === '1'
      const withdrawn = block.withdrawn ?? false
      at(components)?.push({ period, value, multiplier, status, confidential, revised, withdrawn })
    }
  }
  return { name, dimensions: ids, certain, guessed, series: [...found.values()], other, labels }
}

/** The codes of each component, except for the time. */
function codesIn(blocks: readonly Block[]): ReadonlyMap<string, ReadonlySet<string>> {
  const codes = new Map<string, Set<string>>()
  const add = (components: ReadonlyMap<string, string>) => {
    for (const [id, code] of components) {
      if (id === TIME) continue
      const known = codes.get(id)
      if (known) known.add(code)
      else codes.set(id, new Set([code]))
    }
  }
  for (const { components, observations } of blocks) {
    add(components)
    for (const { components } of observations) add(components)
  }
  return codes
}

/** Which components of a message are the dimensions, in the order of the key. */
type Dimensions = Pick<DataMessage, 'certain' | 'guessed'> & { readonly ids: readonly string[] }

function dimensionsOf(
  blocks: readonly Block[],
  codes: ReadonlyMap<string, ReadonlySet<string>>,
  { pattern, dimensions }: Expected,
  among: readonly (readonly string[])[],
): Dimensions {
  if (dimensions) return { ids: dimensions, certain: true, guessed: false }
  let chosen: Dimensions | undefined
  for (const ids of among) {
    chosen = chooseDimensions(ids, codes, pattern)
    if (chosen.certain) return chosen
  }
  const { ids, guessed } = chosen!
  return { ids: [...ids, ...separating(blocks, ids, among[0]!)], certain: false, guessed }
}

/**
 * Finds the dimensions among the components of a message whose structure is not known: if there are as many as the key
 * has parts and each part's code occurs at its position, it is these. Else each part of the key takes the first free
 * component that has its code. In practice this is right, since other attributes rarely contain such codes, but it is
 * not certain. Wildcards take what is left then, which is guessed unless only one component is left for the only
 * wildcard.
 */
function chooseDimensions(
  candidates: readonly string[],
  codes: ReadonlyMap<string, ReadonlySet<string>>,
  pattern: KeyPattern | undefined,
): Dimensions {
  if (!pattern) return { ids: candidates, certain: false, guessed: false }
  const fits = (id: string, wanted: readonly string[]) =>
    wanted.length === 0 || wanted.some((code) => codes.get(id)?.has(code))
  const leading = candidates.slice(0, pattern.length)
  if (leading.length === pattern.length && leading.every((id, i) => fits(id, pattern[i]!))) {
    return { ids: leading, certain: candidates.length === pattern.length, guessed: false }
  }
  const free = new Set(candidates)
  const take = (wanted: readonly string[]) => {
    const found = [...free].find((id) => fits(id, wanted))
    if (found) free.delete(found)
    return found ?? ''
  }
  const found = pattern.map((wanted) => (wanted.length > 0 ? take(wanted) : undefined))
  // If the other parts are where the key has them, so is a part whose code does not occur: the answer is about another
  // series. So it is if there are no more components than parts. Otherwise the message may have left that part out.
  const isInOrder = found.every((id, i) => !id || id === candidates[i])
  const own = (i: number) =>
    isInOrder ? candidates[i] : candidates.length === pattern.length ? take([]) : ''
  const named = found.map((id, i) => (id === '' ? (own(i) ?? '') : id))
  const wildcards = named.filter((id) => id === undefined).length
  const guessed = wildcards > 1 || (wildcards === 1 && free.size > 1)
  return { ids: named.map((id) => id ?? take([])), certain: false, guessed }
}

/**
 * Further components that must be dimensions, because observations with the same key and period have different values
 * there: a key that leaves out the last dimensions stands for several series, which must not be merged into one.
 */
function separating(
  blocks: readonly Block[],
  known: readonly string[],
  candidates: readonly string[],
): readonly string[] {
  const firsts = new Map<string, { code: (id: string) => string | undefined; value: unknown }>()
  const differing = new Set<string>()
  for (const block of blocks) {
    for (const { components, value } of block.observations) {
      const code = (id: string) => components.get(id) ?? block.components.get(id)
      const place = JSON.stringify([...known, TIME].map(code))
      const first = firsts.get(place) ?? { code, value }
      firsts.set(place, first)
      if (first.value === value) continue
      for (const id of candidates) if (first.code(id) !== code(id)) differing.add(id)
    }
  }
  return [...differing]
}
