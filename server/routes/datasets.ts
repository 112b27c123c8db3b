import { Readable } from 'node:stream'
import type { FromSchema } from 'json-schema-to-ts'
import type { DatasetRecord, DeclaredColumn, Handle } from '../../engine/index.ts'
import type { Account } from '../accounts/accounts.ts'
import { recordTag, requireMatch } from '../http/preconditions.ts'
import { parameters } from '../http/query.ts'
import { empty, json, LOCATION, listOf, RECORD_TAG } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { datasetFor } from './dataset-for.ts'
import { EXAMPLES } from './examples.ts'
import { COLUMN, DATASET, DATASET_SUMMARY, DECLARED_COLUMNS, NAME_PATTERN } from './records.ts'
import type { Routes } from './routes.ts'

const tags = ['Datasets']

/** In a list, a dataset has its columns only if their JSON has at most this many bytes, about a hundred columns. */
const COLUMN_BYTES = 8 * 1024

const TAGGED = { example: EXAMPLES.dataset, headers: { ETag: RECORD_TAG } }

const NAME = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  examples: ['seattle'],
  documented: { pattern: NAME_PATTERN },
} as const
const DESCRIPTION = { type: 'string', maxLength: 10_000 } as const

export function datasetRoutes(app: Routes, services: Services): void {
  const { engine, access, accounts, lifecycle, plans } = services
  const ownerOf = async (repositoryId: number, account: Account) =>
    accounts.get((await access.of(repositoryId, account)).ownerId)

  app.get('/datasets', {
    schema: {
      operationId: 'listDatasets',
      summary: 'List the datasets that you may read',
      description: 'A dataset with many columns is listed without `columns`, unless you ask for all of them.',
      tags,
      querystring: parameters({
        columns: {
          type: 'boolean',
          description: 'With true, every dataset is listed with all of its columns.',
          default: false,
        },
      }),
      response: {
        200: json(listOf(DATASET_SUMMARY), 'The datasets, in one list.', {
          example: [{ ...EXAMPLES.dataset, columnCount: EXAMPLES.dataset.columns.length }],
        }),
      },
    },
    handler: async ({ account, query }, reply) => {
      const readable = await access.readable(account)
      const pages = engine.datasetList(query.columns ? Number.POSITIVE_INFINITY : COLUMN_BYTES)
      return reply
        .type('application/json; charset=utf-8')
        .send(Readable.from(jsonList(pages, ({ repositoryId }) => readable.has(repositoryId))))
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
        ...errors(402, 403, 404, 409, 413, 415),
      },
    },
    handler: async ({ account, body }, reply) => {
      const columns = declared(body.columns ?? [])
      const owner = await ownerOf(body.repositoryId, account)
      const dataset = await engine.transaction(async (t) => {
        const accessNow = access.in(t)
        await accessNow.require(body.repositoryId, account, 'Write')
        await plans.allowDataset(owner, accessNow)
        await plans.allowContent(owner, accessNow, { columns: columns.length, bytes: 0 })
        return engine.createDataset({ ...body, columns }, t)
      })
      return reply.code(201).header('location', `${app.prefix}/datasets/${dataset.id}`).send(dataset)
    },
  })

  app.get('/datasets/:id', {
    schema: {
      operationId: 'getDataset',
      summary: 'Get a dataset, without its rows',
      tags,
      response: { 200: json(DATASET, 'The dataset.', TAGGED), ...errors(403, 404) },
    },
    handler: async (request, reply) => {
      const { record } = await datasetFor(request, services, 'Read')
      return reply.header('etag', tagOf(record)).send(record)
    },
  })

  app.put('/datasets/:id', {
    schema: {
      operationId: 'updateDataset',
      summary: 'Change the name or the description of a dataset',
      description: 'Fields that you leave out do not change.',
      tags,
      body: {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: { name: NAME, description: DESCRIPTION },
      },
      response: {
        200: json(DATASET, 'The dataset, changed.', TAGGED),
        ...errors(403, 404, 409, 412, 413, 415),
      },
    },
    handler: async (request, reply) => {
      const changed = await engine.transaction(async (t) => {
        const { record } = await datasetFor(request, services, 'Write', t)
        requireMatch(request, tagOf(record))
        return engine.updateDataset(record.id, request.body, t)
      })
      return reply.header('etag', tagOf(changed)).send(changed)
    },
  })

  app.delete('/datasets/:id', {
    schema: {
      operationId: 'deleteDataset',
      summary: 'Delete a dataset',
      description: 'Downloads that have started run to their end.',
      tags,
      response: { 204: empty('The dataset is deleted.'), ...errors(403, 404) },
    },
    handler: async (request, reply) => {
      const { dataset } = await datasetFor(request, services, 'Write')
      await engine.deleteDataset(dataset.id)
      return reply.code(204).send()
    },
  })

  app.get('/datasets/:id/columns', {
    schema: {
      operationId: 'listColumns',
      summary: 'List the columns of a dataset',
      tags,
      response: {
        200: json(listOf(COLUMN), 'The columns, in order.', {
          example: EXAMPLES.dataset.columns,
          headers: { ETag: RECORD_TAG },
        }),
        ...errors(403, 404),
      },
    },
    handler: async (request, reply) => {
      const { record } = await datasetFor(request, services, 'Read')
      return reply.header('etag', tagOf(record)).send(record.columns)
    },
  })

  app.put('/datasets/:id/columns', {
    schema: {
      operationId: 'declareColumns',
      summary: 'Declare the columns of a dataset',
      description:
        'While the dataset has no rows, any columns may be declared. Once it has rows, columns may be described, ' +
        'made nullable, reordered and widened to a type that loses nothing, and nullable columns may be added; ' +
        'everything else is a conflict.',
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
        200: json(DATASET, 'The dataset.', TAGGED),
        ...errors(402, 403, 404, 409, 412, 413, 415),
      },
    },
    handler: async (request, reply) => {
      const { dataset, record } = await datasetFor(request, services, 'Write')
      const { account, body } = request
      const columns = declared('columns' in body ? body.columns : body)
      // Once more in the transaction, but a client that is late shouldn't wait for rows to be rewritten.
      requireMatch(request, tagOf(record))
      const owner = await ownerOf(record.repositoryId, account)
      // Rows may have to be rewritten, which must be aborted if the server is stopped and it takes too long.
      const stopping = new AbortController()
      lifecycle.track(stopping)
      const accept = async (now: DatasetRecord, t: Handle) => {
        requireMatch(request, tagOf(now))
        const content = { columns: columns.length, bytes: now.bytes }
        await plans.allowContent(owner, access.in(t), content, now.id)
      }
      try {
        const declared = await dataset.declareColumns(columns, { signal: stopping.signal, accept })
        return reply.header('etag', tagOf(declared)).send(declared)
      } catch (error) {
        throw stopping.signal.reason ?? error
      } finally {
        lifecycle.done(stopping)
      }
    },
  })
}

/** Columns for the engine, which checks the names of types itself and refuses unknown ones. */
function declared(
  columns: readonly FromSchema<typeof DECLARED_COLUMNS>[number][],
): readonly DeclaredColumn[] {
  return columns as readonly DeclaredColumn[]
}

/** The entity tag of a dataset, which changes with its metadata, columns or rows. */
function tagOf({ id, name, description, version, updatedAt }: DatasetRecord): string {
  return recordTag(id, name, description, version, updatedAt)
}

/** A list as JSON, page by page. */
async function* jsonList<Item>(
  pages: AsyncIterable<readonly Item[]>,
  isIn: (item: Item) => boolean,
): AsyncGenerator<string> {
  let separator = '['
  for await (const page of pages) {
    const items = page.filter(isIn)
    if (items.length === 0) continue
    yield separator + items.map((item) => JSON.stringify(item)).join(',')
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}
