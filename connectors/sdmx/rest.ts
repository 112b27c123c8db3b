import type { UpstreamRequest } from '../connector.ts'
import { flowText, formatPattern, isOpen, type KeyPattern, type Reference } from './ids.ts'
import type { PeriodRange, SdmxService } from './session.ts'

type Query = NonNullable<UpstreamRequest['query']>

/** Headers that request SDMX-ML 2.1 structures; without them the OECD sends JSON of another shape. */
export const STRUCTURE_XML = { accept: 'application/vnd.sdmx.structure+xml;version=2.1' }

/** For services that take the format from a parameter and reject unknown media types. */
export const ANY = { accept: '*/*' }

/** What differs between services that have the REST API of SDMX 2.1. */
interface ServiceV1 {
  /** The path segments before structures, and before data. */
  readonly prefix?: readonly string[]
  readonly dataPrefix?: readonly string[]
  /** The list of dataflows, after the prefix. Default: those of the agency. */
  readonly flows?: Pick<UpstreamRequest, 'path' | 'query'>
  /** The parameters for a dataflow with everything it refers to; null if one answer can't contain that. */
  readonly flow?: Query | null
  /** Whether addresses of structures contain the version; without it they mean the latest. Default false. */
  readonly versions?: boolean
  /** Whether there are category schemes with the dataflows in them. */
  readonly categories?: boolean
  readonly flowOf?: (flow: Reference) => string
  /** Another base address for some dataflows. */
  readonly rootOf?: (flow: Reference) => Pick<UpstreamRequest, 'root'>
  /** The path segments after the key. */
  readonly suffix?: readonly string[]
  /**
   * The parameters that request data, in a format with names if the service has one; `startPeriod` among them is the
   * start to ask for if the user gives none.
   */
  readonly data?: Query
  /** The parameters that request the keys of series. Default: the last observation of each. */
  readonly keys?: Query
  readonly headers?: NonNullable<UpstreamRequest['headers']>
  /** The parameters and headers for all earlier versions of the data, if the service keeps them. */
  readonly history?: Pick<UpstreamRequest, 'query' | 'headers'>
  /** Whether the service says which codes of a dimension have data for a key (SDMX REST 1.3 and later). */
  readonly available?: boolean
}

/** The requests of a service that has the REST API of SDMX 2.1. */
export const restV1 =
  (service: ServiceV1): SdmxService['rest'] =>
  (agency) => {
    const { prefix = [], dataPrefix = [], suffix = [], data = {}, headers = ANY } = service
    const { flow: whole = { references: 'descendants' }, keys = { lastNObservations: 1, ...data } } = service
    const { flowOf = (flow: Reference) => flowText(flow, agency), rootOf, history } = service
    const structure = (resource: string, { agency, id, version }: Reference, query: Query = {}) => ({
      path: [...prefix, resource, agency, id, ...(service.versions ? [version || 'latest'] : [])],
      query,
      headers: STRUCTURE_XML,
    })
    const series = (flow: Reference, key: KeyPattern, query: Query): UpstreamRequest => ({
      path: [...dataPrefix, 'data', flowOf(flow), formatPattern(key), ...suffix],
      query,
      headers,
      ...rootOf?.(flow),
    })
    const { path, query = {} } = service.flows ?? { path: ['dataflow', agency!] }
    return {
      dataflows: () => ({ path: [...prefix, ...path], query, headers: STRUCTURE_XML }),
      ...(whole && { dataflow: (flow) => ({ ...structure('dataflow', flow, whole), ...rootOf?.(flow) }) }),
      dataStructure: (one) => structure('datastructure', one, { references: 'children' }),
      conceptScheme: (one) => structure('conceptscheme', one),
      codelist: (one) => structure('codelist', one),
      ...(service.categories && {
        categories: () => ({
          path: ['categoryscheme', agency!],
          query: { references: 'parentsandsiblings' },
          headers: STRUCTURE_XML,
        }),
      }),
      data: (flow, key, { start: startPeriod = data['startPeriod'], end }) =>
        series(flow, key, { ...data, startPeriod, endPeriod: end }),
      ...(history && { history: (flow, key) => ({ ...series(flow, key, {}), ...history }) }),
      keys: (flow, key) => series(flow, key, keys),
      ...(service.available && {
        available: (flow, key, dimension) => ({
          path: ['availableconstraint', flowOf(flow), formatPattern(key), 'all', dimension],
          query: { mode: 'available' },
          headers: STRUCTURE_XML,
        }),
      }),
    }
  }

/** The latest version, and any id, in addresses. */
const LATEST = '+'
const ANY_ID = '*'

/** What differs between services that have the REST API of SDMX 3.0 (version 2 of the API). */
interface ServiceV2 {
  readonly structureHeaders: NonNullable<UpstreamRequest['headers']>
  /** Which structures come with a data structure. */
  readonly references: 'children' | 'descendants'
  /** Whether there are category schemes with the dataflows in them. */
  readonly categories?: boolean
  readonly data: (range: PeriodRange) => Query
  readonly keys: Query
  readonly available?: Query
  readonly headers?: NonNullable<UpstreamRequest['headers']>
}

/** The requests of a service that has the REST API of SDMX 3.0. */
export const restV2 =
  (service: ServiceV2): SdmxService['rest'] =>
  (agency = 'all') => {
    const { structureHeaders, headers } = service
    const structure = (resource: string, one: Pick<Reference, 'agency' | 'id'>, query: Query = {}) => ({
      path: ['structure', resource, one.agency, one.id, LATEST],
      query,
      headers: structureHeaders,
    })
    const every = { agency, id: ANY_ID }
    const series = (flow: Reference, key: KeyPattern, query: Query): UpstreamRequest => ({
      path: ['data', ...pathOf(flow, key)],
      query,
      ...(headers && { headers }),
    })
    return {
      dataflows: () => structure('dataflow', every),
      dataStructure: (one) => structure('datastructure', one, { references: service.references }),
      conceptScheme: (one) => structure('conceptscheme', one),
      codelist: (one) => structure('codelist', one),
      ...(service.categories && {
        categories: () => structure('categoryscheme', every, { references: 'parentsandsiblings' }),
      }),
      data: (flow, key, range) => series(flow, key, service.data(range)),
      keys: (flow, key) => series(flow, key, service.keys),
      available: (flow, key, dimension) => ({
        path: ['availability', ...pathOf(flow, key), dimension],
        query: service.available ?? {},
        headers: structureHeaders,
      }),
    }
  }

/** A dataflow and a key, where a wildcard must be written as `*`. */
function pathOf({ agency, id, version }: Reference, key: KeyPattern): readonly string[] {
  const parts = isOpen(key) ? ANY_ID : key.map((codes) => codes.join('+') || ANY_ID).join('.')
  return ['dataflow', agency, id, version || LATEST, parts]
}
