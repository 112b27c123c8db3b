import type { Connector } from '../connector.ts'
import type { SdmxProvider, SdmxService } from './provider.ts'
import { fetchMany, fetchSeries } from './series/series.ts'
import { openSession } from './session.ts'
import { allFlows } from './tree/branches.ts'
import { list } from './tree/list.ts'
import { browse } from './tree/tree.ts'

/** A connector for a provider of the SDMX family. */
export function sdmxConnector(service: SdmxService): Connector {
  const { slug, name, description, homepage, baseUrl, windows = [], ...others } = service
  const provider: SdmxProvider = {
    root: allFlows,
    ...others,
    agency: service.agency,
    requests: service.rest(service.agency),
    info: { slug, name, description, homepage, baseUrl, tier: 'free', key: 'none', limits: { windows } },
  }
  return {
    info: provider.info,
    vintages: provider.requests.history !== undefined,
    browse: (path, context) => browse(openSession(provider, context), path),
    list: (path, page, context) => list(openSession(provider, context), path, page),
    catalogue: async (context) => ({
      series: [],
      categories: (await allFlows('', openSession(provider, context))) ?? [],
    }),
    series: (id, range, context) => fetchSeries(openSession(provider, context), id, range),
    many: (id, range, context) => fetchMany(openSession(provider, context), id, range),
  }
}
