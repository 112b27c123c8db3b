import { sdmxConnector } from '../../sdmx/connector.ts'
import type { FlowReference } from '../../sdmx/flow-reference.ts'
import { formatPattern } from '../../sdmx/keys.ts'
import { ANY, STRUCTURE_XML, structureRequest, structureRequests } from '../../sdmx/rest.ts'
import { tableOfContents } from '../../sdmx/tree/table-of-contents.ts'

const AGENCY = 'ESTAT'
const REST = ['sdmx', '2.1']
const STYLE = { prefix: REST }

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
  info: {
    slug: 'eurostat',
    name: 'Eurostat',
    description: 'Official statistics of the European Union, its regions and its neighbours.',
    homepage: 'https://ec.europa.eu/eurostat',
    tier: 'free',
    baseUrl: 'https://ec.europa.eu/eurostat/api/dissemination',
    key: 'none',
    limits: { windows: [] },
  },
  agency: AGENCY,
  root: tableOfContents({ path: ['catalogue', 'toc', 'txt'], query: { lang: 'en' }, headers: ANY }),
  frequencyFirst: true,
  requests: {
    dataflows: () => ({
      path: [...REST, 'dataflow', AGENCY, 'all'],
      query: { detail: 'allstubs' },
      headers: STRUCTURE_XML,
    }),
    dataflow: (flow) => ({
      ...structureRequest('dataflow', flow, { references: 'descendants', detail: 'referencepartial' }, STYLE),
      ...rootOf(flow),
    }),
    ...structureRequests(STYLE),
    data: (flow, key, { start, end }) => ({
      path: [...REST, 'data', flow.id, formatPattern(key)],
      query: { format: 'SDMX-CSV', startPeriod: start, endPeriod: end },
      headers: ANY,
      ...rootOf(flow),
    }),
    keys: (flow, key) => ({
      path: [...REST, 'data', flow.id, formatPattern(key)],
      query: { format: 'SDMX-CSV', detail: 'serieskeysonly' },
      headers: ANY,
      ...rootOf(flow),
    }),
  },
})
