import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpWords } from '../../engine/errors.ts'
import {
  checkEncoding,
  type EncodeOptions,
  FORMATS,
  type Format,
  type QueryOptions,
} from '../../engine/index.ts'
import { fromHttp, QUERY, VERSION, WRITING } from '../../engine/options.ts'
import { MEDIA_TYPES } from '../client/options.ts'
import { isLink } from '../http/addresses.ts'
import { ServerError } from '../http/errors.ts'
import { type ParameterSchema, parameters, parametersOf, readQuery } from '../http/input.ts'
import { errors, type HeaderText, NOT_MODIFIED } from '../openapi/describe.ts'
import { exampleOf, type FromSchema, type JsonSchema } from '../records/schema.ts'
import type { Services } from '../services.ts'
import type { LazyQuery } from '../transfers/download.ts'
import { chooseFormat, encodingOf, FORMAT_NAMES, wantsIeee754 } from '../transfers/formats.ts'
import { answerLink, openedLink } from './link-page.ts'
import { linkMetadata } from './metadata.ts'
import { datasetFor, type Routes, requestedVersion } from './routes.ts'

const header = (type: string, description: string): HeaderText => ({ description, schema: { type } })

/** The headers of every answer with rows. */
const ROW_HEADERS: Readonly<Record<string, HeaderText>> = {
  'Row-Count': header(
    'integer',
    'Number of rows that match `$filter`, before truncation. Always sent with `$top` or `$last`, otherwise only ' +
      'where counting costs nothing.',
  ),
  ETag: header(
    'string',
    'Changes with the rows and the query. Send it as `If-None-Match` to get 304 while nothing has changed.',
  ),
  Hint: header('string', 'Where no row matches: what the filter may have meant.'),
  'Content-Disposition': header('string', 'A file name for the download.'),
  'Content-Encoding': header('string', '`zstd`, `br` or `gzip`, by `Accept-Encoding`.'),
  'Server-Timing': header('string', 'How long each stage of the request took, in milliseconds.'),
  'Accept-Ranges': header('string', '`bytes`'),
  Vary: header('string', '`Accept, Accept-Encoding`'),
  Link: header('string', 'Documents that describe the dataset (`describedby`), and its license.'),
}

const TEXT_FORMATS: readonly Format[] = ['csv', 'tsv', 'ndjson']

/** Rows in each of the formats. */
function rowContent(jsonSchema: JsonSchema) {
  return Object.fromEntries(
    FORMATS.map((format) => [
      MEDIA_TYPES[format],
      format === 'json'
        ? { schema: jsonSchema, example: exampleOf(jsonSchema) }
        : { schema: { type: 'string', ...(!TEXT_FORMATS.includes(format) && { format: 'binary' }) } },
    ]),
  )
}

/** The responses with rows, in the format that is asked for. @param jsonSchema what they are in JSON */
export function rowAnswers(
  description: string,
  jsonSchema: JsonSchema,
  headers: Readonly<Record<string, HeaderText>> = {},
) {
  return {
    200: { description, headers: { ...ROW_HEADERS, ...headers }, content: rowContent(jsonSchema) },
    304: NOT_MODIFIED,
  } as const
}

/** The responses to a GET of rows with `Range`. */
export const PIECES = {
  206: {
    description: 'The ranges that were asked for.',
    headers: {
      ...ROW_HEADERS,
      'Content-Range': header('string', 'Which bytes these are, and of how many.'),
    },
    content: rowContent({ type: 'string', format: 'binary' }),
  },
  ...errors(416),
} as const

/** Rows are an array of objects. */
export const ROWS_OR_EXPLANATION = {
  description: 'An array of rows; with `$explain`, an object in its place.',
}

/** The parameters of every table of rows. As in OData, `$` may be left out of their names and case does not matter. */
export function rowParameters<const Default extends Format>(defaultFormat: Default) {
  return {
    $format: {
      type: 'string',
      enum: FORMAT_NAMES,
      default: defaultFormat,
      description:
        'The format of the rows, by its short name or its media type. Without it, `Accept` decides if it names one ' +
        'of the formats.',
      examples: ['csv'],
    },
    ...parametersOf(QUERY),
    $count: { type: 'boolean', description: 'With true, the response always has the header `Row-Count`.' },
    ...parametersOf(WRITING),
  } as const satisfies Readonly<Record<string, ParameterSchema>>
}

/**
 * What a request asks for: the options of the query, which the engine answers, and how its rows are written.
 * @throws ServerError `invalid_query`; EngineError `invalid_option` if options for writing do not fit the format
 */
export function rowsAsked(
  { headers }: FastifyRequest,
  query: { readonly $format?: string | undefined; readonly $count?: boolean | undefined },
  usual: Format,
) {
  const window: QueryOptions = fromHttp(query, QUERY)
  const format = chooseFormat(query.$format, headers.accept, usual)
  const encoding: EncodeOptions = encodingOf(fromHttp(query, WRITING))
  const isPlain = Object.keys(encoding).length === 0
  if (!isPlain) checkEncoding(format, encoding)
  const counted = query.$count === true || window.top !== undefined || window.last !== undefined
  return { window, format, ...(!isPlain && { encoding }), counted }
}

const ROW_PARAMETERS = parameters({
  ...rowParameters('csv'),
  ...parametersOf(VERSION),
  $explain: {
    type: 'string',
    enum: ['true', 'false', 'sql'],
    description:
      'With `true`, the answer is no rows but JSON: what was read, and what each step took. With `sql`, it is the same ' +
      'question as a statement for `/sql`, and no rows are read.',
  },
})

type DataQuery = FromSchema<typeof ROW_PARAMETERS>

/** In a body, aliases are properties of their own. */
const { aliases: _, ...BODY_OPTIONS } = ROW_PARAMETERS.properties

const QUERY_BODY = {
  description: 'The options of `GET /datasets/{id}/data`.',
  content: {
    'text/plain': { schema: { type: 'string' }, example: '$filter=delay gt 100&$top=5' },
    'application/json': {
      schema: {
        type: 'object',
        properties: BODY_OPTIONS,
        patternProperties: { '^@': { description: 'The value of an alias; a list is an array.' } },
        additionalProperties: false,
      },
      example: { $filter: 'delay gt 100 and origin in @airports', $top: 5, '@airports': ['LAX', 'SFO'] },
    },
  },
}

/** Reads options from a body, which is a query string or JSON. @throws ServerError `invalid_query`, `invalid_url` */
function queryIn(body: unknown): DataQuery {
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
    { details: { option: name } },
  )
}

/** Reads bodies of text/plain as they are, and of JSON; refuses all others. */
export function readTexts(app: Pick<Routes, 'addContentTypeParser'>): void {
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.addContentTypeParser('*', (_request, _body, done) =>
    done(new ServerError('unsupported_media_type', 'Send the query as text/plain or as application/json.')),
  )
}

/** How a request reads saved queries, and statements of SQL. */
export function readingFor(
  services: Pick<Services, 'access' | 'engine'>,
  request: FastifyRequest,
  signal: AbortSignal,
) {
  return { signal, by: String(request.account.id), mayRead: mayRead(services, request) }
}

/** Tells whether the sender may read all of some datasets directly; whoever has a link may read only what it leads to. */
function mayRead({ access, engine }: Pick<Services, 'access' | 'engine'>, request: FastifyRequest) {
  return async (datasetIds: readonly number[]): Promise<boolean> => {
    if (datasetIds.length === 0) return true
    if (isLink(request.url)) return false
    const [readable, names] = await Promise.all([access.readable(request.account), engine.datasetNames()])
    const ids = new Set(names.flatMap(({ id, repositoryId }) => (readable.has(repositoryId) ? [id] : [])))
    return datasetIds.every((id) => ids.has(id))
  }
}

/**
 * Answers with what a query does. Its steps tell how many rows the tables below have, and some of their values: they are
 * left out for who may not read these tables, but only a saved query over them.
 */
export async function sendExplained(
  services: Pick<Services, 'access' | 'engine' | 'exports'>,
  request: FastifyRequest,
  reply: FastifyReply,
  lazy: LazyQuery,
  format: Format,
): Promise<FastifyReply> {
  const { told, borrowed } = await services.exports.run(request, reply, lazy, async (query, signal) => ({
    told: await query.analyse(format, { signal, words: httpWords }),
    borrowed: query.borrowed,
  }))
  const { where, strategy, columns, ms } = told
  const verdict = 'What takes long is told only to who may read all tables below.'
  const isWhole = await mayRead(services, request)(borrowed)
  return reply
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(isWhole ? told : { verdict, columns, where, strategy, parts: null, rowGroups: null, ms, steps: [] })
}

const DOWNLOAD_DATA = {
  operationId: 'downloadData',
  summary: 'Download the rows of a dataset',
  description:
    'The rows are streamed. A failure after the first byte closes the connection without the final chunk. Rows ' +
    "count against the plan's limit of exported rows. `Range` (with `If-Range`) gives pieces, so that downloads " +
    'can be resumed; the whole is then made once and kept for five minutes. HEAD returns only the headers, with ' +
    '`Content-Length`.',
  querystring: ROW_PARAMETERS,
  response: {
    ...rowAnswers('The rows, in the order of upload unless `$orderby` says otherwise.', ROWS_OR_EXPLANATION),
    ...PIECES,
    ...errors(402, 410, 504),
  },
} as const

const QUERY_DATA = {
  operationId: 'queryData',
  summary: 'Download rows with the query in the body',
  description:
    'Like `GET /datasets/{id}/data`, for queries that are too long for a URL: the same options, either as a ' +
    'query string in `text/plain` or as a JSON object.',
  requestBody: QUERY_BODY,
  response: {
    ...rowAnswers('The rows.', ROWS_OR_EXPLANATION),
    ...errors(402, 403, 410, 504),
  },
} as const

export function dataRoutes(app: Routes, services: Services): void {
  const { exports } = services

  // Handles HEAD as well, because Fastify's own HEAD would run the whole download and discard it.
  app.route({
    method: ['GET', 'HEAD'],
    url: '/datasets/:id/data',
    schema: DOWNLOAD_DATA,
    handler: (request, reply) => download(request, reply, () => request.query),
  })

  const download = async (request: FastifyRequest, reply: FastifyReply, read: () => DataQuery) => {
    const { dataset, record } = await datasetFor(request, services, 'Read')
    const given = read()
    const past = await requestedVersion(dataset, given, reply, app.prefix)
    linkMetadata(reply, app.prefix, record)
    const { window, ...asked } = rowsAsked(request, given, 'csv')
    const { format, encoding } = asked
    const options = { ...window, ...(past && { version: past.number }) }
    if (given.$explain === 'sql') {
      const sql = await dataset.sql(options)
      return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send({ sql })
    }
    const query = {
      key: dataset.key(record, options, format),
      open: (signal: AbortSignal) => dataset.query(options, readingFor(services, request, signal)),
    }
    if (given.$explain === 'true') return sendExplained(services, request, reply, query, format)
    const link = await openedLink(services, request)
    if (link) {
      const { title, name, description } = record
      return answerLink(services, request, reply, link, query, { title: title ?? name, description })
    }
    const ieee754 = format === 'json' && wantsIeee754(given.$format, request.headers.accept)
    return exports.send(request, reply, {
      ...asked,
      ...(ieee754 && { encoding: { ...encoding, ieee754 } }),
      ...(ieee754 && { contentType: 'application/json;IEEE754Compatible=true;charset=utf-8' }),
      name: record.name,
      metered: true,
      query,
    })
  }

  app.register(async (texts) => {
    readTexts(texts)
    texts.post('/datasets/:id/data/$query', {
      config: { reads: true },
      schema: QUERY_DATA,
      handler: (request, reply) => download(request, reply, () => queryIn(request.body)),
    })
  })
}
