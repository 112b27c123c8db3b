import type { FromSchema } from 'json-schema-to-ts'
import type { DeclaredColumn } from '../../engine/index.ts'
import { empty, json, LOCATION, listOf } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { datasetFor } from './dataset-for.ts'
import { COLUMN, DATASET, DECLARED_COLUMNS, EXAMPLES } from './records.ts'
import type { Routes } from './routes.ts'

const tags = ['Datasets']

const NAME = { type: 'string', minLength: 1, maxLength: 255, examples: ['seattle'] } as const
const DESCRIPTION = { type: 'string', maxLength: 10_000 } as const

export function datasetRoutes(app: Routes, services: Services): void {
  const { engine, access, lifecycle } = services

  app.get('/datasets', {
    schema: {
      operationId: 'listDatasets',
      summary: 'List the datasets that you may read',
      tags,
      response: { 200: json(listOf(DATASET), 'All of them.', { example: [EXAMPLES.dataset] }) },
    },
    handler: async (request) => {
      const readable = access.readable(request.account)
      return engine.datasets().filter((dataset) => readable.has(dataset.repositoryId))
    },
  })

  app.post('/datasets', {
    schema: {
      operationId: 'createDataset',
      summary: 'Create a dataset without rows',
      tags,
      body: {
        type: 'object',
        required: ['name', 'repositoryId'],
        additionalProperties: false,
        properties: {
          name: NAME,
          repositoryId: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] },
          description: DESCRIPTION,
          columns: DECLARED_COLUMNS,
        },
      },
      response: {
        201: json(DATASET, 'The new dataset.', {
          example: EXAMPLES.dataset,
          headers: { Location: LOCATION },
        }),
        ...errors(403, 404, 409, 413, 415),
      },
    },
    handler: async ({ account, body }, reply) => {
      access.require(body.repositoryId, account, 'Write')
      const dataset = engine.createDataset({ ...body, columns: declared(body.columns ?? []) })
      return reply.code(201).header('location', `${app.prefix}/datasets/${dataset.id}`).send(dataset)
    },
  })

  app.get('/datasets/:id', {
    schema: {
      operationId: 'getDataset',
      summary: 'Get a dataset, without its rows',
      tags,
      response: { 200: json(DATASET, 'The dataset.', { example: EXAMPLES.dataset }), ...errors(403, 404) },
    },
    handler: async (request) => datasetFor(request, services, 'Read').record,
  })

  app.put('/datasets/:id', {
    schema: {
      operationId: 'updateDataset',
      summary: 'Change the name or the description of a dataset',
      description: 'What is left out stays as it is.',
      tags,
      body: {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: { name: NAME, description: DESCRIPTION },
      },
      response: {
        200: json(DATASET, 'The dataset, changed.', { example: EXAMPLES.dataset }),
        ...errors(403, 404, 409, 413, 415),
      },
    },
    handler: async (request) => {
      const { id } = datasetFor(request, services, 'Write').dataset
      return engine.updateDataset(id, request.body)
    },
  })

  app.delete('/datasets/:id', {
    schema: {
      operationId: 'deleteDataset',
      summary: 'Delete a dataset',
      description: 'Downloads under way go on to their end.',
      tags,
      response: { 204: empty('It is gone.'), ...errors(403, 404) },
    },
    handler: async (request, reply) => {
      engine.deleteDataset(datasetFor(request, services, 'Write').dataset.id)
      return reply.code(204).send()
    },
  })

  app.get('/datasets/:id/columns', {
    schema: {
      operationId: 'listColumns',
      summary: 'List the columns of a dataset',
      tags,
      response: {
        200: json(listOf(COLUMN), 'The columns, in order.', { example: EXAMPLES.dataset.columns }),
        ...errors(403, 404),
      },
    },
    handler: async (request) => datasetFor(request, services, 'Read').record.columns,
  })

  app.put('/datasets/:id/columns', {
    schema: {
      operationId: 'declareColumns',
      summary: 'Declare the columns of a dataset',
      description:
        'Before there are rows, freely. With rows, columns may be described, made nullable, put into another order and ' +
        'widened without loss, and nullable ones added; everything else is a conflict.',
      tags,
      body: {
        if: { type: 'array' },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
        then: DECLARED_COLUMNS,
        else: {
          type: 'object',
          required: ['columns'],
          additionalProperties: false,
          properties: { columns: DECLARED_COLUMNS },
        },
      },
      response: {
        200: json(DATASET, 'The dataset.', { example: EXAMPLES.dataset }),
        ...errors(403, 404, 409, 413, 415),
      },
    },
    handler: async (request) => {
      const { dataset } = datasetFor(request, services, 'Write')
      const { body } = request
      const columns = declared('columns' in body ? body.columns : body)
      // Rows may have to be rewritten, for which a server that is being stopped has no time.
      const stopping = new AbortController()
      lifecycle.track(stopping)
      try {
        return await dataset.declareColumns(columns, { signal: stopping.signal })
      } catch (error) {
        throw stopping.signal.reason ?? error
      } finally {
        lifecycle.done(stopping)
      }
    },
  })
}

/** Columns as the engine takes them, which knows the names of types and refuses all others. */
function declared(
  columns: readonly FromSchema<typeof DECLARED_COLUMNS>[number][],
): readonly DeclaredColumn[] {
  return columns as readonly DeclaredColumn[]
}
