import type { FastifyReply, FastifyRequest } from 'fastify'
import { FORMATS, type Handle } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { parameters, readQuery } from '../http/query.ts'
import { empty, type HeaderText, type JsonSchema, json } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { followsSeries } from '../sources/conflicts.ts'
import { questionOf } from '../transfers/answer-cache.ts'
import { chooseFormat, mediaType } from '../transfers/formats.ts'
import { UPLOAD_TYPES } from '../transfers/upload-body.ts'
import { APPEND_PARAMETERS, REPLACE_PARAMETERS } from '../transfers/upload-options.ts'
import type { WriteMode } from '../transfers/uploads.ts'
import { datasetFor } from './dataset-for.ts'
import { EXAMPLES } from './examples.ts'
import { seriesUpload } from './providers/series-upload.ts'
import { type EncodingQuery, encodingOf, queryOptions, rowParameters } from './query-options.ts'
import { DATASET, DECLARED_COLUMNS } from './records.ts'
import type { Routes } from './routes.ts'

const tags = ['Data']

const header = (type: string, description: string): HeaderText => ({ description, schema: { type } })

/** The headers of every answer with rows. */
export const ROW_HEADERS: Readonly<Record<string, HeaderText>> = {
  'Row-Count': header(
    'integer',
    'Number of rows that match `$filter`, before truncation. Always sent with `$top` or `$last`, otherwise only ' +
      'where counting costs nothing.',
  ),
  ETag: header(
    'string',
    'Changes with the rows and the query. Send it as `If-None-Match` to get 304 while nothing has changed.',
  ),
  'Content-Disposition': header('string', 'A file name for the download.'),
  'Content-Encoding': header('string', '`zstd`, `br` or `gzip`, by `Accept-Encoding`.'),
  'Server-Timing': header('string', 'How long each stage of the request took, in milliseconds.'),
  Vary: header('string', '`Accept, Accept-Encoding`'),
}

const BINARY: JsonSchema = { type: 'string', format: 'binary' }

/** Rows in each of the formats. */
export function rowContent(jsonSchema: JsonSchema) {
  return Object.fromEntries(
    FORMATS.map((format) => {
      const schema = format === 'json' ? jsonSchema : format === 'xlsx' ? BINARY : { type: 'string' }
      return [mediaType(format), { schema }]
    }),
  )
}

export const NOT_MODIFIED = empty('The copy that you have is current.', { ETag: ROW_HEADERS['ETag']! })

const JSON_UPLOAD: JsonSchema = {
  // Not oneOf, because an empty list of rows matches both.
  anyOf: [
    // Two separate schemas, because generators of clients can't handle items of two types.
    ...(['object', 'array'] as const).map((item) => ({
      type: 'object',
      title: item === 'object' ? 'Rows as objects' : 'Rows as lists',
      required: ['rows'],
      additionalProperties: false,
      properties: {
        columns: DECLARED_COLUMNS,
        rows: {
          type: 'array',
          items:
            item === 'object' ? { type: 'object', additionalProperties: true } : { type: 'array', items: {} },
          description:
            item === 'object' ? 'Values by column name.' : 'Lists of values in the order of the columns.',
        },
      },
    })),
    {
      type: 'object',
      title: 'Series of a provider',
      required: ['provider', 'series'],
      additionalProperties: false,
      properties: {
        provider: { type: 'string', description: 'Slug of a provider.' },
        series: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description:
            'Ids of the series to fetch. They are saved as rows with the columns provider, series_id, name, unit, ' +
            'frequency, date or time, period, value and status.',
        },
      },
    },
  ],
}

const UPLOAD_BODY = {
  description:
    'Rows in one of the media types below. Text formats may be sent with `Content-Encoding: gzip`. Column types are ' +
    'inferred from the whole file unless the dataset has columns or the request declares them.',
  content: Object.fromEntries(
    Object.entries(UPLOAD_TYPES).map(([type, { format }]) => [
      type,
      format === 'json'
        ? { schema: { ...JSON_UPLOAD, examples: [{ rows: [{ date: '2026-11-21', value: 1.5 }] }] } }
        : { schema: BINARY },
    ]),
  ),
}

const UPLOADED = {
  200: json(DATASET, 'The dataset with its new version.', { example: EXAMPLES.dataset }),
  ...errors(402, 403, 404, 408, 409, 413, 415, 429, 504),
}

/** The values of the parameters of `rowParameters`. */
type DataQuery = Parameters<typeof queryOptions>[0] &
  EncodingQuery & {
    readonly $format?: string | undefined
    readonly $count?: boolean | undefined
  }

const ROW_PARAMETERS = parameters(rowParameters('csv'))

const QUESTION_BODY = {
  description: 'The options of `GET /datasets/{id}/data`.',
  content: {
    'text/plain': { schema: { type: 'string' }, example: '$filter=delay gt 100&$top=5' },
    'application/json': {
      schema: { type: 'object' },
      example: { $filter: 'delay gt 100 and origin in @airports', $top: 5, '@airports': ['LAX', 'SFO'] },
    },
  },
}

/** Reads options from a body, which is a query string or JSON. @throws ServerError `invalid_query`, `invalid_url` */
function questionIn(body: unknown): DataQuery {
  const text = typeof body === 'string' ? body.trim().replace(/^\?/, '') : queryString(body)
  return readQuery(text, ROW_PARAMETERS) as DataQuery
}

/** Turns JSON options into a query string, so that both are read in the same way. */
function queryString(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ServerError('invalid_query', 'The body is an object of options, as {"$filter":"delay gt 100"}.')
  }
  return Object.entries(body)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(optionText(name, value))}`)
    .join('&')
}

function optionText(name: string, value: unknown): string {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && name.startsWith('@')) return JSON.stringify(value)
  throw new ServerError(
    'invalid_query',
    `${name} must be a string, a number or a boolean; an alias may be a list.`,
  )
}

export function dataRoutes(app: Routes, services: Services): void {
  const { access, accounts, exports, plans, sources, uploads } = services

  // Handles HEAD as well, because Fastify's own HEAD would run the whole download and discard it.
  app.route({
    method: ['GET', 'HEAD'],
    url: '/datasets/:id/data',
    schema: {
      operationId: 'downloadData',
      summary: 'Download the rows of a dataset',
      description:
        'The rows are streamed. A failure after the first byte closes the connection without the final chunk. Rows ' +
        "count against the plan's limit of exported rows. HEAD returns only the headers.",
      tags,
      querystring: ROW_PARAMETERS,
      response: {
        200: {
          description: 'The rows, in the order of upload unless `$orderby` says otherwise.',
          headers: ROW_HEADERS,
          content: rowContent({ type: 'array', items: { type: 'object' } }),
        },
        304: NOT_MODIFIED,
        ...errors(402, 403, 404, 504),
      },
    },
    handler: (request, reply) => download(request, reply, () => request.query),
  })

  const download = async (request: FastifyRequest, reply: FastifyReply, question: () => DataQuery) => {
    const { dataset, record } = await datasetFor(request, services, 'Read')
    const asked = question()
    const options = queryOptions(asked)
    const format = chooseFormat(asked.$format, request.headers.accept, 'csv')
    const encoding = encodingOf(asked, format)
    const answer = {
      format,
      ...(encoding && { encoding }),
      name: record.name,
      meteredRows: record.rowCount,
      counted: asked.$count === true,
      question: questionOf(`${record.id}.${record.version}`, { ...options, count: asked.$count }),
    }
    if (await exports.sendAgain(request, reply, answer)) return reply
    const query = await dataset.query(options)
    request.trace.stage('plan')
    return exports.send(request, reply, {
      ...answer,
      query,
      window: options,
      meteredRows: query.mostRows ?? record.rowCount,
    })
  }

  app.register(async (texts) => {
    texts.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    )
    texts.addContentTypeParser('*', (_request, _body, done) =>
      done(new ServerError('unsupported_media_type', 'Send the query as text/plain or as application/json.')),
    )
    texts.post('/datasets/:id/data/$query', {
      config: { reads: true },
      schema: {
        operationId: 'queryData',
        summary: 'Download rows with the query in the body',
        description:
          'Like `GET /datasets/{id}/data`, for queries that are too long for a URL: the same options, either as a ' +
          'query string in `text/plain` or as a JSON object.',
        tags,
        requestBody: QUESTION_BODY,
        response: {
          200: {
            description: 'The rows.',
            headers: ROW_HEADERS,
            content: rowContent({ type: 'array', items: { type: 'object' } }),
          },
          304: NOT_MODIFIED,
          ...errors(402, 403, 404, 413, 415, 504),
        },
      },
      handler: (request, reply) => download(request, reply, () => questionIn(request.body)),
    })
  })

  const upload = (mode: WriteMode) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { dataset, record } = await datasetFor(request, services, 'Write')
    const { account } = request
    if ((await sources.get(record.id)) !== undefined) throw followsSeries(record.id)
    const owner = await accounts.get((await access.of(record.repositoryId, account)).ownerId)
    const accept = (made: { columns: number; bytes: number }, t?: Handle) =>
      plans.allowContent(owner, t ? access.in(t) : access, made, record.id)
    // Refuses at once if the limit is already reached. The new size is checked again after the rows have been read.
    await accept({ columns: 0, bytes: mode === 'append' ? record.bytes : 0 })
    return uploads.receive(request, reply, {
      dataset,
      mode,
      accept,
      fetchSeries: (wanted, signal) => seriesUpload(services, account, wanted, record.columns, signal),
    })
  }
  app.register(async (raw) => {
    // The handler reads the body itself while it arrives.
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', (_request, _body, done) => done(null))
    raw.put('/datasets/:id/data', {
      schema: {
        operationId: 'replaceData',
        summary: 'Replace the rows of a dataset',
        description:
          'Either all rows are saved or nothing changes. Downloads that have started continue with the old rows.',
        tags,
        querystring: REPLACE_PARAMETERS,
        requestBody: UPLOAD_BODY,
        response: UPLOADED,
      },
      handler: upload('replace'),
    })
    raw.post('/datasets/:id/data', {
      schema: {
        operationId: 'appendData',
        summary: 'Append rows to a dataset, or save series of a provider in it',
        description:
          'Either all rows are saved or nothing changes. Downloads that have started continue with the old rows.',
        tags,
        querystring: APPEND_PARAMETERS,
        requestBody: UPLOAD_BODY,
        response: UPLOADED,
      },
      handler: upload('append'),
    })
  })
}
