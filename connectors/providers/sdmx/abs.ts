import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'ABS'

/** https://www.abs.gov.au/about/data-services/application-programming-interfaces-apis/data-api-user-guide */
export const abs = sdmxConnector({
  info: {
    slug: 'abs',
    name: 'Australian Bureau of Statistics',
    description: 'Prices, labour, population and national accounts of Australia.',
    homepage: 'https://www.abs.gov.au',
    tier: 'free',
    baseUrl: 'https://data.api.abs.gov.au/rest',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: allFlows,
  requests: restV1({
    agency: AGENCY,
    data: { format: 'csvfilewithlabels' },
    flowOf: ({ agency, id, version }) => `${agency},${id},${version}`,
  }),
})
