import { isStatus } from '../api.ts'

/** The part of the filter text that an error refers to. `end` is exclusive. */
export interface ErrorPlace {
  readonly start: number
  readonly end: number
}

/**
 * Finds the part of the filter that an error message refers to: by its position, counted from 1, or by the unknown
 * column names in it. Undefined if it has neither.
 */
export function errorPlace(error: unknown, filter: string): ErrorPlace | undefined {
  if (!isStatus(error, 400)) return undefined
  const given = /\bposition (\d+)/.exec(error.message)?.[1]
  if (given !== undefined) return wordAt(filter, Number(given) - 1)
  const names = /invalid column\(s\): (.+?)\. Column names/.exec(error.message)?.[1]
  const first = names?.split(', ')[0]
  if (first === undefined) return undefined
  const at = filter.indexOf(first)
  return at < 0 ? undefined : { start: at, end: at + first.length }
}

/** The word that begins at a position; past the end of the text, one character after it. */
function wordAt(text: string, position: number): ErrorPlace {
  const start = Math.min(Math.max(position, 0), text.length)
  const word = /^(?:'(?:[^']|'')*'?|"[^"]*"?|[\w.:-]+|\S)/.exec(text.slice(start))?.[0] ?? ''
  return { start, end: start + Math.max(word.length, 1) }
}
