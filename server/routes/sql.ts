import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SqlTable, SqlValues } from '../../engine/index.ts'
import { QUERY, WRITING } from '../../engine/options.ts'
import { Derived } from '../../engine/util/shared.ts'
import { RELATIONS } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import { ServerError } from '../http/errors.ts'
import { parameters, parametersOf } from '../http/input.ts'
import { errors } from '../openapi/describe.ts'
import type { Services } from '../services.ts'
import {
  PIECES,
  ROWS_OR_EXPLANATION,
  readingFor,
  readTexts,
  rowAnswers,
  rowParameters,
  rowsAsked,
  sendExplained,
} from './data.ts'
import type { Routes } from './routes.ts'

const { $format, $count } = rowParameters('csv')
const { top, skip } = QUERY

const PARAMETERS = {
  $format,
  ...parametersOf({ top, skip }),
  $count,
  ...parametersOf(WRITING),
  $explain: {
    type: 'boolean',
    description: 'With true, the answer is no rows but JSON: what was read, and what each step took.',
  },
} as const

const ABOUT =
  'One SELECT (also WITH, VALUES, FROM, DESCRIBE, SUMMARIZE) in the SQL of DuckDB. Tables are datasets: ' +
  '`"repository"."dataset"`, `dataset` if only one has the name, or `dataset_17`. Your own come before those shared with ' +
  'you, and these before public ones; `"owner"."repository"."dataset"` always works. `AT (VERSION => 3)` reads an earlier ' +
  'version. Formats, headers and limits are those of `GET /datasets/{id}/data`. A table that the key may not read does ' +
  'not exist for it.'

const BODY = {
  description: 'The statement.',
  required: true,
  content: {
    'text/plain': {
      schema: { type: 'string' },
      example: 'SELECT origin, avg(delay) FROM flights GROUP BY origin',
    },
    'application/json': {
      schema: {
        type: 'object',
        required: ['sql'],
        properties: {
          sql: { type: 'string' },
          parameters: {
            description: 'Values for `$1` and `?` as a list, or for `$name` as an object.',
            oneOf: [
              { title: 'ValueList', type: 'array', items: { description: 'A value.' } },
              { title: 'NamedValues', type: 'object' },
            ],
          },
        },
      },
      example: { sql: 'SELECT * FROM flights WHERE origin = $1', parameters: ['LAX'] },
    },
  },
}

const RESPONSE = {
  ...rowAnswers('The rows, in the order of the statement.', ROWS_OR_EXPLANATION),
  ...errors(402, 410, 504),
}

interface Statement {
  readonly sql: string
  readonly parameters?: SqlValues
}

/** @throws ServerError `invalid_body` */
function statementIn(body: unknown): Statement {
  if (typeof body === 'string') return { sql: body }
  const { sql, parameters: values, ...unknown } = (body ?? {}) as Record<string, unknown>
  if (typeof sql !== 'string' || Object.keys(unknown).length > 0) {
    throw new ServerError(
      'invalid_body',
      'The body is a statement as text/plain, or {"sql", "parameters"?} as JSON.',
    )
  }
  return { sql, ...(values !== undefined && { parameters: values as SqlValues }) }
}

const readableTables = new Derived<readonly SqlTable[], readonly SqlTable[]>()

/** The datasets that an account may read, as SQL names them. */
export async function sqlTablesOf(
  { engine, access }: Pick<Services, 'engine' | 'access'>,
  account: Account,
): Promise<readonly SqlTable[]> {
  const [tables, readable] = await Promise.all([engine.sqlTables(), access.readable(account)])
  const seen = [...readable.values()].map(({ repositoryId, owner, relation }) => [
    repositoryId,
    owner.id,
    relation,
  ])
  return readableTables.get(tables, seen.join(), () =>
    tables.flatMap((table) => {
      const access = readable.get(table.repositoryId)
      if (!access) return []
      return [{ ...table, owner: access.owner.name, precedence: RELATIONS.indexOf(access.relation) }]
    }),
  )
}

export function sqlRoutes(app: Routes, services: Services): void {
  const { engine, exports } = services

  const run = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { sql, parameters: values }: Statement,
  ) => {
    const given = request.query as { $format?: string; $count?: boolean; $explain?: boolean }
    const { window, ...download } = rowsAsked(request, given, 'csv')
    const tables = () => sqlTablesOf(services, request.account)
    const open = (signal: AbortSignal) =>
      engine.sql(sql, values, { ...window, ...readingFor(services, request, signal), tables })
    if (given.$explain) return sendExplained(services, request, reply, { open }, download.format)
    return exports.send(request, reply, { ...download, name: 'query', metered: true, query: { open } })
  }

  app.route({
    method: ['GET', 'HEAD'],
    url: '/sql',
    schema: {
      operationId: 'runSql',
      summary: 'Run a SELECT over datasets',
      description: ABOUT,
      querystring: {
        ...parameters({
          q: { type: 'string', description: 'The statement.', examples: ['SELECT 1 AS one'] },
          ...PARAMETERS,
        }),
        required: ['q'],
      },
      response: { ...RESPONSE, ...PIECES },
    },
    handler: (request, reply) => run(request, reply, { sql: (request.query as { q: string }).q }),
  })

  app.register(async (texts) => {
    readTexts(texts)
    texts.post('/sql', {
      config: { reads: true },
      schema: {
        operationId: 'postSql',
        summary: 'Run a SELECT over datasets, with the statement in the body',
        description: `${ABOUT} With JSON, the statement can have parameters.`,
        querystring: parameters(PARAMETERS),
        requestBody: BODY,
        response: RESPONSE,
      },
      handler: (request, reply) => run(request, reply, statementIn(request.body)),
    })
  })
}
