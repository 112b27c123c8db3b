import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { malformed, ODataError } from './errors.ts'
import { announcedVersion, preferenceIn } from './negotiate.ts'

/** A request of a batch. The names of its headers are in lower case. */
interface BatchRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly dependsOn: readonly string[]
}

interface BatchAnswer {
  readonly id: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
}

/** How the answers of a batch are written one after the other. */
interface Writing {
  readonly type: string
  readonly start: string
  readonly write: (answer: BatchAnswer, isFirst: boolean) => string
  readonly end: string
}

/** Limits on the number of requests in a batch, and on the bytes of all its answers, each of which is read into memory. */
const MOST_REQUESTS = 100
const MOST_BYTES = 64 * 2 ** 20

/** Headers that every request takes over from the batch, so that it can't use another API key or hide its origin. */
const OWN = ['authorization', 'x-api-key', 'host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']
/** Headers that a request takes over from the batch unless it has them itself. */
const DEFAULTS = ['odata-maxversion']

const KEPT = ['content-type', 'odata-version', 'preference-applied', 'etag', 'retry-after', 'location']

/**
 * Answers a batch in JSON or in multipart format. The requests are injected into the application one after the other,
 * with the credentials of the batch; each answer is sent before the next request begins. Answers that are too large
 * together are replaced by errors (413), and no more of them is read. A request is answered with 424 if one that it depends on has failed (JSON Format
 * 4.01, 19.4). In multipart format, the first failure ends the batch unless the client prefers to go on (Protocol 4.01,
 * 11.7.7.4).
 * @param root path of the service root, against which relative URLs are resolved
 * @throws ODataError 400 if the batch is malformed, 415 if it is in another format
 */
export function answerBatch(
  app: FastifyInstance,
  request: FastifyRequest,
  root: string,
  body: unknown,
): { type: string; pieces: AsyncIterable<string> } {
  const boundary = boundaryIn(request.headers['content-type'])
  if (boundary === undefined && typeof body !== 'object') {
    throw new ODataError(
      'unsupportedMediaType',
      'The body of a batch must be application/json, or multipart/mixed with a boundary.',
    )
  }
  const requests = boundary === undefined ? requestsOf(body) : requestsIn(String(body ?? ''), boundary)
  if (requests.length > MOST_REQUESTS) {
    throw malformed(`A batch has at most ${MOST_REQUESTS} requests; this one has ${requests.length}.`)
  }
  const goOn = preferenceIn(request, 'continue-on-error')
  const goesOn = boundary === undefined || (goOn !== undefined && goOn.value !== 'false')
  const writing = boundary === undefined ? IN_JSON : inParts()
  const answers = answersOf({ app, batch: request, root }, requests, goesOn)
  return { type: writing.type, pieces: piecesOf(answers, writing) }
}

interface Batch {
  readonly app: FastifyInstance
  readonly batch: FastifyRequest
  /** Path of the service root. */
  readonly root: string
}

async function* piecesOf(answers: AsyncIterable<BatchAnswer>, { start, write, end }: Writing) {
  yield start
  let isFirst = true
  for await (const answer of answers) {
    yield write(answer, isFirst)
    isFirst = false
  }
  yield end
}

async function* answersOf(
  context: Batch,
  requests: readonly BatchRequest[],
  goesOn: boolean,
): AsyncGenerator<BatchAnswer> {
  const failed = new Set<string>()
  let room = MOST_BYTES
  for (const { headers: given, ...one } of requests) {
    const own = Object.entries(given).filter(([name]) => !OWN.includes(name))
    const headers = {
      ...pick(context.batch.headers, DEFAULTS),
      ...Object.fromEntries(own),
      ...pick(context.batch.headers, OWN),
    }
    let answer: BatchAnswer
    try {
      if (one.dependsOn.some((id) => failed.has(id))) {
        throw new ODataError('failedDependency', 'A request that this one depends on has failed.')
      }
      answer = await answerOne(context, { ...one, headers }, room)
    } catch (error) {
      if (!(error instanceof ODataError)) throw error
      answer = refused(one.id, headers, error)
    }
    if (answer.status >= 400) failed.add(one.id)
    room -= Buffer.byteLength(answer.text ?? '')
    yield answer
    if (answer.status >= 400 && !goesOn) return
  }
}

/**
 * @param room the most bytes of the answer
 * @throws ODataError if the request is not passed on, or its answer has no room
 */
async function answerOne(
  { app, batch, root }: Batch,
  { id, method, url, headers, body }: BatchRequest,
  room: number,
): Promise<BatchAnswer> {
  const target = targetOf(url, root, batch.url)
  if (target === undefined) throw malformed(`The URL ${JSON.stringify(url)} does not belong to this service.`)
  if (/\/(?:\$|%24)batch$/.test(target.path)) throw malformed('A batch can not hold a batch.')
  if (method !== 'GET' && method !== 'HEAD' && !/\/(?:\$|%24)query$/.test(target.path)) {
    throw new ODataError('readOnly', `The service is read-only; ${method} is not allowed here.`)
  }
  const answer = await app.inject({
    method: method as 'GET',
    url: target.path + target.query,
    headers,
    // Only from the address of a trusted proxy do the headers count that say where a request comes from.
    remoteAddress: batch.socket.remoteAddress,
    payloadAsStream: true,
    ...(body !== undefined && { payload: body }),
  })
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of answer.stream() as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength
      if (bytes > room) throw new ODataError('tooLarge', TOO_LARGE)
      chunks.push(chunk)
    }
  } finally {
    // As if its client had left: what it reads is given back.
    answer.raw.res.destroy()
  }
  return {
    id,
    status: answer.statusCode,
    headers: pick(answer.headers, KEPT),
    text: bytes === 0 ? undefined : Buffer.concat(chunks, bytes).toString(),
  }
}

const TOO_LARGE =
  `The responses of this batch have more than ${MOST_BYTES / 2 ** 20} MiB together; send this request on its own, or ` +
  'ask for fewer rows or properties.'

/** An answer to a request that is not passed on, with the headers that every answer of the service has. */
function refused(
  id: string,
  headers: BatchRequest['headers'],
  { status, code, message }: ODataError,
): BatchAnswer {
  const version = announcedVersion(headers['odata-maxversion'])
  return {
    id,
    status,
    headers: { 'content-type': 'application/json;charset=utf-8', 'odata-version': version },
    text: JSON.stringify({ error: { code, message } }),
  }
}

function pick(headers: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  )
}

/**
 * The path and the query of a request in a batch; undefined if its URL is outside the service. Dot segments, also
 * encoded ones, are resolved before the comparison, as they are when the request is made.
 */
function targetOf(url: string, root: string, batchUrl: string): { path: string; query: string } | undefined {
  const base = `http://batch${root}`
  if (!URL.canParse(url, base)) return undefined
  const { pathname: path, search } = new URL(url, base)
  if (!path.startsWith(root)) return undefined
  const apiKey = /[?&](apikey=[^&]*)/i.exec(batchUrl)?.[1]
  if (apiKey === undefined) return { path, query: search }
  return { path, query: `${search === '' ? '?' : `${search}&`}${apiKey}` }
}

/**
 * The requests of a batch in JSON (JSON Format 4.01, 19.1).
 * @throws ODataError 400
 */
function requestsOf(body: unknown): BatchRequest[] {
  const list = (body as { requests?: unknown } | null)?.requests
  if (!Array.isArray(list)) throw malformed('A batch is {"requests":[{"id","method","url"}, …]}.')
  const seen = new Set<string>()
  return list.map((item: unknown, index) => {
    const read = requestOf(item, `Request ${index + 1} of the batch`)
    const id = JSON.stringify(read.id)
    if (seen.has(read.id)) throw malformed(`Two requests of the batch have the id ${id}.`)
    const later = read.dependsOn.find((one) => !seen.has(one))
    if (later !== undefined) {
      throw malformed(`Request ${id} depends on ${JSON.stringify(later)}, which is not before it.`)
    }
    seen.add(read.id)
    return read
  })
}

function requestOf(item: unknown, where: string): BatchRequest {
  if (!isObject(item)) throw malformed(`${where} must be an object.`)
  const { id, method, url, headers = {}, body, dependsOn = [] } = item
  if (!isText(id) || id === '') throw malformed(`${where} needs an id, which is a string.`)
  if (!isText(method)) throw malformed(`${where} needs a method.`)
  if (!isText(url)) throw malformed(`${where} needs a url.`)
  if (!isObject(headers) || !Object.values(headers).every(isText))
    throw malformed(`The headers of ${where} must be an object whose values are strings.`)
  if (!Array.isArray(dependsOn) || !dependsOn.every(isText))
    throw malformed(`dependsOn of ${where} must be a list of ids.`)
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    id,
    method: method.toUpperCase(),
    url,
    headers: Object.fromEntries(lower),
    body: body === undefined || isText(body) ? body : JSON.stringify(body),
    dependsOn,
  }
}

const isText = (value: unknown) => typeof value === 'string'

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON of each answer is copied as it is. Parsing it would change integers above 2^53. */
const IN_JSON: Writing = {
  type: 'application/json;charset=utf-8',
  start: '{"responses":[',
  write({ text, ...answer }, isFirst) {
    const comma = isFirst ? '' : ','
    const json = JSON.stringify(answer)
    if (text === undefined) return comma + json
    // Bodies that aren't JSON become JSON strings (JSON Format 4.01, 19.2).
    const isJson = /^application\/json\b/.test(answer.headers['content-type'] ?? '')
    return `${comma}${json.slice(0, -1)},"body":${isJson ? text : JSON.stringify(text)}}`
  },
  end: ']}',
}

function boundaryIn(contentType: string | undefined): string | undefined {
  const [, quoted, plain] =
    /^multipart\/mixed\s*;.*?\bboundary\s*=\s*(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '') ?? []
  return quoted ?? plain
}

/**
 * The requests of a batch in multipart format (OData 4.01 Protocol, 11.7.7). A change set becomes one request, the first
 * of its own, which is refused because it writes.
 * @throws ODataError 400
 */
function requestsIn(body: string, boundary: string): BatchRequest[] {
  return partsOf(body, boundary).map((part, index) => {
    const [head, content] = cut(part)
    const headers = headersIn(head)
    const inner = boundaryIn(headers['content-type'])
    const [first = ''] = inner === undefined ? [content] : partsOf(content, inner).map((one) => cut(one)[1])
    const [request, payload] = cut(first.replace(/^\s+/, ''))
    const [line = '', ...rest] = request.split(/\r?\n/)
    const [, method, url] = /^([A-Za-z]+) +(\S+)(?: +HTTP\/1\.1)?\s*$/.exec(line) ?? []
    if (method === undefined) {
      throw malformed(
        `Part ${index + 1} of the batch must begin with a request line, as GET Table?$top=5 HTTP/1.1.`,
      )
    }
    return {
      id: headers['content-id'] ?? '',
      method: method.toUpperCase(),
      url: url!,
      headers: headersIn(rest.join('\n')),
      body: payload.trimEnd() === '' ? undefined : payload,
      dependsOn: [],
    }
  })
}

function inParts(): Writing {
  const boundary = `batchresponse_${randomUUID()}`
  return {
    type: `multipart/mixed; boundary=${boundary}`,
    start: '',
    write: ({ id, status, headers, text = '' }) =>
      [
        `--${boundary}`,
        'Content-Type: application/http',
        'Content-Transfer-Encoding: binary',
        ...(id === '' ? [] : [`Content-ID: ${id}`]),
        '',
        `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        `content-length: ${Buffer.byteLength(text)}`,
        '',
        text,
        '',
      ].join('\r\n'),
    end: `--${boundary}--\r\n`,
  }
}

/** The text between the boundaries (RFC 2046, 5.1.1). */
function partsOf(body: string, boundary: string): string[] {
  const [, ...parts] = `\n${body}`.split(`\n--${boundary}`)
  const end = parts.findIndex((part) => part.startsWith('--'))
  if (end < 0) throw malformed(`The batch does not end with its boundary, --${boundary}--.`)
  return parts.slice(0, end).map((part) => part.replace(/^[ \t]*\r?\n/, '').replace(/\r$/, ''))
}

/** What is before and after the first empty line. */
function cut(text: string): [head: string, rest: string] {
  const match = /(?:^|\r?\n)\r?\n/.exec(text)
  return match ? [text.slice(0, match.index), text.slice(match.index + match[0].length)] : [text, '']
}

function headersIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/^([\w-]+):[ \t]*(.*?)\s*$/gm)]
  return Object.fromEntries(pairs.map(([, name, value]) => [name!.toLowerCase(), value!]))
}
