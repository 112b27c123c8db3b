import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'UNSD'

/** https://data.un.org/Host.aspx?Content=API. The service sends data as SDMX-ML. */
export const undata = sdmxConnector({
  info: {
    slug: 'undata',
    name: 'UNdata',
    description:
      'Country data of the United Nations: national accounts, energy, the sustainable development goals.',
    homepage: 'https://data.un.org',
    tier: 'free',
    baseUrl: 'https://data.un.org/WS/rest',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: allFlows,
  requests: restV1({
    agency: AGENCY,
    data: {},
    suffix: ['ALL'],
    flowOf: ({ agency, id, version }) => `${agency},${id},${version || '1.0'}`,
  }),
})
