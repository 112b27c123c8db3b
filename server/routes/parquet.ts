import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineError, type ShownFile, type Snapshot } from '../../engine/index.ts'
import { VERSION } from '../../engine/options.ts'
import { matchesTag } from '../http/headers.ts'
import { parameters, parametersOf } from '../http/input.ts'
import { errors, json } from '../openapi/describe.ts'
import { PARQUET_FILE } from '../records/datasets.ts'
import { listOf } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { type ByteRange, sendPieces } from '../transfers/pieces.ts'
import { Transfer } from '../transfers/transfer.ts'
import { datasetFor, pathParameter, pathVersion, type Routes, requestedVersion } from './routes.ts'

const TYPE = 'application/vnd.apache.parquet'

/** How long the address of a file works: long enough to read all that a program wants of it. */
const FILE_SECONDS = 3_600

const LIST_PARQUET_FILES = {
  operationId: 'listParquetFiles',
  summary: 'List the Parquet files of a dataset',
  description:
    'Read one after another, the files hold the rows in order. Each can be read as a whole or by ranges. A ' +
    'version is kept for ten minutes after the last request for it. The addresses work without a key for an hour.',
  querystring: parameters(parametersOf(VERSION)),
  response: {
    200: json(listOf(PARQUET_FILE), 'The files.'),
    ...errors(410),
  },
} as const

const FILE = { [TYPE]: { schema: { type: 'string', format: 'binary' } } } as const

const READ_PARQUET_FILE = {
  operationId: 'readParquetFile',
  summary: 'Read a Parquet file of a dataset, or ranges of it',
  description:
    'Supports `Range` (one or several ranges) and `If-Range`. Rows count against the plan as their bytes are ' +
    'read: a whole file counts each of its rows once.',
  response: {
    200: { description: 'The whole file.', content: FILE },
    206: { description: 'The ranges that were asked for.', content: FILE },
    ...errors(402, 410, 416),
  },
} as const

/**
 * The routes that give the rows as Parquet files to programs that read only the ranges that they need, such as polars,
 * pyarrow and DuckDB.
 */
export function parquetRoutes(app: Routes, services: Services): void {
  const { snapshots } = services

  app.get('/datasets/:id/parquet', { schema: LIST_PARQUET_FILES }, async (request, reply) => {
    const { dataset } = await datasetFor(request, services, 'Read')
    const past = await requestedVersion(dataset, request.query, reply, app.prefix)
    const snapshot = await snapshots.get(dataset, past?.number)
    const files = await snapshot.files()
    const path = `${app.prefix}/datasets/${dataset.id}/parquet/${snapshot.version}`
    return Promise.all(
      files.map(async ({ number, rows, bytes }) => {
        const { account, keyId, publicUrl } = request
        const file = `${path}/${number}.parquet`
        const url = await services.links.address(account.id, keyId, file, FILE_SECONDS)
        return { url: publicUrl + url, rows, bytes }
      }),
    )
  })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/datasets/:id/parquet/:version/:file',
    schema: READ_PARQUET_FILE,
    handler: async (request, reply) => {
      const { dataset } = await datasetFor(request, services, 'Read')
      const version = pathVersion(request)
      const name = pathParameter(request, 'file')
      const number = Number(/^(\d{1,15})\.parquet$/.exec(name)?.[1])
      const snapshot = Number.isNaN(number)
        ? undefined
        : await snapshots.get(dataset, version, { file: number })
      const file = await snapshot?.file(number)
      if (snapshot && file) return sendFile(services, request, reply, snapshot, file)
      throw new EngineError(
        'not_found',
        `This version has no file ${JSON.stringify(name)}; GET /datasets/{id}/parquet lists those that it has.`,
      )
    },
  })
}

async function sendFile(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  snapshot: Snapshot,
  file: ShownFile,
): Promise<FastifyReply> {
  const tag = `"${file.etag}"`
  reply.headers({ etag: tag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' })
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  const transfer = new Transfer(request, reply, services)
  transfer.onClose(snapshot.hold())
  const { bytes, read } = file
  const rowsOf = (ranges: readonly ByteRange[]) => rowsIn(file, ranges)
  return sendPieces(services, transfer, { tag, type: TYPE, bytes, read, rowsOf })
}

/** The rows that ranges are counted as: from each row group, the same share of rows as is read of its bytes. */
function rowsIn({ rowGroups }: ShownFile, ranges: readonly ByteRange[]): number {
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
