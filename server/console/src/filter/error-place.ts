import { isStatus } from '../api.ts'

/** Where in the filter text an error lies: offsets of the first character and of the one after the last. */
export interface ErrorPlace {
  readonly start: number
  readonly end: number
}

/**
 * The place that the service's answer names. It gives a position, counted from 1, or the names of columns that it
 * does not know; undefined where it gives neither.
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

/** From a position to the end of the word there; past the end of the text, the place just behind it. */
function wordAt(text: string, position: number): ErrorPlace {
  const start = Math.min(Math.max(position, 0), text.length)
  const word = /^(?:'(?:[^']|'')*'?|"[^"]*"?|[\w.:-]+|\S)/.exec(text.slice(start))?.[0] ?? ''
  return { start, end: start + Math.max(word.length, 1) }
}
