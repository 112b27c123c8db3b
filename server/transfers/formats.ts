import { type EncodeOptions, FORMATS, type Format } from '../../engine/index.ts'
import { DIALECT, type OptionsOf, OTHER_FORMATS, pick, type WRITING } from '../../engine/options.ts'
import { MEDIA_TYPES } from '../client/uploads.ts'
import { ServerError } from '../http/errors.ts'

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
  const best = named.reduce<Format | undefined>(
    (chosen, one) => (chosen === undefined || weightOf(one) > weightOf(chosen) ? one : chosen),
    undefined,
  )
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
  )
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
export function chooseCoding(header: string | undefined): Coding | undefined {
  if (header === undefined) return undefined
  const weights = weightsIn(header)
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0
  const best = CODINGS.reduce((chosen, coding) => (weightOf(coding) > weightOf(chosen) ? coding : chosen))
  const plain = weights.get('identity') ?? 0
  return weightOf(best) > 0 && weightOf(best) >= plain ? best : undefined
}

/** The weight of a coding in an `Accept-Encoding` header; 0 means "not acceptable". */
export function weightOf(header: string | undefined, coding: Coding): number {
  const weights = weightsIn(header ?? '')
  return weights.get(coding) ?? weights.get('*') ?? 0
}

/** An item of an `Accept` or `Accept-Encoding` header (RFC 9110, 12.5), in lower case. */
export interface Accepted {
  readonly name: string
  readonly parameters: Readonly<Record<string, string>>
  /** 0 means "not acceptable". */
  readonly weight: number
}

const MOST_ITEMS = 100

export function acceptedIn(header: string): Accepted[] {
  return header
    .toLowerCase()
    .split(',', MOST_ITEMS)
    .flatMap((item) => {
      const [name = '', ...rest] = item.split(';').map((part) => part.trim())
      if (name === '') return []
      const parameters: Record<string, string> = {}
      for (const part of rest) {
        const [key = '', value = ''] = part.split('=')
        parameters[key.trim()] = value.trim().replace(/^"(.*)"$/, '$1')
      }
      const weight = Number(parameters['q'] ?? 1)
      return [{ name, parameters, weight: Number.isFinite(weight) ? weight : 0 }]
    })
}

/** The weights of the items in a header, in their order. */
function weightsIn(header: string): ReadonlyMap<string, number> {
  return new Map(acceptedIn(header).map(({ name, weight }) => [name === 'x-gzip' ? 'gzip' : name, weight]))
}

/** A `Content-Disposition` with a file name, in ASCII for old clients and in full (RFC 6266, RFC 8187). */
export function attachment(name: string, extension: string): string {
  // Some clients take a slash for a folder; control characters and lone surrogates are not allowed in a header.
  const safe = `${name.toWellFormed().replace(/[\x00-\x1f\x7f/\\]/g, '_')}.${extension}`
  const ascii = safe
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["%]/gu, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
