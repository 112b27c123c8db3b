import { type ColumnType, decimalParts, type TypeName, typeName } from '../../types/index.ts'
import { ALL_KINDS, fitsInt64, NUMBERS, TEXT_KIND, ZONED } from './text-kinds.ts'

/** The texts that a declared type accepts, which are more than those it is inferred from. */
interface Accepted {
  /** Kinds of which every value is accepted. */
  readonly certain: number
  /** Kinds of which those values are accepted that `exact` accepts. Values of other kinds are refused. */
  readonly possible: number
  /** Whether the text is exactly a value of the type, without being rounded or wrapped around. */
  readonly exact: (text: string, type: ColumnType) => boolean
}

const NO_MORE = { possible: 0, exact: () => false }
const ANY_TEXT = ALL_KINDS & ~TEXT_KIND.null

const ACCEPTED = {
  boolean: {
    certain: TEXT_KIND.boolean,
    possible: TEXT_KIND.integer,
    exact: (text) => text === '0' || text === '1',
  },
  integer: {
    certain: TEXT_KIND.integer,
    possible: TEXT_KIND.looseInteger | TEXT_KIND.whole,
    exact: (text) => fitsInt64(text.replace(/\..*$/s, '')),
  },
  double: { certain: NUMBERS | TEXT_KIND.special, ...NO_MORE },
  decimal: { certain: 0, possible: NUMBERS, exact: fitsDecimal },
  string: { certain: ANY_TEXT, ...NO_MORE },
  date: { certain: TEXT_KIND.date, ...NO_MORE },
  time: { certain: TEXT_KIND.time, ...NO_MORE },
  // A timestamp has no zone, so an offset can't be kept. UTC is what filters take a timestamp for.
  timestamp: {
    certain: TEXT_KIND.date | TEXT_KIND.timestamp,
    possible: ZONED,
    exact: (text) => UTC.test(text),
  },
  timestamptz: { certain: TEXT_KIND.date | TEXT_KIND.timestamp | ZONED, ...NO_MORE },
  uuid: { certain: 0, possible: ANY_TEXT, exact: (text) => UUID.test(text) },
  binary: { certain: TEXT_KIND.empty, possible: ANY_TEXT, exact: (text) => BASE64.test(text) },
  json: { certain: 0, possible: ANY_TEXT, exact: isJson },
} as const satisfies Record<TypeName, Accepted>

/** The kinds of texts of which a declared type accepts every value. */
export function certainKinds(type: ColumnType): number {
  return ACCEPTED[typeName(type)].certain
}

/**
 * Whether a value is one of a declared type.
 * @param isText whether it is text, in formats that tell text from numbers and booleans
 * @param text gives the value itself, for kinds of which some values are accepted
 */
export function accepts(type: ColumnType, kind: number, isText: boolean, text: () => string): boolean {
  // The digits of a number, and even the word `true`, can be base64 by chance, or those of a UUID.
  if (!isText && (type === 'binary' || type === 'uuid')) return false
  const { certain, possible, exact }: Accepted = ACCEPTED[typeName(type)]
  return (kind & certain) !== 0 || ((kind & possible) !== 0 && exact(text(), type))
}

const UTC = /(Z|[-+]00(:?00)?)$/
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
  } catch {
    return false
  }
  return !hasHalfCharacter(text)
}

const SURROGATES = /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..|\\./g

/** Whether an escape sequence of a JSON text is half a surrogate pair. DuckDB can't read such a text. */
export function hasHalfCharacter(json: string): boolean {
  if (!json.includes('\\u')) return false
  return json.match(SURROGATES)?.some((found) => found.length === '\\uD800'.length) ?? false
}

const NUMBER = /^[-+]?(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/

function fitsDecimal(text: string, type: ColumnType): boolean {
  const { precision, scale } = decimalParts(type)!
  const match = NUMBER.exec(text)
  if (!match) return false
  const whole = match[1]!
  const digits = (whole + (match[2] ?? '')).replace(/^0+/, '')
  // A loop, not a regular expression: one that ends in $ would start anew at every zero of a long row of zeros, which
  // takes time by the square of its length.
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const significant = digits.slice(0, end)
  if (significant === '') return true
  // The number is 0.digits × 10^places.
  const places =
    whole.length - (whole.length + (match[2] ?? '').length - digits.length) + Number(match[3] ?? 0)
  return places <= precision - scale && significant.length - places <= scale
}
