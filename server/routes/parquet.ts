import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineError, type ShownFile, type Snapshot } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { parameters } from '../http/query.ts'
import { json, listOf } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { matchesTag } from '../transfers/negotiate.ts'
import { type ByteRange, contentRange, isSame, rangesIn } from '../transfers/ranges.ts'
import { Transfer } from '../transfers/transfer.ts'
import { datasetFor } from './dataset-for.ts'
import { pathParameter } from './ids.ts'
import type { Routes } from './routes.ts'

const tags = ['Data']
const TYPE = 'application/vnd.apache.parquet'

const FILE = {
  type: 'object',
  required: ['url', 'rows', 'bytes'],
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      description: 'Identifies the file. It stays the same for as long as the version is kept.',
    },
    rows: { type: 'integer' },
    bytes: { type: 'integer' },
  },
} as const

const FILES_EXAMPLE = [
  { url: 'http://127.0.0.1:8080/datasets/3/parquet/1/3.parquet', rows: 344, bytes: 9423 },
]

/**
 * Gives the rows as Parquet files to programs that read only the ranges that they need, such as polars, pyarrow and
 * DuckDB. A version is kept for ten minutes after the last request for it.
 */
export function parquetRoutes(app: Routes, services: Services): void {
  const { kept } = services

  app.get('/datasets/:id/parquet', {
    schema: {
      operationId: 'listParquetFiles',
      summary: 'List the Parquet files of a dataset',
      description:
        'Read one after another, the files hold the rows in order. Each can be read as a whole or by ranges. A ' +
        'version is kept for ten minutes after the last request for it.',
      tags,
      querystring: parameters({
        version: {
          type: 'integer',
          minimum: 0,
          description: 'A version of the dataset; the current one by default.',
        },
      }),
      response: {
        200: json(listOf(FILE), 'The files.', { example: FILES_EXAMPLE }),
        ...errors(403, 404, 410),
      },
    },
    handler: async (request) => {
      const { dataset, record } = await datasetFor(request, services, 'Read')
      const version = request.query.version ?? record.version
      const snapshot = await kept.get(dataset, version)
      const files = await snapshot.files()
      const path = `${request.protocol}://${request.host}${app.prefix}/datasets/${dataset.id}/parquet/${version}`
      return files.map(({ number, rows, bytes }) => ({ url: `${path}/${number}.parquet`, rows, bytes }))
    },
  })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/datasets/:id/parquet/:version/:file',
    schema: {
      operationId: 'readParquetFile',
      summary: 'Read a Parquet file of a dataset, or ranges of it',
      description:
        'Supports `Range` (one or several ranges) and `If-Range`. Rows count against the plan as their bytes are ' +
        'read: a whole file counts each of its rows once.',
      tags,
      response: {
        200: {
          description: 'The whole file.',
          content: { [TYPE]: { schema: { type: 'string', format: 'binary' } } },
        },
        206: {
          description: 'The ranges that were asked for.',
          content: { [TYPE]: { schema: { type: 'string', format: 'binary' } } },
        },
        304: { description: 'The copy that you have is current.' },
        ...errors(402, 403, 404, 410, 416),
      },
    },
    handler: async (request, reply) => {
      const { dataset } = await datasetFor(request, services, 'Read')
      const version = versionIn(request)
      const number = fileIn(request)
      const snapshot = await kept.get(dataset, version, number)
      const file = await snapshot.file(number)
      if (!file) throw noFile(request)
      return sendFile(services, request, reply, snapshot, file)
    },
  })
}

/** @throws EngineError `not_found` */
function versionIn(request: FastifyRequest): number {
  const text = pathParameter(request, 'version')
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new EngineError(
    'not_found',
    `There is no version ${JSON.stringify(text)}; versions are whole numbers.`,
  )
}

/** @throws EngineError `not_found` */
function fileIn(request: FastifyRequest): number {
  const number = /^(\d{1,15})\.parquet$/.exec(pathParameter(request, 'file'))?.[1]
  if (number === undefined) throw noFile(request)
  return Number(number)
}

function noFile(request: FastifyRequest): EngineError {
  const name = pathParameter(request, 'file')
  return new EngineError(
    'not_found',
    `This version has no file ${JSON.stringify(name)}; GET /datasets/{id}/parquet lists those that it has.`,
  )
}

async function sendFile(
  { lifecycle, config, plans, usage }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  snapshot: Snapshot,
  file: ShownFile,
): Promise<FastifyReply> {
  const { headers } = request
  const tag = `"${file.etag}"`
  reply.headers({ etag: tag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' })
  if (matchesTag(headers['if-none-match'], tag)) return reply.code(304).send()
  const asked = isSame(headers['if-range'] as string | undefined, tag)
    ? rangesIn(headers.range, file.bytes)
    : undefined
  if (asked === 'none') {
    throw new ServerError(
      'range_not_satisfiable',
      `The file has ${file.bytes} bytes; none of the ranges lies in it.`,
      { headers: { 'content-range': `bytes */${file.bytes}` } },
    )
  }
  const ranges = asked ?? [{ from: 0, to: file.bytes }]
  const body =
    asked === undefined ? whole(file) : asked.length === 1 ? single(file, asked[0]!) : several(file, asked)
  reply.code(asked === undefined ? 200 : 206).headers(body.headers)
  if (request.method === 'HEAD') return reply.send()

  const rows = rowsOf(file, ranges)
  const limit = plans.limits(request.account.plan).exportedRows
  const reservation = await usage.reserve(request.account, limit, rows)
  const transfer = new Transfer(request, reply, lifecycle, config.timeouts)
  transfer.onClose(snapshot.hold())
  const total = ranges.reduce((sum, { from, to }) => sum + to - from, 0)
  let sent = 0
  transfer.onClose(() => reservation.settle(Math.min(Math.ceil((rows * sent) / total), rows)))
  const { raw } = reply
  transfer.watch(
    () => raw.writableNeedDrain || (raw.writableEnded && raw.writableLength > 0),
    () => raw.destroy(),
  )
  request.trace.rows = rows
  const counted = async function* () {
    for await (const bytes of body.bytes()) {
      sent += bytes.byteLength
      yield bytes
    }
  }
  return reply.send(Readable.from(counted(), { objectMode: false }))
}

interface Body {
  readonly headers: Readonly<Record<string, string | number>>
  readonly bytes: () => AsyncGenerator<Uint8Array>
}

function whole(file: ShownFile): Body {
  return {
    headers: { 'content-type': TYPE, 'content-length': file.bytes },
    bytes: () => file.read(0, file.bytes),
  }
}

function single(file: ShownFile, range: ByteRange): Body {
  return {
    headers: {
      'content-type': TYPE,
      'content-length': range.to - range.from,
      'content-range': contentRange(range, file.bytes),
    },
    bytes: () => file.read(range.from, range.to),
  }
}

/** Several ranges in one body (RFC 9110, 14.6). */
function several(file: ShownFile, ranges: readonly ByteRange[]): Body {
  const boundary = randomBytes(18).toString('hex')
  const heads = ranges.map((range) =>
    Buffer.from(
      `\r\n--${boundary}\r\nContent-Type: ${TYPE}\r\nContent-Range: ${contentRange(range, file.bytes)}\r\n\r\n`,
    ),
  )
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)
  const length = ranges.reduce(
    (sum, { from, to }, index) => sum + heads[index]!.length + to - from,
    end.length,
  )
  return {
    headers: { 'content-type': `multipart/byteranges; boundary=${boundary}`, 'content-length': length },
    async *bytes() {
      for (const [index, { from, to }] of ranges.entries()) {
        yield heads[index]!
        yield* file.read(from, to)
      }
      yield end
    },
  }
}

/** The rows that ranges are counted as: from each row group, the same share of rows as is read of its bytes. */
function rowsOf({ rowGroups }: ShownFile, ranges: readonly ByteRange[]): number {
  let rows = 0
  for (const group of rowGroups) {
    const read = ranges.reduce(
      (sum, { from, to }) => sum + Math.max(Math.min(to, group.to) - Math.max(from, group.from), 0),
      0,
    )
    rows += (group.rows * read) / (group.to - group.from)
  }
  return Math.ceil(rows)
}
