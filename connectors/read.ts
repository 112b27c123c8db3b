import type { UpstreamAnswer } from './connector.ts'
import { ConnectorError } from './errors.ts'

/** JSON as it comes: nothing is taken for granted. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export type JsonRecord = { readonly [name: string]: Json }

/** The answer's body as JSON, or `not_understood`; the cause says what it was instead, without quoting it. */
export function parseJson(answer: UpstreamAnswer): Json {
  const text = answer.text.trim()
  try {
    return JSON.parse(text) as Json
  } catch {
    const looks = text === '' ? 'empty' : text.startsWith('<') ? 'markup' : 'not JSON, or cut off'
    throw notUnderstood(`the body is ${looks} (status ${answer.status}, ${text.length} characters)`)
  }
}

/**
 * The outcome of what an answer can do without: undefined where the provider fails at it, has no such thing or answers
 * something that can't be read. Only a caller who has gone away ends the call.
 */
export async function optional<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ConnectorError && error.code !== 'cancelled') return undefined
    throw error
  }
}

/** `not_understood`, with what was wrong for the log; the pipeline adds the provider. */
export function notUnderstood(what: string): ConnectorError {
  return new ConnectorError('not_understood', 'The answer of the provider was not understood.', {
    cause: new Error(what),
  })
}

export function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as an object; `{}` where it is none, so that what it should hold reads as missing. */
export function record(value: Json | undefined): JsonRecord {
  return isRecord(value) ? value : {}
}

/** The value as a list: as it is, one object as a list of one, nothing as the empty list. */
export function list(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[]
  return isRecord(value) ? [value] : []
}

export function records(value: Json | undefined): readonly JsonRecord[] {
  return list(value).filter(isRecord)
}

/** The value as trimmed text; null where it is missing, empty or an object. */
export function text(value: Json | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const trimmed = typeof value === 'string' ? value.trim() : ''
  return trimmed === '' ? null : trimmed
}

/** The first of several fields that holds a text. */
export function firstText(from: JsonRecord, ...names: readonly string[]): string | null {
  for (const name of names) {
    const found = text(from[name])
    if (found !== null) return found
  }
  return null
}

/**
 * The number that a value stands for. Everything that is no finite number, as `.`, `NA`, `null`, `-` or an empty text,
 * is a missing value: null.
 */
export function number(value: Json | undefined): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string') return null
  const trimmed = value.trim()
  const digits = trimmed.includes(',') ? trimmed.replace(/(?<=\d),(?=\d{3}(?!\d))/g, '') : trimmed
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits)) return null
  const parsed = Number(digits)
  return Number.isFinite(parsed) ? parsed : null
}

/** The objects of a list that an answer must have: `not_understood` without it. */
export function required(body: JsonRecord, name: string): readonly JsonRecord[] {
  const found = body[name]
  if (typeof found !== 'object' || found === null) throw notUnderstood(`${name} is missing`)
  return records(found)
}
