import { EngineError } from '../../errors.ts'
import { nearest } from '../../util/nearest.ts'
import { excerpt } from '../errors.ts'
import { durationMicros } from '../syntax/literals.ts'
import { functionRow } from '../tables/functions.ts'

/**
 * Names that no column has, each with its place in the text, as an `invalid_columns` that lists them all. What is often
 * written where a name is not meant at all gets a sentence of its own behind.
 */
export function unknownColumns(
  unknown: ReadonlyMap<string, number>,
  text: string,
  columns: readonly { readonly name: string }[],
  option = 'Filter',
): EngineError {
  const names = [...unknown.keys()]
  const hint =
    first(unknown, ([name, at]) => hintFor(name, at, text)) ??
    first(unknown, ([name]) => meantColumn(name, columns)) ??
    first(unknown, ([name, at]) => textHint(name, at, text))
  return new EngineError(
    'invalid_columns',
    `${option} contains invalid column(s): ${names.join(', ')}. Column names are case-sensitive.${hint ? ` ${hint}` : ''}`,
    { details: { columns: names } },
  )
}

/** What one of the first unknown names leads to; a filter may have thousands of them. */
function first(
  unknown: ReadonlyMap<string, number>,
  hint: (entry: readonly [name: string, at: number]) => string | undefined,
): string | undefined {
  return [...unknown].slice(0, 5).map(hint).find(Boolean)
}

/** The column whose name is nearest, one that differs only by case before all others. */
export function meantColumn(name: string, columns: readonly { readonly name: string }[]): string | undefined {
  if (name.length > 128) return undefined
  const meant = nearest(
    name,
    columns.slice(0, 2_000).map((column) => column.name),
  )
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

/** A word behind a comparison is often a text without its quotes. */
function textHint(name: string, at: number, text: string): string | undefined {
  return WHERE_VALUES_STAND.test(text.slice(Math.max(at - NEAR, 0), at))
    ? `If it is a text, write '${excerpt(name)}'.`
    : undefined
}

/** Their case counts, which is easily forgotten where that of operators doesn't. */
const WORD_LITERALS: Readonly<Record<string, string>> = {
  null: 'null',
  nan: 'NaN',
  inf: 'INF',
  infinity: 'INF',
}

function hintFor(name: string, at: number, text: string): string | undefined {
  if (text[at] === '"') {
    return WHERE_VALUES_STAND.test(text.slice(Math.max(at - NEAR, 0), at)) ? singleQuotes(name) : undefined
  }
  const word = name.toLowerCase()
  if (Object.hasOwn(WORD_LITERALS, word)) return `The literal is written ${WORD_LITERALS[word]}.`
  if (durationMicros(name) !== undefined) return `A duration is written duration'${name}'.`
  const row = functionRow(name)
  return row?.constant && `${row.name}() is a function: write its parentheses, too.`
}

/** Characters before a name that are looked at. */
const NEAR = 20

/** Behind a comparison, and as a later argument. */
const WHERE_VALUES_STAND = /(?:\s(?:eq|ne|gt|ge|lt|le)\s+|,\s*|\sin\s*[([]\s*)$/i

/** What to say where a text was put in double quotes. */
export function singleQuotes(text: string): string {
  return `Double quotes are for names; a text stands in single ones: '${excerpt(text.replaceAll("'", "''"))}'.`
}
