import type { Category, ConnectorContext, ProviderInfo, UpstreamRequest } from '../connector.ts'
import type { FlowReference } from './flow-reference.ts'
import type { KeyPattern } from './keys.ts'
import type { Structures } from './structures/model.ts'
import type { Reference } from './structures/references.ts'

/** A range in the notation that suits the frequency of a key: `2024`, `2024-Q1`, `2024-01` or `2024-01-31`. */
export interface PeriodRange {
  readonly start: string | undefined
  readonly end: string | undefined
}

/** What a provider of the SDMX family has to say about itself; all else is common. */
export interface SdmxProvider {
  readonly info: ProviderInfo
  /** Whose dataflows an id without an agency means; undefined where ids must name it. */
  readonly agency: string | undefined
  /** What the root of the tree shows. */
  readonly root: Branch
  readonly requests: SdmxRequests
  /** Whether the frequency is the first part of keys. */
  readonly frequencyFirst?: boolean
  /** Components of which the first that a series has is its unit. */
  readonly units?: readonly string[]
  /** What `UNIT_MULT` means here. Default `named`: values stay as published, and the unit says 'millions'. */
  readonly multiplier?: (flow: FlowReference) => Multiplier
}

/**
 * - `named`: a part of the unit's name; values stay as published;
 * - `multiply`: value x 10^n is given out;
 * - `divide`: value / 10^n is given out, where the value is the price of 10^n pieces.
 */
export type Multiplier = 'named' | 'multiply' | 'divide'

/** The requests of a provider, below its base address. */
export interface SdmxRequests {
  dataflows(): UpstreamRequest
  /** One dataflow with its data structure and codelists in the same answer, where the provider can. */
  dataflow?(flow: FlowReference): UpstreamRequest
  dataStructure(structure: Reference): UpstreamRequest
  conceptScheme(scheme: Reference): UpstreamRequest
  codelist(list: Reference): UpstreamRequest
  /** Category schemes with categorisations. */
  categories?(): UpstreamRequest
  data(flow: FlowReference, key: KeyPattern, range: PeriodRange): UpstreamRequest
  /** The series that a key matches, with as little beside their keys as the provider can send. */
  keys(flow: FlowReference, key: KeyPattern): UpstreamRequest
  /** The codes of one dimension that have data where a key matches: a constraint. */
  available?(flow: FlowReference, key: KeyPattern, dimension: string): UpstreamRequest
}

/** One call of a user's to one provider. */
export interface Session {
  readonly provider: SdmxProvider
  readonly send: ConnectorContext['send']
  readonly cached: ConnectorContext['cached']
  /** Structures change rarely and are long: they are kept as read. */
  structures(request: UpstreamRequest): Promise<Structures>
}

/**
 * What lies above the dataflows: categories, agencies, a table of contents. Gives the categories under a path of its
 * own, and undefined for a path that it does not know.
 */
export type Branch = (path: string, session: Session) => Promise<readonly Category[] | undefined>
