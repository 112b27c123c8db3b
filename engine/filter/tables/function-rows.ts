import type { LiteralValue } from '../syntax/literals.ts'
import type { MomentPartName } from '../syntax/moment-parts.ts'
import type { Overload } from './overloads.ts'

export interface FunctionRow {
  readonly name: string
  /** Names of the arguments, for messages and the reference. */
  readonly args: readonly string[]
  readonly overloads: readonly Overload[]
  /** For a function without arguments: its value, which is the same for the whole query. */
  readonly constant?: (now: () => Date) => LiteralValue
  /** The part of a moment that it gives. For a literal, the checker computes it. */
  readonly ofMoment?: MomentPart
  readonly about: string
  readonly example: string
}

export interface MomentPart {
  readonly name: MomentPartName
  /**
   * Whether it takes a literal with another offset than UTC. Our moments are in UTC, and a service that keeps them so
   * must refuse such literals for year, month, day, hour and time (section 5.1.1.8), but not for the other functions.
   */
  readonly anyOffset: boolean
}
