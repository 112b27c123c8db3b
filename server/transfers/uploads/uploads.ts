import type { Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { addAbortSignal, PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Upload, type UploadFormat, uploadFormatOf } from '../../../engine/index.ts'
import { binaryFormat } from '../../../engine/ingest/upload-format.ts'
import { fromHttp, REPLACING } from '../../../engine/options.ts'
import type { Config } from '../../config/schema.ts'
import { checkParameters, parseJson } from '../../http/body.ts'
import { ServerError } from '../../http/errors.ts'
import type { Metrics, Outcome } from '../../http/metrics.ts'
import { Gate, type Lifecycle, Transfer } from '../transfer.ts'
import { uploadOptions } from './upload-options.ts'

/** Fetches the rows that a JSON body asks for instead of bringing its own. */
export type FetchSeries = (wanted: unknown, signal: AbortSignal) => Promise<Upload>

/** A JSON body that asks for series is short, so a body with more bytes than this must contain rows. */
const PEEK_BYTES = 64 * 1024

/** The services that downloads and uploads both use. */
export interface TransferParts {
  readonly config: Config
  readonly lifecycle: Lifecycle
  readonly metrics: Metrics
}

/** Receives uploads. Limits how many run at once, and aborts those whose client sends nothing or too slowly. */
export class Uploads {
  readonly gate: Gate
  readonly #parts: TransferParts

  constructor(parts: TransferParts) {
    const { uploads, uploadsPerAccount, queue } = parts.config.limits
    this.#parts = parts
    this.gate = new Gate('uploads', {
      places: uploads,
      placesPerAccount: uploadsPerAccount,
      queue,
      wait: parts.config.timeouts.queue,
    })
  }

  /**
   * Reads the body of a request as an upload, and does `work` with it.
   * @param hash gets the bytes of the file, as they come; of a form also its name, but nothing of its boundary
   */
  async receive<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    fetchSeries: FetchSeries,
    work: (upload: Upload) => Promise<T>,
    hash?: Hash,
  ): Promise<T> {
    const { config, metrics } = this.#parts
    checkDeclaredLength(request, config.limits.uploadBytes)
    const type = uploadType(request.headers)
    const options = uploadOptions(fromHttp(request.query as object, REPLACING))
    const transfer = new Transfer(request, reply, this.#parts)
    let bytes = 0
    let outcome: Outcome = 'failed'
    let format = type.format
    transfer.onClose(() => metrics.uploadEnded(format ?? 'csv', outcome, bytes))
    try {
      await transfer.enter(this.gate)
      const body = this.#body(request, transfer, (chunk) => {
        bytes += chunk.byteLength
        request.trace.bytes = bytes
      })
      const told = await fileIn(body, type, hash)
      format = told.format
      const upload =
        told.format === 'json' && !told.gzip
          ? await jsonUpload(told.body, fetchSeries, transfer.signal)
          : { format: told.format, gzip: told.gzip, body: told.body }
      const encoded = told.encoding && { options: { encoding: told.encoding, ...options.options } }
      const done = await work({ ...upload, ...options, ...encoded, signal: transfer.signal })
      outcome = 'whole'
      return done
    } catch (error) {
      outcome = transfer.stalled ? 'stalled' : request.raw.aborted ? 'left' : 'failed'
      throw transfer.reason ?? error
    }
  }

  /** Reads the body of a request whose rows are saved already. */
  async skip(request: FastifyRequest, reply: FastifyReply, hash: Hash | undefined): Promise<void> {
    checkDeclaredLength(request, this.#parts.config.limits.uploadBytes)
    const transfer = new Transfer(request, reply, this.#parts)
    try {
      const body = this.#body(request, transfer, () => {})
      for await (const _ of (await fileIn(body, uploadType(request.headers), hash)).body);
    } catch (error) {
      throw transfer.reason ?? error
    }
  }

  /**
   * Aborts an upload that is too slow, because it would occupy its place for up to an hour. Only the time in which we
   * wait for the client counts. The rate is not checked before that time is twice the stall limit.
   */
  #demandRate(transfer: Transfer, clientOwes: () => boolean, bytes: () => number): void {
    const { limits, timeouts } = this.#parts.config
    const least = limits.uploadBytesPerSecond
    if (least === 0) return
    const step = Math.min(1_000, timeouts.stall / 4)
    let waited = 0
    const timer = setInterval(() => {
      if (clientOwes()) waited += step
      if (waited < 2 * timeouts.stall || bytes() >= (least * waited) / 1000) return
      clearInterval(timer)
      transfer.abort(
        new ServerError(
          'request_timeout',
          `The body arrives at less than ${least} bytes a second. Nothing was changed.`,
          { headers: { connection: 'close' } },
        ),
      )
    }, step).unref()
    transfer.onClose(() => clearInterval(timer))
  }

  /**
   * The bytes of a body as they come. Aborts if none come for the time of the stall limit although we wait for them.
   */
  #body(
    request: FastifyRequest,
    transfer: Transfer,
    look: (chunk: Uint8Array) => void,
  ): AsyncIterable<Uint8Array> {
    const { raw } = request
    const limit = this.#parts.config.timeouts.stall
    // A separate stream can be ended without ending the connection, which is still needed to send the error.
    const body = addAbortSignal(transfer.signal, new PassThrough())
    raw.once('error', (error) => body.destroy(error))
    raw.pipe(body)
    transfer.watch(
      () => !raw.readableEnded && body.readableLength === 0,
      () =>
        transfer.abort(
          new ServerError(
            'request_timeout',
            `No data of the body has arrived for ${limit / 1000} seconds. Nothing was changed.`,
            { headers: { connection: 'close' } },
          ),
        ),
    )
    this.#demandRate(
      transfer,
      () => !raw.readableEnded && body.readableLength === 0,
      () => request.trace.bytes ?? 0,
    )
    return (async function* () {
      for await (const chunk of body) {
        look(chunk)
        yield chunk as Uint8Array
      }
    })()
  }
}

/** The file in a body, with its format by the headers, its name or its first bytes. */
async function fileIn(source: AsyncIterable<Uint8Array>, type: BodyType, hash?: Hash) {
  const file = type.boundary === undefined ? undefined : await fileOfForm(source, type.boundary)
  const { format, gzip, encoding } = file?.type ? partType(file.type) : type
  hash?.update(file ? `${file.name}\n` : '')
  const body = hashed(file?.body ?? source, hash)
  if (format) return { format, gzip, encoding, body }
  const peeked = await peek(body, PEEK_BYTES)
  const guessed = guessedType(peeked.head, file?.name)
  return { format: guessed.format, gzip: gzip || guessed.gzip, encoding, body: peeked.body }
}

async function* hashed(body: AsyncIterable<Uint8Array>, hash: Hash | undefined) {
  for await (const chunk of body) {
    hash?.update(chunk)
    yield chunk
  }
}

/** The type of a file in a form. One that is unknown is none, because programs guess it by the file's name. */
function partType(type: string): BodyType {
  try {
    return uploadType({ 'content-type': type })
  } catch {
    return { format: undefined, gzip: false }
  }
}

/** A short JSON body may ask for series of a provider instead of bringing rows. */
async function jsonUpload(
  source: AsyncIterable<Uint8Array>,
  fetchSeries: FetchSeries,
  signal: AbortSignal,
): Promise<Upload> {
  const { head, whole, body } = await peek(source, PEEK_BYTES)
  if (whole) {
    const value = parseJson(head)
    if (asksForSeries(value)) return fetchSeries(value, signal)
  }
  return { format: 'json', body }
}

function asksForSeries(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !('rows' in value) &&
    ('provider' in value || 'series' in value)
  )
}

/** The content types of uploads, with their format and whether they may be sent with gzip. */
export const UPLOAD_TYPES: Readonly<Record<string, { format: UploadFormat; gzip: boolean }>> = {
  'text/csv': { format: 'csv', gzip: true },
  'text/tab-separated-values': { format: 'tsv', gzip: true },
  'application/json': { format: 'json', gzip: true },
  'application/x-ndjson': { format: 'ndjson', gzip: true },
  'application/vnd.apache.parquet': { format: 'parquet', gzip: false },
  'application/vnd.apache.arrow.stream': { format: 'arrow', gzip: false },
  'application/vnd.apache.arrow.file': { format: 'arrow', gzip: false },
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { format: 'xlsx', gzip: false },
}

/** Other names of the same, which programs and browsers send. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'application/csv': 'text/csv',
  'application/jsonl': 'application/x-ndjson',
  'application/jsonlines': 'application/x-ndjson',
  'application/x-jsonlines': 'application/x-ndjson',
  'application/ndjson': 'application/x-ndjson',
  'application/parquet': 'application/vnd.apache.parquet',
  'application/x-parquet': 'application/vnd.apache.parquet',
}

/** Types that do not say what a body is: its first bytes do. Browsers on Windows call csv a workbook. */
const VAGUE: readonly string[] = [
  ...['', 'application/octet-stream', 'text/plain', 'application/vnd.ms-excel'],
  'application/x-www-form-urlencoded',
]

/** What the headers say of a body, or of the file in a form. */
interface BodyType {
  /** Undefined where the first bytes have to tell. */
  readonly format: UploadFormat | undefined
  readonly gzip: boolean
  /** The encoding of csv and tsv, where it is not UTF-8. */
  readonly encoding?: NonNullable<NonNullable<Upload['options']>['encoding']>
  /** What separates the parts of a form. */
  readonly boundary?: string
}

/** @throws ServerError `unsupported_media_type` */
function uploadType(headers: Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>): BodyType {
  const given = headers['content-type'] ?? ''
  const sent = given.split(';', 1)[0]!.trim().toLowerCase()
  const type = OTHER_NAMES[sent] ?? sent
  const coding = headers['content-encoding']
  if (type === 'multipart/form-data') {
    const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(given)
    if (!boundary) throw unsupported('The Content-Type multipart/form-data has no boundary.')
    return { format: undefined, gzip: isGzip(coding, type, false), boundary: boundary[1] ?? boundary[2]! }
  }
  if (VAGUE.includes(type))
    return { format: undefined, gzip: isGzip(coding, type, true), ...charsetOf(given) }
  const known = Object.hasOwn(UPLOAD_TYPES, type) ? UPLOAD_TYPES[type]! : undefined
  if (!known) {
    throw unsupported(
      `The Content-Type ${sent} is not supported; send uploads as ${Object.keys(UPLOAD_TYPES).join(', ')}, or as a form.`,
    )
  }
  const encoding = known.format === 'csv' || known.format === 'tsv' ? charsetOf(given) : undefined
  checkParameters(encoding ? given.replace(/;\s*charset=[^;]*/i, '') : given)
  return { format: known.format, gzip: isGzip(coding, type, known.gzip), ...encoding }
}

const CHARSETS: Readonly<Record<string, NonNullable<BodyType['encoding']>>> = {
  'iso-8859-1': 'latin1',
  latin1: 'latin1',
  'windows-1252': 'windows-1252',
  'utf-16': 'utf-16',
  'utf-16le': 'utf-16',
  shift_jis: 'shift_jis',
}

function charsetOf(type: string): Pick<BodyType, 'encoding'> | undefined {
  const [, charset] = /;\s*charset="?([^\s;"]+)/i.exec(type) ?? []
  const encoding = charset && CHARSETS[charset.toLowerCase()]
  return encoding ? { encoding } : undefined
}

/** The format of a body by its name and its first bytes. @throws ServerError `unsupported_media_type` */
function guessedType(head: Buffer, name = ''): { format: UploadFormat; gzip: boolean } {
  const named = uploadFormatOf(name)
  if (named) return named
  if (head[0] === 0x1f && head[1] === 0x8b) return { format: 'csv', gzip: true }
  const binary = binaryFormat(head)
  // What can't be read is named by its reader.
  if (binary) return { format: binary === 'xls' || binary === 'feather1' ? 'xlsx' : binary, gzip: false }
  const [first = '', second = ''] = head.toString('latin1').trimStart().split('\n', 2)
  if (/^\[/.test(first)) return { format: 'json', gzip: false }
  if (/^\{/.test(first))
    return { format: /^\{.*\}\s*$/.test(first) && /^\{/.test(second) ? 'ndjson' : 'json', gzip: false }
  return { format: first.includes('\t') && !/[,;]/.test(first) ? 'tsv' : 'csv', gzip: false }
}

function isGzip(header: string | undefined, type: string, allowed: boolean): boolean {
  const coding = (header ?? 'identity').trim().toLowerCase()
  if (coding === 'identity') return false
  if (coding !== 'gzip' && coding !== 'x-gzip') {
    throw unsupported(
      `The Content-Encoding ${coding} is not supported; send uploads with gzip or without Content-Encoding.`,
    )
  }
  if (!allowed)
    throw unsupported(`${type} is already compressed and is not accepted with Content-Encoding: gzip.`)
  return true
}

/** @throws ServerError `body_too_large` */
function checkDeclaredLength(request: FastifyRequest, most: number): void {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared <= most) return
  throw new ServerError('body_too_large', `The body has ${declared} bytes; the limit is ${most}.`)
}

/** The beginning of a body, and the whole body. */
interface Peeked {
  readonly head: Buffer
  /** Whether `head` is the whole body. */
  readonly whole: boolean
  /** The body from its first byte on; it can be read once. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Reads the first bytes of a body, so that the caller can look at them and still read the whole body. */
async function peek(source: AsyncIterable<Uint8Array>, bytes: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let length = 0
  let whole = false
  while (length < bytes && !whole) {
    const next = await iterator.next()
    if (next.done) whole = true
    else {
      chunks.push(next.value)
      length += next.value.byteLength
    }
  }
  const rest: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => iterator }
  return {
    head: Buffer.concat(chunks),
    whole,
    body: (async function* () {
      yield* chunks
      if (!whole) yield* rest
    })(),
  }
}

function unsupported(message: string): ServerError {
  return new ServerError('unsupported_media_type', message)
}

const HEAD_BYTES = 16 * 1024

/** The file of a form (RFC 7578), which has no other fields. */
interface FormFile {
  readonly name: string
  /** The type that the form says it has. */
  readonly type: string | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Reads the only file of a form, while it arrives.
 * @throws ServerError `unsupported_media_type` if there is no file, or more than that
 */
async function fileOfForm(source: AsyncIterable<Uint8Array>, boundary: string): Promise<FormFile> {
  const chunks = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async () => {
    const next = await chunks.next()
    if (next.done) throw unsupported('The form is cut off.')
    held = Buffer.concat([held, next.value])
  }
  const opening = `--${boundary}\r\n`
  let end = -1
  for (; end < 0; end = held.indexOf('\r\n\r\n')) {
    if (held.length > HEAD_BYTES) throw unsupported('The form does not begin with a file.')
    await more()
  }
  const head = held.toString('utf8', 0, end)
  const [, name] = /^content-disposition:.*;\s*filename="((?:[^"\\]|\\.)*)"/im.exec(head) ?? []
  if (!head.startsWith(opening) || name === undefined) {
    throw unsupported('A form has one file and no other fields: options are parameters in the URL.')
  }
  held = held.subarray(end + 4)
  const closing = Buffer.from(`\r\n--${boundary}`)
  async function* body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(closing)
      if (at >= 0) {
        if (at > 0) yield held.subarray(0, at)
        held = held.subarray(at + closing.length)
        break
      }
      // The boundary may begin in this piece and end in the next one.
      const sure = held.length - closing.length
      if (sure > 0) {
        yield held.subarray(0, sure)
        held = held.subarray(sure)
      }
      await more()
    }
    while (held.length < 2) await more()
    if (held.toString('latin1', 0, 2) !== '--') throw unsupported('A form has one file and no other fields.')
    while (!(await chunks.next()).done);
  }
  return { name, type: /^content-type:\s*([^\r\n]+)/im.exec(head)?.[1], body: body() }
}
