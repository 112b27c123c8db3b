import { EngineError } from '../../../engine/index.ts'
import { ErrorWithHeaders } from '../../http/errors.ts'
import { parameters } from '../../http/query.ts'
import type { HeaderText } from '../../openapi/describe.ts'
import { errors } from '../../openapi/describe.ts'
import { listOf } from '../../records/schema.ts'
import type { Services } from '../../services.ts'
import { rowAnswers } from '../data.ts'
import { datasetFor } from '../dataset-for.ts'
import { rowParameters, rowsAsked } from '../query-options.ts'
import type { Routes } from '../routes.ts'

const NEXT_SINCE: HeaderText = {
  description: 'The version up to which changes were sent: `since` of the next request.',
  schema: { type: 'integer' },
}

const CHANGED_ROW = {
  type: 'object',
  examples: [{ _change: 'insert', _version: 13, date: '2026-11-21' }],
} as const

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
        ...rowAnswers('The changed rows.', listOf(CHANGED_ROW), { 'Next-Since': NEXT_SINCE }),
        ...errors(402, 410, 504),
      },
    },
    handler: async (request, reply) => {
      const { dataset, record } = await datasetFor(request, services, 'Read')
      const { since, until } = request.query
      if (since === undefined) {
        throw new EngineError('invalid_option', 'since is missing: the version that you have, as since=12.')
      }
      const asked = rowsAsked(request, request.query, 'csv')
      using changes = await dataset.changes({ since, until }).catch((error: unknown) => {
        if (!(error instanceof EngineError && error.code === 'version_gone')) throw error
        const link = `<${app.prefix}/datasets/${record.id}/data>; rel="alternate"`
        throw new ErrorWithHeaders(error, { link })
      })
      reply.header('next-since', changes.next)
      return services.exports.send(request, reply, {
        ...asked,
        query: changes.query(asked.window),
        name: `${record.name} changes`,
        meteredRows: changes.mostRows,
      })
    },
  })
}
