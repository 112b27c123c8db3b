import { hint } from '../../errors.ts'
import type { ReadRequest, UploadOptions } from '../request.ts'
import type { Target } from '../targets.ts'
import { badCell, keepingWords, type TextReason } from '../text/errors.ts'
import { inferType, isNumeric, TEXT_KIND } from '../text/text-kinds.ts'
import type { CsvFindings } from './scan.ts'

/** What shows that points are before decimal places. */
export const POINTS = TEXT_KIND.fraction | TEXT_KIND.whole | TEXT_KIND.exponent

/** Whether numbers of these kinds may be codes, such as 1e5. */
export const isCode = (kinds: number) => (kinds & TEXT_KIND.bareExponent) !== 0 && (kinds & POINTS) === 0

/** The error for a value of a column that has to hold numbers or dates, and may hold several. */
export function ambiguousValue(name: string, reason: TextReason, given: UploadOptions = {}): Error {
  const { row, value, try: one, or } = keepingWords(reason, given)
  const choices = [one, or].filter((choice) => choice !== undefined)
  const advice =
    choices.length > 0
      ? `Add ${choices.map(hint).join(' or ')} to say which`
      : 'Add the options that say which'
  const what = `${JSON.stringify(value)} may mean several things. ${advice}.`
  return badCell(row, name, what, { value, try: one, ...(or && { or }) })
}

/**
 * Why columns are text whose values leave open what they mean: numbers such as 2.500, where nothing in the file shows what
 * the point is for. In a column of whole numbers, only the column itself or an option does.
 * @param targets before their types are inferred
 * @throws EngineError `invalid_upload` if such a column is declared as one of numbers
 */
export function leftOpen(
  targets: readonly Target[],
  { kinds, doubtful }: Pick<CsvFindings, 'kinds' | 'doubtful'>,
  { readings, options = {} }: ReadRequest,
): ReadonlyMap<number, TextReason> {
  const open = new Map<number, TextReason>()
  if (!readings) return open
  const { decimal, thousands } = options
  const numbers = targets.filter(({ type, source }) => {
    return source !== undefined && isNumeric(type ?? inferType(kinds[source]!))
  })
  const hasPoints = ({ source }: Target) => (kinds[source!]! & POINTS) !== 0
  const isShown = thousands === ',' || numbers.some(hasPoints)
  for (const target of numbers) {
    const { name, type, source } = target
    const isPoint = decimal !== undefined || (type === 'integer' ? hasPoints(target) : isShown)
    const [kind, because] = [kinds[source!]! & ~(TEXT_KIND.null | TEXT_KIND.empty), doubtful[source!]]
    const isName = kind === TEXT_KIND.special || (decimal === undefined && isCode(kind))
    const isOpen = isName ? type === undefined : !isPoint && (kind & TEXT_KIND.grouped) !== 0
    if (!isOpen || !because) continue
    if (type !== undefined) throw ambiguousValue(name, because, options)
    open.set(source!, because)
  }
  return open
}
