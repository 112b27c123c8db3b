import { sdmxConnector } from '../../sdmx/connector.ts'
import type { FlowReference } from '../../sdmx/flow-reference.ts'
import { formatPattern } from '../../sdmx/keys.ts'
import { availableConstraint, STRUCTURE_XML, structureRequest, structureRequests } from '../../sdmx/rest.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'ILO'
const CSV = { accept: 'text/csv' }

const flowOf = ({ agency, id, version }: FlowReference) =>
  [agency, id, version].filter((part) => part !== '').join(',')

/**
 * The service's CSV has a row for each observation and none for a key alone, so lists request the last observation of
 * each series.
 */
export const ilo = sdmxConnector({
  info: {
    slug: 'ilo',
    name: 'International Labour Organization',
    description: 'Employment, unemployment, wages, working time and social protection (ILOSTAT).',
    homepage: 'https://ilostat.ilo.org',
    tier: 'free',
    baseUrl: 'https://sdmx.ilo.org/rest',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: allFlows,
  requests: {
    dataflows: () => ({ path: ['dataflow', AGENCY], headers: STRUCTURE_XML }),
    dataflow: (flow) => structureRequest('dataflow', flow, { references: 'all', detail: 'referencepartial' }),
    ...structureRequests(),
    data: (flow, key, { start, end }) => ({
      path: ['data', flowOf(flow), formatPattern(key)],
      query: { startPeriod: start, endPeriod: end },
      headers: CSV,
    }),
    keys: (flow, key) => ({
      path: ['data', flowOf(flow), formatPattern(key)],
      query: { lastNObservations: 1 },
      headers: CSV,
    }),
    available: availableConstraint(flowOf),
  },
})
