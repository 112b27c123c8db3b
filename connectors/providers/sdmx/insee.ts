import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

/** https://www.insee.fr/en/information/2868055. The service sends data only as SDMX-ML, with their history if asked. */
export const insee = sdmxConnector({
  slug: 'insee',
  name: 'INSEE',
  description:
    'Prices, production, employment and accounts of France; a series of SERIES_BDM goes by its idbank.',
  homepage: 'https://www.insee.fr',
  baseUrl: 'https://bdm.insee.fr/series/sdmx',
  agency: 'FR1',
  rest: restV1({ flow: null, history: { query: { includeHistory: 'true' } } }),
})
