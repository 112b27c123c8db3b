import { CASE, functionTable } from '../../../../engine/filter/tables/functions.ts'
import type { Column } from '../../../client/index.ts'
import { type Completion, type Suggestion, suggestion } from '../ui/completion.ts'
import { familyOf, filterLiteral, filterName, type Token, tokenize } from './syntax.ts'

/** A filter function, as shown by the completion. */
interface FilterFunction extends Suggestion {
  readonly name: string
  /** Whether it is a condition by itself, not a value to compare. */
  readonly isCondition: boolean
}

function shown(name: string, args: string, note: string, isCondition: boolean): FilterFunction {
  const [insert, behind] = args === '' ? [`${name}() `, ''] : [`${name}(`, ')']
  return { ...suggestion('function', `${name}(${args})`, note, insert, behind), name, isCondition }
}

/** The functions of the engine, conditions first, because most filters begin with one. */
export const FUNCTIONS: readonly FilterFunction[] = [
  ...functionTable.map(({ name, args, about, overloads }) =>
    shown(
      name,
      args.join(', '),
      about,
      overloads.every(({ gives }) => 'kind' in gives && gives.kind === 'boolean'),
    ),
  ),
  shown(CASE.name, 'condition: value, true: value', CASE.about, false),
].toSorted((a, b) => Number(b.isCondition) - Number(a.isCondition))

const COMPARISONS: Readonly<Record<string, string>> = {
  eq: 'equal to',
  ne: 'not equal to',
  gt: 'greater than',
  ge: 'greater than or equal to',
  lt: 'less than',
  le: 'less than or equal to',
  in: 'one of a list',
}
const CONNECTIVES = { and: 'both are true', or: 'at least one is true' }

const MOST = 50

type ValuesOf = (column: string) => readonly string[]

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
  valuesOf: ValuesOf,
): Completion {
  const tokens = tokenize(text)
  const typed = tokens.find(
    ({ kind, start, end }) => start < caret && caret <= end && kind !== 'punctuation' && kind !== 'unknown',
  )
  const before = tokens.filter((token) => token.end <= (typed?.start ?? caret))
  const from = typed?.start ?? caret
  const to = typed?.end ?? caret
  const all = suggestionsAfter(before, columns, valuesOf)
  return { from, to, suggestions: matching(all, text.slice(from, caret)).slice(0, MOST) }
}

function isComparison(token: Token | undefined): boolean {
  return token?.kind === 'operator' && token.text in COMPARISONS
}

/** What the tokens before the caret can be followed by. */
function suggestionsAfter(
  before: readonly Token[],
  columns: readonly Column[],
  valuesOf: ValuesOf,
): Suggestion[] {
  const last = before.at(-1)
  const operands = () => [
    ...columns.map(({ name, type }) => suggestion('column', name, type, `${filterName(name)} `)),
    ...FUNCTIONS,
  ]
  if (!last) return operands()
  if (last.kind === 'operator') {
    if (last.text === 'in') return [suggestion('operator', '( )', 'a list of values', '(', ')')]
    return isComparison(last) ? valueSuggestions(columnOf(before.at(-2), columns), valuesOf) : operands()
  }
  if (last.text === '(' || last.text === ',') {
    const list = listColumn(before, columns)
    return list ? valueSuggestions(list, valuesOf) : operands()
  }
  const isWhole = last.text === ')' ? closesCondition(before) : isComparison(before.at(-2))
  return Object.entries(isWhole ? CONNECTIVES : COMPARISONS).map(([name, note]) =>
    suggestion('operator', name, note),
  )
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
    const name = opener.text.toLowerCase()
    const isCondition = FUNCTIONS.some((one) => one.name.toLowerCase() === name && one.isCondition)
    return isComparison(before[at - 2]) || isCondition
  }
  return true
}

function columnOf(token: Token | undefined, columns: readonly Column[]): Column | undefined {
  if (token?.kind !== 'name') return undefined
  return columns.find((column) => filterName(column.name) === token.text || column.name === token.text)
}

function valueSuggestions(column: Column | undefined, valuesOf: ValuesOf): Suggestion[] {
  const none = suggestion('value', 'null', 'no value')
  if (!column) return [none]
  const seen =
    familyOf(column.type) === 'boolean'
      ? ['true', 'false']
      : valuesOf(column.name).map((value) => filterLiteral(value, column.type))
  return [...seen.map((text) => suggestion('value', text, 'seen in the data')), none]
}

/** Suggestions that begin with the text, then those that contain it. */
function matching(all: readonly Suggestion[], prefix: string): Suggestion[] {
  const typed = prefix.replace(/^["']/, '').toLowerCase()
  if (typed === '') return [...all]
  // Match functions by their names only, not by the names of their arguments.
  const rank = (suggestion: Suggestion) =>
    suggestion.label
      .replace(/^["']/, '')
      .replace(suggestion.kind === 'function' ? /\(.*/ : /$/, '')
      .toLowerCase()
      .indexOf(typed)
  const begins = all.filter((suggestion) => rank(suggestion) === 0)
  const holds = all.filter((suggestion) => rank(suggestion) > 0)
  const whole = begins.length === 1 && begins[0]!.insert.trim() === prefix
  return whole ? [] : [...begins, ...holds]
}
