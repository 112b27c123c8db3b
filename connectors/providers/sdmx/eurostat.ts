import { sdmxConnector } from '../../sdmx/connector.ts'
import type { FlowReference } from '../../sdmx/flow-reference.ts'
import { ANY, restV1 } from '../../sdmx/rest-v1.ts'
import { tableOfContents } from '../../sdmx/tree/table-of-contents.ts'

const REST = ['sdmx', '2.1']

/**
 * Trade in goods and production by product (`DS-…`) have a service of their own, with another root but the same
 * addresses below it.
 */
function rootOf({ id }: FlowReference): { readonly root?: string } {
  return /^DS-/i.test(id) ? { root: '../comext/dissemination' } : {}
}

/**
 * The format is a parameter, because the service refuses a media type of CSV. If the service finds an answer too large,
 * it sends status 200 and a warning in the body.
 */
export const eurostat = sdmxConnector({
  slug: 'eurostat',
  name: 'Eurostat',
  description: 'Official statistics of the European Union, its regions and its neighbours.',
  homepage: 'https://ec.europa.eu/eurostat',
  baseUrl: 'https://ec.europa.eu/eurostat/api/dissemination',
  agency: 'ESTAT',
  root: tableOfContents({ path: ['catalogue', 'toc', 'txt'], query: { lang: 'en' }, headers: ANY }),
  frequencyFirst: true,
  rest: restV1({
    prefix: REST,
    dataPrefix: REST,
    versions: true,
    flows: { path: ['dataflow', 'ESTAT', 'all'], query: { detail: 'allstubs' } },
    flow: { references: 'descendants', detail: 'referencepartial' },
    flowOf: ({ id }) => id,
    rootOf,
    data: { format: 'SDMX-CSV' },
    keys: { format: 'SDMX-CSV', detail: 'serieskeysonly' },
  }),
})
