import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'UNICEF'

/** https://data.unicef.org/sdmx-api-documentation */
export const unicef = sdmxConnector({
  info: {
    slug: 'unicef',
    name: 'UNICEF',
    description: 'Child mortality, health, nutrition, education and protection by country.',
    homepage: 'https://data.unicef.org',
    tier: 'free',
    baseUrl: 'https://sdmx.data.unicef.org/ws/public/sdmxapi/rest',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: allFlows,
  requests: restV1({
    agency: AGENCY,
    data: { format: 'csv', labels: 'both' },
    flowOf: ({ agency, id, version }) => `${agency},${id},${version || 'latest'}`,
  }),
})
