import type { FastifyReply, FastifyRequest } from 'fastify'
import { ConnectorError } from '../../../connectors/errors.ts'
import type { Caller, MissingSeries, WantedSeries } from '../../../connectors/index.ts'
import { SHAPES, splitQualified, tableOf } from '../../../connectors/table.ts'
import { SERIES_OPTIONS } from '../../../connectors/transform/series-options.ts'
import { fromHttp } from '../../../engine/options.ts'
import { errorAnswer, ServerError } from '../../http/errors.ts'
import { parameters, parametersOf } from '../../http/input.ts'
import { errors } from '../../openapi/describe.ts'
import type { MissingSeries as MissingRecord } from '../../records/index.ts'
import type { FromSchema } from '../../records/schema.ts'
import type { Services } from '../../services.ts'
import { callerOf } from '../../sources/caller.ts'
import { Transfer } from '../../transfers/transfer.ts'
import { PIECES, rowAnswers, rowParameters, rowsAsked } from '../data.ts'
import { pathParameter, type Routes } from '../routes.ts'

const OPTIONS = parameters({
  ...rowParameters('csv'),
  ids: {
    type: 'string',
    description: 'Ids of series, separated by commas; a comma in an id is `%252C`.',
    examples: ['GDP,UNRATE'],
    documented: { pattern: '[^,]' },
  },
  shape: {
    type: 'string',
    enum: SHAPES,
    default: 'long',
    description: '`long`: a row for each value; `wide`: a column for each series.',
  },
  envelope: {
    type: 'boolean',
    description:
      'With json: an object with `rows`, and with `missing`, which says why a series is not there.',
  },
  ...parametersOf(SERIES_OPTIONS),
})

/** A request without ids gets a message of its own, which tells more than Ajv would. */
const QUERY = { ...OPTIONS, documented: { required: ['ids'] } } as const

const ANSWERS = {
  ...PIECES,
  ...rowAnswers(
    'The series as a table.',
    {},
    {
      'Series-Missing': {
        description: 'Ids of the series that could not be fetched, percent-encoded, separated by commas.',
        schema: { type: 'string' },
      },
    },
  ),
  ...errors(402, 404, 504),
} as const

/** The routes that give several series, of one provider or of several, as one table. */
export function seriesTableRoutes(app: Routes, services: Services): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/providers/:slug/series',
    schema: {
      operationId: 'getSeriesTable',
      summary: 'Get several series of a provider as one table',
      description: 'In an id of an SDMX provider `*`, an empty part and `+` stand for several series.',
      querystring: QUERY,
      response: ANSWERS,
    },
    handler: async (request, reply) => {
      const connectors = await services.connectors()
      const { slug } = connectors.get(pathParameter(request, 'slug'))
      const ids = connectors.splitIds(slug, request.query.ids ?? '')
      return sendTable(services, request, reply, request.query, {
        series: ids.map((id) => ({ provider: slug, id })),
        qualified: false,
        name: slug,
      })
    },
  })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/series',
    schema: {
      operationId: 'getSeriesTableAcross',
      summary: 'Get series of several providers as one table',
      description: 'Each id has its provider in front, for example `fred/GDP,ecb/EXR/M.USD.EUR.SP00.A`.',
      querystring: QUERY,
      response: ANSWERS,
    },
    handler: async (request, reply) => {
      const connectors = await services.connectors()
      const known = new Set(connectors.list().map(({ slug }) => slug))
      const series = splitQualified(request.query.ids ?? '', (slug) => known.has(slug.toLowerCase()))
      const qualified = new Set(series.map(({ provider }) => provider)).size > 1
      return sendTable(services, request, reply, request.query, { series, qualified, name: 'series' })
    },
  })
}

interface Table {
  readonly series: readonly WantedSeries[]
  readonly qualified: boolean
  readonly name: string
}

async function sendTable(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  query: FromSchema<typeof QUERY>,
  { series, qualified, name }: Table,
): Promise<FastifyReply> {
  const { config, engine, exports } = services
  const most = config.limits.savedSeries
  if (series.length === 0) throw invalid('ids', 'ids must name the series, separated by commas.')
  if (series.length > most)
    throw invalid('ids', `ids names ${series.length} series; one table holds at most ${most}.`)
  const { window, ...download } = rowsAsked(request, query, 'csv')
  if (query.envelope && download.format !== 'json')
    throw invalid('envelope', 'envelope works only with $format=json.')
  const { signal } = new Transfer(request, reply, services)
  const { allowed, refused } = await callers(services, request, series, signal)
  const connectors = await services.connectors()
  const batch = await connectors.many(allowed, fromHttp(query, SERIES_OPTIONS))
  request.trace.stage('provider')
  const missing = [...refused, ...batch.missing.map(missingRecord)]
  const named = missing.map((one) => (qualified ? `${one.provider}/${one.series_id}` : one.series_id))
  if (missing.length > 0) reply.header('series-missing', named.map(encodeURIComponent).join(','))
  const table = tableOf(batch.series, query.shape ?? 'long', qualified)
  const columns = table.columns.map((column) => ({ ...column, nullable: true, description: '' }))
  return exports.send(request, reply, {
    ...download,
    query: { open: () => engine.relation(columns, table.rows).query(window) },
    name,
    metered: false,
    variant: JSON.stringify([missing, query.envelope]),
    ...(query.envelope && {
      envelope: { before: `{"missing":${JSON.stringify(missing)},"rows":`, after: '}' },
    }),
  })
}

/** The caller for each series. Series that the account's plan does not include are listed as missing, like others. */
async function callers(
  services: Services,
  { account }: FastifyRequest,
  series: readonly WantedSeries[],
  signal: AbortSignal,
): Promise<{ allowed: readonly (WantedSeries & { caller: Caller })[]; refused: readonly MissingRecord[] }> {
  const allowed: (WantedSeries & { caller: Caller })[] = []
  const refused: MissingRecord[] = []
  for (const one of series) {
    try {
      const { caller } = await callerOf(services, account, one.provider, signal)
      allowed.push({ ...one, caller })
    } catch (error) {
      const isExpected = error instanceof ServerError || error instanceof ConnectorError
      if (!isExpected || series.every(({ provider }) => provider === one.provider)) throw error
      refused.push(missingRecord({ provider: one.provider, series_id: one.id, error }))
    }
  }
  return { allowed, refused }
}

function missingRecord({
  provider,
  series_id,
  error,
}: Omit<MissingSeries, 'error'> & { readonly error: Error }): MissingRecord {
  const { body } = errorAnswer(error)
  return { provider, series_id, code: body.code, error: body.error }
}

function invalid(option: string, message: string): ServerError {
  return new ServerError('invalid_query', message, { details: { option } })
}
