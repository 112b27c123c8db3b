import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DatasetName, DatasetRecord } from '../../engine/index.ts'
import { withWords } from '../../engine/types/columns.ts'
import { MERGE_PATCH } from '../http/body.ts'
import { ServerError } from '../http/errors.ts'
import { matchesTag, recordTag, requireMatch } from '../http/headers.ts'
import { parameters } from '../http/query.ts'
import { empty, errors, json, RECORD_TAG } from '../openapi/describe.ts'
import { DATASET, DATASET_CHANGES, DATASET_PATCH, DATASET_SUMMARY } from '../records/datasets.ts'
import { EXAMPLES } from '../records/examples.ts'
import type { DatasetPatch } from '../records/index.ts'
import { listOf } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { SMALL_ANSWER } from '../transfers/answer-cache.ts'
import { gather } from '../transfers/small-body.ts'
import { NOT_MODIFIED } from './data.ts'
import { datasetFor, tagOf } from './dataset-for.ts'
import type { Routes } from './routes.ts'

const tags = ['Datasets']

/** In a list, a dataset has its columns only if their JSON has at most this many bytes, about a hundred columns. */
const COLUMN_BYTES = 8 * 1024

const TAGGED = { example: EXAMPLES.dataset, headers: { ETag: RECORD_TAG } }

const GET_DATASET = {
  operationId: 'getDataset',
  summary: 'Get a dataset, without its rows',
  tags,
  response: { 200: json(DATASET, 'The dataset.', TAGGED), ...errors(403, 404) },
} as const

const UPDATE_DATASET = {
  operationId: 'updateDataset',
  summary: 'Change the name or the description of a dataset',
  description: 'Fields that you leave out do not change.',
  tags,
  body: DATASET_CHANGES,
  response: {
    200: json(DATASET, 'The dataset, changed.', TAGGED),
    ...errors(403, 404, 409, 412, 413, 415),
  },
} as const

const PATCH_DATASET = {
  operationId: 'patchDataset',
  summary: 'Change fields of a dataset, or move it to another repository',
  description:
    'A JSON merge patch: fields that you leave out do not change, and null removes a field. A dataset keeps its ' +
    'id, rows and versions when it moves.',
  tags,
  consumes: [MERGE_PATCH, 'application/json'],
  body: DATASET_PATCH,
  response: {
    200: json(DATASET, 'The dataset, changed.', TAGGED),
    ...errors(402, 403, 404, 409, 412, 413, 415),
  },
} as const

const DELETE_DATASET = {
  operationId: 'deleteDataset',
  summary: 'Delete a dataset',
  description: 'Downloads that have started run to their end.',
  tags,
  response: { 204: empty('The dataset is deleted.'), ...errors(403, 404) },
} as const

const LIST_DATASETS = {
  operationId: 'listDatasets',
  summary: 'List the datasets that you may read',
  description:
    'In the order of their ids. A dataset with many columns is listed without `columns`, unless you ask for all of them.',
  tags,
  querystring: parameters({
    columns: {
      type: 'boolean',
      description: 'With true, every dataset is listed with all of its columns.',
      default: false,
    },
    limit: {
      type: 'integer',
      minimum: 1,
      description: 'The largest number of datasets to return; all of them by default.',
    },
    offset: { type: 'integer', minimum: 0, default: 0, description: 'The number of datasets to skip.' },
  }),
  response: {
    200: json(listOf(DATASET_SUMMARY), 'The datasets, in one list.', {
      example: [{ ...EXAMPLES.dataset, columnCount: EXAMPLES.dataset.columns.length }],
      headers: { ETag: RECORD_TAG },
    }),
    304: NOT_MODIFIED,
  },
} as const

/** The routes of datasets that there are; `new-datasets.ts` has those that make one. */
export function datasetRoutes(app: Routes, services: Services): void {
  const { engine, access, accounts, plans } = services

  app.get('/datasets', {
    schema: LIST_DATASETS,
    handler: async ({ account, query, headers }, reply) => {
      const readable = await access.readable(account)
      const state = await engine.datasetsTag((repositoryId) => readable.has(repositoryId))
      const { columns, limit, offset = 0 } = query
      const tag = recordTag(services.version, state, columns, limit, offset)
      reply.header('etag', tag)
      if (matchesTag(headers['if-none-match'], tag)) return reply.code(304).send()
      const isIn = ({ repositoryId }: { repositoryId: number }) => readable.has(repositoryId)
      const ids = limit === undefined && offset === 0 ? undefined : await someIds(engine, isIn, offset, limit)
      const pages = engine.datasetList(columns ? Number.POSITIVE_INFINITY : COLUMN_BYTES, undefined, ids)
      const list = await gather(jsonList(pages, isIn), SMALL_ANSWER)
      return (
        reply
          .type('application/json; charset=utf-8')
          // The type of an answer is that of its schema, which a list in pieces has as text.
          .send((list.whole ? list.whole.toString() : Readable.from(list.pieces)) as Readable)
      )
    },
  })

  app.get('/datasets/:id', {
    schema: GET_DATASET,
    handler: async (request, reply) => {
      const { record } = await datasetFor(request, services, 'Read')
      return reply.header('etag', tagOf(record)).send(record)
    },
  })

  app.put('/datasets/:id', {
    schema: UPDATE_DATASET,
    handler: async (request, reply) => change(request, reply, request.body),
  })

  app.patch('/datasets/:id', {
    schema: PATCH_DATASET,
    handler: async (request, reply) => {
      const { key, ...fields } = request.body
      if (key === undefined) return change(request, reply, fields)
      if (Object.keys(fields).length > 0) {
        throw new ServerError(
          'invalid_body',
          'key is changed alone: send the other fields in another request.',
        )
      }
      const { dataset } = await datasetFor(request, services, 'Write')
      const accept = async (now: DatasetRecord) => requireMatch(request, tagOf(now))
      const changed = await dataset.declareKey(key ?? [], { by: request.account.name, accept })
      return reply.header('etag', tagOf(changed)).send(changed)
    },
  })

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    { columns, ...fields }: Omit<DatasetPatch, 'key'>,
  ) {
    const { dataset, record } = await datasetFor(request, services, 'Write')
    const declared = columns && withWords(record.columns, columns)
    let changed = await engine.transaction(async (t) => {
      const { record } = await datasetFor(request, services, 'Write', t)
      requireMatch(request, tagOf(record))
      const { repositoryId = record.repositoryId } = fields
      const accessNow = access.in(t)
      const { ownerId } = await accessNow.require(repositoryId, request.account, 'Write')
      const isGiven = ownerId !== (await accessNow.of(record.repositoryId, request.account)).ownerId
      const owner = await accounts.get(ownerId)
      plans.allowKeep(owner, fields.keep ?? (isGiven ? record.keep : undefined) ?? {})
      if (isGiven) await plans.allowDataset(owner, accessNow)
      const changed = await engine.updateDataset(record.id, fields, t)
      // Only now the bytes of all its versions are counted among the new owner's.
      if (isGiven) await plans.allowContent(owner, accessNow, { columns: record.columns.length, bytes: 0 })
      return changed
    })
    if (declared) changed = await dataset.declareColumns(declared, { by: request.account.name })
    return reply.header('etag', tagOf(changed)).send(changed)
  }

  app.delete('/datasets/:id', {
    schema: DELETE_DATASET,
    handler: async (request, reply) => {
      const { dataset } = await datasetFor(request, services, 'Write')
      await engine.deleteDataset(dataset.id)
      return reply.code(204).send()
    },
  })
}

/** The ids of the first and the last of some of the datasets that are in a list; of none, an empty range. */
async function someIds(
  engine: Services['engine'],
  isIn: (dataset: DatasetName) => boolean,
  offset: number,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<readonly [number, number]> {
  const some = (await engine.datasetNames()).filter(isIn).slice(offset, offset + limit)
  return [some[0]?.id ?? 1, some.at(-1)?.id ?? 0]
}

/** A list as JSON, page by page. */
async function* jsonList<Item>(
  pages: AsyncIterable<readonly Item[]>,
  isIn: (item: Item) => boolean,
): AsyncGenerator<Buffer> {
  let separator = '['
  for await (const page of pages) {
    const items = page.filter(isIn)
    if (items.length === 0) continue
    yield Buffer.from(separator + items.map((item) => JSON.stringify(item)).join(','))
    separator = ','
  }
  yield Buffer.from(separator === '[' ? '[]' : ']')
}
