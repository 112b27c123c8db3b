import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'FR1'

/** https://www.insee.fr/en/information/2868055. The service sends data only as SDMX-ML, with their history if asked. */
export const insee = sdmxConnector({
  info: {
    slug: 'insee',
    name: 'INSEE',
    description:
      'Prices, production, employment and accounts of France; a series of SERIES_BDM goes by its idbank.',
    homepage: 'https://www.insee.fr',
    tier: 'free',
    baseUrl: 'https://bdm.insee.fr/series/sdmx',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: allFlows,
  requests: restV1({ agency: AGENCY, whole: false, history: true, data: {} }),
})
