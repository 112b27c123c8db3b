import { invalidOption } from '../../errors.ts'
import type { ColumnType } from '../../types/index.ts'
import type { UploadOptions } from '../request.ts'
import type { TextReason } from '../text/errors.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import type { Field } from './syntax.ts'

/** How fields of another dialect are read. */
export interface FieldReader {
  readonly isMissing: (field: Field) => boolean
  /**
   * The number that a text is in the other dialect, as our own csv has it; the same for days, moments, true and false
   * unless only numbers are wanted. Undefined for all other texts.
   */
  readonly value: (text: string, onlyNumbers: boolean) => string | undefined
  /** Whether a text is no number in the other dialect, but would be one in our own csv. */
  readonly isPointed: (text: string) => boolean
}

/** @throws EngineError `invalid_option` */
export function fieldReader(options: UploadOptions): FieldReader {
  const { nulls = [], decimal = '.', thousands, dates, booleans } = options
  if (booleans && booleans.length !== 2) {
    throw invalidOption('booleans must be two texts, for true and for false, such as t,f.')
  }
  const missing = new Set(nulls)
  const number = numberReader(options)
  const date = dates === undefined ? undefined : dateReader(dates)
  const boolean = (text: string) => (booleans?.includes(text) ? String(text === booleans[0]) : undefined)
  return {
    isMissing: ({ text, quoted }) => !quoted && (text === '' || missing.has(text)),
    value: (text, onlyNumbers) => number(text) ?? (onlyNumbers ? undefined : (boolean(text) ?? date?.(text))),
    isPointed: (text) => decimal === ',' && POINTED.test(text) && !(thousands === '.' && GROUPED.test(text)),
  }
}

/**
 * Makes a function that reads numbers with a comma before their decimal places, with a character between thousands or
 * with symbols around them, and returns them as our own csv has them; undefined for all other texts.
 */
function numberReader({
  decimal = '.',
  thousands,
  symbols = [],
}: UploadOptions): (text: string) => string | undefined {
  if (decimal === '.' && thousands === undefined && symbols.length === 0) return () => undefined
  // A blank between thousands is often one that does not break.
  const between = thousands === ' ' ? '[ \u00a0\u202f]' : `\\${thousands}`
  const grouped = thousands === undefined ? '' : `|\\d{1,3}(?:${between}\\d{3})+`
  const places = `\\${decimal}\\d+`
  const any = symbols.map((symbol) => symbol.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|')
  // Without symbols, whole numbers are as our own csv has them. Blanks next to blanks would take quadratic time.
  const [before, behind, whole] =
    any === '' ? ['', '', ''] : [`(?:(?:${any})\\s*)?`, `(?:\\s*(?:${any}))?`, '|\\d+']
  const digits = `(?:(?:\\d*${grouped})${places}${grouped}${whole})(?:[eE][-+]?\\d+)?`
  const number = new RegExp(`^\\s*([-+]?)${before}([-+]?${digits})${behind}\\s*$`)
  const separators = thousands === undefined ? undefined : new RegExp(between, 'g')
  return (text) => {
    const [, sign, digits] = number.exec(text) ?? []
    if (digits === undefined || (sign && /^[-+]/.test(digits))) return undefined
    const plain = sign + (separators ? digits.replace(separators, '') : digits).replace(decimal, '.')
    return plain === text ? undefined : plain
  }
}

/** A number of which all points may be between thousands. */
const GROUPED = /^\s*[-+]?\d{1,3}(\.\d{3})+\s*$/

/** A number with a point, and no other text: in `1.234` it may separate thousands. */
const POINTED = /^[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?$/

const PARTS = {
  YYYY: '(?<y>\\d{4})',
  YY: '(?<y>\\d{2})',
  MMM: '(?<m>[A-Za-z]{3,9})\\.?',
  MM: '(?<m>\\d{2})',
  DD: '(?<d>\\d{2})',
  M: '(?<m>\\d{1,2})',
  D: '(?<d>\\d{1,2})',
}
const CLOCK = '(?:[ T](?<clock>\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?))?'

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
)

/**
 * Makes a function that reads days in the form of a pattern (YYYY or YY, MMM, MM or M, DD or D, and characters between
 * them), and returns them as ISO 8601; undefined for texts of any other form, and for days that no calendar has.
 * @throws EngineError `invalid_option` if the pattern does not have a year, a month and a day exactly once each
 */
export function dateReader(pattern: string): (text: string) => string | undefined {
  const source = pattern.replace(/YYYY|YY|MMM|MM|DD|M|D|./g, (part) => {
    return Object.hasOwn(PARTS, part) ? PARTS[part as keyof typeof PARTS] : part.replace(/[^\w\s]/, '\\$&')
  })
  const parts = pattern
    .match(/Y+|M+|D+/g)
    ?.sort()
    .join()
  if (!/^DD?,M{1,3},YY(YY)?$/.test(parts ?? '') || /[^YMD.,/年月日 -]/.test(pattern)) {
    throw invalidOption(
      'dates must be a pattern of YYYY or YY, MMM, MM or M, and DD or D, with points, commas, slashes, hyphens, blanks ' +
        'or 年月日 between them, for example DD.MM.YYYY.',
    )
  }
  const expression = new RegExp(`^${source}${CLOCK}$`)
  return (text) => {
    const { y, m = '', d = '', clock } = expression.exec(text)?.groups ?? {}
    if (y === undefined) return undefined
    const month = /\d/.test(m) ? m : String(monthOf(m))
    const day = `${yearOf(y)}-${month.padStart(2, '0')}-${d.padStart(2, '0')}`
    if (kindOf(day) !== TEXT_KIND.date) return undefined
    return clock === undefined
      ? day
      : `${day}T${clock.padStart(clock.indexOf(':') === 1 ? clock.length + 1 : 0, '0')}`
  }
}

/** Months count from 1; 0 is none, so that the text is no day. */
function monthOf(name: string): number {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase())) + 1
}

function yearOf(digits: string): string {
  return digits.length === 4 ? digits : `${digits < '70' ? 20 : 19}${digits}`
}

/** What is often meant by texts, and the options with which they are read as that. */
const SUGGESTIONS: readonly (readonly [RegExp, string])[] = [
  [/^[-+]?\d{1,3}(\.\d{3})+,\d+$/, 'decimal=,&thousands=.'],
  [/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/, 'thousands=,'],
  [/^[-+]?\d{1,3}([ \u00a0\u202f]\d{3})+(,\d+)?$/, 'decimal=,&thousands=%20'],
  [/^[-+]?\d*,\d+$/, 'decimal=,'],
  [/^(NA|N\/A|NULL|null|None|n\/a|-|\.|\\N)$/, 'nulls='],
]
/** The first of two numbers up to 12 may be either. Whoever is offered days first learns of the option. */
const SUGGESTED_DATES = ['D.M.YYYY', 'D/M/YYYY', 'M/D/YYYY', 'YYYY/M/D']

/** How much of such a value is kept to be shown. */
const KEPT = 200

/** @param above the type that the column would have without this value and those behind it */
export function textReason(row: number, value: string, above: ColumnType = 'string'): TextReason {
  const found = SUGGESTIONS.find(([pattern]) => pattern.test(value))?.[1]
  const form = SUGGESTED_DATES.find((dates) => dateReader(dates)(value) !== undefined)
  const better = found?.endsWith('=')
    ? found + encodeURIComponent(value)
    : (found ?? (form && `dates=${form}`))
  return {
    row,
    value: value.slice(0, KEPT),
    ...(above !== 'string' && { above }),
    ...(better !== undefined && { try: better }),
  }
}
