import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'BBK'

/**
 * https://www.bundesbank.de/en/statistics/time-series-databases/help-for-sdmx-web-service. The addresses of structures
 * begin with metadata/.
 */
export const bundesbank = sdmxConnector({
  info: {
    slug: 'bundesbank',
    name: 'Deutsche Bundesbank',
    description: 'Exchange rates, interest rates, securities and banking statistics of Germany.',
    homepage: 'https://www.bundesbank.de/en/statistics/time-series-databases',
    tier: 'free',
    baseUrl: 'https://api.statistiken.bundesbank.de/rest',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: allFlows,
  frequencyFirst: true,
  requests: restV1({
    agency: AGENCY,
    prefix: ['metadata'],
    whole: false,
    data: { format: 'sdmx_json', lang: 'en' },
  }),
})
