import type { Column } from '../../../client/index.ts'
import { FUNCTIONS, functionNamed } from './functions.ts'
import { COMPARISONS, CONNECTIVES, type Token, tokenize } from './tokens.ts'
import { familyOf, filterLiteral, filterName } from './types.ts'

export interface Suggestion {
  readonly label: string
  /** A short description beside the label. */
  readonly note: string
  readonly kind: 'column' | 'function' | 'operator' | 'value'
  /** The text that replaces `from` to `to`. */
  readonly insert: string
  /** Position of the caret, as characters back from the end of the inserted text. */
  readonly caretBack: number
}

export interface Completion {
  readonly from: number
  readonly to: number
  readonly suggestions: readonly Suggestion[]
}

const OPERATOR_NOTES: Readonly<Record<string, string>> = {
  eq: 'equal to',
  ne: 'not equal to',
  gt: 'greater than',
  ge: 'greater than or equal to',
  lt: 'less than',
  le: 'less than or equal to',
  in: 'one of a list',
  and: 'both are true',
  or: 'at least one is true',
}

const MOST = 50

/**
 * Suggests what can come at the caret: a column or function where a value begins, an operator after a value, `and` and
 * `or` after a condition, known values of the column after a comparison.
 *
 * @param valuesOf values that occur in a column, most frequent first
 */
export function complete(
  text: string,
  caret: number,
  columns: readonly Column[],
  valuesOf: (column: string) => readonly string[],
): Completion {
  const tokens = tokenize(text)
  const typed = tokens.find((token) => token.start < caret && caret <= token.end && isTypable(token))
  const before = tokens.filter((token) => token.end <= (typed?.start ?? caret))
  const from = typed?.start ?? caret
  const to = typed?.end ?? caret
  const prefix = text.slice(from, caret)
  const place = placeAfter(before, columns)
  const all = suggestionsAt(place, columns, valuesOf)
  return { from, to, suggestions: matching(all, prefix).slice(0, MOST) }
}

function isTypable(token: Token): boolean {
  return token.kind !== 'punctuation' && token.kind !== 'unknown'
}

type Place =
  | { readonly kind: 'operand' }
  | { readonly kind: 'comparison' }
  | { readonly kind: 'connective' }
  | { readonly kind: 'value'; readonly column: Column | undefined }
  | { readonly kind: 'list' }

/** What the tokens before the caret can be followed by. */
function placeAfter(before: readonly Token[], columns: readonly Column[]): Place {
  const last = before.at(-1)
  if (!last) return { kind: 'operand' }
  if (last.kind === 'operator') {
    if (last.text === 'in') return { kind: 'list' }
    const compares = (COMPARISONS as readonly string[]).includes(last.text)
    return compares ? { kind: 'value', column: columnOf(before.at(-2), columns) } : { kind: 'operand' }
  }
  if (last.text === '(' || last.text === ',') {
    const list = listColumn(before, columns)
    return list ? { kind: 'value', column: list } : { kind: 'operand' }
  }
  if (last.text === ')') return closesCondition(before) ? { kind: 'connective' } : { kind: 'comparison' }
  const compared = before.at(-2)
  const afterComparison =
    compared?.kind === 'operator' && (COMPARISONS as readonly string[]).includes(compared.text)
  return { kind: afterComparison ? 'connective' : 'comparison' }
}

/** The column of `name in (…` if the caret is inside the parentheses. */
function listColumn(before: readonly Token[], columns: readonly Column[]): Column | undefined {
  const open = before.findLastIndex((token) => token.text === '(')
  return before[open - 1]?.text === 'in' ? columnOf(before[open - 2], columns) : undefined
}

/** Whether the last `)` completes a condition rather than a value such as `length(name)`. */
function closesCondition(before: readonly Token[]): boolean {
  let depth = 0
  for (let at = before.length - 1; at >= 0; at -= 1) {
    if (before[at]!.text === ')') depth += 1
    if (before[at]!.text === '(') depth -= 1
    if (depth > 0) continue
    const opener = before[at - 1]
    if (opener?.kind !== 'function') return true
    const compared = before[at - 2]
    const compares =
      compared?.kind === 'operator' && (COMPARISONS as readonly string[]).includes(compared.text)
    return compares || functionNamed(opener.text)?.gives === 'condition'
  }
  return true
}

function columnOf(token: Token | undefined, columns: readonly Column[]): Column | undefined {
  if (token?.kind !== 'name') return undefined
  return columns.find((column) => filterName(column.name) === token.text || column.name === token.text)
}

function suggestionsAt(
  place: Place,
  columns: readonly Column[],
  valuesOf: (column: string) => readonly string[],
): Suggestion[] {
  switch (place.kind) {
    case 'operand':
      return [...columns.map(columnSuggestion), ...FUNCTIONS.map(functionSuggestion)]
    case 'comparison':
      return COMPARISONS.map(operatorSuggestion)
    case 'connective':
      return CONNECTIVES.map(operatorSuggestion)
    case 'list':
      return [{ label: '( )', note: 'a list of values', kind: 'operator', insert: '()', caretBack: 1 }]
    case 'value':
      return valueSuggestions(place.column, valuesOf)
    default:
      return place satisfies never
  }
}

function columnSuggestion(column: Column): Suggestion {
  const name = filterName(column.name)
  return { label: column.name, note: column.type, kind: 'column', insert: `${name} `, caretBack: 0 }
}

function functionSuggestion(known: { name: string; shape: string; hint: string }): Suggestion {
  const bare = known.shape === '()'
  return {
    label: known.name + known.shape,
    note: known.hint,
    kind: 'function',
    insert: `${known.name}()${bare ? ' ' : ''}`,
    caretBack: bare ? 0 : 1,
  }
}

function operatorSuggestion(operator: string): Suggestion {
  const note = OPERATOR_NOTES[operator] ?? ''
  return { label: operator, note, kind: 'operator', insert: `${operator} `, caretBack: 0 }
}

function valueSuggestions(
  column: Column | undefined,
  valuesOf: (column: string) => readonly string[],
): Suggestion[] {
  const literal = (text: string, note: string): Suggestion => ({
    label: text,
    note,
    kind: 'value',
    insert: `${text} `,
    caretBack: 0,
  })
  if (!column) return [literal('null', 'no value')]
  const seen =
    familyOf(column.type) === 'boolean'
      ? ['true', 'false']
      : valuesOf(column.name).map((value) => filterLiteral(value, column.type))
  return [...seen.map((text) => literal(text, 'seen in the data')), literal('null', 'no value')]
}

/** Suggestions that begin with the text, then those that contain it. */
function matching(all: readonly Suggestion[], prefix: string): Suggestion[] {
  const wanted = prefix.replace(/^["']/, '').toLowerCase()
  if (wanted === '') return [...all]
  // Match functions by their names only, not by the names of their arguments.
  const place = (suggestion: Suggestion) =>
    suggestion.label
      .replace(/^["']/, '')
      .replace(suggestion.kind === 'function' ? /\(.*/ : /$/, '')
      .toLowerCase()
      .indexOf(wanted)
  const begins = all.filter((suggestion) => place(suggestion) === 0)
  const holds = all.filter((suggestion) => place(suggestion) > 0)
  const whole = begins.length === 1 && begins[0]!.insert.trim() === prefix
  return whole ? [] : [...begins, ...holds]
}
