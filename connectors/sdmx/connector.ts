import { type Connector, type ConnectorContext, providerInfo } from '../connector.ts'
import { fetchMany, fetchSeries } from './series/series.ts'
import { openSession, type SdmxService } from './session.ts'
import { allFlows } from './tree/branches.ts'
import { browse, list } from './tree/tree.ts'

/** A connector for a provider of the SDMX family. */
export function sdmxConnector(service: SdmxService): Connector {
  const { slug, name, description, homepage, baseUrl, windows = [] } = service
  const requests = service.rest(service.agency)
  const open = (context: ConnectorContext) => openSession(service, requests, context)
  return {
    info: providerInfo({ slug, name, description, homepage, baseUrl, limits: { windows } }),
    vintages: requests.history !== undefined,
    browse: (path, context) => browse(open(context), path),
    list: (path, page, context) => list(open(context), path, page),
    catalogue: async (context) => ({
      series: [],
      categories: (await allFlows('', open(context))) ?? [],
    }),
    series: (id, range, context) => fetchSeries(open(context), id, range),
    many: (id, range, context) => fetchMany(open(context), id, range),
  }
}
