import type {
  Category,
  ConnectorContext,
  ProviderInfo,
  ProviderLimits,
  UpstreamRequest,
} from '../connector.ts'
import type { FlowReference } from './flow-reference.ts'
import type { KeyPattern } from './keys.ts'
import type { Structures } from './structures/model.ts'
import type { Reference } from './structures/references.ts'

/** A range in the notation that suits the frequency of a key: `2024`, `2024-Q1`, `2024-01` or `2024-01-31`. */
export interface PeriodRange {
  readonly start: string | undefined
  readonly end: string | undefined
}

/** The properties in which a provider of the SDMX family differs from the others. */
export interface SdmxProvider {
  readonly info: ProviderInfo
  /** The agency of dataflows whose id names none; undefined if ids must name the agency. */
  readonly agency: string | undefined
  /** The content of the root of the tree. */
  readonly root: Branch
  readonly requests: SdmxRequests
  /** Whether the frequency is the first part of keys. */
  readonly frequencyFirst?: boolean
  /** The unit of a series is the first of these components that it has. */
  readonly units?: readonly string[]
  /** The unit, where other components than `units` tell it better; `code` is that of a component, '' if it is missing. */
  readonly unit?: (code: (component: string) => string) => string | undefined
  /** The meaning of `UNIT_MULT` here. Default `named`: values stay as published, and the unit says 'millions'. */
  readonly multiplier?: (flow: FlowReference) => Multiplier
}

/**
 * - `named`: it is a part of the unit's name; values stay as published;
 * - `multiply`: the result is value x 10^n;
 * - `divide`: the result is value / 10^n, for a value that is the price of 10^n pieces.
 */
export type Multiplier = 'named' | 'multiply' | 'divide'

/** How values are scaled: `power` is `UNIT_MULT` where an observation has none of its own. */
export interface Scale {
  readonly multiplier: Multiplier
  readonly power: string | undefined
}

/** The requests of a provider, whose agency is undefined if ids must name one. */
export type Rest = (agency: string | undefined) => SdmxRequests

/** A provider as its own file describes it; all of them are free and need no key. */
export interface SdmxService
  extends Pick<ProviderInfo, 'slug' | 'name' | 'description' | 'homepage' | 'baseUrl'>,
    Omit<SdmxProvider, 'info' | 'agency' | 'root' | 'requests'> {
  readonly windows?: ProviderLimits['windows']
  readonly agency?: string
  /** Default: all dataflows, in one list. */
  readonly root?: Branch
  readonly rest: Rest
}

/** The requests of a provider, below its base address. */
export interface SdmxRequests {
  dataflows(): UpstreamRequest
  /** One dataflow with its data structure and codelists in the same answer, if the provider supports that. */
  dataflow?(flow: FlowReference): UpstreamRequest
  dataStructure(structure: Reference): UpstreamRequest
  conceptScheme(scheme: Reference): UpstreamRequest
  codelist(list: Reference): UpstreamRequest
  /** Category schemes with categorisations. */
  categories?(): UpstreamRequest
  data(flow: FlowReference, key: KeyPattern, range: PeriodRange): UpstreamRequest
  /** All that was ever published of the series, as SDMX-ML; absent if the provider keeps no earlier versions. */
  history?(flow: FlowReference, key: KeyPattern): UpstreamRequest
  /** The series that match a key, with as little data beside their keys as the provider can send. */
  keys(flow: FlowReference, key: KeyPattern): UpstreamRequest
  /** A constraint: the codes of one dimension that have data for a key. */
  available?(flow: FlowReference, key: KeyPattern, dimension: string): UpstreamRequest
}

/** One user's call to one provider. */
export interface Session {
  readonly provider: SdmxProvider
  readonly send: ConnectorContext['send']
  readonly cached: ConnectorContext['cached']
  /** Structures change rarely and are long, so they are cached after they have been read. */
  structures(request: UpstreamRequest): Promise<Structures>
}

/**
 * The levels above the dataflows: categories, agencies, a table of contents. Returns the categories below a path, and
 * undefined for a path that it does not know.
 */
export type Branch = (path: string, session: Session) => Promise<readonly Category[] | undefined>
