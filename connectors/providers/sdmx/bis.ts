import { sdmxConnector } from '../../sdmx/connector.ts'
import { restOf } from '../../sdmx/rest-v2.ts'
import { byCategory } from '../../sdmx/tree/branches.ts'

/** Version 2 of its API, which is the REST API of SDMX 3.0. */
const { requests, flows } = restOf({ agency: 'BIS', csv: 'csv', json: 'jsondata' })

export const bis = sdmxConnector({
  info: {
    slug: 'bis',
    name: 'Bank for International Settlements',
    description: 'Policy rates, exchange rates, credit, property prices and international banking.',
    homepage: 'https://data.bis.org',
    tier: 'free',
    baseUrl: 'https://stats.bis.org/api/v2',
    key: 'none',
    limits: { windows: [] },
  },
  agency: 'BIS',
  root: byCategory,
  frequencyFirst: true,
  requests: {
    ...requests,
    dataflows: () => flows('dataflow'),
    categories: () => flows('categoryscheme', { references: 'parentsandsiblings' }),
  },
})
