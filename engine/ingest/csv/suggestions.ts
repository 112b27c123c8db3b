import type { ColumnType } from '../../types/index.ts'
import type { UploadOptions } from '../request.ts'
import { KEPT, plainReason, type TextReason } from '../text/errors.ts'
import { inferType, kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { dateIn } from './rules.ts'
import { fieldReader } from './syntax.ts'
import { isUsualNull, USUAL_SYMBOLS } from './words.ts'

/** What is often meant by texts, and the options with which they are read as that. */
const SUGGESTIONS: readonly (readonly [RegExp, ...string[]])[] = [
  [/^[-+\u2212]?\d{1,3}(\.\d{3})+,\d+$/, 'decimal=,&thousands=.'],
  [/^[-+\u2212]?[1-9]\d{0,2},\d{3}$/, 'thousands=,', 'decimal=,'],
  [/^[-+\u2212]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/, 'thousands=,'],
  [/^[-+\u2212]?[1-9]\d{0,2}\.\d{3}$/, 'decimal=,&thousands=.', 'decimal=.'],
  [/^[-+\u2212]?\d{1,3}(\.\d{3}){2,}$/, 'decimal=,&thousands=.'],
  [/^[-+\u2212]?\d{1,3}([ \u00a0\u202f\u2009]\d{3})+(,\d+)?$/, 'decimal=,&thousands=%20'],
  [/^[-+\u2212]?\d{1,3}(['\u2019]\d{3})+(\.\d+)?$/, 'thousands=%27'],
  [/^[-+\u2212]?\d*,\d+$/, 'decimal=,'],
  [/^-?(0|[1-9]\d*)?\.\d+$|^[1-9]\d*[eE]\d+$|^\u2212\d*(\.\d+)?$/, 'decimal=.'],
]
/** The first of two numbers up to 12 may be either. Whoever is offered days first learns of the option. */
const SUGGESTED_DATES = [
  ...['D.M.YYYY', 'D/M/YYYY', 'M/D/YYYY', 'YYYY/M/D', 'D-M-YYYY', 'M-D-YYYY'],
  ...['D.M.YY', 'D/M/YY', 'M/D/YY', 'YY/M/D', 'DDMMMYYYY', 'YYYY-M-D'],
]

const DATES = TEXT_KIND.date | TEXT_KIND.timestamp | TEXT_KIND.timestamptz | TEXT_KIND.timestamptzMinutes

function suggestionsFor(value: string): readonly string[] {
  if (value.length > KEPT) return []
  if (/^\+[^-+]*\d/.test(value)) {
    const more = suggestionsFor(value.slice(1)).filter((one) => one !== 'decimal=.')
    return (more.length > 0 ? more : ['']).map((one) =>
      `symbols=%2B${one && `&${one}`}`.replace('&symbols=', ','),
    )
  }
  const [, ...found] = SUGGESTIONS.find(([pattern]) => pattern.test(value)) ?? []
  if (found.length > 0) return found
  if (isUsualNull(value)) return [`nulls=${encodeURIComponent(value)}`]
  const [space] = /^\s|\s$/.exec(value) ?? []
  const symbol = /\d/.test(value)
    ? (space ?? USUAL_SYMBOLS.find((one) => value.startsWith(one) || value.endsWith(one)))
    : undefined
  if (symbol !== undefined) {
    const more = suggestionsFor(value.replace(symbol, '').trim()).map((one) => `&${one}`)
    return (more.length > 0 ? more : ['']).map((one) => `symbols=${encodeURIComponent(symbol)}${one}`)
  }
  // A moment is one already, and no form makes one of 24:00.
  if (!/^\d/.test(value) || kindOf(value) !== TEXT_KIND.text) return []
  const isRead = (form: string) => kindOf(dateIn(form)(value) ?? '') & DATES
  return SUGGESTED_DATES.filter(isRead).map((form) => `dates=${form}`)
}

/** How many values of a column of text are looked at. */
export const LOOKED_AT = 20

/** The kinds of numbers that no option reads in another way. */
const PLAIN_NUMBERS = TEXT_KIND.integer | TEXT_KIND.fraction | TEXT_KIND.whole

/** Why a column is text, with the options by which its values may be read. */
export function textReason(row: number, value: string, values = [value]): TextReason {
  return withOptions({ reason: plainReason(row, value, 'string'), looked: values })!
}

/** Why a column is text, and its values from that one on that are looked at for options; none where no option helps. */
export interface TextFindings {
  reason: TextReason | undefined
  readonly looked: string[]
}

/**
 * Takes a value of a column of text, and says whether more are to be looked at.
 * @param above the type that the column would have without this value and those after it
 */
export function lookAt(
  findings: TextFindings,
  row: number,
  text: string,
  above: ColumnType,
  kind: number,
): boolean {
  const { reason, looked } = findings
  findings.reason ??= plainReason(row, text, above)
  if (reason ? isLooking(findings) : (kind & PLAIN_NUMBERS) === 0) looked.push(text)
  return isLooking(findings)
}

/** Whether more values of a column of text are to be looked at. */
export function isLooking({ looked }: Readonly<TextFindings>): boolean {
  return looked.length > 0 && looked.length < LOOKED_AT
}

/**
 * The reason with the options that read most of the values looked at, words for nothing aside, and all that have digits:
 * `3/4/2024` may be a day of April, but not in a column with `3/25/2024`, and no symbol is that of `€5` and `£6`.
 */
export function withOptions({ reason, looked }: Readonly<TextFindings>): TextReason | undefined {
  if (reason === undefined || looked.length === 0) return reason
  const others = looked.filter((text) => !isUsualNull(text))
  const counted = [...new Set(looked.flatMap(suggestionsFor))].flatMap((options) => {
    const isRead = readerOf(options)
    const read = others.filter(isRead).length
    const isHelp = isRead(reason.value) && others.every((text) => isRead(text) || !/\d/.test(text))
    return isHelp ? [{ options, read }] : []
  })
  const most = Math.max(...counted.map(({ read }) => read))
  const best = counted.filter(({ read }) => read === most && 2 * read >= others.length)
  const [better, or] = best.map(({ options }) => options)
  return { ...reason, ...(better !== undefined && { try: better }), ...(or !== undefined && { or }) }
}

/** Whether a text is read as something else than text with options as in a query string. */
function readerOf(options: string): (text: string) => boolean {
  const { nulls, symbols, ...others } = Object.fromEntries(new URLSearchParams(options))
  const { isMissing, isPointed, value } = fieldReader({
    ...others,
    ...(nulls !== undefined && { nulls: [nulls] }),
    ...(symbols !== undefined && { symbols: symbols.split(',') }),
  } as UploadOptions)
  return (text) => {
    if (isMissing({ text, quoted: false })) return true
    const read = value(text, false) ?? text
    return !isPointed(text) && inferType(kindOf(read)) !== 'string'
  }
}
