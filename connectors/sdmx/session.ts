import type {
  Calendar,
  Category,
  ConnectorContext,
  ProviderInfo,
  ProviderLimits,
  UpstreamRequest,
} from '../connector.ts'
import { ConnectorError, type ConnectorErrorCode } from '../errors.ts'
import type { KeyPattern, Reference } from './ids.ts'
import type { SdmxQueue } from './queue.ts'
import type { Structures } from './structures/structures.ts'

/** A range in the notation that suits the frequency of a key: `2024`, `2024-Q1`, `2024-01` or `2024-01-31`. */
export interface PeriodRange {
  readonly start: string | undefined
  readonly end: string | undefined
}

/** A dataflow that has each monthly edition of a series as a series of its own. */
export interface Editions {
  /** The id of the dataflow. */
  readonly flow: string
  /** The dimension whose codes name the months of editions: `202607`. */
  readonly dimension: string
}

/** A provider of the SDMX family, with what differs from the others; all of them are free, and none needs a key for all of its data. */
export interface SdmxService
  extends Pick<ProviderInfo, 'slug' | 'name' | 'description' | 'homepage' | 'baseUrl'> {
  readonly windows?: ProviderLimits['windows']
  /** Whether only data count against the limits, not structures. */
  readonly freeStructures?: boolean
  /** The header of a key, which the service takes, and the page where one is had. */
  readonly key?: { readonly header: string; readonly page: string }
  readonly calendar?: Calendar
  /** The queue in which the service prepares large answers. */
  readonly queue?: SdmxQueue
  /** The agency of dataflows whose id names none; undefined if ids must name the agency. */
  readonly agency?: string
  /** Where the service keeps earlier editions of its series. */
  readonly editions?: Editions
  /** The content of the root of the tree. Default: all dataflows, in one list. */
  readonly root?: Branch
  readonly rest: (agency: string | undefined) => SdmxRequests
  /** Whether the frequency is the first part of keys. */
  readonly frequencyFirst?: boolean
  /** The unit of a series is the first of these components that it has. */
  readonly units?: readonly string[]
  /** The unit, where other components than `units` tell it better; `code` is that of a component, '' if it is missing. */
  readonly unit?: (code: (component: string) => string) => string | undefined
  /** The meaning of `UNIT_MULT` here. Default `named`: values stay as published, and the unit says 'millions'. */
  readonly multiplier?: (flow: Reference) => Multiplier
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

/** The requests of a provider, below its base address. */
export interface SdmxRequests {
  dataflows(): UpstreamRequest
  /** One dataflow with its data structure and codelists in the same answer, if the provider supports that. */
  dataflow?(flow: Reference): UpstreamRequest
  dataStructure(structure: Reference): UpstreamRequest
  conceptScheme(scheme: Reference): UpstreamRequest
  codelist(list: Reference): UpstreamRequest
  /** Category schemes with categorisations. */
  categories?(): UpstreamRequest
  data(flow: Reference, key: KeyPattern, range: PeriodRange): UpstreamRequest
  /** All that was ever published of the series, as SDMX-ML; absent if the provider keeps no earlier versions. */
  history?(flow: Reference, key: KeyPattern): UpstreamRequest
  /** The series that match a key, with as little data beside their keys as the provider can send. */
  keys(flow: Reference, key: KeyPattern): UpstreamRequest
  /** A constraint: the codes of one dimension that have data for a key. */
  available?(flow: Reference, key: KeyPattern, dimension: string): UpstreamRequest
}

/**
 * The levels above the dataflows: categories, agencies, a table of contents. Returns the categories below a path, and
 * undefined for a path that it does not know.
 */
export type Branch = (path: string, session: Session) => Promise<readonly Category[] | undefined>

/** One user's call to one provider. */
export interface Session extends Pick<ConnectorContext, 'send' | 'cached'> {
  readonly service: SdmxService
  readonly requests: SdmxRequests
  /** Structures change rarely and are long, so they are cached after they have been read. */
  structures(request: UpstreamRequest): Promise<Structures>
}

/** The errors that are in what a provider has answered, as opposed to failures on the way to it. */
const ANSWERED: readonly ConnectorErrorCode[] = [
  'series_not_found',
  'invalid_option',
  'answer_too_large',
  'not_understood',
]

/**
 * The outcome, or undefined if the provider says that it has none or sends something that can't be read. If the
 * provider is down or its limit is used up, that stays an error, because a result without the outcome would be cached
 * for hours.
 */
export async function attempt<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ConnectorError && ANSWERED.includes(error.code)) return undefined
    throw error
  }
}

/**
 * The outcome of a request that may be too wide for the service. Some services, such as the ECB's, then fail as if they
 * were down, so the error tells the user of both possible causes. A pause, whose end is known, has another cause.
 */
export async function wide<T>({ service: { name } }: Session, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const isDown = cause instanceof ConnectorError && cause.code === 'provider_down'
    if (!isDown || cause.retryAfter !== undefined) throw cause
    const sentence = `${name} is failing at the moment, or at so wide a request. Choose a narrower one, or try again later.`
    throw new ConnectorError('provider_down', sentence, { cause })
  }
}
