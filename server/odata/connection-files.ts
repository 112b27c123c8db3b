import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineError } from '../../engine/index.ts'
import { datasetFor } from '../routes/dataset-for.ts'
import { pathId } from '../routes/ids.ts'
import type { Services } from '../services.ts'
import { attachment } from '../transfers/negotiate.ts'
import { type FeedAddress, odc, pbids } from './office-files.ts'
import { repositoryFeed } from './sets.ts'

const FILES = {
  pbids: { type: 'application/json;charset=utf-8', write: pbids },
  odc: { type: 'text/x-ms-odc;charset=utf-8', write: odc },
} as const

/** Small files that open the feed of a dataset or a repository in Power BI or Excel. They contain no API key. */
export function connectionFileRoutes(app: FastifyInstance, services: Services): void {
  const send = (reply: FastifyReply, extension: keyof typeof FILES, feed: FeedAddress) => {
    const { type, write } = FILES[extension]
    return reply
      .headers({ 'content-type': type, 'content-disposition': attachment(feed.title, extension) })
      .send(write(feed))
  }
  const rootOf = (request: FastifyRequest, repositoryId: number) =>
    `${request.publicUrl}${app.prefix}/repositories/${repositoryId}/odata/`

  for (const extension of Object.keys(FILES) as (keyof typeof FILES)[]) {
    app.get(`/repositories/:id/odata.${extension}`, { schema: { hide: true } }, async (request, reply) => {
      const id = pathId(request, 'repository')
      await services.access.require(id, request.account, 'Read')
      const { name } = await services.engine.repository(id)
      return send(reply, extension, { title: name, root: rootOf(request, id) })
    })
    app.get(`/datasets/:id/odata.${extension}`, { schema: { hide: true } }, async (request, reply) => {
      const { record } = await datasetFor(request, services, 'Read')
      const feed = await repositoryFeed(services, record.repositoryId, request.account)
      const set = feed.sets.find(({ datasetId }) => datasetId === record.id)
      if (!set) throw new EngineError('not_found', `There is no dataset ${record.id}.`)
      const root = rootOf(request, record.repositoryId)
      return send(reply, extension, { title: record.name, root, set: set.name })
    })
  }
}
