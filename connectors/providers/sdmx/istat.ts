import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

/**
 * https://esploradati.istat.it/databrowser. A client that sends more than five requests a minute is locked out for
 * days.
 */
export const istat = sdmxConnector({
  slug: 'istat',
  name: 'Istat',
  description: 'Prices, labour, production and population of Italy.',
  homepage: 'https://www.istat.it/en',
  baseUrl: 'https://esploradati.istat.it/SDMXWS/rest',
  windows: [{ requests: 5, perSeconds: 60 }],
  agency: 'IT1',
  rest: restV1({ data: { format: 'csv' } }),
})
