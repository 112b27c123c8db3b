import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { NAMED, type Naming, PLAIN } from '../../engine/index.ts'
import { type ParameterSchema, parameters } from '../http/query.ts'
import { pathParameter } from '../routes/ids.ts'
import type { Services } from '../services.ts'
import {
  type Asked,
  describeNamespace,
  listNamespaces,
  listTables,
  loadTable,
  requireTable,
} from './catalog.ts'
import { IcebergError, icebergAnswer } from './errors.ts'
import { type Names, PeoplesNames, PlainNames } from './names.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

const text = (description: string): ParameterSchema => ({ type: 'string', description })

/** What clients add to an address. Lists are not cut into pages, and a table has one snapshot, so most of it says nothing here. */
const OPTIONS = parameters({
  warehouse: text('`parquetry`, the default, or `plain`.'),
  parent: text('The namespace whose child namespaces to list.'),
  pageToken: text('Ignored: lists are not paged.'),
  pageSize: text('Ignored: lists are not paged.'),
  snapshots: text('A table has one snapshot.'),
  'referenced-by': text('There are no views.'),
  purgeRequested: text('Of a DELETE, which is refused.'),
})

interface Options {
  readonly warehouse?: string
  readonly parent?: string
}

/** The warehouses: how columns and tables are called in them, and where they stand in the path (`prefix`). */
const WAREHOUSES: Readonly<
  Record<string, { naming: Naming; prefix: string; names: new (...at: NamesOf) => Names }>
> = {
  parquetry: { naming: NAMED, prefix: '', names: PeoplesNames },
  plain: { naming: PLAIN, prefix: 'plain', names: PlainNames },
}
type NamesOf = ConstructorParameters<typeof PeoplesNames>

type Answer = (
  services: Services,
  asked: Asked,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<unknown>

const exists: (check: Answer) => Answer = (check) => async (services, asked, request, reply) => {
  await check(services, asked, request, reply)
  return reply.code(204).send()
}

const refused: Answer = async () => {
  throw new IcebergError('readOnly', 'This catalog is read-only; to write, use /datasets/{id}/data.')
}

/** The paths of the REST catalog behind `/v1` and the prefix, and what each method does there; all others are 405. */
const PATHS: Readonly<Record<string, Readonly<Partial<Record<Method, Answer>>>>> = {
  '/namespaces': {
    GET: (_, { names }, request) => listNamespaces(names, (request.query as Options).parent),
    POST: refused,
  },
  '/namespaces/:namespace': {
    GET: describeNamespace,
    HEAD: exists(describeNamespace),
    DELETE: refused,
  },
  '/namespaces/:namespace/properties': { POST: refused },
  '/namespaces/:namespace/register': { POST: refused },
  '/namespaces/:namespace/tables': { GET: (_, asked) => listTables(asked), POST: refused },
  '/namespaces/:namespace/tables/:table': {
    GET: loadTable,
    HEAD: exists(requireTable),
    POST: refused,
    DELETE: refused,
  },
  // What a client did with a table. The log has the request; more is not kept.
  '/namespaces/:namespace/tables/:table/metrics': { POST: exists(requireTable) },
  '/tables/rename': { POST: refused },
  '/transactions/commit': { POST: refused },
}

/** What the catalog says of itself, in the words of its specification. */
const ENDPOINTS = Object.entries(PATHS).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, answer]) => answer !== refused)
    .map(([method]) => `${method} /v1/{prefix}${path.replaceAll(/:(\w+)/g, '{$1}')}`),
)

/** The REST catalog of Apache Iceberg, for reading: repositories are namespaces, datasets are tables. */
export function icebergRoutes(app: FastifyInstance, services: Services): void {
  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => answerError(services, error, request, reply))
    const route = (url: string, answers: Partial<Record<Method, Answer>>, warehouse: string) => {
      const { naming, names } = WAREHOUSES[warehouse]!
      scope.route({
        method: [...METHODS],
        // Writing is refused by us, in Iceberg's own form.
        config: { reads: true },
        url,
        schema: { hide: true, querystring: OPTIONS },
        handler: async (request, reply) => {
          const answer = answers[request.method as Method]
          if (!answer) throw wrongMethod(request.method, Object.keys(answers))
          const asked = {
            naming,
            names: new names(services, request.account),
            namespace: pathParameter(request, 'namespace'),
            table: pathParameter(request, 'table'),
          }
          return answer(services, asked, request, reply)
        },
      })
    }
    route('/iceberg/v1/config', { GET: async (_, __, request) => configOf(request) }, 'parquetry')
    for (const [warehouse, { prefix }] of Object.entries(WAREHOUSES)) {
      const root = prefix ? `/iceberg/v1/${prefix}` : '/iceberg/v1'
      for (const [path, answers] of Object.entries(PATHS)) route(root + path, answers, warehouse)
    }
    scope.route({
      method: [...METHODS],
      config: { reads: true },
      url: '/iceberg/*',
      schema: { hide: true, querystring: OPTIONS },
      handler: async (request) => {
        throw new IcebergError(
          'notSupported',
          `The catalog has no ${request.url.split('?', 1)[0]}. It has ${ENDPOINTS.join(', ')}.`,
        )
      },
    })
  })
}

async function configOf(request: FastifyRequest) {
  const { warehouse } = request.query as Options
  const known = WAREHOUSES[warehouse || 'parquetry']
  if (!known) {
    throw new IcebergError(
      'unknownWarehouse',
      `There is no warehouse ${JSON.stringify(warehouse)}; there are ${Object.keys(WAREHOUSES).join(' and ')}.`,
    )
  }
  return { defaults: {}, overrides: known.prefix ? { prefix: known.prefix } : {}, endpoints: ENDPOINTS }
}

function wrongMethod(method: string, known: readonly string[]): IcebergError {
  const allow = known.join(', ')
  return new IcebergError('wrongMethod', `${method} is not supported here. Supported methods: ${allow}.`, {
    allow,
  })
}

function answerError(
  { metrics }: Services,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, headers, code, body } = icebergAnswer(error)
  metrics.refused(code)
  if (status >= 500 && status !== 501) request.log.error({ err: error, code }, 'request failed')
  return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body)
}
