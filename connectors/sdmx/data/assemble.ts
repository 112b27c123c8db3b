import { Failure } from '../../failures.ts'
import { type KeyPattern, matches } from '../ids.ts'
import type { DataMessage, DataSeries, Expected, RawObservation } from './message.ts'

/** The id that every reader gives to the time dimension, whatever the message calls it. */
export const TIME = 'TIME_PERIOD'

/** Components that contain the power of ten of a value, under the names of UNICEF and the Bundesbank as well. */
export const MULTIPLIERS = ['UNIT_MULT', 'UNIT_MULTIPLIER', 'BBK_UNIT_MULT'] as const

/** Components that describe the kind of value of an observation; the last is the IMF's. */
export const STATUSES = ['OBS_STATUS', 'OBS_FLAG', 'STATUS'] as const

/** A part of a message: its observations and the components that are the same for all of them. */
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
 * order: each observation is assigned to its series by the complete key.
 */
export function assemble(
  blocks: readonly Block[],
  groups: readonly Group[],
  { name, labels }: Pick<DataMessage, 'name' | 'labels'>,
  expected: Expected,
  known?: readonly string[],
): DataMessage {
  const components = expected.dimensions ? [] : candidates(blocks, known)
  const { ids, certain, guessed } = chooseDimensions(components, expected.pattern, expected.dimensions)
  const statuses = STATUSES.filter((id) => !ids.includes(id))
  const builder = new SeriesBuilder(expected)
  for (const block of blocks) {
    const common = ids.map((id) => lookUp(block.components, id))
    const add = (key: readonly string[], extra: ReadonlyMap<string, string>) =>
      builder.series(key, () => {
        const own = new Map([...block.components, ...extra])
        return new Map([...groupAttributes(groups, ids, own), ...own])
      })
    if (block.observations.length === 0) add(common, new Map())
    for (const { components, value } of block.observations) {
      const key = ids.map((id, i) => common[i] || lookUp(components, id))
      const period = components.get(TIME) ?? block.components.get(TIME)
      if (period === undefined) throw new Failure('no-time', { what: 'An observation has no time.' })
      const status = statuses.map((id) => components.get(id)).find(Boolean)
      const multiplier = MULTIPLIERS.map((id) => components.get(id)).find((one) => one !== undefined)
      const revised = components.get('OBS_REV') === '1'
      const withdrawn = block.withdrawn ?? false
      add(key, components)?.push({ period, value, multiplier, status, revised, withdrawn })
    }
  }
  return { name, dimensions: ids, certain, guessed, series: builder.all(), other: builder.other, labels }
}

/** Collects observations by series, leaving out series that were not asked for. */
export class SeriesBuilder {
  readonly #expected: Expected
  readonly #series = new Map<string, DataSeries & { readonly observations: RawObservation[] }>()
  /** The key of a series that was left out. */
  other: string | undefined

  constructor(expected: Expected) {
    this.#expected = expected
  }

  /** The list of observations of the series with this key, to add to; undefined if the series was not asked for. */
  series(
    key: readonly string[],
    attributes: () => ReadonlyMap<string, string>,
  ): RawObservation[] | undefined {
    const name = key.join('.')
    const known = this.#series.get(name)
    if (known) return known.observations
    if (this.#expected.pattern && !matches(key, this.#expected.pattern)) {
      this.other ??= name
      return undefined
    }
    const made = { key, attributes: attributes(), observations: [] }
    this.#series.set(name, made)
    return made.observations
  }

  all(): readonly DataSeries[] {
    return [...this.#series.values()]
  }
}

/** Components that may be dimensions: those that the message declares, else all components that every block has. */
function candidates(blocks: readonly Block[], known: readonly string[] | undefined) {
  const codes = new Map<string, Set<string>>((known ?? []).map((id) => [id, new Set()]))
  for (const block of blocks) {
    const maps = [block.components, ...block.observations.map(({ components }) => components)]
    for (const [id, code] of maps.flatMap((map) => [...map])) {
      if (id === TIME) continue
      if (!codes.has(id)) {
        if (known) continue
        codes.set(id, new Set())
      }
      codes.get(id)!.add(code)
    }
  }
  return [...codes].map(([id, found]) => ({ id, has: (code: string) => found.has(code) }))
}

/** At Eurostat the ids in data and structure may differ in case (`FREQ`, `freq`). */
function lookUp(components: ReadonlyMap<string, string>, id: string): string {
  const exact = components.get(id)
  if (exact !== undefined) return exact
  for (const [name, code] of components) if (name.toLowerCase() === id.toLowerCase()) return code
  return ''
}

function groupAttributes(
  groups: readonly Group[],
  dimensions: readonly string[],
  own: ReadonlyMap<string, string>,
): readonly (readonly [string, string])[] {
  const holds = (group: Group) => dimensions.every((id) => !group.has(id) || group.get(id) === own.get(id))
  return groups.filter(holds).flatMap((group) => [...group])
}

/** A dimension or attribute of a data message, and a function that tells whether some series has a code there. */
export interface Candidate {
  readonly id: string
  has(code: string): boolean
}

/** Which components of a message are the dimensions, in the order of the key. */
export interface Dimensions {
  readonly ids: readonly string[]
  /** False if neither the structure nor the message names the dimensions, so that they were guessed from the codes. */
  readonly certain: boolean
  /** True if a wildcard of the key may as well stand for another component than the one that it was given. */
  readonly guessed: boolean
}

/**
 * Finds the dimensions among the components of a message. If there is a data structure, it decides. Without one the
 * message is used, if it has as many candidates as the key has parts and each part's code occurs at its position. Else
 * each part of the key takes the first free component that has its code. In practice this is right, since other
 * attributes rarely contain such codes, but it is not `certain`. Wildcards take what is left then, which is `guessed`
 * unless only one component is left for the only wildcard.
 */
export function chooseDimensions(
  candidates: readonly Candidate[],
  pattern: KeyPattern | undefined,
  structure: readonly string[] | undefined,
): Dimensions {
  if (structure) return { ids: structure, certain: true, guessed: false }
  if (!pattern) return { ids: candidates.map(({ id }) => id), certain: false, guessed: false }
  const fits = (candidate: Candidate, codes: readonly string[]) =>
    codes.length === 0 || codes.some((code) => candidate.has(code))
  if (candidates.length === pattern.length && candidates.every((one, i) => fits(one, pattern[i]!))) {
    return { ids: candidates.map(({ id }) => id), certain: true, guessed: false }
  }
  const leading = candidates.slice(0, pattern.length)
  if (leading.length === pattern.length && leading.every((one, i) => fits(one, pattern[i]!))) {
    return { ids: leading.map(({ id }) => id), certain: false, guessed: false }
  }
  const free = new Set(candidates)
  const take = (codes: readonly string[]) => {
    const found = [...free].find((one) => fits(one, codes))
    if (found) free.delete(found)
    return found?.id ?? ''
  }
  const found = pattern.map((codes) => (codes.length > 0 ? take(codes) : undefined))
  // If the other parts are where the key has them, so is a part whose code does not occur: the answer is about another
  // series. Otherwise the message may have left that part out.
  const isInOrder = found.every((id, i) => !id || id === candidates[i]?.id)
  const named = found.map((id, i) => (id === '' && isInOrder ? (candidates[i]?.id ?? '') : id))
  const wildcards = named.filter((id) => id === undefined).length
  const guessed = wildcards > 1 || (wildcards === 1 && free.size > 1)
  return { ids: named.map((id) => id ?? take([])), certain: false, guessed }
}
