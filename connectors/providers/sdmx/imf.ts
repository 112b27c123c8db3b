import { sdmxConnector } from '../../sdmx/connector.ts'
import { flowOf, keyOf } from '../../sdmx/rest-v2.ts'
import { byAgency } from '../../sdmx/tree/branches.ts'

const JSON_STRUCTURE = { accept: 'application/vnd.sdmx.structure+json;version=2.0.0, application/json;q=0.9' }
const LATEST = '+'

/**
 * Requests observations with all attributes. None of these scales the values: `SCALE` only says how to display a value
 * that is already in units.
 */
const DATA = { dimensionAtObservation: 'TIME_PERIOD', attributes: 'dsd', measures: 'all' }

/**
 * The REST API of SDMX 3.0. An unknown dataflow is answered with 204 or 404, a key without series with a data set
 * without `series`.
 */
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
    // No range is sent: only some of the agencies support the filter for it; for others the answer would be incomplete
    // or empty.
    data: (flow, key) => ({ path: ['data', ...flowOf(flow), keyOf(key)], query: DATA }),
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
