import { type ColumnType, decimalParts } from '../types/index.ts'
import { excerpt, invalid } from './errors.ts'
import { daysOf } from './syntax/calendar.ts'

/**
 * The type of an expression. It is one of the column types (a JSON column counts as its text), or one that no column
 * has, such as `duration`, the difference of two moments, which is held as a BIGINT of microseconds.
 */
export type ValueType =
  | { readonly kind: PlainKind }
  | {
      readonly kind: 'decimal'
      readonly precision: number
      readonly scale: number
      /**
       * Whether it is made of literals alone and so has a floating scale; division by zero then gives INF (section
       * 5.1.1.2.5).
       */
      readonly floating: boolean
    }

type PlainKind = keyof typeof TYPE

export type ValueKind = PlainKind | 'decimal'

export const TYPE = {
  null: { kind: 'null' },
  boolean: { kind: 'boolean' },
  integer: { kind: 'integer' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  date: { kind: 'date' },
  time: { kind: 'time' },
  timestamp: { kind: 'timestamp' },
  timestamptz: { kind: 'timestamptz' },
  duration: { kind: 'duration' },
  uuid: { kind: 'uuid' },
  binary: { kind: 'binary' },
  /** A value in the JSON of a column. The value beside it decides as which type it is read. */
  json: { kind: 'json' },
} as const

/** The precision of DuckDB's widest decimal. */
export const MOST_DIGITS = 38

export type Decimal = Extract<ValueType, { kind: 'decimal' }>

export function decimal(precision: number, scale: number, floating = false): Decimal {
  return { kind: 'decimal', precision, scale, floating }
}

export function valueType(type: ColumnType): ValueType {
  if (type === 'json') return TYPE.string
  const parts = decimalParts(type)
  if (parts) return decimal(parts.precision, parts.scale)
  return TYPE[type as Exclude<ColumnType, 'json' | `decimal(${number},${number})`>]
}

/** The type of a column that holds the value. A column of nothing but null becomes text. */
export function columnType(type: ValueType): ColumnType {
  switch (type.kind) {
    case 'null':
    case 'json':
      return 'string'
    case 'decimal':
      return typeName(type) as ColumnType
    case 'duration':
      throw new TypeError('no column holds a duration')
    default:
      return type.kind
  }
}

/** The name of a type in error messages. */
export function typeName(type: ValueType): string {
  return type.kind === 'decimal' ? `decimal(${type.precision},${type.scale})` : type.kind
}

export function isNumeric(type: ValueType): boolean {
  return type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'double'
}

/**
 * Whether a type is a date or a moment. All of these can be compared with each other; a date counts as midnight UTC.
 */
export function isMoment(type: ValueType): boolean {
  return type.kind === 'date' || type.kind === 'timestamp' || type.kind === 'timestamptz'
}

/**
 * The decimal that holds every 64-bit integer in its 19 digits. It is marked as floating, so that together with a
 * literal the result floats; together with a decimal column it doesn't.
 */
const INTEGER_AS_DECIMAL = decimal(19, 0, true)

/**
 * The type to which two numbers are promoted (section 5.1.1.17). Decimals that together need more digits than DuckDB
 * has become doubles.
 */
export function promote(left: ValueType, right: ValueType): ValueType {
  if (left.kind === 'double' || right.kind === 'double') return TYPE.double
  if (left.kind === 'integer' && right.kind === 'integer') return TYPE.integer
  const a = asDecimal(left)
  const b = asDecimal(right)
  const scale = Math.max(a.scale, b.scale)
  const precision = Math.max(a.precision - a.scale, b.precision - b.scale) + scale
  return precision <= MOST_DIGITS ? decimal(precision, scale, a.floating && b.floating) : TYPE.double
}

export function asDecimal(type: ValueType): Decimal {
  return type.kind === 'decimal' ? type : INTEGER_AS_DECIMAL
}

/** The type to which values of all these types can be converted, or undefined if there is none. */
export function common(types: readonly ValueType[]): ValueType | undefined {
  const real = types.filter((type) => type.kind !== 'null')
  if (real.length === 0) return TYPE.null
  if (real.every(isNumeric)) return real.reduce(promote)
  if (real.every(isMoment)) {
    const widest = ['timestamptz', 'timestamp', 'date'] as const
    return TYPE[widest.find((kind) => real.some((type) => type.kind === kind))!]
  }
  return real.every((type) => type.kind === real[0]!.kind) ? real[0] : undefined
}

/** The exact value of a literal. It is not rounded before the type that it is compared or combined with is known. */
export type LiteralValue =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** digits / 10^scale. `whole`: written without point and exponent. */
  | { readonly kind: 'number'; readonly digits: bigint; readonly scale: number; readonly whole: boolean }
  | { readonly kind: 'special'; readonly value: 'NaN' | 'INF' | '-INF' }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'date'; readonly days: number }
  /** Picoseconds since midnight: 4.01 allows twelve digits of a second. */
  | { readonly kind: 'time'; readonly picos: bigint }
  /** Picoseconds since 1970 in UTC; `offset` in minutes, undefined where none was written. */
  | { readonly kind: 'moment'; readonly picos: bigint; readonly offset: number | undefined }
  | { readonly kind: 'duration'; readonly micros: bigint }
  | { readonly kind: 'uuid'; readonly value: string }
  | { readonly kind: 'binary' }

export const NULL: LiteralValue = { kind: 'null' }

export const PICOS_PER_MICRO = 1_000_000n
export const PICOS_PER_DAY = 86_400_000_000_000_000n

/** The range of DuckDB's moments, in microseconds since 1970. mindatetime() and maxdatetime() return these bounds. */
export const FIRST_MOMENT = -9_223_372_022_400_000_000n
export const LAST_MOMENT = 9_223_372_036_854_775_806n
/** The range of DuckDB's dates, in days since 1970. */
export const FIRST_DAY = -2_147_483_646
export const LAST_DAY = 2_147_483_646

export const FIRST_INTEGER = -(2n ** 63n)
export const LAST_INTEGER = 2n ** 63n - 1n

/** The most characters of a number. Longer numbers have no use and would make exact arithmetic slow. */
const LONGEST_NUMBER = 1000
/** All larger exponents have the same effect: the number is larger, or nearer to zero, than any value of a column. */
const MOST_EXPONENT = 2000

/** The type of a literal by itself, before it is compared or combined with anything. */
export function literalType(value: LiteralValue): ValueType {
  switch (value.kind) {
    case 'number':
      return numberType(value)
    case 'special':
      return TYPE.double
    case 'moment':
      return value.offset === undefined ? TYPE.timestamp : TYPE.timestamptz
    default:
      return TYPE[value.kind]
  }
}

/** Whole numbers beyond 64 bits are decimals (section 5.1.1.14.1), and what 38 digits can't hold is a double. */
function numberType(value: Extract<LiteralValue, { kind: 'number' }>): ValueType {
  const { digits, scale, whole } = value
  if (whole && digits >= FIRST_INTEGER && digits <= LAST_INTEGER) return TYPE.integer
  const places = Math.max(scale, 0)
  const length = String(digits < 0n ? -digits : digits).length + places - scale
  const precision = Math.max(length, places, 1)
  return precision <= MOST_DIGITS ? decimal(precision, places, true) : TYPE.double
}

export function parseNumber(text: string, at: number): LiteralValue {
  if (text.length > LONGEST_NUMBER) {
    throw invalid(at, `a number of ${text.length} characters; the limit is ${LONGEST_NUMBER}.`)
  }
  const [, sign, whole, fraction = '', power = '0', suffix = ''] =
    /^([+-]?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?([ldfm]?)$/i.exec(text)!
  if (/l/i.test(suffix) && !/^[+-]?\d+l$/i.test(text)) {
    throw invalid(at, `'${excerpt(text)}' ends in L, which only whole numbers do.`)
  }
  const digits = BigInt(`${whole}${fraction}`)
  const exponent = Math.max(-MOST_EXPONENT, Math.min(MOST_EXPONENT, Number(power)))
  const scale = fraction.length - exponent
  return {
    kind: 'number',
    digits: sign === '-' ? -digits : digits,
    // Zero is zero at any scale, and a negative scale is written out.
    ...(digits === 0n ? { scale: Math.max(fraction.length, 0) } : { scale }),
    whole: /^[+-]?\d+l?$/i.test(text),
  }
}

const DATE = /^(-?)(\d{4,})-(\d\d)-(\d\d)/
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?/

export function parseDate(text: string, at: number): LiteralValue {
  const days = daysFrom(text, at)
  if (days < FIRST_DAY || days > LAST_DAY) throw beyondDays(text, at)
  return { kind: 'date', days }
}

function beyondDays(text: string, at: number): Error {
  return invalid(
    at,
    `'${excerpt(text)}' is beyond the days that can be held, -5877641-06-25 to 5881580-07-10.`,
  )
}

export function parseTime(text: string, at: number): LiteralValue {
  return { kind: 'time', picos: picosFrom(text, text, at) }
}

export function parseMoment(text: string, at: number): LiteralValue {
  const split = text.search(/t/i)
  const days = daysFrom(text, at)
  const clock = text.slice(split + 1)
  const [, zone] = /(z|[+-]\d\d:\d\d)$/i.exec(clock) ?? []
  const offset = zone === undefined ? undefined : offsetFrom(zone, text, at)
  const picos =
    BigInt(days) * PICOS_PER_DAY + picosFrom(clock, text, at) - BigInt(offset ?? 0) * 60n * 1_000_000_000_000n
  if (picos < FIRST_MOMENT * PICOS_PER_MICRO || picos > LAST_MOMENT * PICOS_PER_MICRO) {
    throw invalid(
      at,
      `'${excerpt(text)}' is beyond the moments that can be held, -290308-12-22T00:00:00Z to ` +
        '294247-01-10T04:00:54.775806Z.',
    )
  }
  return { kind: 'moment', picos, offset }
}

function daysFrom(text: string, at: number): number {
  const [, sign, digits, monthText, dayText] = DATE.exec(text)!
  if (digits!.length > 4 && digits!.startsWith('0')) {
    throw invalid(
      at,
      `'${excerpt(text)}' has a year with a needless zero in front; a year has four digits or more.`,
    )
  }
  if (digits!.length > 7) throw beyondDays(text, at)
  const year = Number(digits) * (sign === '-' ? -1 : 1)
  const month = Number(monthText)
  const day = Number(dayText)
  if (month < 1 || month > 12) throw invalid(at, `'${text}' has month ${monthText}; months are 01 to 12.`)
  const last = daysOf(year, month + 1, 1) - daysOf(year, month, 1)
  if (day < 1 || day > last) {
    throw invalid(at, `'${text}' has day ${dayText}; that month has the days 01 to ${last}.`)
  }
  return daysOf(year, month, day)
}

/**
 * Second 60, a leap second, is legal. As in all clocks without leap seconds, it counts as the start of the next minute.
 */
function picosFrom(clock: string, literal: string, at: number): bigint {
  const [, hour, minute, second = '00', fraction = ''] = TIME.exec(clock)!
  if (Number(hour) > 23) throw invalid(at, `'${literal}' has hour ${hour}; hours are 00 to 23.`)
  if (Number(minute) > 59) throw invalid(at, `'${literal}' has minute ${minute}; minutes are 00 to 59.`)
  if (Number(second) > 60) throw invalid(at, `'${literal}' has second ${second}; seconds are 00 to 60.`)
  if (fraction.length > 12) throw invalid(at, `'${literal}' has a second with more than twelve digits.`)
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  return BigInt(seconds) * 1_000_000_000_000n + BigInt(fraction.padEnd(12, '0'))
}

function offsetFrom(zone: string, literal: string, at: number): number {
  if (zone.length === 1) return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4, 6))
  if (hours > 23 || minutes > 59) {
    throw invalid(at, `'${literal}' has the offset ${zone}; offsets go to 23:59.`)
  }
  return (hours * 60 + minutes) * (zone.startsWith('-') ? -1 : 1)
}

const DURATION = /^(-?)P(?:(\d+)D)?(?:(T)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$/i
const MOST_MICROS = 2n ** 63n - 1n

/** The microseconds of an ISO 8601 duration of days to seconds, or undefined where the text is no such duration. */
export function durationMicros(text: string): bigint | undefined {
  const match = DURATION.exec(text)
  if (!match) return undefined
  const [, sign, days, clock, hours, minutes, seconds, fraction = ''] = match
  // The text needs at least one part, and at least one part after a T.
  if (clock ? hours === undefined && minutes === undefined && seconds === undefined : days === undefined) {
    return undefined
  }
  const whole =
    ((BigInt(days ?? 0) * 24n + BigInt(hours ?? 0)) * 60n + BigInt(minutes ?? 0)) * 60n + BigInt(seconds ?? 0)
  // Digits beyond the microsecond round, half up.
  const micros = BigInt(fraction.slice(0, 6).padEnd(6, '0')) + (fraction.charAt(6) >= '5' ? 1n : 0n)
  const total = whole * 1_000_000n + micros
  return total > MOST_MICROS ? undefined : sign === '-' ? -total : total
}

export function parseDuration(text: string, at: number): LiteralValue {
  const micros = text.length > 100 ? undefined : durationMicros(text)
  if (micros === undefined) {
    if (/\d[DHMS]$/i.test(text) && DURATION.test(text)) {
      throw invalid(at, `'${excerpt(text)}' is longer than a duration can be, 106,751,991 days.`)
    }
    throw invalid(
      at,
      `'${text.slice(0, 40)}' is not a duration; one is written like duration'P1DT2H30M5.5S', of days, hours, ` +
        'minutes and seconds.',
    )
  }
  return { kind: 'duration', micros }
}

type Form = readonly [form: RegExp, parse: (text: string, at: number) => LiteralValue]

const DAY: Form = [/^-?\d{4,}-\d\d-\d\d$/, parseDate]
const MOMENT: Form = [
  /^-?\d{4,}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?$/,
  (text, at) => parseMoment(text.replace(' ', 'T'), at),
]

const TEXT_FORMS: Readonly<Partial<Record<ValueType['kind'], readonly Form[]>>> = {
  date: [DAY, MOMENT],
  time: [[/^\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/, parseTime]],
  timestamp: [DAY, MOMENT],
  timestamptz: [DAY, MOMENT],
  uuid: [[/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, parseGuid]],
}

export function parseGuid(text: string): LiteralValue {
  return { kind: 'uuid', value: text.toLowerCase() }
}

/**
 * Reads a quoted text as a literal of the type beside it, as in `Day eq '2024-02-29'`. Undefined where the text doesn't
 * have the form of such a literal.
 * @throws EngineError `invalid_filter` where the text has the form but is not valid, as with month 13
 */
export function parseQuoted(text: string, type: ValueType, at: number): LiteralValue | undefined {
  if (text.length > 100) return undefined
  if (type.kind === 'duration') {
    const micros = durationMicros(text)
    return micros === undefined ? undefined : { kind: 'duration', micros }
  }
  const form = TEXT_FORMS[type.kind]?.find(([like]) => like.test(text))
  return form?.[1](text, at)
}

/**
 * The literals of version 3 that are written with a prefix: `datetime'…'`, `guid'…'`, `time'PT8H'`. Undefined for other
 * prefixes.
 */
export function parseOldPrefix(prefix: string, text: string, at: number): LiteralValue | undefined {
  const type = OLD_PREFIXES.get(prefix)
  if (!type) return undefined
  const duration = type.kind === 'time' ? durationMicros(text) : undefined
  if (duration !== undefined && duration >= 0n && duration * PICOS_PER_MICRO < PICOS_PER_DAY) {
    return { kind: 'time', picos: duration * PICOS_PER_MICRO }
  }
  const value = parseQuoted(text, type, at)
  if (!value) throw invalid(at, `${prefix}'${excerpt(text)}' does not hold a ${type.kind}.`)
  return value
}

const OLD_PREFIXES: ReadonlyMap<string, ValueType> = new Map<string, ValueType>([
  ['datetime', TYPE.timestamp],
  ['datetimeoffset', TYPE.timestamptz],
  ['date', TYPE.date],
  ['time', TYPE.time],
  ['guid', TYPE.uuid],
])

/** base64url, padded or not. The surplus bits of the last character must be zero. */
const BINARY = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]=?|[\w-][AQgw](?:==)?)?$/

export function parseBinary(text: string, at: number): LiteralValue {
  if (!BINARY.test(text)) throw invalid(at, "a binary literal holds base64url, as binary'T0RhdGE'.")
  return { kind: 'binary' }
}
