import { EngineError } from '../../../engine/index.ts'
import { ErrorWithHeaders } from '../../http/errors.ts'
import { parameters } from '../../http/query.ts'
import type { HeaderText } from '../../openapi/describe.ts'
import { errors } from '../../openapi/describe.ts'
import type { Services } from '../../services.ts'
import { chooseFormat } from '../../transfers/formats.ts'
import { NOT_MODIFIED, ROW_HEADERS, rowContent } from '../data.ts'
import { datasetFor } from '../dataset-for.ts'
import { checkedEncoding, queryOptions, rowParameters } from '../query-options.ts'
import type { Routes } from '../routes.ts'

const NEXT_SINCE: HeaderText = {
  description: 'The version up to which changes were sent: `since` of the next request.',
  schema: { type: 'integer' },
}

const version = { type: 'integer', minimum: 0 } as const

/** The route for what versions changed. */
export function changesRoutes(app: Routes, services: Services): void {
  app.get('/datasets/:id/changes', {
    schema: {
      operationId: 'listChanges',
      summary: 'Download the rows that versions changed',
      description:
        'The rows that were inserted, deleted or updated after version `since`, version by version. `_change` is ' +
        '`insert` or `delete`; in a dataset with a key also `update_before` and `update_after`. `_version` is the ' +
        'version that made the change. The other columns are those of the newest of the versions that has any. Where the header ' +
        '`Next-Since` is less than the newest version, there are more changes. If `since` is no longer kept, the ' +
        'response is 410, with a link to the whole table.',
      querystring: parameters({
        since: { ...version, description: 'The version that you have. Required.', examples: [12] },
        until: {
          ...version,
          description: 'The last version whose changes are wanted; by default the newest.',
        },
        ...rowParameters('csv'),
      }),
      response: {
        200: {
          description: 'The changed rows.',
          headers: { ...ROW_HEADERS, 'Next-Since': NEXT_SINCE },
          content: rowContent({ type: 'array', items: { type: 'object' } }),
        },
        304: NOT_MODIFIED,
        ...errors(402, 410, 504),
      },
    },
    handler: async (request, reply) => {
      const { dataset, record } = await datasetFor(request, services, 'Read')
      const { query: given, headers } = request
      const { since, until } = given
      if (since === undefined) {
        throw new EngineError('invalid_option', 'since is missing: the version that you have, as since=12.')
      }
      const format = chooseFormat(given.$format, headers.accept, 'csv')
      const encoding = checkedEncoding(given, format)
      const options = queryOptions(given)
      using changes = await dataset.changes({ since, until }).catch((error: unknown) => {
        if (!(error instanceof EngineError && error.code === 'version_gone')) throw error
        const link = `<${app.prefix}/datasets/${record.id}/data>; rel="alternate"`
        throw new ErrorWithHeaders(error, { link })
      })
      reply.header('next-since', changes.next)
      return services.exports.send(request, reply, {
        query: changes.query(options),
        window: options,
        format,
        ...(encoding && { encoding }),
        name: `${record.name} changes`,
        meteredRows: changes.mostRows,
        counted: given.$count === true,
      })
    },
  })
}
