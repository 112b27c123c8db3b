import type { FastifyReply, FastifyRequest } from 'fastify'
import type { QueryDefinition } from '../../engine/index.ts'
import type { Account } from '../accounts/accounts.ts'
import { ServerError } from '../http/errors.ts'
import { errors, made } from '../openapi/describe.ts'
import { COPY, DATASET, NEW_DATASET } from '../records/datasets.ts'
import { EXAMPLES } from '../records/examples.ts'
import type { NewDataset } from '../records/index.ts'
import type { Services } from '../services.ts'
import { datasetFor } from './dataset-for.ts'
import type { Routes } from './routes.ts'
import { sqlTablesOf } from './sql.ts'

const tags = ['Datasets']

const CREATE_DATASET = {
  operationId: 'createDataset',
  summary: 'Create a dataset without rows, or one that is a saved query',
  description:
    'With `query`, the rows of the dataset are those of a query, each time they are read, and with the rights of ' +
    'the account that saves it. It can be filtered, exported and joined like any other, but not written to.',
  tags,
  body: NEW_DATASET,
  response: {
    201: made(DATASET, 'The new dataset.', EXAMPLES.dataset),
    ...errors(402, 403, 404, 409, 413, 415, 422),
  },
} as const

const COPY_DATASET = {
  operationId: 'copyDataset',
  summary: 'Copy a dataset, or an earlier version of it',
  description:
    'Creates a dataset with the same rows, columns, key and metadata, in any repository that you may write in. No rows are ' +
    'copied: both datasets share their files until one of them changes.',
  tags,
  body: COPY,
  response: {
    201: made(DATASET, 'The new dataset.', EXAMPLES.dataset),
    ...errors(402, 403, 404, 409, 410, 413, 415, 422),
  },
} as const

/** The routes that make datasets: empty ones, saved queries, and copies. */
export function newDatasetRoutes(app: Routes, services: Services): void {
  const { engine, access, accounts, idempotency, plans, refresher } = services
  const ownerOf = async (repositoryId: number, account: Account) =>
    accounts.get((await access.of(repositoryId, account)).ownerId)

  app.post('/datasets', {
    schema: CREATE_DATASET,
    handler: async (request, reply) => {
      const { account, body } = request
      const { query: given, materialize, ...fields } = body
      await access.require(body.repositoryId, account, 'Write')
      const defined = await definition(services, request, reply)
      const columns = defined?.columns ?? body.columns ?? []
      const owner = await ownerOf(body.repositoryId, account)
      let dataset = await idempotency.create(request, async (t) => {
        const accessNow = access.in(t)
        await accessNow.require(body.repositoryId, account, 'Write')
        await plans.allowDataset(owner, accessNow)
        await plans.allowContent(owner, accessNow, { columns: columns.length, bytes: 0 })
        return engine.createDataset(
          { ...fields, columns, by: account.name, ...(defined && !materialize && { query: defined.saved }) },
          t,
        )
      })
      if (defined && materialize) {
        const address = { query: defined.saved }
        const { id: datasetId } = dataset
        await refresher.followNow({
          ...{ datasetId, accountId: account.id, series: [], start: null, every: materialize, address },
        })
      }
      if (defined) dataset = await (await engine.dataset(dataset.id)).record()
      return reply.code(201).header('location', `${app.prefix}/datasets/${dataset.id}`).send(dataset)
    },
  })

  app.post('/datasets/:id/copy', {
    schema: COPY_DATASET,
    handler: async (request, reply) => {
      const { account, body } = request
      const { dataset, record } = await datasetFor(request, services, 'Read')
      const { version = record.version, ...target } = body
      using snapshot = await dataset.snapshot({ version })
      const owner = await ownerOf(body.repositoryId, account)
      const copy = await idempotency.create(request, async (t) => {
        const accessNow = access.in(t)
        await accessNow.require(body.repositoryId, account, 'Write')
        await plans.allowDataset(owner, accessNow)
        const note = `A copy of version ${version} of dataset ${record.id}.`
        const fields = { ...target, description: record.description }
        const created = await snapshot.copy(fields, { by: account.name, note }, t)
        // Only now the bytes are counted among the owner's, those of shared files once.
        await plans.allowContent(owner, accessNow, { columns: created.columns.length, bytes: 0 })
        return created
      })
      return reply.code(201).header('location', `${app.prefix}/datasets/${copy.id}`).send(copy)
    },
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
