import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

/** https://data.un.org/Host.aspx?Content=API. The service sends data as SDMX-ML. */
export const undata = sdmxConnector({
  slug: 'undata',
  name: 'UNdata',
  description:
    'Country data of the United Nations: national accounts, energy, the sustainable development goals.',
  homepage: 'https://data.un.org',
  baseUrl: 'https://data.un.org/WS/rest',
  agency: 'UNSD',
  rest: restV1({
    suffix: ['ALL'],
    flowOf: ({ agency, id, version }) => `${agency},${id},${version || '1.0'}`,
  }),
})
