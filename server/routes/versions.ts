import type { FastifyRequest } from 'fastify'
import type { Cell, DatasetRecord, EditedRows } from '../../engine/index.ts'
import { CHANGE, fromHttp, QUERY } from '../../engine/options.ts'
import { pageOf, parameters, parametersOf } from '../http/input.ts'
import { errors, json, tagged } from '../openapi/describe.ts'
import { DATASET, EDITED_ROWS, VERSION_RECORD } from '../records/datasets.ts'
import { listOf, object } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { datasetFor, pathVersion, type Routes, rowsChange, tagOf } from './routes.ts'

const LIST = {
  operationId: 'listVersions',
  summary: 'List the versions of a dataset',
  description:
    'Newest first: every version that is kept, who made it, and what it changed. Read one with `$version=` on the ' +
    'rows, the columns and the Parquet files.',
  querystring: parameters({
    ...pageOf('versions', { minimum: 1, default: 100, maximum: 1000 }),
  }),
  response: { 200: json(listOf(VERSION_RECORD), 'The versions.') },
} as const

const ONE = {
  operationId: 'getVersion',
  summary: 'Get what made a version of a dataset',
  response: {
    200: json(VERSION_RECORD, 'The version.'),
    ...errors(410),
  },
} as const

const RESTORE = {
  operationId: 'restoreVersion',
  summary: 'Restore a version of a dataset',
  description:
    'Makes the rows and columns of an earlier version current again, as a new version. No rows are copied, and the ' +
    'versions between stay readable.',
  body: object(['version'], {
    version: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [3] },
    note: {
      type: 'string',
      maxLength: 1000,
      pattern: '^[^\\u0000]*$',
      description: 'text without the character U+0000',
      documented: { description: 'Why, for the list of versions.' },
    },
  }),
  response: {
    200: tagged(DATASET, 'The dataset with its new version.'),
    ...errors(402, 409, 410, 412, 422),
  },
} as const

const UNDO = {
  operationId: 'undoVersion',
  summary: 'Undo the change of one version',
  description:
    'Takes back what one version changed, as a new version, and keeps the changes of later ones: rows that it inserted ' +
    'go, and those that it changed or deleted are again as they were, as the last rows. Rows are found by the key, so the ' +
    'dataset needs one. If later versions changed the same rows, nothing changes (409 `rows_changed`).',
  body: object(['version'], {
    ...RESTORE.body.properties,
    version: { ...RESTORE.body.properties.version, documented: { minimum: 1 } },
  }),
  response: {
    200: json(EDITED_ROWS, 'The version, and how many rows were changed back.'),
    ...errors(402, 409, 410, 412, 422),
  },
} as const

export function versionRoutes(app: Routes, services: Services): void {
  const { idempotency, lifecycle } = services

  app.get('/datasets/:id/versions', { schema: LIST }, async (request) => {
    const { dataset } = await datasetFor(request, services, 'Read')
    return dataset.versions(request.query)
  })

  app.get('/datasets/:id/versions/:version', { schema: ONE }, async (request) => {
    const { dataset } = await datasetFor(request, services, 'Read')
    return dataset.version({ version: pathVersion(request) })
  })

  app.post('/datasets/:id/restore', { schema: RESTORE }, async (request, reply) => {
    const { version, note } = request.body
    const { dataset, accept } = await rowsChange(request, services)
    const made = await idempotency.once<DatasetRecord | null>(
      request,
      () => JSON.stringify({ version, note }),
      (keep) => dataset.restore({ version }, { by: request.account.name, note, accept: accept(keep) }),
    )
    const restored = made ?? (await dataset.record())
    return reply.header('etag', tagOf(restored)).send(restored)
  })

  app.post('/datasets/:id/undo', { schema: UNDO }, async (request) => {
    const { version, note } = request.body
    const { dataset, accept } = await rowsChange(request, services)
    return lifecycle.during((signal) =>
      idempotency.once<EditedRows>(
        request,
        () => JSON.stringify({ version, note }),
        (keep) => dataset.undo(version, { by: request.account.name, note, signal, accept: accept(keep) }),
      ),
    )
  })
}

const { filter, aliases } = QUERY

const EDITING = {
  querystring: parameters({ ...parametersOf({ filter, aliases }), ...parametersOf(CHANGE) }),
  response: {
    200: json(EDITED_ROWS, 'The version, and how many rows matched.'),
    ...errors(402, 409, 412, 422),
  },
} as const

export function editRoutes(app: Routes, services: Services): void {
  const { idempotency, lifecycle } = services

  app.delete('/datasets/:id/data', {
    schema: {
      ...EDITING,
      operationId: 'deleteRows',
      summary: 'Delete the rows that match a filter',
      description:
        'One commit; `$filter` is required. Only files that have such rows are written again. Where no row matches, ' +
        'there is no new version. `$filter=true` deletes all rows.',
    },
    handler: (request) => change(request, undefined),
  })

  app.patch('/datasets/:id/data', {
    schema: {
      ...EDITING,
      operationId: 'editRows',
      summary: 'Set columns of the rows that match a filter',
      description:
        'One commit; `$filter` is required. The body has new values by column. Text that begins with `=` is an ' +
        "expression as in `$compute`, such as `=price mul 1.1`; text with an equals sign is `='=x'`. The rows keep their places.",
      body: {
        type: 'object',
        minProperties: 1,
        additionalProperties: true,
        examples: [{ status: 'revised', price: '=price mul 1.1' }],
      },
    },
    handler: (request) => change(request, request.body as Record<string, Cell>),
  })

  async function change(request: FastifyRequest, values: Record<string, Cell> | undefined) {
    const { dataset, accept } = await rowsChange(request, services)
    const { note } = fromHttp(request.query as object, CHANGE)
    const rows = fromHttp(request.query as object, { filter, aliases })
    // Parts may have to be written again.
    return lifecycle.during((signal) =>
      idempotency.once<EditedRows>(
        request,
        () => JSON.stringify(values ?? null),
        (keep) => {
          const options = { by: request.account.name, note, signal, accept: accept(keep) }
          return values ? dataset.editRows(rows, values, options) : dataset.deleteRows(rows, options)
        },
      ),
    )
  }
}
