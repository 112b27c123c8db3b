import type { KeyPattern } from '../keys.ts'

export interface RawObservation {
  readonly period: string
  /** As sent: text, a number, null or undefined. */
  readonly value: unknown
  /** `UNIT_MULT` where it is given for each observation. */
  readonly multiplier: string | undefined
  /** `OBS_STATUS`, or the flags that Eurostat has in its place. */
  readonly status?: string | undefined
}

export interface DataSeries {
  /** Codes in the order of the key; `''` where the message leaves the dimension out. */
  readonly key: readonly string[]
  /** Attributes of data set, group and series by id, and the dimensions too. */
  readonly attributes: ReadonlyMap<string, string>
  /** In the order of the message, which need not be that of time. */
  readonly observations: readonly RawObservation[]
}

/** The names that a message brings for its own codes: component, then code. No component is without. */
export type Labels = ReadonlyMap<string, ReadonlyMap<string, string>>

export interface DataMessage {
  /** What the message calls its dataflow; undefined where it says nothing. */
  readonly name: string | undefined
  readonly dimensions: readonly string[]
  /** See `Dimensions.certain`. */
  readonly certain: boolean
  readonly series: readonly DataSeries[]
  readonly labels: Labels
}

/** A message without series. */
export const NOTHING: DataMessage = {
  name: undefined,
  dimensions: [],
  certain: true,
  series: [],
  labels: new Map(),
}

/** What a reader may know beforehand: the key that was asked for, and the dimensions of the data structure. */
export interface Expected {
  readonly pattern: KeyPattern | undefined
  readonly dimensions: readonly string[] | undefined
}
