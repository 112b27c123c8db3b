import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { allFlows } from '../../sdmx/tree/branches.ts'

const AGENCY = 'IT1'

/**
 * https://esploradati.istat.it/databrowser. A client that sends more than five requests a minute is locked out for
 * days.
 */
export const istat = sdmxConnector({
  info: {
    slug: 'istat',
    name: 'Istat',
    description: 'Prices, labour, production and population of Italy.',
    homepage: 'https://www.istat.it/en',
    tier: 'free',
    baseUrl: 'https://esploradati.istat.it/SDMXWS/rest',
    key: 'none',
    limits: { windows: [{ requests: 5, perSeconds: 60 }] },
  },
  agency: AGENCY,
  root: allFlows,
  requests: restV1({ agency: AGENCY, data: { format: 'csv' } }),
})
