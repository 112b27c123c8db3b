import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ErrorObject } from 'ajv'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mapConcurrent } from '../../connectors/pipeline/map-concurrent.ts'
import { httpWords } from '../../engine/errors.ts'
import {
  type Column,
  type Dataset,
  EngineError,
  faultsOf,
  type PreviewOptions,
  type Upload,
} from '../../engine/index.ts'
import { type Contents, contentsOf } from '../../engine/ingest/contents.ts'
import {
  ADDING,
  CHANGE,
  fromHttp,
  type OptionsOf,
  optionTexts,
  READING,
  UPLOADING,
} from '../../engine/options.ts'
import type { Keep } from '../accounts/idempotency.ts'
import { faultSentence } from '../http/answer-errors.ts'
import { ServerError } from '../http/errors.ts'
import { parameters, parametersOf } from '../http/input.ts'
import { errors, json } from '../openapi/describe.ts'
import type { WrittenDataset } from '../records/index.ts'
import type { FromSchema, JsonSchema } from '../records/schema.ts'
import { JSON_UPLOAD, PREVIEW, SERIES_TO_SAVE, WRITTEN_DATASET } from '../records/uploads.ts'
import type { Services } from '../services.ts'
import { callerOf } from '../sources/caller.ts'
import { hasTimes, holdsSeriesAlone, seriesColumns, seriesLine, seriesRows } from '../sources/series-rows.ts'
import { UPLOAD_TYPES } from '../transfers/formats.ts'
import { COMMIT } from '../transfers/stretches.ts'
import { appendStream } from './append-stream.ts'
import { type Routes, requireRows, rowsChange, tagOf } from './routes.ts'

/** The parameters of an upload that is read and not stored. */
const PREVIEW_OPTION = {
  beginning: {
    type: 'boolean',
    description:
      'The body is only the beginning of a file: the last record of csv, tsv and ndjson is left out, because it may ' +
      'be cut off. Only for a preview. Other formats must be sent whole.',
  },
} as const

const DRY_RUN = {
  ...PREVIEW_OPTION,
  dryRun: {
    type: 'boolean',
    description: 'With true, nothing is stored, and the response is what `POST /preview` gives.',
  },
} as const

const PREVIEW_ROWS = 20

const BINARY: JsonSchema = { type: 'string', format: 'binary' }

const UPLOAD_BODY = {
  description:
    'Rows in one of the media types below. Text formats may be sent with `Content-Encoding: gzip`. Column types are ' +
    'inferred from the whole file unless the dataset has columns or the request declares them. A form with one file ' +
    '(`multipart/form-data`), `application/octet-stream`, `text/plain` and bodies without a type are read by the name ' +
    'and the first bytes of the file. With `entry=*`, a form may have several files, which are read one after the other.',
  content: Object.fromEntries(
    Object.entries(UPLOAD_TYPES).map(([type, { format }]) => [
      type,
      format === 'json'
        ? { schema: { ...JSON_UPLOAD, examples: [{ rows: [{ date: '2026-11-21', value: 1.5 }] }] } }
        : { schema: BINARY },
    ]),
  ),
}

const WRITING = {
  description:
    'Either all rows are saved or nothing changes. Downloads that have started continue with the old rows. With ' +
    '`dryRun=true`, nothing is saved, and the response is what `POST /preview` gives.',
  requestBody: UPLOAD_BODY,
  response: {
    200: json(
      { oneOf: [WRITTEN_DATASET, PREVIEW] } as const,
      'The dataset with its new version; with `dryRun=true`, what it would become. Columns of text say why they are text.',
    ),
    ...errors(402, 408, 409, 412, 422, 504),
  },
}

const REPLACE = {
  ...WRITING,
  operationId: 'replaceData',
  summary: 'Replace the rows of a dataset',
  querystring: parameters({ ...parametersOf(UPLOADING), ...parametersOf(CHANGE), ...DRY_RUN }),
}

const APPEND = {
  ...WRITING,
  operationId: 'appendData',
  summary: 'Append rows to a dataset, replace those with the same key, or save series of a provider in it',
  description:
    `${WRITING.description}\n\nWith \`commit\`, the body (ndjson, csv or tsv) may go on for as long as it likes: its ` +
    'rows are committed while they come, and at least every 2 MiB. The response begins with the first commit and has a ' +
    'line of `application/x-ndjson` for each, `{"version":13,"rows":1000,"total":5000}`, `total` being all rows of the request so far. If the ' +
    'request breaks off, the rows that no line has confirmed may be missing. What is wrong with the first rows is an ' +
    'ordinary error; what is wrong with later ones is the last line, which has `code` and `error`, and rows are numbered ' +
    'as in the whole body.',
  querystring: parameters({
    ...parametersOf(UPLOADING),
    ...parametersOf(ADDING),
    ...parametersOf(CHANGE),
    ...parametersOf(COMMIT),
    ...DRY_RUN,
  }),
}

const PREVIEW_UPLOAD = {
  operationId: 'previewUpload',
  summary: 'Read a file, or the beginning of one, without storing it',
  description:
    'Returns the columns that an upload would have, why columns are text, the first rows, and what is wrong with the ' +
    'file. `PUT` and `POST /datasets/{id}/data` with `dryRun=true` do the same for an upload to a dataset.',
  querystring: parameters({ ...parametersOf(READING), ...PREVIEW_OPTION }),
  requestBody: UPLOAD_BODY,
  response: {
    200: json(PREVIEW, 'What the upload would become.'),
    ...errors(408, 504),
  },
}

/** The routes that read rows from the body of a request. */
export function uploadRoutes(app: Routes, services: Services): void {
  const { uploads } = services
  app.register(async (scope) => {
    const raw: Routes = scope.withTypeProvider()
    // The handlers read the body themselves while it arrives.
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', (_request, _body, done) => done(null))
    raw.put('/datasets/:id/data', { schema: REPLACE, handler: write(services, 'replace') })
    raw.post('/datasets/:id/data', { schema: APPEND, handler: write(services, 'append') })
    raw.post('/preview', { config: { reads: true }, schema: PREVIEW_UPLOAD }, (request, reply) =>
      uploads.receive(request, reply, refuseSeries, (upload) =>
        preview(services, reply, upload, request.query),
      ),
    )
  })

  async function refuseSeries(): Promise<never> {
    throw invalidBody('A preview reads rows; the body names series of a provider.')
  }
}

function write(services: Services, method: 'replace' | 'append') {
  const { access, idempotency, plans, uploads } = services
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { dataset, record, owner, accept } = await rowsChange(request, services)
    const { account } = request
    const { dryRun, beginning } = request.query as { readonly dryRun?: boolean; readonly beginning?: boolean }
    const { note } = fromHttp(request.query as object, CHANGE)
    if (beginning !== undefined && !dryRun) {
      throw new ServerError('invalid_query', 'beginning is only for previews: add dryRun=true.')
    }
    const { mode = method, on } = adding(request, method)
    if (mode === 'upsert') reply.header('preference-applied', MERGE_DUPLICATES)
    const { commit } = fromHttp(request.query as object, COMMIT)
    if (commit !== undefined && mode !== 'replace') {
      if (dryRun) throw new ServerError('invalid_query', 'commit is not for dryRun=true.')
      return appendStream(services, request, reply, { commit, mode, ...(on && { on }) })
    }
    // Whoever demands a certain version may not share the next one.
    const alone = request.headers['if-match'] !== undefined
    const mayGroup = mode !== 'replace' && !dryRun && !alone
    const fetchSeries = (body: unknown, signal: AbortSignal) =>
      seriesUpload(services, request, body, record.columns, signal)
    const hash = request.headers['idempotency-key'] === undefined ? undefined : createHash('sha256')
    let isRead = false
    const receive = async (keep: Keep) => {
      requireRows(request, record)
      // Refuses at once if the limit is already reached. The new size is checked again after the rows have been read.
      const bytes = mode === 'replace' ? 0 : record.bytes
      await plans.allowContent(owner, access, { columns: 0, bytes }, record.id)
      isRead = true
      const work = (upload: Upload): Promise<Readable | WrittenDataset> =>
        dryRun
          ? preview(services, reply, { ...upload, ...(on && { on }) }, { beginning, mode }, dataset)
          : writtenIn(
              dataset[mode]({
                ...upload,
                ...(on && { on }),
                alone,
                by: account.name,
                note,
                accept: accept(keep),
              }),
            )
      return uploads.receive(request, reply, fetchSeries, work, { hash, mayGroup })
    }
    const fingerprint = async () => {
      if (!isRead) await uploads.skip(request, reply, hash)
      return hash?.copy().digest('base64url') ?? ''
    }
    const made = await idempotency.once<Readable | WrittenDataset | null>(request, fingerprint, receive)
    // A request that is sent again is answered with the dataset as it is now.
    const answer = made ?? (await dataset.record())
    if ('updatedAt' in answer) reply.header('etag', tagOf(answer))
    return answer
  }
}

const MERGE_DUPLICATES = 'resolution=merge-duplicates'

/** How the rows of a request come to those that are there: as it says, or as it prefers (RFC 7240). */
function adding({ query, headers }: FastifyRequest, method: 'replace' | 'append'): OptionsOf<typeof ADDING> {
  const given = fromHttp(query as object, ADDING)
  const prefers = [headers['prefer'] ?? '']
    .flat()
    .join(',')
    .split(',')
    .map((one) => one.trim())
  const isUpsert = method === 'append' && !given.mode && prefers.includes(MERGE_DUPLICATES)
  return isUpsert ? { ...given, mode: 'upsert' } : given
}

async function writtenIn(writing: ReturnType<Dataset['replace']>): Promise<WrittenDataset> {
  const { options, ...record } = await writing
  return { ...record, ...(options && { options: optionTexts(options, READING) }) }
}

/** Answers what an upload would become. What is wrong with the file is a part of the answer. */
async function preview(
  { engine }: Services,
  reply: FastifyReply,
  upload: Upload,
  { beginning, mode }: PreviewOptions,
  dataset?: Dataset,
): Promise<Readable> {
  reply.type('application/json; charset=utf-8')
  const answer = (rows: string, { columns = [], rowCount = 0, ...found }: Partial<Found>) => {
    const { options = upload.options ?? {}, why, contents = {}, warnings = [], hints, errors = [] } = found
    const head = {
      ...{ columns, rowCount, options: optionTexts(options, READING) },
      ...(why && { why }),
      ...contents,
      ...(hints && { hints }),
    }
    const all = [...(beginning ? [ONLY_BEGINNING] : []), ...warnings]
    const text = `${JSON.stringify({ ...head, warnings: all, errors }).slice(0, -1)},"rows":${rows}}`
    return Readable.from([text])
  }
  try {
    await using read = await engine.preview(upload, { beginning, mode }, dataset)
    using query = read.query({ top: PREVIEW_ROWS })
    await using stream = await query.bytes('json')
    return answer(Buffer.concat(await Array.fromAsync(stream)).toString(), read)
  } catch (error) {
    const isOfFile = error instanceof EngineError && OF_FILES.includes(error.code)
    if (!isOfFile) throw error
    const said = error.inWords(httpWords)
    const { options, why, ...details } = (said.details ?? {}) as Partial<Pick<Found, 'options' | 'why'>> &
      Contents
    return answer('[]', { options, why, contents: contentsOf(details), errors: faultsOf(said) })
  }
}

/** What may be wrong with a file itself. */
const OF_FILES: readonly string[] = ['invalid_upload', 'column_conflict', 'missing_columns']

const ONLY_BEGINNING =
  'Only the beginning of the file was read. The types of an upload are inferred from all of its rows.'

type Found = Pick<
  Awaited<ReturnType<Services['engine']['preview']>>,
  'columns' | 'rowCount' | 'options' | 'why' | 'contents' | 'warnings' | 'hints'
> & {
  readonly errors: ReturnType<typeof faultsOf>
}

/** How many series are fetched at once. The provider's own limits apply as well. */
const AT_ONCE = 4

/**
 * Fetches series of a provider as rows to be written, all of them or an error. If the dataset has only some of the
 * series' columns and no others, only those columns are written.
 * @throws ServerError `invalid_body`, `plan_limit`, ConnectorError
 */
async function seriesUpload(
  services: Services,
  request: FastifyRequest,
  body: unknown,
  existing: readonly Column[],
  signal: AbortSignal,
): Promise<Upload> {
  const check = request.compileValidationSchema(SERIES_TO_SAVE)
  if (!check(body)) throw invalidBody(faultSentence(check.errors![0] as ErrorObject, 'The body'))
  const { provider, series: ids } = body as FromSchema<typeof SERIES_TO_SAVE>
  const most = services.config.limits.savedSeries
  if (ids.length > most) throw invalidBody(`series has ${ids.length} ids; one request saves at most ${most}.`)
  const { info, caller } = await callerOf(services, request.account, provider, signal)
  const connectors = await services.connectors()
  const fetched = await mapConcurrent(AT_ONCE, ids, (id) => connectors.series(info.slug, id, {}, caller))
  const times = fetched.some(hasTimes) || existing.some(({ name }) => name === 'time')
  const all = seriesColumns({ provider: true, times })
  const has = new Set(existing.map(({ name }) => name))
  // If the series have times but the dataset has only days, all columns are sent, so that the engine reports a conflict
  // instead of losing the times.
  const isPart = existing.length > 0 && holdsSeriesAlone(existing) && has.has(times ? 'time' : 'date')
  const columns = isPart ? all.filter(({ name }) => has.has(name)) : all
  const lines = fetched.map((series) =>
    seriesRows(series, series.series_id)
      .map((row) => seriesLine(row, columns))
      .join(''),
  )
  return { format: 'ndjson', columns, body: encoded(lines) }
}

async function* encoded(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

function invalidBody(message: string): ServerError {
  return new ServerError('invalid_body', message)
}
