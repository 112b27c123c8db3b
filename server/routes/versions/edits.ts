import type { FastifyRequest } from 'fastify'
import type { Cell, EditedRows, Handle } from '../../../engine/index.ts'
import { CHANGE, fromHttp, QUERY } from '../../../engine/options.ts'
import type { Keep } from '../../accounts/idempotency.ts'
import { MERGE_PATCH } from '../../http/body.ts'
import { requireMatch } from '../../http/headers.ts'
import { parameters, parametersOf } from '../../http/query.ts'
import { errors, json } from '../../openapi/describe.ts'
import { EDITED_ROWS } from '../../records/datasets.ts'
import type { Services } from '../../services.ts'
import { datasetFor, tagOf } from '../dataset-for.ts'
import type { Routes } from '../routes.ts'

const { filter, aliases } = QUERY

const EDITING = {
  tags: ['Data'],
  querystring: parameters({ ...parametersOf({ filter, aliases }), ...parametersOf(CHANGE) }),
  response: {
    200: json(EDITED_ROWS, 'The version, and how many rows matched.', {
      example: { version: 4, matchedRows: 12 },
    }),
    ...errors(402, 403, 404, 409, 412, 413, 415, 422),
  },
} as const

/** The routes that change the rows that match a filter. */
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
      consumes: ['application/json', MERGE_PATCH],
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

interface Made {
  readonly columns: number
  readonly bytes: number
  readonly edited?: EditedRows
}

/**
 * The dataset whose rows the account may change, and the owner of its repository, whose plan applies. `accept` is for the
 * transaction that makes the change: it checks `If-Match` and the plan, and keeps what is answered.
 * @throws EngineError `not_found`, ServerError `forbidden`, `follows_series`
 */
export async function rowsChange(request: FastifyRequest, services: Services) {
  const { access, accounts, plans, sources } = services
  const { dataset, record } = await datasetFor(request, services, 'Write')
  await sources.requireNone(record.id)
  const owner = await accounts.get((await access.of(record.repositoryId, request.account)).ownerId)
  return {
    dataset,
    record,
    owner,
    /** @throws ServerError `changed_meanwhile`, `plan_limit` */
    accept:
      (keep: Keep) =>
      async ({ edited, ...made }: Made, t: Handle): Promise<void> => {
        requireMatch(request, tagOf(await dataset.record(t)))
        await plans.allowContent(owner, access.in(t), made, record.id)
        await keep(t, async () => edited)
      },
  }
}
