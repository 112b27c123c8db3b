import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { type Upload, type UploadFormat, uploadFormatOf } from '../../../engine/index.ts'
import { binaryFormat } from '../../../engine/ingest/foreign.ts'
import { checkParameters } from '../../http/body.ts'
import { ServerError } from '../../http/errors.ts'

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
export interface BodyType {
  /** Undefined where the first bytes have to tell. */
  readonly format: UploadFormat | undefined
  readonly gzip: boolean
  /** The encoding of csv and tsv, where it is not UTF-8. */
  readonly encoding?: NonNullable<NonNullable<Upload['options']>['encoding']>
  /** What separates the parts of a form. */
  readonly boundary?: string
}

/** @throws ServerError `unsupported_media_type` */
export function uploadType(
  headers: Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>,
): BodyType {
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
export function guessedType(head: Buffer, name = ''): { format: UploadFormat; gzip: boolean } {
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
export function checkDeclaredLength(request: FastifyRequest, most: number): void {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared <= most) return
  throw new ServerError('body_too_large', `The body has ${declared} bytes; the limit is ${most}.`)
}

/** The beginning of a body, and the whole body. */
export interface Peeked {
  readonly head: Buffer
  /** Whether `head` is the whole body. */
  readonly whole: boolean
  /** The body from its first byte on; it can be read once. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Reads the first bytes of a body, so that the caller can look at them and still read the whole body. */
export async function peek(source: AsyncIterable<Uint8Array>, bytes: number): Promise<Peeked> {
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
export interface FormFile {
  readonly name: string
  /** The type that the form says it has. */
  readonly type: string | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Reads the only file of a form, while it arrives.
 * @throws ServerError `unsupported_media_type` if there is no file, or more than that
 */
export async function fileOfForm(source: AsyncIterable<Uint8Array>, boundary: string): Promise<FormFile> {
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
