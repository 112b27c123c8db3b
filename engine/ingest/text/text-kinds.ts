import { type ColumnType, type TypeName, typeName } from '../../types/index.ts'
import { type Automaton, compile } from './automaton.ts'
import { fitsDecimal, fitsInt64, isDouble, isInRange, losesDigits } from './number-text.ts'

/**
 * The kinds of values that can be told by their text. The type of a column is inferred from the kinds of all of its
 * values, so the whole upload counts, not just a sample. A kind is one bit, a set of kinds is a mask.
 */
export const TEXT_KIND = {
  /** A missing value: in csv an empty field without quotes. */
  null: 1 << 0,
  /** The empty text: a null in columns of every type but text and binary. */
  empty: 1 << 1,
  /** A whole number without leading zeros that fits in 64 bits. */
  integer: 1 << 2,
  /** A whole number without leading zeros of at most 38 digits that doesn't fit in 64 bits. */
  bigInteger: 1 << 3,
  /** Digits with leading zeros or a plus. Most are codes or telephone numbers, so they are numbers only if declared. */
  looseInteger: 1 << 4,
  /** `7.` or `7.00`: inferred as a double, but accepted as an integer where that is declared. */
  whole: 1 << 5,
  fraction: 1 << 6,
  exponent: 1 << 7,
  /** Any other number with leading zeros or a plus. */
  looseNumber: 1 << 8,
  /** NaN and the infinities. */
  special: 1 << 9,
  boolean: 1 << 10,
  date: 1 << 11,
  timestamp: 1 << 12,
  /** A timestamp with an offset or `Z`. */
  timestamptz: 1 << 13,
  /** A timestamp with an offset or `Z` but without seconds, which DuckDB does not read. */
  timestamptzMinutes: 1 << 14,
  time: 1 << 15,
  text: 1 << 16,
  /** `2.500`: a fraction, unless the point is between thousands. */
  grouped: 1 << 17,
  /** `1e5`: a number, unless it is a code. Programs write `1e+05`. */
  bareExponent: 1 << 18,
  /** A mark next to `integer`, `bigInteger`, `whole` or `fraction`: no double is this number without its decimal places, or in csv, where up to 18 digits are not looked at, perhaps none. */
  beyondDouble: 1 << 19,
  /** A mark next to `fraction` and `exponent`: it has more digits than a double keeps. */
  rounded: 1 << 20,
} as const

/** The types that can be inferred, narrowest first, each with the kinds of values that it holds. */
const INFERENCE: readonly (readonly [ColumnType, number])[] = [
  ['boolean', TEXT_KIND.boolean],
  ['integer', TEXT_KIND.integer | TEXT_KIND.beyondDouble],
  ['decimal(38,0)', TEXT_KIND.integer | TEXT_KIND.bigInteger | TEXT_KIND.beyondDouble],
  [
    'double',
    TEXT_KIND.integer |
      TEXT_KIND.bigInteger |
      TEXT_KIND.whole |
      TEXT_KIND.fraction |
      TEXT_KIND.grouped |
      TEXT_KIND.exponent |
      TEXT_KIND.bareExponent |
      TEXT_KIND.rounded |
      TEXT_KIND.special,
  ],
  ['date', TEXT_KIND.date],
  ['timestamp', TEXT_KIND.date | TEXT_KIND.timestamp],
  ['timestamptz', TEXT_KIND.timestamptz | TEXT_KIND.timestamptzMinutes],
  ['time', TEXT_KIND.time],
]

/** The narrowest type that holds values of all the kinds in `mask` without losing anything that matters in analysis. */
export function inferType(mask: number): ColumnType {
  const values = mask & ~(TEXT_KIND.null | TEXT_KIND.empty)
  if (values === 0) return 'string'
  return INFERENCE.find(([, kinds]) => (values & ~kinds) === 0)?.[0] ?? 'string'
}

/** Values that may mean something else: 2500, a code, or a person called Nan. */
export const DOUBTFUL = TEXT_KIND.grouped | TEXT_KIND.bareExponent | TEXT_KIND.special
/** The mask of all kinds, without the mark `CHECK` that `Classifier` adds to some. */
const ALL_KINDS = (1 << 21) - 1
/** Timestamps with an offset. */
export const ZONED = TEXT_KIND.timestamptz | TEXT_KIND.timestamptzMinutes
/** The option of uploads that says which zone times without an offset are of. */
export interface ZoneOption {
  readonly zone?: string | undefined
}

/** Times whose zone the option `zone` says. Without it, a day begins at midnight UTC, as in filters. */
export const LOCAL = TEXT_KIND.date | TEXT_KIND.timestamp
const PLAIN_NUMBERS =
  TEXT_KIND.integer | TEXT_KIND.bigInteger | TEXT_KIND.looseInteger | TEXT_KIND.whole | TEXT_KIND.fraction
const NUMBERS =
  PLAIN_NUMBERS |
  TEXT_KIND.grouped |
  TEXT_KIND.exponent |
  TEXT_KIND.bareExponent |
  TEXT_KIND.looseNumber |
  TEXT_KIND.beyondDouble |
  TEXT_KIND.rounded

/** Every whole number of up to this many digits is a double. */
const DOUBLE_LENGTH = 15
/** Whole numbers of more digits. */
const LONG = `-?[1-9]${'\\d'.repeat(DOUBLE_LENGTH)}\\d*`
const YEAR = '(000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d{3})'
const MONTH_DAY =
  '((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))'
const MINUTES = '([01]\\d|2[0-3]):[0-5]\\d'
const SECONDS = ':[0-5]\\d(\\.\\d{1,6}0*)?'
const CLOCK = `${MINUTES}(${SECONDS})?`
const ZONE = '(Z|[-+]([01]\\d|2[0-3])(:?[0-5]\\d)?)'

const DATE = `${YEAR}-${MONTH_DAY}`
/** The automaton can't tell whether the year has this day. */
const LEAP_DAY = `${YEAR}-02-29`
/** With an offset, moments of the first and the last day of our calendar may lie outside of it in UTC. */
const ODD_DAY = `(0001-01-01|9999-12-31|${LEAP_DAY})`

/**
 * The pattern of each kind; the first one that matches counts. `check` marks patterns whose matches still have to be
 * checked by `checkedKind`. Dates have to be complete and in ISO 8601, since the month of `01/02/2020` is ambiguous.
 */
const PATTERNS: readonly { readonly pattern: string; readonly kind: number; readonly check?: true }[] = [
  { pattern: LONG, kind: TEXT_KIND.integer | TEXT_KIND.beyondDouble },
  { pattern: '-?(0|[1-9]\\d*)', kind: TEXT_KIND.integer },
  { pattern: '[-+]?\\d+', kind: TEXT_KIND.looseInteger },
  { pattern: '-?[1-9]\\d{0,2}\\.\\d{3}', kind: TEXT_KIND.grouped },
  { pattern: `${LONG}\\.0*`, kind: TEXT_KIND.whole, check: true },
  { pattern: `${LONG}\\.\\d+`, kind: TEXT_KIND.fraction, check: true },
  { pattern: '-?(0|[1-9]\\d*)\\.0*', kind: TEXT_KIND.whole },
  { pattern: '-?(0|[1-9]\\d*)?\\.\\d+', kind: TEXT_KIND.fraction },
  { pattern: '[1-9]\\d*[eE]\\d+', kind: TEXT_KIND.bareExponent, check: true },
  { pattern: '-?((0|[1-9]\\d*)(\\.\\d*)?|\\.\\d+)[eE][-+]?\\d+', kind: TEXT_KIND.exponent, check: true },
  { pattern: '[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?', kind: TEXT_KIND.looseNumber, check: true },
  { pattern: '[nN][aA][nN]|-?[iI][nN][fF]([iI][nN][iI][tT][yY])?', kind: TEXT_KIND.special },
  { pattern: '[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]', kind: TEXT_KIND.boolean },
  { pattern: DATE, kind: TEXT_KIND.date },
  { pattern: LEAP_DAY, kind: TEXT_KIND.date, check: true },
  { pattern: `${DATE}[T ]${CLOCK}`, kind: TEXT_KIND.timestamp },
  { pattern: `${LEAP_DAY}[T ]${CLOCK}`, kind: TEXT_KIND.timestamp, check: true },
  { pattern: `${ODD_DAY}[T ]${MINUTES}${SECONDS}${ZONE}`, kind: TEXT_KIND.timestamptz, check: true },
  { pattern: `${ODD_DAY}[T ]${MINUTES}${ZONE}`, kind: TEXT_KIND.timestamptzMinutes, check: true },
  { pattern: `${DATE}[T ]${MINUTES}${SECONDS}${ZONE}`, kind: TEXT_KIND.timestamptz },
  { pattern: `${DATE}[T ]${MINUTES}${ZONE}`, kind: TEXT_KIND.timestamptzMinutes },
  { pattern: CLOCK, kind: TEXT_KIND.time },
]

/** Marks a kind that `checkedKind` must confirm. */
const CHECK = 1 << 30
/** Numbers of up to this many characters are in range, whatever digits they have. */
const SAFE_LENGTH = 18
/** The kinds of numbers that may be out of range in texts longer than `SAFE_LENGTH`. */
const RANGED = TEXT_KIND.integer | TEXT_KIND.looseInteger | TEXT_KIND.whole | TEXT_KIND.fraction

export interface Classifier extends Automaton {
  /** `kind[state >> 8]`: the kind of a text that ends in this state, with `CHECK` where `checkedKind` must look. */
  readonly kind: Int32Array
}

let made: Classifier | undefined

/** The automaton that classifies the values of all text uploads. It is made once, which takes some 20 ms. */
export function classifier(): Classifier {
  if (made) return made
  const automaton = compile(PATTERNS.map(({ pattern }) => pattern))
  const kind = Int32Array.from(automaton.label, (label) => {
    const found = PATTERNS[label]
    return found ? found.kind | (found.check ? CHECK : 0) : TEXT_KIND.text
  })
  // No edge leads back to the start state, so only the empty text ends in it.
  kind[automaton.start >> 8] = TEXT_KIND.empty
  made = { ...automaton, kind }
  return made
}

/** Stands in a transition table where a byte ends or interrupts the text. Only state 0 has a lower number. */
export const STOP = 1

/** The classifier's table, with `STOP` in the entries of some bytes. */
export function transitions(stops: readonly number[]): Uint16Array {
  const table = classifier().next.slice()
  for (let state = 0; state < table.length; state += 256) {
    for (const byte of stops) table[state + byte] = STOP
  }
  return table
}

/** The kind of a whole text. */
export function kindOf(text: string): number {
  const { next, start, kind } = classifier()
  let state = start
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    state = code > 0x7f ? 0 : next[state + code]!
    if (state === 0) return TEXT_KIND.text
  }
  const found = kind[state >> 8]!
  return needsCheck(found, text.length) ? checkedKind(found, text) : found
}

/** Whether only a look at the text tells its kind exactly. */
export function needsCheck(found: number, length: number): boolean {
  return (found & TEXT_KIND.beyondDouble) !== 0 || isDoubtful(found, length)
}

/** Whether `checkedKind` must look at a text of this length, whose kind the automaton has found. */
export function isDoubtful(found: number, length: number): boolean {
  return (found & CHECK) !== 0 || (length > SAFE_LENGTH && (found & RANGED) !== 0)
}

/** Longer numbers are text: a double needs no more digits to be told from its neighbours. */
const LONGEST_NUMBER = 300

/** Decides what the automaton can't: whether a number is in range, and whether a date exists. */
export function checkedKind(found: number, text: string): number {
  const kind = found & ~(CHECK | TEXT_KIND.beyondDouble)
  switch (kind) {
    case TEXT_KIND.integer: {
      const digits = text.length - (text.startsWith('-') ? 1 : 0)
      if (digits > 38) return TEXT_KIND.text
      const isShort = digits <= SAFE_LENGTH || (digits === 19 && fitsInt64(text))
      const whole = isShort ? TEXT_KIND.integer : TEXT_KIND.bigInteger
      return isDouble(text) ? whole : whole | TEXT_KIND.beyondDouble
    }
    case TEXT_KIND.looseInteger:
      return text.length > LONGEST_NUMBER ? TEXT_KIND.text : kind
    case TEXT_KIND.whole:
    case TEXT_KIND.fraction: {
      if (text.length > LONGEST_NUMBER) return TEXT_KIND.text
      const isBeyond = text.indexOf('.') > DOUBLE_LENGTH && !isDouble(text)
      const isRounded = kind === TEXT_KIND.fraction && losesDigits(text)
      return kind | (isBeyond ? TEXT_KIND.beyondDouble : 0) | (isRounded ? TEXT_KIND.rounded : 0)
    }
    case TEXT_KIND.exponent:
    case TEXT_KIND.bareExponent:
    case TEXT_KIND.looseNumber:
      if (text.length > LONGEST_NUMBER || !isInRange(text)) return TEXT_KIND.text
      return kind === TEXT_KIND.exponent && losesDigits(text) ? kind | TEXT_KIND.rounded : kind
    default: {
      const isRight = text.startsWith('02-29', 5)
        ? isLeapYear(Number(text.slice(0, 4)))
        : isWithinCalendar(text)
      return isRight ? kind : TEXT_KIND.text
    }
  }
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Whether a moment of the first or the last day is still within the years 1 to 9999 when converted to UTC. */
function isWithinCalendar(text: string): boolean {
  const [, sign, hours, minutes] = /([-+])(\d\d):?(\d\d)?$/.exec(text.slice(16)) ?? []
  if (sign === undefined) return true
  const minute = Number(text.slice(11, 13)) * 60 + Number(text.slice(14, 16))
  const offset = (Number(hours) * 60 + Number(minutes ?? 0)) * (sign === '-' ? 1 : -1)
  return text.startsWith('0001') ? minute + offset >= 0 : minute + offset < 24 * 60
}

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
    certain: TEXT_KIND.integer | TEXT_KIND.beyondDouble,
    possible: TEXT_KIND.looseInteger | TEXT_KIND.whole | TEXT_KIND.grouped,
    exact: (text) => !/\..*[1-9]/.test(text) && fitsInt64(text.replace(/\..*$/s, '')),
  },
  // A fraction is the nearest double, as everywhere; a whole number would become another one.
  double: {
    certain: (NUMBERS | TEXT_KIND.special) & ~(TEXT_KIND.looseInteger | TEXT_KIND.beyondDouble),
    possible: TEXT_KIND.looseInteger | TEXT_KIND.beyondDouble,
    exact: (text) => /\..*[1-9]/.test(text) || isDouble(text),
  },
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
  timestamptz: { certain: TEXT_KIND.date | ZONED, ...NO_MORE },
  uuid: { certain: 0, possible: ANY_TEXT, exact: (text) => UUID.test(text) },
  binary: { certain: TEXT_KIND.empty, possible: ANY_TEXT, exact: (text) => BASE64.test(text) },
  json: { certain: 0, possible: ANY_TEXT, exact: isJson },
} as const satisfies Record<TypeName, Accepted>

/** The kinds of texts of which a declared type accepts every value. */
export function certainKinds(type: ColumnType, { zone }: ZoneOption = {}): number {
  return ACCEPTED[typeName(type)].certain | (type === 'timestamptz' && zone !== undefined ? LOCAL : 0)
}

/** Whether the values of a type are numbers. */
export function isNumeric(type: ColumnType | undefined): boolean {
  return type !== undefined && ['integer', 'double', 'decimal'].includes(typeName(type))
}

/** Whether the empty text is a value of the type. In columns of other types it is null. */
export function holdsEmpty(type: ColumnType): boolean {
  return (certainKinds(type) & TEXT_KIND.empty) !== 0
}

/**
 * Whether a value is one of a declared type.
 * @param isText whether it is text, in formats that tell text from numbers and booleans
 * @param text gives the value itself, for kinds of which some values are accepted
 */
export function accepts(
  type: ColumnType,
  kind: number,
  isText: boolean,
  text: () => string,
  options?: ZoneOption,
): boolean {
  // The digits of a number, and even the word `true`, can be base64 by chance, or those of a UUID.
  if (!isText && (type === 'binary' || type === 'uuid')) return false
  const { possible, exact }: Accepted = ACCEPTED[typeName(type)]
  return (kind & ~certainKinds(type, options)) === 0 || ((kind & possible) !== 0 && exact(text(), type))
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
