import { type EncodeOptions, FORMATS, type Format } from '../../engine/index.ts'
import { DIALECT, type OptionsOf, OTHER_FORMATS, pick, type WRITING } from '../../engine/options.ts'
import { ServerError } from '../http/errors.ts'
import { weightsIn } from './negotiate.ts'

interface FormatFacts {
  readonly contentType: string
  readonly extension: string
  /** Whether it is worth compressing. */
  readonly compressible: boolean
  /** Whether the same question to the same version always gives the same bytes. */
  readonly exact: boolean
}

/** How each format is sent over HTTP. */
export const FORMAT_FACTS: Readonly<Record<Format, FormatFacts>> = {
  csv: { contentType: 'text/csv; charset=utf-8', extension: 'csv', compressible: true, exact: true },
  tsv: {
    contentType: 'text/tab-separated-values; charset=utf-8',
    extension: 'tsv',
    compressible: true,
    exact: true,
  },
  json: {
    contentType: 'application/json; charset=utf-8',
    extension: 'json',
    compressible: true,
    exact: true,
  },
  ndjson: { contentType: 'application/x-ndjson', extension: 'ndjson', compressible: true, exact: true },
  xlsx: {
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    extension: 'xlsx',
    compressible: false,
    exact: false,
  },
  parquet: {
    contentType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    compressible: false,
    exact: false,
  },
  arrow: {
    contentType: 'application/vnd.apache.arrow.stream',
    extension: 'arrow',
    compressible: true,
    exact: false,
  },
}

/** The media type of a format, as in `Accept`. */
export function mediaType(format: Format): string {
  return FORMAT_FACTS[format].contentType.split(';')[0]!
}

/** The values that `$format` allows. */
export const FORMAT_NAMES: readonly string[] = [
  ...FORMATS,
  ...FORMATS.map(mediaType),
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
    const type = mediaType(format)
    return weights.get(type) ?? weights.get(`${type.split('/')[0]}/*`) ?? weights.get('*/*') ?? 0
  }
  const named = [...weights.keys()].flatMap((type) => FORMATS.filter((one) => mediaType(one) === type))
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
  const format = FORMATS.find((one) => one === name || mediaType(one) === name)
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
