import { excerpt, invalid } from '../errors.ts'
import { unknownPrefix } from './complaints.ts'
import {
  type LiteralValue,
  NULL,
  parseBinary,
  parseDate,
  parseDuration,
  parseMoment,
  parseNumber,
  parseOldPrefix,
  parseTime,
} from './literals.ts'
import type { Token } from './tokens.ts'

/** The value of a literal token. @throws EngineError `invalid_filter` */
export function literalValue({ tokenType, image, startOffset: at }: Token): LiteralValue {
  switch (tokenType.name) {
    case 'jsonText':
      return { kind: 'string', value: jsonText(image, at) }
    case 'string':
      return { kind: 'string', value: unquote(image) }
    case 'number':
      return parseNumber(image, at)
    case 'date':
      return parseDate(image, at)
    case 'time':
      return parseTime(image, at)
    case 'moment':
      return parseMoment(image, at)
    case 'guid':
      return { kind: 'uuid', value: image.toLowerCase() }
    case 'null':
      return NULL
    case 'boolean':
      return { kind: 'boolean', value: image.toLowerCase() === 'true' }
    case 'NaN':
    case 'INF':
      return { kind: 'special', value: tokenType.name }
    case 'negativeInfinity':
      return { kind: 'special', value: '-INF' }
    default: {
      const quote = image.indexOf("'")
      const prefix = image.slice(0, quote)
      const body = unquote(image.slice(quote))
      if (/^duration$/i.test(prefix)) return parseDuration(body, at)
      if (/^binary$/i.test(prefix)) return parseBinary(body, at)
      const old = parseOldPrefix(prefix.toLowerCase(), body, at)
      if (old) return old
      throw unknownPrefix(prefix, at)
    }
  }
}

function jsonText(image: string, at: number): string {
  try {
    return JSON.parse(image) as string
  } catch {
    throw invalid(
      at,
      `${excerpt(image)} is not a JSON string. In brackets, strings are written in "…" as in JSON, or in '…'.`,
    )
  }
}

/** A text without its single quotes. */
export function unquote(image: string): string {
  return image.slice(1, -1).replaceAll("''", "'")
}
