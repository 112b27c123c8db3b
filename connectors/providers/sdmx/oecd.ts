import { sdmxConnector } from '../../sdmx/connector.ts'
import type { FlowReference } from '../../sdmx/flow-reference.ts'
import { formatPattern } from '../../sdmx/keys.ts'
import {
  ANY,
  availableConstraint,
  STRUCTURE_XML,
  structureRequest,
  structureRequests,
} from '../../sdmx/rest.ts'
import { byAgency } from '../../sdmx/tree/branches.ts'

/** An empty version means the latest; the comma before it is still required. */
const flowOf = ({ agency, id, version }: FlowReference) => `${agency},${id},${version}`

/** CSV is requested with labels, so that a series takes one of the sixty requests an hour and not two. */
export const oecd = sdmxConnector({
  info: {
    slug: 'oecd',
    name: 'OECD',
    description: 'Economy, society and environment of the member countries of the OECD and of others.',
    homepage: 'https://data-explorer.oecd.org',
    tier: 'free',
    baseUrl: 'https://sdmx.oecd.org/public/rest',
    key: 'none',
    limits: { windows: [{ requests: 60, perSeconds: 3600 }] },
  },
  agency: undefined,
  root: byAgency,
  requests: {
    dataflows: () => ({ path: ['dataflow', 'all'], query: { detail: 'allstubs' }, headers: STRUCTURE_XML }),
    dataflow: (flow) => structureRequest('dataflow', flow, { references: 'all', detail: 'referencepartial' }),
    ...structureRequests(),
    data: (flow, key, { start, end }) => ({
      path: ['data', flowOf(flow), formatPattern(key)],
      query: { startPeriod: start, endPeriod: end, format: 'csvfilewithlabels' },
      headers: ANY,
    }),
    keys: (flow, key) => ({
      path: ['data', flowOf(flow), formatPattern(key)],
      query: { detail: 'serieskeysonly', format: 'jsondata' },
      headers: ANY,
    }),
    available: availableConstraint(flowOf),
  },
})
