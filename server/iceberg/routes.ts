import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noteRefusal } from '../http/answer-errors.ts'
import { type ParameterSchema, parameters } from '../http/input.ts'
import type { Services } from '../services.ts'
import {
  describeNamespace,
  IcebergError,
  icebergAnswer,
  listNamespaces,
  listTables,
  loadTable,
  type RequestPath,
  requireTable,
  WAREHOUSES,
  type Warehouse,
} from './catalog.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

const text = (description: string): ParameterSchema => ({ type: 'string', description })

/** The parameters that clients send. Most have no effect, because lists have no pages and tables one snapshot. */
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

type Answer = (
  services: Services,
  path: RequestPath,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<unknown>

const exists: (check: Answer) => Answer = (check) => async (services, path, request, reply) => {
  await check(services, path, request, reply)
  return reply.code(204).send()
}

const refused: Answer = async () => {
  throw new IcebergError('readOnly', 'This catalog is read-only; to write, use /datasets/{id}/data.')
}

/** The paths of the REST catalog after `/v1` and the prefix, each with its methods; other methods get 405. */
const PATHS: Readonly<Record<string, Readonly<Partial<Record<Method, Answer>>>>> = {
  '/namespaces': {
    GET: (services, path, request) => listNamespaces(services, path, (request.query as Options).parent),
    POST: refused,
  },
  '/namespaces/:namespace': {
    GET: describeNamespace,
    HEAD: exists(describeNamespace),
    DELETE: refused,
  },
  '/namespaces/:namespace/properties': { POST: refused },
  '/namespaces/:namespace/register': { POST: refused },
  '/namespaces/:namespace/tables': { GET: listTables, POST: refused },
  '/namespaces/:namespace/tables/:table': {
    GET: loadTable,
    HEAD: exists(requireTable),
    POST: refused,
    DELETE: refused,
  },
  // Clients report here what they did with a table. The report is not kept; only the request is logged.
  '/namespaces/:namespace/tables/:table/metrics': { POST: exists(requireTable) },
  '/tables/rename': { POST: refused },
  '/transactions/commit': { POST: refused },
}

/** The endpoints that the catalog lists in its configuration, written as the specification demands. */
const ENDPOINTS = Object.entries(PATHS).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, answer]) => answer !== refused)
    .map(([method]) => `${method} /v1/{prefix}${path.replaceAll(/:(\w+)/g, '{$1}')}`),
)

/** The REST catalog of Apache Iceberg, for reading: repositories are namespaces, datasets are tables. */
export function icebergRoutes(app: FastifyInstance, services: Services): void {
  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      const { status, headers, code, body } = icebergAnswer(error)
      noteRefusal(services.metrics, request, reply, { error, status, code })
      return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body)
    })
    const route = (url: string, answers: Partial<Record<Method, Answer>>, warehouse: Warehouse) => {
      scope.route({
        method: [...METHODS],
        // A read-only key may send these, so that writing is refused below, with an error of Iceberg's form.
        config: { reads: true },
        url,
        schema: { hide: true, querystring: OPTIONS },
        handler: async (request, reply) => {
          const answer = answers[request.method as Method]
          if (!answer) {
            const allow = Object.keys(answers).join(', ')
            const message = `${request.method} is not supported here. Supported methods: ${allow}.`
            throw new IcebergError('wrongMethod', message, { allow })
          }
          const path = {
            warehouse,
            account: request.account,
            namespace: nameIn(request, 'namespace'),
            table: nameIn(request, 'table'),
          }
          return answer(services, path, request, reply)
        },
      })
    }
    route(
      '/iceberg/v1/config',
      { GET: async (_, __, request) => catalogConfig(request) },
      WAREHOUSES['parquetry']!,
    )
    for (const warehouse of Object.values(WAREHOUSES)) {
      const { prefix } = warehouse
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

/**
 * A name in the path; empty if the path has no such parameter. Iceberg's clients in Java, such as Trino and Spark, write a
 * space as `+` and a plus as `%2B`, as in a form (https://github.com/apache/iceberg/issues/12308). Nobody writes a plus as
 * `+`.
 */
function nameIn(request: FastifyRequest, parameter: 'namespace' | 'table'): string {
  const position = request.routeOptions.url!.split('/').indexOf(`:${parameter}`)
  const segment = request.url.split('?', 1)[0]!.split('/')[position]
  return segment === undefined ? '' : decodeURIComponent(segment.replaceAll('+', ' '))
}

async function catalogConfig(request: FastifyRequest) {
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
