import type { IncomingHttpHeaders } from 'node:http'
import {
  type EncodeOptions,
  FORMATS,
  type Format,
  type Upload,
  type UploadFormat,
} from '../../engine/index.ts'
import { isTextFormat, UPLOAD_FORMATS } from '../../engine/ingest/upload-format.ts'
import {
  DIALECT,
  type OptionsOf,
  OTHER_FORMATS,
  pick,
  READING,
  UPLOADING,
  type WRITING,
} from '../../engine/options.ts'
import { MEDIA_TYPES } from '../client/options.ts'
import { ServerError } from '../http/errors.ts'
import { weightsIn } from '../http/headers.ts'
import { checkParameters } from '../http/input.ts'

interface FormatFacts {
  readonly contentType: string
  /** Whether it is worth compressing. */
  readonly compressible: boolean
  /** Whether the same question to the same version always gives the same bytes. */
  readonly exact: boolean
}

/** How each format is sent over HTTP. */
export const FORMAT_FACTS: Readonly<Record<Format, FormatFacts>> = {
  csv: { contentType: `${MEDIA_TYPES.csv}; charset=utf-8`, compressible: true, exact: true },
  tsv: { contentType: `${MEDIA_TYPES.tsv}; charset=utf-8`, compressible: true, exact: true },
  json: { contentType: `${MEDIA_TYPES.json}; charset=utf-8`, compressible: true, exact: true },
  ndjson: { contentType: MEDIA_TYPES.ndjson, compressible: true, exact: true },
  xlsx: { contentType: MEDIA_TYPES.xlsx, compressible: false, exact: false },
  parquet: { contentType: MEDIA_TYPES.parquet, compressible: false, exact: false },
  arrow: { contentType: MEDIA_TYPES.arrow, compressible: true, exact: false },
  'arrow-file': { contentType: MEDIA_TYPES['arrow-file'], compressible: true, exact: false },
}

/** The values that `$format` allows. */
export const FORMAT_NAMES: readonly string[] = [
  ...FORMATS,
  ...FORMATS.map((format) => MEDIA_TYPES[format]),
  'application/json;IEEE754Compatible=true',
]

/**
 * The format for an answer: that of `$format`, else the one of our formats with the highest weight in the `Accept`
 * header (RFC 9110, 12.5.1), among equals the first; if the header names none of them, `usual`.
 * @throws ServerError `invalid_query`
 */
export function chooseFormat(name: string | undefined, accept: string | undefined, usual: Format): Format {
  if (name !== undefined) return formatOf(name)
  const weights = weightsIn(accept ?? '')
  const weightOf = (format: Format) => {
    const type = MEDIA_TYPES[format]
    return weights.get(type) ?? weights.get(`${type.split('/')[0]}/*`) ?? weights.get('*/*') ?? 0
  }
  const named = [...weights.keys()].flatMap((type) => FORMATS.filter((one) => MEDIA_TYPES[one] === type))
  const [best] = named.sort((one, other) => weightOf(other) - weightOf(one))
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= weightOf(usual) ? best : usual
}

/** Whether JSON is wanted with integers and decimals as text (OData JSON Format 4.01, 3.2). */
export function wantsIeee754(name: string | undefined, accept: string | undefined): boolean {
  return /application\/json\s*(?:;[^,]*)?;\s*IEEE754Compatible\s*=\s*"?true\b/i.test(name ?? accept ?? '')
}

function formatOf(given: string): Format {
  const name = given.replace(/^(application\/json)\s*;.*/i, '$1')
  const format = FORMATS.find((one) => one === name || MEDIA_TYPES[one] === name)
  if (format) return format
  throw new ServerError(
    'invalid_query',
    `$format must be one of ${FORMATS.join(', ')}, or the media type of one of them.`,
    { details: { option: '$format' } },
  )
}

/** Those that mean the same to the engine. */
const OF_UPLOAD = {
  missing: UPLOADING.missing,
  fileColumn: UPLOADING.fileColumn,
  fileName: UPLOADING.fileName,
}

/** The options of an upload as the engine takes them. */
export function uploadOptions(
  given: OptionsOf<typeof UPLOADING>,
): Pick<Upload, 'options' | 'replaceColumns' | 'addColumns' | 'missing' | 'fileColumn' | 'fileName'> {
  const { zone, ...others } = pick(given, READING)
  // The plus of an offset is a space where an address does not escape it.
  const options = { ...others, ...(zone !== undefined && { zone: zone.replace(/^ /, '+') }) }
  return {
    ...(Object.keys(options).length > 0 && { options }),
    ...(given.columns === 'replace' && { replaceColumns: true }),
    ...(given.columns === 'add' && { addColumns: true }),
    ...pick(given, OF_UPLOAD),
  }
}

/** The options for writing a file as the engine takes them. */
export function encodingOf(given: OptionsOf<typeof WRITING>): EncodeOptions {
  const dialect = pick(given, DIALECT)
  return { ...(Object.keys(dialect).length > 0 && { dialect }), ...pick(given, OTHER_FORMATS) }
}

/** The content codings in which bodies can be sent, the preferred one first. */
const CODINGS = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/**
 * The coding that an `Accept-Encoding` header asks for (RFC 9110, 12.5.3): the one with the highest weight, among
 * equals the one that we prefer. undefined means no compression, which the RFC also allows if no coding is acceptable.
 */
export function chooseCoding(
  header: string | undefined,
  codings: readonly Coding[] = CODINGS,
): Coding | undefined {
  if (header === undefined) return undefined
  const weights = weightsIn(header)
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0
  const best = codings.reduce((chosen, coding) => (weightOf(coding) > weightOf(chosen) ? coding : chosen))
  const plain = weights.get('identity') ?? 0
  return weightOf(best) > 0 && weightOf(best) >= plain ? best : undefined
}

/** The content types of uploads, with their format and whether they may be sent with gzip. */
export const UPLOAD_TYPES: Readonly<Record<string, { format: UploadFormat; gzip: boolean }>> =
  Object.fromEntries(
    Object.entries(UPLOAD_FORMATS).flatMap(([name, { types }]) => {
      const format = name as UploadFormat
      return types.map((type) => [type, { format, gzip: isTextFormat(format) }])
    }),
  )

/** Other names of the same, which programs and browsers send. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'application/csv': 'text/csv',
  'application/jsonl': 'application/x-ndjson',
  'application/jsonlines': 'application/x-ndjson',
  'application/x-jsonlines': 'application/x-ndjson',
  'application/ndjson': 'application/x-ndjson',
  'application/parquet': 'application/vnd.apache.parquet',
  'application/x-parquet': 'application/vnd.apache.parquet',
  'application/x-zip-compressed': 'application/zip',
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
  'windows-1250': 'windows-1250',
  'windows-1251': 'windows-1251',
  macintosh: 'macintosh',
  shift_jis: 'shift_jis',
  gb18030: 'gb18030',
  gbk: 'gb18030',
  gb2312: 'gb18030',
  big5: 'big5',
  'euc-kr': 'euc-kr',
}

function charsetOf(type: string): Pick<BodyType, 'encoding'> | undefined {
  const [, charset] = /;\s*charset="?([^\s;"]+)/i.exec(type) ?? []
  const encoding = charset && CHARSETS[charset.toLowerCase()]
  return encoding ? { encoding } : undefined
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

/** The type of a file in a form. One that is unknown is none, because programs guess it by the file's name. */
export function partType(type: string): BodyType {
  try {
    return uploadType({ 'content-type': type })
  } catch {
    return { format: undefined, gzip: false }
  }
}

export function unsupported(message: string): ServerError {
  return new ServerError('unsupported_media_type', message)
}
