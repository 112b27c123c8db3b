import { compileFilter, type Expression, type SqlColumn } from '../filter/index.ts'

/** What DuckDB writes in a condition, and what a filter has in its place. */
const WORDS: Readonly<Record<string, string>> = {
  'optional: ': '',
  '=': ' eq ',
  '!=': ' ne ',
  '<': ' lt ',
  '<=': ' le ',
  '>': ' gt ',
  '>=': ' ge ',
  'IS NULL': 'eq null',
  'IS NOT NULL': 'ne null',
  AND: 'and',
  OR: 'or',
  NOT: 'not',
  IN: 'in',
}
const TOKENS =
  /'(?:''|[^'])*'(?:::[A-Z ]+)?|optional: |[!<>]?=|[<>]|\bIS (?:NOT )?NULL\b|\b(?:AND|OR|NOT|IN)\b/g

/**
 * A condition on columns of a part, as DuckDB shows it with the step that compares it with the statistics of row groups:
 * `c0>=17 AND optional: c0<=18`, `c3>'2021-01-01 00:00:00'::TIMESTAMP`. Undefined where a filter can't say it, so that
 * nothing is known of it.
 */
export function shownCondition(text: string, columns: readonly SqlColumn[]): Expression | undefined {
  const filter = text.replaceAll(TOKENS, (token) => WORDS[token] ?? literal(token))
  try {
    return compileFilter(
      filter,
      columns.map((column) => ({ ...column, name: column.sql })),
    ).tree
  } catch {
    return undefined
  }
}

function literal(token: string): string {
  const [, value, type] = /^'(.*)'::([A-Z ]+)$/s.exec(token) ?? []
  if (type === undefined) return token
  return type.startsWith('TIMESTAMP') ? `${value!.replace(' ', 'T').replace(/\+00$/, '')}Z` : value!
}
