import { sdmxConnector } from '../../sdmx/connector.ts'
import type { FlowReference } from '../../sdmx/flow-reference.ts'
import { isOpen, type KeyPattern } from '../../sdmx/keys.ts'
import type { PeriodRange } from '../../sdmx/provider.ts'
import { byAgency } from '../../sdmx/tree/branches.ts'

const JSON_STRUCTURE = { accept: 'application/vnd.sdmx.structure+json;version=2.0.0, application/json;q=0.9' }
const LATEST = '+'

const flowOf = ({ agency, id, version }: FlowReference) => ['dataflow', agency, id, version || LATEST]

/** In the REST API of SDMX 3.0 a wildcard is written out. */
const keyOf = (key: KeyPattern) => (isOpen(key) ? '*' : key.map((codes) => codes.join('+') || '*').join('.'))

function periodsOf({ start, end }: PeriodRange): string | undefined {
  const bounds = [start && `ge:${start}`, end && `le:${end}`].filter(Boolean)
  return bounds.length > 0 ? bounds.join('+') : undefined
}

/** Observations with all attributes, none of which scale: `SCALE` says how to show a value that is in units already. */
const DATA = { dimensionAtObservation: 'TIME_PERIOD', attributes: 'dsd', measures: 'all' }

/** The REST API of SDMX 3.0. An unknown dataflow is 204 or 404, a key without series a data set without `series`. */
export const imf = sdmxConnector({
  info: {
    slug: 'imf',
    name: 'International Monetary Fund',
    description: 'World economic outlook, balance of payments, government finance, prices and commodities.',
    homepage: 'https://data.imf.org',
    tier: 'free',
    baseUrl: 'https://api.imf.org/external/sdmx/3.0',
    key: 'none',
    limits: { windows: [] },
  },
  agency: undefined,
  root: byAgency,
  requests: {
    dataflows: () => ({ path: ['structure', 'dataflow', 'all', '*', LATEST], headers: JSON_STRUCTURE }),
    dataStructure: ({ agency, id }) => ({
      path: ['structure', 'datastructure', agency, id, LATEST],
      query: { references: 'descendants' },
      headers: JSON_STRUCTURE,
    }),
    conceptScheme: ({ agency, id }) => ({
      path: ['structure', 'conceptscheme', agency, id, LATEST],
      headers: JSON_STRUCTURE,
    }),
    codelist: ({ agency, id }) => ({
      path: ['structure', 'codelist', agency, id, LATEST],
      headers: JSON_STRUCTURE,
    }),
    data: (flow, key, range) => ({
      path: ['data', ...flowOf(flow), keyOf(key)],
      query: { ...DATA, 'c[TIME_PERIOD]': periodsOf(range) },
    }),
    keys: (flow, key) => ({
      path: ['data', ...flowOf(flow), keyOf(key)],
      query: { ...DATA, lastNObservations: 1 },
    }),
    available: (flow, key, dimension) => ({
      path: ['availability', ...flowOf(flow), keyOf(key), dimension],
      headers: JSON_STRUCTURE,
    }),
  },
})
