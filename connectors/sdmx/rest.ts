import type { UpstreamRequest } from '../connector.ts'
import type { FlowReference } from './flow-reference.ts'
import { formatPattern, type KeyPattern } from './keys.ts'
import type { SdmxRequests } from './provider.ts'
import type { Reference } from './structures/references.ts'

/** Headers that request SDMX-ML 2.1 structures; without them the OECD sends JSON of another shape. */
export const STRUCTURE_XML = { accept: 'application/vnd.sdmx.structure+xml;version=2.1' }

/** For services that take the format from a parameter and refuse unknown media types. */
export const ANY = { accept: '*/*' }

interface Style {
  /** The path segments before the resource in an address. */
  readonly prefix?: readonly string[]
  /** Whether addresses contain the version; without it they mean the latest. Default true. */
  readonly versions?: boolean
}

/** A query for one structure in the REST API of SDMX 2.1; `all` and `latest` are written out where they apply. */
export function structureRequest(
  resource: 'dataflow' | 'datastructure' | 'conceptscheme' | 'codelist',
  { agency, id, version }: Reference,
  query: NonNullable<UpstreamRequest['query']> = {},
  { prefix = [], versions = true }: Style = {},
): UpstreamRequest {
  const path = [...prefix, resource, agency, id, ...(versions ? [version || 'latest'] : [])]
  return { path, query, headers: STRUCTURE_XML }
}

/** The queries for a dataflow's structures, which are the same at all services of SDMX 2.1. */
export function structureRequests(
  style: Style = {},
): Pick<SdmxRequests, 'dataStructure' | 'conceptScheme' | 'codelist'> {
  return {
    dataStructure: (one) => structureRequest('datastructure', one, { references: 'children' }, style),
    conceptScheme: (one) => structureRequest('conceptscheme', one, {}, style),
    codelist: (one) => structureRequest('codelist', one, {}, style),
  }
}

/** The codes of a dimension that have data for a key (SDMX REST 1.3 and later), from all data providers. */
export function availableConstraint(flowOf: (flow: FlowReference) => string) {
  return (flow: FlowReference, key: KeyPattern, dimension: string): UpstreamRequest => ({
    path: ['availableconstraint', flowOf(flow), formatPattern(key), 'all', dimension],
    query: { mode: 'available' },
    headers: STRUCTURE_XML,
  })
}
