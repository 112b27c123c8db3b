import type { DatasetRecord, Handle } from '../../engine/index.ts'
import { VERSION } from '../../engine/options.ts'
import { recordTag, requireMatch } from '../http/headers.ts'
import { parameters, parametersOf } from '../http/query.ts'
import { errors, tagged } from '../openapi/describe.ts'
import { COLUMN, DATASET, DECLARED_COLUMNS } from '../records/datasets.ts'
import { listOf, object } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { datasetFor, tagOf } from './dataset-for.ts'
import type { Routes } from './routes.ts'
import { askedVersion } from './versions/versions.ts'

const LIST_COLUMNS = {
  operationId: 'listColumns',
  summary: 'List the columns of a dataset',
  querystring: parameters(parametersOf(VERSION)),
  response: {
    200: tagged(listOf(COLUMN), 'The columns, in order.'),
    ...errors(410),
  },
} as const

const DECLARE_COLUMNS = {
  operationId: 'declareColumns',
  summary: 'Declare the columns of a dataset',
  description:
    'While the dataset has no rows, any columns may be declared. Once it has rows, columns may be described, ' +
    'made nullable, reordered and widened to a type that loses nothing, and nullable columns may be added; ' +
    'everything else is a conflict. The list may also be the field `columns` of an object.',
  body: {
    if: { type: 'array' },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
    then: DECLARED_COLUMNS,
    else: object(['columns'], { columns: DECLARED_COLUMNS }),
  },
  response: {
    200: tagged(DATASET, 'The dataset.'),
    ...errors(402, 409, 412),
  },
} as const

/** The routes for the columns of a dataset. */
export function columnRoutes(app: Routes, services: Services): void {
  const { access, lifecycle, plans } = services

  app.get('/datasets/:id/columns', { schema: LIST_COLUMNS }, async (request, reply) => {
    const { dataset, record } = await datasetFor(request, services, 'Read')
    const asked = await askedVersion(dataset, request.query, reply, app.prefix)
    if (asked === undefined) return reply.header('etag', tagOf(record)).send(record.columns)
    using snapshot = await dataset.snapshot({ version: asked.number })
    return reply.header('etag', recordTag(record.id, asked.number)).send(snapshot.columns)
  })

  app.put('/datasets/:id/columns', { schema: DECLARE_COLUMNS }, async (request, reply) => {
    const { dataset, record, owner } = await datasetFor(request, services, 'Write')
    const { account, body } = request
    const columns = 'columns' in body ? body.columns : body
    // Once more in the transaction, but a client that is late shouldn't wait for rows to be rewritten.
    requireMatch(request, tagOf(record))
    const accept = async (now: DatasetRecord, t: Handle) => {
      requireMatch(request, tagOf(now))
      const content = { columns: columns.length, bytes: now.bytes }
      await plans.allowContent(owner, access.in(t), content, now.id)
    }
    // Rows may have to be rewritten.
    const declared = await lifecycle.during((signal) =>
      dataset.declareColumns(columns, { signal, by: account.name, accept }),
    )
    return reply.header('etag', tagOf(declared)).send(declared)
  })
}
