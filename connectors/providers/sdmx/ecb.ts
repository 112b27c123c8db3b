import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { byCategory } from '../../sdmx/tree/branches.ts'

/**
 * The service answers 406 to the media type of SDMX-CSV, so formats are requested by parameter. It doesn't page, and in
 * large dataflows it fails with 503 for a key that fixes few codes.
 */
export const ecb = sdmxConnector({
  slug: 'ecb',
  name: 'European Central Bank',
  description: 'Exchange rates, interest rates, money, banking and prices of the euro area.',
  homepage: 'https://data.ecb.europa.eu',
  baseUrl: 'https://data-api.ecb.europa.eu/service',
  agency: 'ECB',
  root: byCategory,
  frequencyFirst: true,
  rest: restV1({
    // The answer includes the constraint that says which codes have data.
    flow: { references: 'all' },
    categories: true,
    data: { format: 'csvdata' },
    // JSON is requested because it includes the names of the codes.
    keys: { detail: 'serieskeysonly', format: 'jsondata' },
    // https://data.ecb.europa.eu/help/api/data. CSV has no place for the time since when a value is valid.
    history: {
      query: { includeHistory: 'true' },
      headers: { accept: 'application/vnd.sdmx.genericdata+xml;version=2.1' },
    },
  }),
})
