import { ConnectorError } from '../../connectors/errors.ts'
import { splitQualified } from '../../connectors/table.ts'
import type { QueryOptions, Revisions, SeriesColumns } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { parameters } from '../http/input.ts'
import { errors, type HeaderText } from '../openapi/describe.ts'
import { listOf } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { PIECES, rowAnswers, rowParameters, rowsAsked } from './data.ts'
import { datasetFor, type Routes } from './routes.ts'

const COLUMNS = {
  series: 'series_id',
  period: 'period',
  date: 'date',
  time: 'time',
  value: 'value',
} as const satisfies SeriesColumns

const USUAL = 'series_id,period,value,known_from,known_to'

const KNOWN_SINCE: HeaderText = {
  description:
    'When the oldest version that is still kept was made. What its rows say may have been known before.',
  schema: { type: 'string', format: 'date-time' },
}

const REVISION = {
  type: 'object',
  examples: [
    {
      series_id: 'fred/GDP',
      period: '2026-Q2',
      value: 30_353.9,
      known_from: '2026-07-30T12:31:04.120Z',
      known_to: '2026-08-27T12:31:02.004Z',
    },
  ],
} as const

export function revisionRoutes(app: Routes, services: Services): void {
  app.get('/datasets/:id/revisions', {
    schema: {
      operationId: 'listRevisions',
      summary: 'Download what was known when of the values of series',
      description:
        'A row for each value that a period of a series had, by the versions of a dataset that follows series: ' +
        '`known_from` is when the first version with it was made, `known_to` when it was replaced or removed; null ' +
        'while it is current. `$select` also has `first_release`, the first value of the period, and `revision`, the ' +
        'difference from it. Only kept versions are read, at most the newest 1,000: `Known-Since` says how far they go ' +
        'back, and `keep` of the dataset says how many are kept.',
      querystring: parameters({
        series: {
          type: 'string',
          description:
            'Ids of series as in `series_id`, separated by commas; a comma in an id is `%252C`. By default all.',
          examples: ['fred/GDP'],
        },
        ...rowParameters('csv'),
      }),
      response: {
        ...rowAnswers('The revisions.', listOf(REVISION), { 'Known-Since': KNOWN_SINCE }),
        ...PIECES,
        ...errors(402, 409, 504),
      },
    },
    handler: async (request, reply) => {
      const { dataset, record } = await datasetFor(request, services, 'Read')
      const { window, ...download } = rowsAsked(request, request.query, 'csv')
      const names = new Set(record.columns.map(({ name }) => name))
      if (!names.has('series_id') || !names.has('value') || !(names.has('date') || names.has('time'))) {
        throw new ServerError(
          'other_data',
          `The dataset ${JSON.stringify(record.name)} has no series: its columns must include series_id, value, and date or time.`,
        )
      }
      const only = await seriesIds(request.query.series, services)
      using revisions = await dataset.revisions(COLUMNS, only)
      if (only) await requireSeries(revisions, only)
      const query = revisions.query(withUsualColumns(window))
      reply.header('known-since', revisions.since)
      return services.exports.send(request, reply, {
        ...download,
        query: { open: () => query },
        name: `${record.name} revisions`,
        metered: true,
      })
    },
  })
}

async function seriesIds(text: string | undefined, services: Services): Promise<string[] | undefined> {
  if (text === undefined) return undefined
  const slugs = new Set((await services.connectors()).list().map(({ slug }) => slug))
  const ids = splitQualified(text, (slug) => slugs.has(slug.toLowerCase()))
  if (ids.length === 0) throw new ServerError('invalid_query', 'series must name series, like fred/GDP.')
  return ids.map(({ provider, id }) => `${provider}/${id}`)
}

/** @throws ConnectorError `series_not_found` for one that no version has */
async function requireSeries(revisions: Revisions, ids: readonly string[]): Promise<void> {
  using query = revisions.query({ apply: 'groupby((series_id))' })
  const found = new Set<unknown>()
  for await (const { series_id } of query.rows()) found.add(series_id)
  const missing = ids.filter((id) => !found.has(id))
  if (missing.length === 0) return
  const sentence = `No kept version of the dataset has ${missing.join(', ')}. The column series_id has the ids.`
  throw new ConnectorError('series_not_found', sentence)
}

/** The options; if they name no columns, without those of the first release. */
function withUsualColumns(options: QueryOptions): QueryOptions {
  const { select, apply, compute } = options
  return select === undefined && apply === undefined && compute === undefined
    ? { ...options, select: USUAL }
    : options
}
