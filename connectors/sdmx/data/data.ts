import type { UpstreamAnswer } from '../../connector.ts'
import type { KeyPattern } from '../keys.ts'
import { refuseFailure } from '../refusals.ts'
import { readDataCsv } from './data-csv.ts'
import { readDataJson } from './data-json.ts'
import { readDataXml } from './data-xml.ts'

export interface RawObservation {
  readonly period: string
  /** As sent: text, a number, null or undefined. */
  readonly value: unknown
  /** `UNIT_MULT` where it is given for each observation. */
  readonly multiplier: string | undefined
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

/**
 * Reads a data message of any SDMX format: CSV 1.0 and 2.0 and the providers' own, JSON 1.0 and 2.0, JSON-stat 2.0,
 * generic and structure-specific ML 2.1. The body itself tells which, because providers label them freely. Series
 * that were not asked for are left out. Throws `unknown_series` where the provider says so and `not_understood` for
 * what is none of these.
 */
export function readData(answer: UpstreamAnswer, expected: Expected): DataMessage {
  refuseFailure(answer)
  switch (/[^\s\ufeff]/.exec(answer.text)?.[0]) {
    case undefined:
      return NOTHING
    case '<':
      return readDataXml(answer.text, expected)
    case '{':
    case '[':
      return readDataJson(answer.text, expected)
    default:
      return readDataCsv(answer.text, expected)
  }
}
