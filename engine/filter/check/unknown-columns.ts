import { EngineError } from '../../errors.ts'
import { nearest } from '../../util/nearest.ts'
import { excerpt, singleQuotes } from '../errors.ts'
import { functionRow } from '../tables/functions.ts'
import { durationMicros } from '../values.ts'

/**
 * The error `invalid_columns`, which lists all names that no column has. It ends with a hint where a name is probably
 * misspelt, or where the user probably meant a text, a literal or a function.
 * @param unknown the names, each with its position in the text, or -1 if it has none
 */
export function unknownColumns(
  unknown: ReadonlyMap<string, number>,
  text: string,
  columns: readonly { readonly name: string }[],
  option = 'Filter',
): EngineError {
  const names = [...unknown.keys()]
  const [at = -1] = unknown.values()
  // The others are not tried, because a filter may have thousands.
  const shown = [...unknown].slice(0, 5)
  const bare = option === 'Filter' ? shown.find(([, at]) => isWhereValuesStand(at, text)) : undefined
  const hint =
    shown.map(([name, at]) => hintFor(name, at, text) ?? madeBeside(name, at, text)).find(Boolean) ??
    shown.map(([name]) => meantColumn(name, columns)).find(Boolean) ??
    (bare && `If it is a text, write '${excerpt(bare[0])}'.`)
  return new EngineError(
    'invalid_columns',
    `${option} contains invalid column(s): ${names.join(', ')}. Column names are case-sensitive.${hint ? ` ${hint}` : ''}`,
    { details: { option: `$${option.toLowerCase()}`, columns: names, ...(at >= 0 && { position: at }) } },
  )
}

/**
 * A question that names the column with the nearest name, or one that begins so but for spaces and punctuation. A name
 * that differs only by case is preferred.
 */
function meantColumn(name: string, columns: readonly { readonly name: string }[]): string | undefined {
  if (name.length > 128) return undefined
  const names = columns.slice(0, 2_000).map((column) => column.name)
  const letters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  const begun = letters(name)
  const meant =
    nearest(name, names) ??
    (begun.length < 3 ? undefined : names.find((one) => letters(one).startsWith(begun)))
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

/** Literals whose case matters. That is easily forgotten, because the case of operators doesn't matter. */
const WORD_LITERALS: Readonly<Record<string, string>> = {
  null: 'null',
  nan: 'NaN',
  inf: 'INF',
  infinity: 'INF',
}

function hintFor(name: string, at: number, text: string): string | undefined {
  if (text[at] === '"') return isWhereValuesStand(at, text) ? singleQuotes(name) : undefined
  const word = name.toLowerCase()
  const literal = Object.hasOwn(WORD_LITERALS, word) ? WORD_LITERALS[word] : undefined
  // Where a name must stand, a literal is one, however it is written.
  if (literal !== undefined && literal !== name) return `The literal is written ${literal}.`
  if (durationMicros(name) !== undefined) return `A duration is written duration'${name}'.`
  const row = functionRow(name)
  return row?.constant && `${row.name}() is a function: write its parentheses, too.`
}

/** A hint for a name that an earlier expression of the same step makes. */
function madeBeside(name: string, at: number, text: string): string | undefined {
  const before = text.slice(0, at)
  const made = before.lastIndexOf(` as ${name}`)
  return made < 0 || before.includes('/', made)
    ? undefined
    : `${name} can be used from the next step on, as in compute(… as ${name})/compute(…).`
}

/** Whether a value is likely at a place: behind a comparison, a comma or the start of a list. */
function isWhereValuesStand(at: number, text: string): boolean {
  const before = text.slice(Math.max(at - 20, 0), at)
  return /(?:\s(?:eq|ne|gt|ge|lt|le)\s+|,\s*|\sin\s*[([]\s*)$/i.test(before)
}
