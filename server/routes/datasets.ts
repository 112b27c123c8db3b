import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type {
  DatasetName,
  DatasetRecord,
  DatasetSummary,
  Handle,
  QueryDefinition,
} from '../../engine/index.ts'
import { VERSION } from '../../engine/options.ts'
import { ServerError } from '../http/errors.ts'
import { matchesTag, recordTag, requireMatch } from '../http/headers.ts'
import { pageOf, parameters, parametersOf } from '../http/input.ts'
import { empty, errors, made, NOT_MODIFIED, tagged } from '../openapi/describe.ts'
import {
  COLUMN,
  COPY,
  DATASET,
  DATASET_CHANGES,
  DATASET_PATCH,
  DATASET_SUMMARY,
  DECLARED_COLUMNS,
  NEW_DATASET,
} from '../records/datasets.ts'
import type { DatasetPatch, NewDataset } from '../records/index.ts'
import { listOf, object } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { SMALL_ANSWER } from '../transfers/answers.ts'
import { gather } from '../transfers/body.ts'
import { created, datasetFor, pathId, type Routes, requestedVersion, shown, tagOf } from './routes.ts'
import { sqlTablesOf } from './sql.ts'

/** In a list, a dataset has its columns only if their JSON has at most this many bytes, about a hundred columns. */
const COLUMN_BYTES = 8 * 1024

const GET_DATASET = {
  operationId: 'getDataset',
  summary: 'Get a dataset, without its rows',
  response: { 200: tagged(DATASET, 'The dataset.') },
} as const

const UPDATE_DATASET = {
  operationId: 'updateDataset',
  summary: 'Change the name or the description of a dataset',
  description: 'Fields that you leave out do not change.',
  body: DATASET_CHANGES,
  response: {
    200: tagged(DATASET, 'The dataset, changed.'),
    ...errors(409, 412),
  },
} as const

const PATCH_DATASET = {
  operationId: 'patchDataset',
  summary: 'Change fields of a dataset, or move it to another repository',
  description:
    'A JSON merge patch, also as `application/merge-patch+json`: fields that you leave out do not change, and null removes a field. A dataset keeps its ' +
    'id, rows and versions when it moves.',
  body: DATASET_PATCH,
  response: {
    200: tagged(DATASET, 'The dataset, changed.'),
    ...errors(402, 409, 412),
  },
} as const

const DELETE_DATASET = {
  operationId: 'deleteDataset',
  summary: 'Delete a dataset',
  description: 'Downloads that have started run to their end.',
  response: { 204: empty('The dataset is deleted.'), ...errors(412) },
} as const

const LIST_DATASETS = {
  operationId: 'listDatasets',
  summary: 'List the datasets that you may read',
  description:
    'In the order of their ids. A dataset with many columns is listed without `columns`, unless you ask for all of them.',
  querystring: parameters({
    columns: {
      type: 'boolean',
      description: 'With true, every dataset is listed with all of its columns.',
      default: false,
    },
    ...pageOf('datasets', { minimum: 1 }),
  }),
  response: {
    200: tagged(listOf(DATASET_SUMMARY), 'The datasets, in one list.'),
    304: NOT_MODIFIED,
  },
} as const

export function datasetRoutes(app: Routes, services: Services): void {
  const { engine, access, plans } = services

  app.get('/datasets', { schema: LIST_DATASETS }, (request, reply) =>
    sendList(services, request, request.query, reply),
  )

  app.get('/datasets/:id', { schema: GET_DATASET }, async (request, reply) => {
    const { record, right } = await datasetFor(request, services, 'Read')
    return reply.header('etag', tagOf(record)).send(shown(record, right))
  })

  app.put('/datasets/:id', { schema: UPDATE_DATASET }, async (request, reply) =>
    change(request, reply, request.body),
  )

  app.patch('/datasets/:id', { schema: PATCH_DATASET }, async (request, reply) => {
    const { key, ...fields } = request.body
    if (key === undefined) return change(request, reply, fields)
    if (Object.keys(fields).length > 0) {
      throw new ServerError('invalid_body', 'key is changed alone: send the other fields in another request.')
    }
    const { dataset } = await datasetFor(request, services, 'Write')
    const accept = async (now: DatasetRecord) => requireMatch(request, tagOf(now))
    const changed = await dataset.declareKey(key ?? [], { by: request.account.name, accept })
    return reply.header('etag', tagOf(changed)).send(changed)
  })

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    { columns, ...fields }: Omit<DatasetPatch, 'key'>,
  ) {
    const { dataset } = await datasetFor(request, services, 'Write')
    const update = async (t: Handle) => {
      const { record, owner: before } = await datasetFor(request, services, 'Write', t)
      requireMatch(request, tagOf(record))
      const { repositoryId = record.repositoryId } = fields
      const accessNow = access.in(t)
      const { owner } = await accessNow.require(repositoryId, request.account, 'Write')
      const isGiven = owner.id !== before.id
      plans.allowKeep(owner, fields.keep ?? (isGiven ? record.keep : undefined) ?? {})
      if (isGiven) await plans.allowOneMore('datasets', owner, accessNow)
      const changed = await engine.updateDataset(record.id, fields, t)
      // Only now the bytes of all its versions are counted among the new owner's.
      if (isGiven) await plans.allowContent(owner, accessNow, { columns: record.columns.length, bytes: 0 })
      return changed
    }
    const accept = async (_: DatasetRecord, t: Handle) => void (await update(t))
    const changed = columns
      ? await dataset.describeColumns(columns, { by: request.account.name, accept })
      : await engine.transaction(update)
    return reply.header('etag', tagOf(changed)).send(changed)
  }

  app.delete('/datasets/:id', { schema: DELETE_DATASET }, async (request, reply) => {
    await engine.deleteDataset(pathId(request, 'dataset'), async (t) => {
      const { record } = await datasetFor(request, services, 'Write', t)
      requireMatch(request, tagOf(record))
    })
    return reply.code(204).send()
  })
}

/** Answers with the datasets that an account may read, page by page where there are many. */
async function sendList(
  { engine, access, version }: Services,
  { account, headers }: FastifyRequest,
  { columns, limit, offset = 0 }: { columns?: boolean; limit?: number; offset?: number },
  reply: FastifyReply,
): Promise<FastifyReply> {
  const readable = await access.readable(account)
  const state = await engine.datasetsTag((repositoryId) => readable.has(repositoryId))
  const rights = [...readable.values()].map(({ right }) => right)
  const tag = recordTag(version, state, columns, limit, offset, rights)
  reply.header('etag', tag)
  if (matchesTag(headers['if-none-match'], tag)) return reply.code(304).send()
  const isIn = ({ repositoryId }: { repositoryId: number }) => readable.has(repositoryId)
  const ids = limit === undefined && offset === 0 ? undefined : await someIds(engine, isIn, offset, limit)
  const pages = engine.datasetList(columns ? Number.POSITIVE_INFINITY : COLUMN_BYTES, undefined, ids)
  const seen = (one: DatasetSummary) =>
    isIn(one) ? shown(one, readable.get(one.repositoryId)?.right) : undefined
  const list = await gather(jsonList(pages, seen), SMALL_ANSWER)
  return (
    reply
      .type('application/json; charset=utf-8')
      // The type of an answer is that of its schema, which a list in pieces has as text.
      .send((list.whole ? list.whole.toString() : Readable.from(list.pieces)) as Readable)
  )
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

/** A list as JSON, page by page. @param seen gives an item as it is shown; undefined if it is not */
async function* jsonList<Item>(
  pages: AsyncIterable<readonly Item[]>,
  seen: (item: Item) => object | undefined,
): AsyncGenerator<Buffer> {
  let separator = '['
  for await (const page of pages) {
    const items = page.flatMap((item) => seen(item) ?? [])
    if (items.length === 0) continue
    yield Buffer.from(separator + items.map((item) => JSON.stringify(item)).join(','))
    separator = ','
  }
  yield Buffer.from(separator === '[' ? '[]' : ']')
}

const CREATE_DATASET = {
  operationId: 'createDataset',
  summary: 'Create a dataset without rows, or one that is a saved query',
  description:
    'With `query`, the rows of the dataset are those of a query, each time they are read, and with the rights of ' +
    'the account that saves it. It can be filtered, exported and joined like any other, but not written to.',
  body: NEW_DATASET,
  response: {
    201: made(DATASET, 'The new dataset.'),
    ...errors(402, 404, 409, 422),
  },
} as const

const COPY_DATASET = {
  operationId: 'copyDataset',
  summary: 'Copy a dataset, or an earlier version of it',
  description:
    'Creates a dataset with the same rows, columns, key and metadata, in any repository that you may write in. No rows are ' +
    'copied: both datasets share their files until one of them changes.',
  body: COPY,
  response: {
    201: made(DATASET, 'The new dataset.'),
    ...errors(402, 409, 410, 422),
  },
} as const

/** The routes that make datasets: empty ones, saved queries, and copies. */
export function newDatasetRoutes(app: Routes, services: Services): void {
  const { engine, access, idempotency, plans, refresher } = services

  /** Makes a dataset where the account may write and the plan of the repository's owner allows it. */
  const make = (
    request: FastifyRequest<{ Body: { readonly repositoryId: number } }>,
    work: (t: Handle) => Promise<DatasetRecord>,
  ) =>
    idempotency.create(request, async (t) => {
      const accessNow = access.in(t)
      const { owner } = await accessNow.require(request.body.repositoryId, request.account, 'Write')
      await plans.allowOneMore('datasets', owner, accessNow)
      const made = await work(t)
      // Only now its bytes are counted among the owner's, those of shared files once.
      await plans.allowContent(owner, accessNow, { columns: made.columns.length, bytes: 0 })
      return made
    })

  app.post('/datasets', { schema: CREATE_DATASET }, async (request, reply) => {
    const { account, body } = request
    const { query: given, materialize, ...fields } = body
    await access.require(body.repositoryId, account, 'Write')
    const defined = await definition(services, request, reply)
    const columns = defined?.columns ?? body.columns ?? []
    const query = defined && !materialize ? { query: defined.saved } : {}
    let dataset = await make(request, (t) =>
      engine.createDataset({ ...fields, columns, by: account.name, ...query }, t),
    )
    if (defined && materialize) {
      const of = { datasetId: dataset.id, accountId: account.id, address: { query: defined.saved } }
      await refresher.followNow({ ...of, series: [], start: null, every: materialize }, false)
    }
    if (defined) dataset = await (await engine.dataset(dataset.id)).record()
    return created(reply, `${app.prefix}/datasets/${dataset.id}`, dataset)
  })

  app.post('/datasets/:id/copy', { schema: COPY_DATASET }, async (request, reply) => {
    const { account, body } = request
    const { dataset, record } = await datasetFor(request, services, 'Read')
    // That of a saved query is refused before its rows are looked for.
    const { version = record.query && record.version, ...target } = body
    using snapshot = await dataset.snapshot(version === undefined ? undefined : { version })
    const note = `A copy of version ${snapshot.version} of dataset ${record.id}.`
    const fields = { ...target, description: record.description }
    const copy = await make(request, (t) => snapshot.copy(fields, { by: account.name, note }, t))
    return created(reply, `${app.prefix}/datasets/${copy.id}`, copy)
  })
}

/** The query of a new dataset, checked. @throws ServerError `invalid_body`, EngineError as `defineQuery` does */
async function definition(
  services: Services,
  request: FastifyRequest<{ Body: NewDataset }>,
  reply: FastifyReply,
) {
  const { engine, exports } = services
  const { account, body } = request
  const { query, materialize, columns, key } = body
  if (query === undefined) {
    if (materialize === undefined) return undefined
    throw new ServerError('invalid_body', 'materialize is for a dataset with a query.')
  }
  if (columns ?? key) throw new ServerError('invalid_body', 'The columns of a saved query are its own.')
  const tables = () => sqlTablesOf(services, account)
  const defined = await exports.prepare(request, reply, (signal) =>
    engine.defineQuery(query as unknown as QueryDefinition, { by: String(account.id), tables, signal }),
  )
  if (materialize !== 'on-change' || !defined.volatile) return defined
  throw new ServerError(
    'invalid_body',
    'The rows of this query change with time or chance: use materialize hour or day.',
  )
}

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

export function columnRoutes(app: Routes, services: Services): void {
  const { access, lifecycle, plans } = services

  app.get('/datasets/:id/columns', { schema: LIST_COLUMNS }, async (request, reply) => {
    const { dataset, record } = await datasetFor(request, services, 'Read')
    const version = await requestedVersion(dataset, request.query, reply, app.prefix)
    if (version === undefined) return reply.header('etag', tagOf(record)).send(record.columns)
    using snapshot = await dataset.snapshot({ version: version.number })
    return reply.header('etag', recordTag(record.id, version.number)).send(snapshot.columns)
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
