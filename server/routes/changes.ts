import type { FastifyRequest } from 'fastify'
import { EngineError, type QueryOptions } from '../../engine/index.ts'
import { QUERY } from '../../engine/options.ts'
import { ErrorWithHeaders, ServerError } from '../http/errors.ts'
import { errors, type HeaderText } from '../openapi/describe.ts'
import type { FromSchema } from '../records/schema.ts'
import { listOf } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { PIECES, rowAnswers, rowParameters, rowsAsked } from './data.ts'
import { datasetFor, type Routes } from './routes.ts'

const NEXT_SINCE: HeaderText = {
  description: 'The version up to which changes were sent: `since` of the next request.',
  schema: { type: 'integer' },
}

const CHANGED_ROW = {
  type: 'object',
  examples: [{ _change: 'insert', _version: 13, date: '2026-11-21' }],
} as const

const version = { type: 'integer', minimum: 0 } as const

const PARAMETERS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    since: { ...version, description: 'The version that you have. Required.', examples: [12] },
    until: { ...version, description: 'The last version whose changes are wanted; by default the newest.' },
    follow: {
      type: 'boolean',
      description:
        'With true, the response does not end: changes are sent as they happen, as ndjson, or as server-sent events ' +
        'with `Accept: text/event-stream`. Takes `$filter`, `$search`, `$compute` and `$select`.',
    },
    ...rowParameters('csv'),
  },
} as const

const CHANGES = {
  operationId: 'listChanges',
  summary: 'Download the rows that versions changed, or follow them as they happen',
  description:
    'The rows that were inserted, deleted or updated after version `since`, version by version. `_change` is ' +
    '`insert` or `delete`, or `update_before` and `update_after` for a row that is known by a key, or by its place after ' +
    'an edit. `_version` is the version that made the change. The other columns are those of the newest of the versions that has any. Where the header ' +
    '`Next-Since` is less than the newest version, there are more changes. If `since` is no longer kept, the ' +
    'response is 410, with a link to the whole table.\n\n' +
    'With `follow=true`, a line `{"_change":"complete","_version":13}` says that all changes up to that version were ' +
    'sent, and is repeated while there are none; go on from it with `since` after a cut connection. As server-sent ' +
    'events, each row is an event `change`, the last one up to a version has that version as its `id`, and ' +
    '`Last-Event-ID` takes the place of `since`. If the server ends the stream, its last line has `"_change":"end"` and the error, or the last event ' +
    'the name `end`. A client that stops reading is cut off.',
  querystring: PARAMETERS,
  response: (() => {
    const rows = rowAnswers('The changed rows.', listOf(CHANGED_ROW), { 'Next-Since': NEXT_SINCE })
    const events = { 'text/event-stream': { schema: { type: 'string' } } }
    return {
      ...rows,
      200: { ...rows[200], content: { ...rows[200].content, ...events } },
      ...PIECES,
      ...errors(402, 410, 504),
    } as const
  })(),
} as const

/** The options of a query that apply to each row by itself. */
const OF_ROWS: readonly (keyof QueryOptions)[] = ['filter', 'search', 'compute', 'select', 'aliases']

export function changesRoutes(app: Routes, services: Services): void {
  app.get('/datasets/:id/changes', { schema: CHANGES }, async (request, reply) => {
    const { dataset, record } = await datasetFor(request, services, 'Read')
    const { until, follow } = request.query
    const since = sinceIn(request, request.query)
    const whole = (error: unknown): never => {
      if (!(error instanceof EngineError && error.code === 'version_gone')) throw error
      const link = `<${app.prefix}/datasets/${record.id}/data>; rel="alternate"`
      throw new ErrorWithHeaders(error, { link })
    }
    if (follow) {
      const asked = followed(request, request.query)
      return services.changeStreams
        .send(request, reply, {
          ...asked,
          open: (signal) => dataset.followChanges(since, { signal }),
          requireRight: () => datasetFor(request, services, 'Read'),
        })
        .catch(whole)
    }
    const { window, ...asked } = rowsAsked(request, request.query, 'csv')
    using changes = await dataset.changes({ since, until }).catch(whole)
    reply.header('next-since', changes.next)
    const query = changes.query(window)
    return services.exports.send(request, reply, {
      ...asked,
      query: { open: () => query },
      name: `${record.name} changes`,
      metered: true,
    })
  })
}

type ChangesQuery = FromSchema<typeof PARAMETERS>

/** The version that the client has. A browser that connects again sends the id of the last event. */
function sinceIn({ headers }: FastifyRequest, { since, follow }: ChangesQuery): number {
  const last = follow ? headers['last-event-id'] : undefined
  if (typeof last === 'string') {
    if (/^\d{1,15}$/.test(last)) return Number(last)
    throw new ServerError('bad_request', 'Last-Event-ID must be the number of a version.')
  }
  if (since !== undefined) return since
  throw new EngineError('invalid_option', 'since is missing: the version that you have, as since=12.')
}

/** How changes are to be sent as they happen. @throws EngineError `invalid_option` */
function followed(request: FastifyRequest, query: ChangesQuery) {
  const { window, format, encoding } = rowsAsked(request, query, 'ndjson')
  const others = (Object.keys(window) as (keyof typeof QUERY)[]).filter((name) => !OF_ROWS.includes(name))
  const [option] = [
    ...others.map((name) => QUERY[name].http),
    ...(query.until === undefined ? [] : ['until']),
    ...(query.$count === undefined ? [] : ['$count']),
  ]
  if (option !== undefined) {
    const taken = OF_ROWS.map((name) => QUERY[name as keyof typeof QUERY].http).slice(0, -1)
    throw new EngineError(
      'invalid_option',
      `${option} is not for follow=true, which takes ${taken.join(', ')}.`,
      { details: { option } },
    )
  }
  if (query.$format !== undefined && format !== 'ndjson') {
    throw new EngineError(
      'invalid_option',
      'With follow=true, the format is ndjson, or text/event-stream by Accept.',
      { details: { option: '$format' } },
    )
  }
  const asEvents = /(?:^|,)\s*text\/event-stream\b/i.test(request.headers.accept ?? '')
  return { window, encoding, asEvents }
}
