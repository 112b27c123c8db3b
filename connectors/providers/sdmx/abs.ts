import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

/** https://www.abs.gov.au/about/data-services/application-programming-interfaces-apis/data-api-user-guide */
export const abs = sdmxConnector({
  slug: 'abs',
  name: 'Australian Bureau of Statistics',
  description: 'Prices, labour, population and national accounts of Australia.',
  homepage: 'https://www.abs.gov.au',
  baseUrl: 'https://data.api.abs.gov.au/rest',
  agency: 'ABS',
  rest: restV1({
    data: { format: 'csvfilewithlabels' },
    flowOf: ({ agency, id, version }) => `${agency},${id},${version}`,
  }),
})
