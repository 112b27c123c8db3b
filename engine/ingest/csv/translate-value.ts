import { EngineError } from '../../errors.ts'
import type { UploadOptions } from '../request.ts'

export interface Field {
  /** Without quotes. */
  readonly text: string
  readonly quoted: boolean
}

/** Gives the csv of a field: what it says in another dialect, as ours says it. */
export function translator({ nulls = [], decimal, dates }: UploadOptions): (field: Field) => string {
  const missing = new Set(nulls)
  const date = dates === undefined ? undefined : dateReader(dates)
  return ({ text, quoted }) => {
    if (!quoted && (text === '' || missing.has(text))) return ''
    if (decimal === ',' && NUMBER.test(text)) return text.trim().replace(',', '.')
    const moment = date?.(text)
    if (moment !== undefined) return moment
    return quoted || /["\r\n,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
}

/** A number with a comma before its places. */
const NUMBER = /^\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*$/

const PARTS = {
  YYYY: '(?<y>\\d{4})',
  MM: '(?<m>\\d{2})',
  DD: '(?<d>\\d{2})',
  M: '(?<m>\\d{1,2})',
  D: '(?<d>\\d{1,2})',
}
const CLOCK = '(?:[ T](?<clock>\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?))?'

/**
 * Reads days as a pattern of YYYY, MM or M, DD or D and the signs between them says, and gives them as ISO 8601.
 * @throws EngineError `invalid_option` where the pattern does not have each of them once
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
      'dates is a pattern of YYYY, MM or M, and DD or D, with points, slashes, hyphens or blanks between them, as DD.MM.YYYY.',
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
