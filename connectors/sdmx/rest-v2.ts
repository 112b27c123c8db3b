import type { UpstreamRequest } from '../connector.ts'
import type { FlowReference } from './flow-reference.ts'
import { isOpen, type KeyPattern } from './keys.ts'
import type { PeriodRange, Rest } from './provider.ts'
import type { Reference } from './structures/references.ts'

type Query = NonNullable<UpstreamRequest['query']>

/** The latest version, and any id, in addresses. */
const LATEST = '+'
const ANY_ID = '*'

/** What differs between services that have the REST API of SDMX 3.0 (version 2 of the API). */
interface Service {
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
  (service: Service): Rest =>
  (agency = 'all') => {
    const { structureHeaders, headers } = service
    const structure = (resource: string, one: Pick<Reference, 'agency' | 'id'>, query: Query = {}) => ({
      path: ['structure', resource, one.agency, one.id, LATEST],
      query,
      headers: structureHeaders,
    })
    const every = { agency, id: ANY_ID }
    const series = (flow: FlowReference, key: KeyPattern, query: Query): UpstreamRequest => ({
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
function pathOf({ agency, id, version }: FlowReference, key: KeyPattern): readonly string[] {
  const parts = isOpen(key) ? ANY_ID : key.map((codes) => codes.join('+') || ANY_ID).join('.')
  return ['dataflow', agency, id, version || LATEST, parts]
}
