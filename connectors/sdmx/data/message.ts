import type { KeyPattern } from '../ids.ts'

export interface RawObservation {
  readonly period: string
  /** As sent: text, a number, null or undefined. */
  readonly value: unknown
  /** `UNIT_MULT`, if it is given for each observation. */
  readonly multiplier: string | undefined
  /** `OBS_STATUS`, or Eurostat's flags, which take its place. */
  readonly status?: string | undefined
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
