import { isUtf8 } from 'node:buffer'
import { EngineError, hint, invalidOption } from '../../errors.ts'
import { isUtf8Piece, readStart } from '../file.ts'
import type { UploadOptions } from '../request.ts'
import { type KnownColumns, UNKNOWN_COLUMN } from '../targets.ts'
import { LONGEST_RECORD, malformed, quoteValue } from '../text/errors.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { type Field, Tokenizer } from './tokenizer.ts'

const QUOTE = 0x22
/** The byte order mark of UTF-8. */
export const BOM = Buffer.of(0xef, 0xbb, 0xbf)

type Encoding = NonNullable<UploadOptions['encoding']>

/** The encoding that a text which begins with these bytes most likely has. */
export function encodingOf(bytes: Buffer): Encoding {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'utf-16'
  if (hasZeros(bytes.subarray(0, 200))) return 'utf-16'
  return isUtf8Piece(bytes, bytes.length, false) ? 'utf-8' : (singleBytes(bytes) ?? 'utf-8')
}

/** Whether bytes are UTF-16: in Western text every other byte is zero, and in any table with commas and digits many are. */
function hasZeros(bytes: Buffer): boolean {
  const zeros = [...bytes.keys()].filter((at) => bytes[at] === 0)
  return zeros.length * 8 > bytes.length && zeros.every((at) => (at - zeros[0]!) % 2 === 0)
}

/** The encoding of bytes that are not UTF-8; undefined if they don't show it, or if some of their characters are UTF-8. */
function singleBytes(bytes: Buffer): Encoding | undefined {
  if (isJapanese(bytes)) return 'shift_jis'
  const text = bytes.toString('latin1')
  return isWestern(text) && withoutUtf8(text) === text ? 'windows-1252' : undefined
}

const withoutUtf8 = (text: string) => text.replace(/[\xc2\xc3][\x80-\xbf]/g, '')

/** Bytes that windows-1252 does not have, capitals behind small letters, and signs such as £ within words. */
const NOT_WESTERN =
  /[\x81\x8d\x8f\x90\x9d]|[a-z][\x8a\x8c\x8e\x9f]|[A-Za-z\xc0-\xff][\x80\x82-\x84\x86-\x89\x8b\x94\xa1-\xa6\xa8\xa9\xac\xaf\xb1\xb3\xb5\xb6\xb8\xb9\xbc-\xbf][A-Za-z\xc0-\xff]/
/** What č, ě, ř, ő, ă and ń of windows-1250 look like in windows-1252, where no word of a Western language has them, and š and ž. */
const EASTERN =
  /[\x8a\x8e\x9a\x9e]|[\xec\xf9][a-z\xe0-\xff]|\xe8[aeo]|[\xe8\xec\xf2\xf8\xf9][\xe1\xe9\xed\xf3\xfa\xfd]|[\xe1\xed\xf3\xfa\xfd][\xe8\xec\xf2\xf8\xf9]|\xf1(?![aeiou\xe1\xe9\xed\xf3\xfa])|\xf5(?!e)|\xe3(?![eos]|$|[^a-z\xc0-\xff])|i\xe6(?![a-z\xc0-\xff])/im
/** Letters of windows-1252, and bytes that are letters in other encodings. */
const WORDS = /[A-Za-z\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xa1-\xaa\xac-\xba\xbc-\xff]{4,}/g

/** Whether bytes may be windows-1252. In words of Western languages, most letters have no accent; Cyrillic has nothing else. */
function isWestern(text: string): boolean {
  if (NOT_WESTERN.test(text) || EASTERN.test(text)) return false
  const accented = (text.match(WORDS) ?? []).filter((word) => /[\x80-\xff]/.test(word)).join('')
  return 2 * accented.replace(/[A-Za-z]/g, '').length <= accented.length
}

/** Whether bytes are Japanese in Shift JIS: hardly any other text has kana when it is read as that. */
function isJapanese(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('shift_jis', { fatal: true }).decode(bytes, { stream: true })
    return /[\u3040-\u30ff]/.test(text)
  } catch {
    return false
  }
}

/** Whether text in UTF-16 has the byte order of its mark, or else of its first character, which is a Western one. */
function isBigEndian(start: Uint8Array): boolean {
  return (start[0] === 0xfe && start[1] === 0xff) || (start[0] === 0 && start[1] !== 0)
}

/** A decoder of text that begins with these bytes. */
export function decoderOf(
  { encoding = 'utf-8' }: UploadOptions,
  start: Buffer,
  { fatal = encoding !== 'latin1' && encoding !== 'windows-1252' } = {},
): TextDecoder {
  return new TextDecoder(encoding === 'utf-16' && isBigEndian(start) ? 'utf-16be' : encoding, { fatal })
}

/** What to do about bytes that are not UTF-8. */
export function otherEncoding(bytes: Buffer): string {
  const encoding = hasZeros(bytes) ? 'utf-16' : singleBytes(bytes)
  if (!encoding) {
    return isWestern(withoutUtf8(bytes.toString('latin1')))
      ? 'Other parts of it are: save all of the file as UTF-8.'
      : 'Nor is it windows-1252: give its encoding, such as windows-1250, windows-1251 or gb18030, or save the file as UTF-8.'
  }
  return `It looks like ${encoding}: add ${hint(`encoding=${encoding}`)}, or save the file as UTF-8.`
}

export const EMPTY = 'The file is empty: its first line must be a header with the column names.'

export interface CsvHeader {
  readonly names: readonly string[]
  /** Where the first record behind the header begins. */
  readonly end: number
  readonly newline: 'lf' | 'crlf' | 'none'
  /**
   * DuckDB's reader does not find the end of the header: it has a byte order mark before a quote, or line ends in quotes
   * where lines end with CR LF.
   */
  readonly awkward: boolean
}

/**
 * Reads the names of a csv file's columns.
 * @throws EngineError `invalid_upload`: no header, not RFC 4180, not UTF-8
 */
export async function readHeader(file: string, delimiter: string): Promise<CsvHeader> {
  for (let length = 64 * 1024; ; length = Math.min(8 * length, LONGEST_RECORD + 1)) {
    const bytes = await readStart(file, length)
    const header = parseHeader(bytes, delimiter, bytes.length < length)
    if (header) return header
    if (length > LONGEST_RECORD) throw malformed(`The header is longer than ${LONGEST_RECORD >> 20} MiB.`)
  }
}

/** Reads the header; undefined if it goes on after `bytes`. `whole` says that the file ends with `bytes`. */
function parseHeader(bytes: Buffer, delimiter: string, whole: boolean): CsvHeader | undefined {
  if (/^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString('latin1', 0, 2))) {
    throw malformed(`The file is UTF-16: say so with ${hint('encoding=utf-16')}, or save it as UTF-8.`)
  }
  const start = bytes.indexOf(BOM) === 0 ? BOM.length : 0
  if (whole && start === bytes.length) throw malformed(EMPTY)
  if (whole && bytes.toString('utf8', start).trim() === '') {
    throw malformed('The file has blank lines only: its first line must be a header with the column names.')
  }
  // Lines that end with CR alone are rewritten.
  if (!bytes.includes('\n') && /\r[\s\S]/.test(bytes.toString('latin1'))) {
    return { names: [], end: 0, newline: 'none', awkward: true }
  }
  const tokenizer = new Tokenizer(delimiter, (what, field) => malformed(`Header, column ${field}: ${what}.`))
  const buffer = Buffer.concat([bytes, Buffer.alloc(1)])
  const end = tokenizer.read(buffer, start, bytes.length, whole)
  if (end === start) return undefined
  const { newline, starts, ends } = tokenizer
  const names = tokenizer.fields(buffer).map(({ text }, at) => {
    if (isUtf8(buffer.subarray(starts[at], ends[at]))) return text
    throw malformed(`Header, column ${at + 1}: the name is not valid UTF-8. ${otherEncoding(bytes)}`)
  })
  const misleading = newline === 'crlf' && names.some((name) => /[\r\n]/.test(name))
  return { names, end, newline, awkward: misleading || (start > 0 && bytes[start] === QUOTE) }
}

/**
 * Refuses a header that is blank, and one of a single name that holds another delimiter, such as a semicolon: the file was
 * meant to have more columns. The name is accepted if the dataset or the request has a column of this name.
 */
export function refuseOtherDelimiters(
  [name, ...others]: readonly string[],
  known: KnownColumns,
  delimiter: string,
): void {
  // Lines that end with CR are still to be rewritten.
  if (name === undefined) return
  if (name === '' && others.length === 0)
    throw malformed('The first line is blank: it must be a header with the column names.')
  const found = [';', '\t', '|'].find((other) => other !== delimiter && name.includes(other))
  if (!found || others.length > 0 || known.columns.some((column) => column.name === name)) return
  const usual =
    ': fields of csv are separated by commas' +
    (found === '\t'
      ? '; upload tabs as tab-separated values.'
      : `, unless ${hint(`delimiter=${found}`)} says otherwise.`)
  throw malformed(
    `The header ${quoteValue(name)} has no ${{ ',': 'comma', '\t': 'tab' }[delimiter] ?? quoteValue(delimiter)}, but it has ` +
      quoteValue(found) +
      (delimiter === ',' ? usual : `. Is ${hint(`delimiter=${found === '\t' ? 'tab' : found}`)} meant?`),
  )
}

/** Refuses a header that has none of the dataset's names, but as many values: the file was meant to have no header. */
export function refuseRowAsHeader(
  names: readonly string[],
  { columns, ofDataset, open }: KnownColumns,
): void {
  if (!ofDataset || open || names.length !== columns.length) return
  if (columns.some(({ name }) => names.includes(name))) return
  if (names.every((name) => kindOf(name) === TEXT_KIND.text)) return
  throw new EngineError(
    'column_conflict',
    `The upload has a column ${quoteValue(names[0]!)} ${UNKNOWN_COLUMN} If its first line is a row, add ${hint('header=absent')}.`,
    { details: { column: names[0], wanted: null, given: null } },
  )
}

/** How fields of another dialect are read. */
export interface FieldReader {
  /** Values of other kinds are as our own csv has them. */
  readonly kinds: number
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
    throw invalidOption(
      `${hint('booleans')} must be two texts, for true and for false, such as t,f.`,
      'booleans',
    )
  }
  if (thousands === decimal) {
    throw invalidOption(
      `thousands and decimal must differ: with ${hint('thousands=.')} numbers have ${hint('decimal=,')} as well.`,
      'thousands',
    )
  }
  const missing = new Set(nulls)
  const number = numberReader(options)
  const date = dates === undefined ? undefined : dateReader(dates)
  const boolean = (text: string) => (booleans?.includes(text) ? String(text === booleans[0]) : undefined)
  return {
    kinds: kindsRead(options),
    isMissing: ({ text, quoted }) => !quoted && (text === '' || missing.has(text)),
    value: (text, onlyNumbers) => number(text) ?? (onlyNumbers ? undefined : (boolean(text) ?? date?.(text))),
    isPointed: (text) => decimal === ',' && POINTED.test(text) && !(thousands === '.' && GROUPED.test(text)),
  }
}

const POINTED_KINDS =
  TEXT_KIND.whole | TEXT_KIND.fraction | TEXT_KIND.grouped | TEXT_KIND.exponent | TEXT_KIND.looseNumber

/** The kinds of texts that may mean something else in another dialect. */
function kindsRead({ nulls = [], booleans = [], decimal, dates, symbols = [] }: UploadOptions): number {
  const words = [...nulls, ...booleans].reduce((kinds, word) => kinds | kindOf(word), TEXT_KIND.text)
  // Without two separators, a day may look like a number; symbols may be digits.
  if (symbols.length > 0 || (dates !== undefined && !/^\w+\W+\w+\W+\w+/.test(dates))) return ~0
  const days = dates === undefined ? 0 : TEXT_KIND.date | TEXT_KIND.timestamp
  return words | days | (decimal === ',' ? POINTED_KINDS : 0)
}

/** What is written between thousands in place of a blank or an apostrophe: blanks that don't break, thin and curly ones. */
const ALIKE: Readonly<Record<string, string>> = { ' ': '[ \u00a0\u202f\u2009]', "'": "['\u2019]" }

/**
 * Makes a function that reads numbers with a comma before their decimal places, with a character between thousands or
 * with symbols around them, and returns them as our own csv has them; undefined for all other texts.
 */
function numberReader({
  decimal,
  thousands,
  symbols = [],
}: UploadOptions): (text: string) => string | undefined {
  if (decimal === undefined && thousands === undefined && symbols.length === 0) return () => undefined
  const between = ALIKE[thousands ?? ''] ?? `\\${thousands}`
  const point = decimal ?? '.'
  const grouped = thousands === undefined ? '' : `|\\d{1,3}(?:${between}\\d{3})+`
  const places = `\\${point}\\d+`
  // The pattern has whitespace around all numbers; blanks next to blanks would take quadratic time.
  const any = symbols
    .filter((symbol) => symbol.trim() !== '' && symbol !== '+')
    .map((symbol) => symbol.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('|')
  const [before, behind] = any === '' ? ['', ''] : [`(?:(?:${any})\\s*)?`, `(?:\\s*(?:${any}))?`]
  // Without symbols, whole numbers are as our own csv has them, but for those with the minus of typesetters.
  const whole = symbols.length > 0 ? '|\\d+' : '|(?<=\u2212)\\d+'
  const digits = `(?:(?:\\d*${grouped})${places}${grouped}${whole})(?:[eE][-+]?\\d+)?`
  const number = new RegExp(`^\\s*([-+\u2212]?)${before}([-+\u2212]?${digits})${behind}\\s*$`)
  const separators = thousands === undefined ? undefined : new RegExp(between, 'g')
  const isSigned = symbols.includes('+')
  return (text) => {
    const [, sign, digits] = number.exec(text) ?? []
    if (digits === undefined || (sign && /^[-+\u2212]/.test(digits))) return undefined
    const joined = sign + (separators ? digits.replace(separators, '') : digits)
    const signed = joined.replace(point, '.').replace('\u2212', '-')
    const plain = isSigned && !TELEPHONE.test(signed) ? signed.replace(/^\+/, '') : signed
    return plain === text ? undefined : plain
  }
}

/** A plus with more digits than a change has, or with a zero before others: another column may hold telephone numbers. */
const TELEPHONE = /^\+(0\d|\d{7,}$)/

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
/** A time of day, with a half of the day or the zone that BigQuery writes. SAS has a colon before it. */
const CLOCK =
  '(?:[ T:](?<clock>\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?)(?: ?(?<half>[AaPp])[Mm]| (?<utc>UTC))?)?'

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
      `${hint('dates')} must be a pattern of YYYY or YY, MMM, MM or M, and DD or D, with points, commas, slashes, hyphens, blanks ` +
        'or 年月日 between them, for example DD.MM.YYYY.',
      'dates',
    )
  }
  const expression = new RegExp(`^${source}${CLOCK}$`)
  return (text) => {
    const { y, m = '', d = '', clock, half, utc } = expression.exec(text)?.groups ?? {}
    if (y === undefined) return undefined
    // The month 0, of a name that is none, makes the text no day.
    const named = MONTHS.findIndex((month) => month.startsWith(m.toLowerCase())) + 1
    const month = /\d/.test(m) ? m : String(named)
    const century = y.length === 4 ? '' : y < '70' ? 20 : 19
    const day = `${century}${y}-${month.padStart(2, '0')}-${d.padStart(2, '0')}`
    if (kindOf(day) !== TEXT_KIND.date) return undefined
    if (clock === undefined) return day
    const hour = hourOf(Number.parseInt(clock, 10), half)
    const time = `${String(hour).padStart(2, '0')}${clock.slice(clock.indexOf(':'))}`
    return hour === undefined ? undefined : `${day}T${time}${utc ? 'Z' : ''}`
  }
}

/** The hour of 24; undefined if no clock of two halves shows it: 12 AM is midnight. */
function hourOf(shown: number, half: string | undefined): number | undefined {
  if (half === undefined) return shown
  if (shown < 1 || shown > 12) return undefined
  return (shown % 12) + (/p/i.test(half) ? 12 : 0)
}
