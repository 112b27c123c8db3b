import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

/** https://data.unicef.org/sdmx-api-documentation */
export const unicef = sdmxConnector({
  slug: 'unicef',
  name: 'UNICEF',
  description: 'Child mortality, health, nutrition, education and protection by country.',
  homepage: 'https://data.unicef.org',
  baseUrl: 'https://sdmx.data.unicef.org/ws/public/sdmxapi/rest',
  agency: 'UNICEF',
  rest: restV1({
    data: { format: 'csv', labels: 'both' },
    flowOf: ({ agency, id, version }) => `${agency},${id},${version || 'latest'}`,
  }),
})
