import type { UpstreamRequest } from '../connector.ts'
import { type FlowReference, flowText } from './flow-reference.ts'
import { formatPattern, type KeyPattern } from './keys.ts'
import type { Rest } from './provider.ts'
import type { Reference } from './structures/references.ts'

type Query = NonNullable<UpstreamRequest['query']>

/** Headers that request SDMX-ML 2.1 structures; without them the OECD sends JSON of another shape. */
export const STRUCTURE_XML = { accept: 'application/vnd.sdmx.structure+xml;version=2.1' }

/** For services that take the format from a parameter and reject unknown media types. */
export const ANY = { accept: '*/*' }

/** What differs between services that have the REST API of SDMX 2.1. */
interface Service {
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
  readonly flowOf?: (flow: FlowReference) => string
  /** Another base address for some dataflows. */
  readonly rootOf?: (flow: FlowReference) => Pick<UpstreamRequest, 'root'>
  /** The path segments after the key. */
  readonly suffix?: readonly string[]
  /** The parameters that request data, in a format with names if the service has one. */
  readonly data?: Query
  /** The start to ask for if the user gives none. */
  readonly since?: string
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
  (service: Service): Rest =>
  (agency) => {
    const { prefix = [], dataPrefix = [], suffix = [], data = {}, headers = ANY } = service
    const { flow: whole = { references: 'descendants' }, keys = { lastNObservations: 1, ...data } } = service
    const { flowOf = (flow: FlowReference) => flowText(flow, agency), rootOf, history } = service
    const structure = (resource: string, { agency, id, version }: Reference, query: Query = {}) => ({
      path: [...prefix, resource, agency, id, ...(service.versions ? [version || 'latest'] : [])],
      query,
      headers: STRUCTURE_XML,
    })
    const series = (flow: FlowReference, key: KeyPattern, query: Query): UpstreamRequest => ({
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
      data: (flow, key, { start = service.since, end }) =>
        series(flow, key, { startPeriod: start, endPeriod: end, ...data }),
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
