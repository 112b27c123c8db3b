import { sdmxConnector } from '../../sdmx/connector.ts'
import { ANY, STRUCTURE_XML } from '../../sdmx/rest-v1.ts'
import { restV2 } from '../../sdmx/rest-v2.ts'
import { byCategory } from '../../sdmx/tree/branches.ts'

/** Version 2 of its API, which is the REST API of SDMX 3.0. */
export const bis = sdmxConnector({
  slug: 'bis',
  name: 'Bank for International Settlements',
  description: 'Policy rates, exchange rates, credit, property prices and international banking.',
  homepage: 'https://data.bis.org',
  baseUrl: 'https://stats.bis.org/api/v2',
  agency: 'BIS',
  root: byCategory,
  frequencyFirst: true,
  rest: restV2({
    structureHeaders: STRUCTURE_XML,
    references: 'children',
    categories: true,
    data: ({ start, end }) => ({ startPeriod: start, endPeriod: end, format: 'csv' }),
    // Requests the last observation of each series, because an answer without observations doesn't contain the names
    // of codes.
    keys: { lastNObservations: 1, format: 'jsondata' },
    available: { mode: 'available' },
    headers: ANY,
  }),
})
