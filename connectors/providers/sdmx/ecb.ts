import { sdmxConnector } from '../../sdmx/connector.ts'
import { flowText } from '../../sdmx/flow-reference.ts'
import { formatPattern } from '../../sdmx/keys.ts'
import { ANY, STRUCTURE_XML, structureRequest, structureRequests } from '../../sdmx/rest.ts'
import { byCategory } from '../../sdmx/tree/branches.ts'

const AGENCY = 'ECB'
const STYLE = { versions: false }

/**
 * The service answers 406 to the media type of SDMX-CSV, so formats are requested by parameter. It doesn't page, and in
 * large dataflows it fails with 503 for a key that fixes few codes.
 */
export const ecb = sdmxConnector({
  info: {
    slug: 'ecb',
    name: 'European Central Bank',
    description: 'Exchange rates, interest rates, money, banking and prices of the euro area.',
    homepage: 'https://data.ecb.europa.eu',
    tier: 'free',
    baseUrl: 'https://data-api.ecb.europa.eu/service',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: byCategory,
  frequencyFirst: true,
  requests: {
    dataflows: () => ({ path: ['dataflow', AGENCY], headers: STRUCTURE_XML }),
    // The answer includes the constraint that says which codes have data.
    dataflow: (flow) => structureRequest('dataflow', flow, { references: 'all' }, STYLE),
    ...structureRequests(STYLE),
    categories: () => ({
      path: ['categoryscheme', AGENCY],
      query: { references: 'parentsandsiblings' },
      headers: STRUCTURE_XML,
    }),
    data: (flow, key, { start, end }) => ({
      path: ['data', flowText(flow, AGENCY), formatPattern(key)],
      query: { startPeriod: start, endPeriod: end, format: 'csvdata' },
      headers: ANY,
    }),
    // https://data.ecb.europa.eu/help/api/data. CSV has no place for the time since when a value is valid.
    history: (flow, key) => ({
      path: ['data', flowText(flow, AGENCY), formatPattern(key)],
      query: { includeHistory: 'true' },
      headers: { accept: 'application/vnd.sdmx.genericdata+xml;version=2.1' },
    }),
    // JSON is requested because it includes the names of the codes.
    keys: (flow, key) => ({
      path: ['data', flowText(flow, AGENCY), formatPattern(key)],
      query: { detail: 'serieskeysonly', format: 'jsondata' },
      headers: ANY,
    }),
  },
})
