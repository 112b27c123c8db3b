import { ERROR_TABLE } from '../http/errors.ts'
import { ACCOUNT_NAME } from '../records/accounts.ts'
import { count, exampleOf, type JsonSchema, listOf, record, text } from '../records/schema.ts'
import { FAULT, HINTS } from '../records/uploads.ts'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    /** A body that the handler reads itself. It is documented, but not validated by Fastify. */
    requestBody?: { readonly description: string; readonly content: Readonly<Record<string, unknown>> }
  }
}

/** A response header in OpenAPI's form. */
export interface HeaderText {
  readonly description: string
  readonly schema: JsonSchema
}

type Headers = Readonly<Record<string, HeaderText>>

/** A JSON response in OpenAPI's form. */
export function json<const Schema extends JsonSchema>(
  schema: Schema,
  description: string,
  headers?: Headers,
  example = exampleOf(schema),
) {
  return { ...empty(description, headers), content: { 'application/json': { schema, example } } }
}

/** The response with what a request has made. */
export function made<const Schema extends JsonSchema>(schema: Schema, description: string) {
  return json(schema, description, { Location: LOCATION })
}

/** The response with a record, or what belongs to one, that can be compared with what a client has. */
export function tagged<const Schema extends JsonSchema>(schema: Schema, description: string) {
  return json(schema, description, { ETag: RECORD_TAG })
}

export function empty(description: string, headers?: Headers) {
  return { description, ...(headers && { headers }) }
}

export const NOT_MODIFIED = empty('The copy that you have is current.')

export const RECORD_TAG: HeaderText = {
  description:
    'Changes with the record. Send it as `If-Match` to make a change only if the record is still the one you have ' +
    'seen.',
  schema: { type: 'string' },
}

const LOCATION: HeaderText = {
  description: 'Path of the new resource.',
  schema: { type: 'string' },
}

const RETRY_AFTER: HeaderText = {
  description: 'Seconds after which to try again.',
  schema: { type: 'integer', minimum: 1 },
}

/** The headers of error responses, by status. */
const ERROR_HEADERS: Readonly<Record<number, Headers>> = {
  401: {
    'WWW-Authenticate': {
      description: 'Asks for Basic authentication.',
      schema: { type: 'string', const: 'Basic realm="parquetry"' },
    },
  },
  405: { Allow: { description: 'The methods that the path supports.', schema: { type: 'string' } } },
  416: {
    'Content-Range': { description: 'The bytes of the file: `bytes */9423`.', schema: { type: 'string' } },
  },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
}

/** The shape of every error. `code` is stable; the sentence may change. */
const ERROR = record(
  'Error',
  'Why the request failed.',
  {
    error: { ...text, description: 'A sentence for people.' },
    code: { ...text, description: 'A stable code for programs.' },
  },
  {
    errors: {
      ...listOf(FAULT),
      description: 'What is wrong with an upload, at most twenty things; `error` is the first.',
    },
    position: {
      ...count,
      description:
        'Where the fault is in the text that was sent (the value of `option`, or a statement of SQL): the number of UTF-16 units before it.',
    },
    problem: { ...text, description: 'What is wrong there, without the place.' },
    option: { ...text, description: 'The option or parameter that is wrong.', examples: ['$filter'] },
    columns: { ...listOf(text), description: 'The columns that are unknown or missing.' },
    row: { ...count, description: 'The row of an upload, counted from 1 without the header.' },
    column: { ...text, description: 'The column of an upload.' },
    value: { ...text, description: 'The value of an upload that is wrong.' },
    limit: { ...count, description: 'The limit that was exceeded.' },
    running: {
      ...count,
      description: 'How many of your own, such as downloads or statements of SQL, are running.',
    },
    hints: { ...HINTS, examples: [['decimal=,']] },
  },
)

/** The error responses by status. The document contains each of them once; operations refer to them. */
export const ERROR_RESPONSES: Readonly<Record<string, ReturnType<typeof errorResponse>>> = Object.fromEntries(
  [...new Set([...ERROR_TABLE.values()].map(({ status }) => status))].map((status) => [
    String(status),
    errorResponse(status),
  ]),
)

/** The error responses of an operation, by status. */
export function errors<const Status extends number>(...statuses: readonly Status[]) {
  const responses = statuses.map((status) => {
    const response = ERROR_RESPONSES[status]
    if (!response) throw new Error(`status ${status} is not described`)
    return [status, response] as const
  })
  return Object.fromEntries(responses) as { readonly [One in Status]: ReturnType<typeof errorResponse> }
}

/** A description with every code of a status, and the first of them as the example. */
function errorResponse(status: number) {
  const entries = [...ERROR_TABLE].filter(([, entry]) => entry.status === status)
  const [code, { when }] = entries[0]!
  const example = { error: `${when.charAt(0).toUpperCase()}${when.slice(1)}.`, code }
  const description = entries.map(([code, { when }]) => `- \`${code}\`: ${when}`).join('\n')
  return json(ERROR, description, ERROR_HEADERS[status], example)
}

/** Path parameters, by their name in the routes. */
const PATH_PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  id: { type: 'integer', minimum: 1, description: 'The id.', examples: [1] },
  version: {
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description: 'A version of the dataset.',
    examples: [1],
  },
  file: {
    type: 'string',
    description: 'Name of a file, from the list of files.',
    examples: ['17.parquet'],
  },
  account: {
    type: 'string',
    pattern: ACCOUNT_NAME.source,
    description: 'Name of an account.',
    examples: ['grace'],
  },
  name: { type: 'string', description: 'Name of a key.', examples: ['nightly-job'] },
  slug: { type: 'string', description: 'Slug of a provider, case-insensitive.', examples: ['fred'] },
  '*': {
    type: 'string',
    description: 'Id of a series. It may contain slashes, plain or percent-encoded.',
    examples: ['GNPCA'],
  },
}

/** The path parameters of a route, for the document only: the routes parse them as text. */
export function pathParameters(url: string) {
  const names = url
    .split('/')
    .flatMap((part) => (part === '*' ? [part] : part.startsWith(':') ? [part.slice(1)] : []))
  const properties = names.map((name) => {
    const parameter = PATH_PARAMETERS[name]
    if (!parameter) throw new Error(`path parameter ${name} of ${url} is not described`)
    return [name === '*' ? 'series_id' : name, parameter] as const
  })
  return {
    type: 'object',
    required: properties.map(([name]) => name),
    properties: Object.fromEntries(properties),
  }
}
