import { type Connector, type ConnectorContext, providerInfo } from '../connector.ts'
import { fetchMany, fetchSeries } from './series/series.ts'
import { openSession, type SdmxService } from './session.ts'
import { allFlows } from './tree/branches.ts'
import { placeAt } from './tree/tree.ts'

/** A connector for a provider of the SDMX family. */
export function sdmxConnector(service: SdmxService): Connector {
  const { slug, name, description, homepage, baseUrl, windows = [] } = service
  const requests = service.rest(service.agency)
  const open = (context: ConnectorContext) => openSession(service, requests, context)
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
