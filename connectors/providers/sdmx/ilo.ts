import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'

/**
 * The service's CSV has a row for each observation and none for a key alone, so lists request the last observation of
 * each series.
 */
export const ilo = sdmxConnector({
  slug: 'ilo',
  name: 'International Labour Organization',
  description: 'Employment, unemployment, wages, working time and social protection (ILOSTAT).',
  homepage: 'https://ilostat.ilo.org',
  baseUrl: 'https://sdmx.ilo.org/rest',
  agency: 'ILO',
  rest: restV1({
    versions: true,
    flow: { references: 'all', detail: 'referencepartial' },
    flowOf: ({ agency, id, version }) => [agency, id, version].filter((part) => part !== '').join(','),
    headers: { accept: 'text/csv' },
    available: true,
  }),
})
