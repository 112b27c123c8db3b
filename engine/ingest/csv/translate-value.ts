import { EngineError } from '../../errors.ts'
import type { UploadOptions } from '../request.ts'

export interface Field {
  /** The text of the field without its quotes. */
  readonly text: string
  readonly quoted: boolean
}

/** How fields of another dialect are read. */
export interface Dialect {
  readonly isMissing: (field: Field) => boolean
  /** The number that a text is in the other dialect, as our own csv has it; undefined for all other texts. */
  readonly number: (text: string) => string | undefined
  /** The same for days and moments. */
  readonly moment: (text: string) => string | undefined
  /** Whether a text is no number in the other dialect, but would be one in our own csv. */
  readonly isPointed: (text: string) => boolean
}

export function dialectOf({ nulls = [], decimal, dates }: UploadOptions): Dialect {
  const missing = new Set(nulls)
  const date = dates === undefined ? undefined : dateReader(dates)
  return {
    isMissing: ({ text, quoted }) => !quoted && (text === '' || missing.has(text)),
    number: (text) => (decimal === ',' && NUMBER.test(text) ? text.trim().replace(',', '.') : undefined),
    moment: (text) => date?.(text),
    isPointed: (text) => decimal === ',' && POINTED.test(text),
  }
}

/** A field as a text in our own csv. */
export function textField({ text, quoted }: Field): string {
  return quoted || /["\r\n,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A number with a comma before its decimal places. */
const NUMBER = /^\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*$/

/** A number with a point, and no other text: in `1.234` it may separate thousands. */
const POINTED = /^[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?$/

const PARTS = {
  YYYY: '(?<y>\\d{4})',
  MM: '(?<m>\\d{2})',
  DD: '(?<d>\\d{2})',
  M: '(?<m>\\d{1,2})',
  D: '(?<d>\\d{1,2})',
}
const CLOCK = '(?:[ T](?<clock>\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?))?'

/**
 * Makes a function that reads days in the form of a pattern (YYYY, MM or M, DD or D, and characters between them), and
 * returns them as ISO 8601; undefined for texts of any other form.
 * @throws EngineError `invalid_option` if the pattern does not have a year, a month and a day exactly once each
 */
export function dateReader(pattern: string): (text: string) => string | undefined {
  const source = pattern.replace(/YYYY|MM|DD|M|D|./g, (part) => {
    return Object.hasOwn(PARTS, part) ? PARTS[part as keyof typeof PARTS] : part.replace(/[^\w\s]/, '\\$&')
  })
  const once = ['Y{4}', 'M{1,2}', 'D{1,2}'].every(
    (part) => pattern.match(new RegExp(part, 'g'))?.length === 1,
  )
  if (!once || /[^YMD./ -]/.test(pattern)) {
    throw new EngineError(
      'invalid_option',
      'dates must be a pattern of YYYY, MM or M, and DD or D, with points, slashes, hyphens or blanks between them, ' +
        'for example DD.MM.YYYY.',
    )
  }
  const expression = new RegExp(`^${source}${CLOCK}$`)
  return (text) => {
    const { y, m, d, clock } = expression.exec(text)?.groups ?? {}
    if (y === undefined) return undefined
    const day = `${y}-${m!.padStart(2, '0')}-${d!.padStart(2, '0')}`
    return clock === undefined
      ? day
      : `${day}T${clock.padStart(clock.indexOf(':') === 1 ? clock.length + 1 : 0, '0')}`
  }
}
