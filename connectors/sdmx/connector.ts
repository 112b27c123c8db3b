import { type Connector, type ConnectorContext, providerInfo, type UpstreamRequest } from '../connector.ts'
import { fetchMany, fetchSeries } from './series/series.ts'
import type { SdmxService, Session } from './session.ts'
import { readStructures } from './structures/structures.ts'
import { allFlows } from './tree/branches.ts'
import { placeAt } from './tree/tree.ts'

/** A connector for a provider of the SDMX family. */
export function sdmxConnector(service: SdmxService): Connector {
  const { slug, name, description, homepage, baseUrl, windows = [] } = service
  const requests = service.rest(service.agency)
  const open = ({ send, cached }: ConnectorContext): Session => {
    const structures = (request: UpstreamRequest) => cached(request, readStructures)
    return { service, requests, send, cached, structures }
  }
  return {
    info: providerInfo({ slug, name, description, homepage, baseUrl, limits: { windows } }),
    vintages: requests.history !== undefined,
    at: (path, context) => placeAt(open(context), path),
    catalogue: async (context) => ({
      series: [],
      categories: (await allFlows('', open(context))) ?? [],
    }),
    series: (id, range, context) => fetchSeries(open(context), id, range),
    many: (id, range, context) => fetchMany(open(context), id, range),
  }
}
