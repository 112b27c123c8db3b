import type { UpstreamRequest } from '../connector.ts'
import type { FlowReference } from './flow-reference.ts'
import { isOpen, type KeyPattern } from './keys.ts'
import type { SdmxRequests } from './provider.ts'
import { ANY, STRUCTURE_XML } from './rest.ts'
import type { Reference } from './structures/references.ts'

/** The latest version, and any id, in addresses of the REST API of SDMX 3.0. */
const LATEST = '+'
const ANY_ID = '*'

interface Options {
  readonly agency: string
  /** The value of `format` for csv and for json. */
  readonly csv: string
  readonly json: string
}

/** Writes a key for the REST API of SDMX 3.0, where a wildcard must be written as `*`. */
export function keyOf(key: KeyPattern): string {
  return isOpen(key) ? ANY_ID : key.map((codes) => codes.join('+') || ANY_ID).join('.')
}

export function flowOf({ agency, id, version }: FlowReference): readonly string[] {
  return ['dataflow', agency, id, version || LATEST]
}

/** The requests of the REST API of SDMX 3.0 (version 2 of the API), for a service that takes `format`. */
export function restOf({ agency, csv, json }: Options): {
  readonly requests: Omit<SdmxRequests, 'dataflows'>
  flows(resource: 'dataflow' | 'categoryscheme', query?: UpstreamRequest['query']): UpstreamRequest
} {
  const structure = (resource: string, one: Reference, query: UpstreamRequest['query'] = {}) => ({
    path: ['structure', resource, one.agency, one.id, LATEST],
    query,
    headers: STRUCTURE_XML,
  })
  return {
    flows: (resource, query = {}) => structure(resource, { agency, id: ANY_ID, version: '' }, query),
    requests: {
      dataStructure: (one) => structure('datastructure', one, { references: 'children' }),
      conceptScheme: (one) => structure('conceptscheme', one),
      codelist: (one) => structure('codelist', one),
      data: (flow, key, { start, end }) => ({
        path: ['data', ...flowOf(flow), keyOf(key)],
        query: { startPeriod: start, endPeriod: end, format: csv },
        headers: ANY,
      }),
      // Requests the last observation of each series, because an answer without observations doesn't contain the names
      // of codes.
      keys: (flow, key) => ({
        path: ['data', ...flowOf(flow), keyOf(key)],
        query: { lastNObservations: 1, format: json },
        headers: ANY,
      }),
      available: (flow, key, dimension) => ({
        path: ['availability', ...flowOf(flow), keyOf(key), dimension],
        query: { mode: 'available' },
        headers: STRUCTURE_XML,
      }),
    },
  }
}
