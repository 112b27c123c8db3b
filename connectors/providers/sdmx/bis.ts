import { sdmxConnector } from '../../sdmx/connector.ts'
import { type FlowReference, flowText } from '../../sdmx/flow-reference.ts'
import { formatPattern } from '../../sdmx/keys.ts'
import { availableConstraint, STRUCTURE_XML, structureRequests } from '../../sdmx/rest.ts'
import { byCategory } from '../../sdmx/tree/branches.ts'

const AGENCY = 'BIS'
const CSV = { accept: 'application/vnd.sdmx.data+csv;version=1.0.0, text/csv;q=0.9, */*;q=0.5' }
const JSON_DATA = { accept: 'application/vnd.sdmx.data+json;version=1.0.0, */*;q=0.5' }

const flowOf = (flow: FlowReference) => flowText(flow, AGENCY)

/** Version 1 of the API wants the data provider (`all`) behind each key. */
export const bis = sdmxConnector({
  info: {
    slug: 'bis',
    name: 'Bank for International Settlements',
    description: 'Policy rates, exchange rates, credit, property prices and international banking.',
    homepage: 'https://data.bis.org',
    tier: 'free',
    baseUrl: 'https://stats.bis.org/api/v1',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: byCategory,
  frequencyFirst: true,
  requests: {
    dataflows: () => ({ path: ['dataflow', AGENCY, 'all', 'latest'], headers: STRUCTURE_XML }),
    ...structureRequests(),
    categories: () => ({
      path: ['categoryscheme', AGENCY, 'all', 'latest'],
      query: { references: 'parentsandsiblings' },
      headers: STRUCTURE_XML,
    }),
    data: (flow, key, { start, end }) => ({
      path: ['data', flowOf(flow), formatPattern(key), 'all'],
      query: { startPeriod: start, endPeriod: end },
      headers: CSV,
    }),
    keys: (flow, key) => ({
      path: ['data', flowOf(flow), formatPattern(key), 'all'],
      query: { detail: 'serieskeysonly' },
      headers: JSON_DATA,
    }),
    available: availableConstraint(flowOf),
  },
})
