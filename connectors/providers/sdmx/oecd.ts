import { sdmxConnector } from '../../sdmx/connector.ts'
import { restV1 } from '../../sdmx/rest-v1.ts'
import { byAgency } from '../../sdmx/tree/branches.ts'

/** CSV is requested with labels, so that a series takes one of the sixty requests an hour and not two. */
export const oecd = sdmxConnector({
  slug: 'oecd',
  name: 'OECD',
  description: 'Economy, society and environment of the member countries of the OECD and of others.',
  homepage: 'https://data-explorer.oecd.org',
  baseUrl: 'https://sdmx.oecd.org/public/rest',
  windows: [{ requests: 60, perSeconds: 3600 }],
  root: byAgency,
  rest: restV1({
    versions: true,
    flows: { path: ['dataflow', 'all'], query: { detail: 'allstubs' } },
    flow: { references: 'all', detail: 'referencepartial' },
    // An empty version means the latest; the comma before it is still required.
    flowOf: ({ agency, id, version }) => `${agency},${id},${version}`,
    data: { format: 'csvfilewithlabels' },
    keys: { detail: 'serieskeysonly', format: 'jsondata' },
    available: true,
  }),
})
