import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorObject } from 'ajv'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineError, nearest } from '../../engine/index.ts'
import { errorAnswer, ServerError, type ServerErrorCode } from './errors.ts'
import { addLink, SECURITY_HEADERS } from './headers.ts'
import { sendLinkError, wantsPage } from './link-page.ts'
import type { Metrics } from './metrics.ts'

/** Headers that were set to describe the rows. They are removed when an error is sent instead. */
const OF_THE_ROWS = [
  'content-disposition',
  'content-encoding',
  'content-type',
  'etag',
  'row-count',
  'server-timing',
  'cache-control',
  'link',
  'vary',
]

/**
 * Answers every error that is thrown while a request is handled, all in the same form. Call it before the routes are
 * added. `pages` is the address below which the documentation has a page for each error; without documentation there is
 * none.
 */
export function answerErrors(app: FastifyInstance, metrics: Metrics, pages: string | undefined): void {
  const paths = new Paths(app)
  app.setErrorHandler<FastifyError>((thrown, request, reply) => {
    // For an unknown path, Fastify parses the body first. An error in it must not hide that the path is wrong.
    const wrongPath = request.is404 && isAboutBody(thrown)
    const error = wrongPath
      ? paths.refusal(request.method, request.url)
      : request.raw.aborted && thrown.code === 'ECONNRESET'
        ? new EngineError('cancelled', 'The client left.', { cause: thrown })
        : shownTo(request, thrown)
    const { status, headers, body } = errorAnswer(error)
    noteRefusal(metrics, request, reply, { error, status, code: body.code })
    reply.code(status).headers(headers)
    if (wantsPage(request)) return sendLinkError(reply, body.error)
    if (pages !== undefined) addLink(reply, `<${pages}${body.code}>; rel="help"`)
    return reply.send(body)
  })
  app.setNotFoundHandler((request) => {
    throw paths.refusal(request.method, request.url)
  })
}

/** The error that the sender sees: one without a key is not told what exists. */
export function shownTo(request: FastifyRequest, error: unknown): unknown {
  return request.refusal && [403, 404].includes(errorAnswer(error).status) ? request.refusal : error
}

/** What every error handler does before it answers: counts the error, logs ours, and removes the headers of the rows. */
export function noteRefusal(
  metrics: Metrics,
  request: FastifyRequest,
  reply: FastifyReply,
  { error, status, code }: { readonly error: unknown; readonly status: number; readonly code: string },
): void {
  metrics.refused(code)
  // 501 is a mistake of the client.
  if (status >= 500 && status !== 501) {
    request.log[status === 500 ? 'error' : 'warn']({ err: error, code }, 'request failed')
  }
  for (const name of OF_THE_ROWS) reply.removeHeader(name)
}

const ABOUT_BODY: readonly string[] = [
  'invalid_json',
  'unsupported_media_type',
] satisfies readonly ServerErrorCode[]

function isAboutBody(error: unknown): boolean {
  const code = String((error as Partial<FastifyError>).code)
  return code.startsWith('FST_') || ABOUT_BODY.includes(code)
}

/** Addresses below the root of an OData service, also where it is mounted below another path. */
const OF_ODATA = /^[^?#]*\/odata(?:[/?#]|$)/

/**
 * Answers errors before routing, such as malformed percent-encoding in the path. No hook has run for such a request.
 */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { status, headers, body } = errorAnswer(error)
  reply
    .code(status)
    .headers({ ...SECURITY_HEADERS, ...headers })
    // No handler of the OData service has seen the request (JSON Format 4.01, 21.1).
    .send(OF_ODATA.test(request.url) ? { error: { code: body.code, message: body.error } } : body)
}

/** Answers errors of the HTTP parser, for which there is no request yet. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket | Duplex): void {
  const busy = (socket as Duplex & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent
  // If an answer is already being sent, anything written now would become a part of it.
  if (!socket.writable || busy || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, body } = errorAnswer(error instanceof ServerError ? error : clientError(error.code))
  const text = JSON.stringify(body)
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
}

function clientError(code: string | undefined): ServerError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ServerError(
        'headers_too_large',
        'The request line and the headers together are larger than the limit.',
      )
    // The parser gives these errors for a blank and for a character outside of ASCII in the URL.
    case 'HPE_INVALID_URL':
    case 'HPE_INVALID_CONSTANT':
      return new ServerError(
        'invalid_url',
        'The URL is malformed: spaces and characters outside of ASCII must be percent-encoded.',
      )
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServerError('request_timeout', 'The request did not arrive in time.')
    default:
      return new ServerError('bad_request', 'The request is not valid HTTP.')
  }
}

/**
 * A sentence about one fault that Ajv found. Ajv must be `verbose`, so that it gives the wrong value.
 * @param whole the name of the document, such as "The body"
 * @param name the name of the place of the fault, if not its path
 */
export function faultSentence(error: ErrorObject, whole: string, name?: string): string {
  const where = name ?? (jsonPath(error.instancePath) || whole)
  switch (error.keyword) {
    case 'required': {
      const field = jsonPath(`${error.instancePath}/${error.params['missingProperty']}`)
      return `${field} is missing.`
    }
    case 'additionalProperties': {
      const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object)
      const unknown = JSON.stringify(error.params['additionalProperty'])
      return `${where} has an unknown field ${unknown}; valid fields: ${known.join(', ')}.`
    }
    case 'type':
      // Fastify gives null for a missing body.
      return where === whole && error.data === null
        ? `${where} must be ${typeName(error.schema)}; it is empty or null.`
        : `${where} must be ${typeName(error.schema)}, not ${typeOf(error.data)}.`
    case 'enum':
      return `${where} must be one of ${(error.schema as unknown[]).join(', ')}; it is ${brief(error.data)}.${meantValue(error)}`
    case 'minLength':
    case 'minItems':
      return `${where} must not be empty.`
    case 'maxLength':
      return `${where} has at most ${error.schema} characters.`
    case 'maxItems':
      return `${where} has at most ${error.schema} items.`
    case 'minProperties': {
      const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object)
      return `${where} must have at least one field${known.length > 0 ? `; valid fields: ${known.join(', ')}` : ''}.`
    }
    case 'maximum':
      return `${where} must be at most ${error.schema}; it is ${brief(error.data)}.`
    case 'minimum':
      return `${where} must be at least ${error.schema}; it is ${brief(error.data)}.`
    case 'format':
    case 'pattern': {
      // Describes the pattern in words if the schema has a description, else Ajv's message shows the pattern itself.
      const meant = error.parentSchema?.['description']
      return meant ? `${where} must be ${meant}.` : `${where} ${error.message}.`
    }
    default:
      return `${where} ${error.message}.`
  }
}

/** What formats are called elsewhere. */
const FORMAT_NAMES: Readonly<Record<string, string>> = {
  excel: 'xlsx',
  xls: 'xlsx',
  jsonl: 'ndjson',
  jsonlines: 'ndjson',
  feather: 'arrow',
  ipc: 'arrow',
  pq: 'parquet',
}

/** A question that names the value that was probably meant; empty if there is none. */
function meantValue({ data, schema }: ErrorObject): string {
  const known = (schema as unknown[]).filter((one) => typeof one === 'string')
  const text = String(data)
  const elsewhere = FORMAT_NAMES[text.toLowerCase()] ?? ''
  const meant = known.includes(elsewhere) ? elsewhere : nearest(text.slice(0, 64), known)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}

/** A JSON pointer in the usual notation: `columns[0].name`. */
export function jsonPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('')
}

function typeName(type: unknown): string {
  const names: Record<string, string> = {
    integer: 'a whole number',
    number: 'a number',
    string: 'text',
    boolean: 'true or false',
    object: 'an object',
    array: 'a list',
    null: 'null',
  }
  return [type]
    .flat()
    .map((name) => names[name as string] ?? String(name))
    .join(' or ')
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'text'
  return typeof value === 'object' ? 'an object' : brief(value)
}

function brief(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/**
 * The message of `JSON.parse` without the piece of the text that V8 quotes for some faults, which may contain a key.
 * `Unexpected token 'x', ..."ey": "secret"x"... is not valid JSON` becomes `Unexpected token 'x'`.
 */
export function jsonFault(error: unknown): string {
  const fault = (error as Error).message.replace(/,? ?(?:\.\.\.)?"[\s\S]*is not valid JSON$/, '')
  return fault === '' ? 'it is no value' : fault
}

/** Remembers which methods each path has, to tell a wrong method (405) from a wrong path (404). */
class Paths {
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      // A route that CORS adds to answer preflight requests; it is not one of ours.
      if (method === 'OPTIONS') return
      const path = this.#paths.get(url) ?? { pattern: patternOf(url), methods: new Set() }
      for (const name of [method].flat()) path.methods.add(name)
      this.#paths.set(url, path)
    })
  }

  /** A hint that names the path whose first segment is spelt almost so. */
  #meant(path: string): string {
    const routes = [...this.#paths]
    const firsts = routes.flatMap(([url]) => FIRST.exec(url) ?? [])
    const first = nearest(FIRST.exec(path)?.[0] ?? '', firsts)
    const meant = first === undefined ? path : path.replace(FIRST, () => first)
    return meant !== path && routes.some(([, { pattern }]) => pattern.test(meant))
      ? ` Did you mean ${meant}?`
      : ''
  }

  /** The error for a request that no route handles. */
  refusal(method: string, url: string): ServerError {
    const path = url.split('?', 1)[0]!
    const methods = [...this.#paths.values()].find(({ pattern }) => pattern.test(path))?.methods
    if (!methods?.size || methods.has(method)) {
      return new ServerError('unknown_path', `There is nothing at this path.${this.#meant(path)}`)
    }
    const allow = [...methods].sort().join(', ')
    return new ServerError(
      'method_not_allowed',
      `${method} is not supported here. Supported methods: ${allow}.`,
      { headers: { allow } },
    )
  }
}

/** The first segment of a path. */
const FIRST = /[^/]+/

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) => {
      if (part === '*') return '.*'
      return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    })
    .join('/')
  return new RegExp(`^${source}$`)
}
