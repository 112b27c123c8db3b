import type { Json, JsonRecord, UpstreamAnswer } from './connector.ts'
import { ConnectorError } from './errors.ts'
import { absent, Failure, notUnderstood } from './failures.ts'

export type { Json, JsonRecord }

/** A JSON text, and the control characters in it, which some providers write unescaped in their notes. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/gs
const CONTROL = /[\u0000-\u001f]/g
const escaped = (character: string) => JSON.stringify(character).slice(1, -1)

/** The body as JSON. Throws `not_understood`, whose cause says what the body was instead, without quoting it. */
export function parseJson(answer: UpstreamAnswer): Json {
  const text = answer.text.trim()
  try {
    return JSON.parse(text) as Json
  } catch {
    const repaired = text.replace(STRING, (string) => string.replace(CONTROL, escaped))
    if (repaired !== text) return parseJson({ ...answer, text: repaired })
    const looks = text === '' ? 'empty' : text.startsWith('<') ? 'markup' : 'not JSON, or cut off'
    throw notUnderstood(`the body is ${looks} (status ${answer.status}, ${text.length} characters)`)
  }
}

/** Whether the body is markup or empty, and so not from the service itself. */
export function isPage({ text }: UpstreamAnswer): boolean {
  return /^[\s\uFEFF]*(<|$)/.test(text)
}

/**
 * What `read` finds in the JSON of a success; default: all of it. Of a failure, some statuses mean the same at every
 * provider. What others mean is told by the body, for which `read` throws: providers report errors with a status of 200
 * as well. If it throws nothing, the status counts.
 */
export function openBody<T = Json>(
  answer: UpstreamAnswer,
  read: (body: Json, status: number) => T = (body) => body as T,
): T {
  const { status } = answer
  // The address of a request with 414 was too long, so the provider can't have such an id.
  if ([404, 410, 414].includes(status)) throw absent()
  if (status === 413) throw new Failure('oversized')
  // A page of a gateway, which could make nothing of the address.
  if (status === 400 && isPage(answer)) throw new Failure('refused', { cause: 'a page with status 400' })
  const isForbidden = [401, 403, 451].includes(status)
  // An HTML page instead of data comes from a firewall or a gateway before the service and says nothing about the key.
  if (isForbidden && isPage(answer)) throw new Failure('rejecting')
  const found = read(parseJson(answer), status)
  if (status >= 400) throw isForbidden ? new Failure('bad-key') : notUnderstood(`status ${status}`)
  return found
}

/**
 * For data that an answer can do without: the outcome, or undefined if the provider fails, has no such thing or answers
 * with something that can't be read. Only `cancelled` is thrown.
 */
export async function optional<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ConnectorError && error.code !== 'cancelled') return undefined
    throw error
  }
}

export function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as an object; `{}` if it isn't one, so that its fields read as missing. */
export function record(value: Json | undefined): JsonRecord {
  return isRecord(value) ? value : {}
}

/** The value as a list: a list as it is, one object as a list of one, nothing as an empty list. */
export function list(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[]
  return isRecord(value) ? [value] : []
}

export function records(value: Json | undefined): readonly JsonRecord[] {
  return list(value).filter(isRecord)
}

/** The value as trimmed text; null if it is missing, empty or an object. */
export function text(value: Json | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const trimmed = typeof value === 'string' ? value.trim() : ''
  return trimmed === '' ? null : trimmed
}

/** The first of several fields that contains a text. */
export function firstText(from: JsonRecord, ...names: readonly string[]): string | null {
  for (const name of names) {
    const found = text(from[name])
    if (found !== null) return found
  }
  return null
}

/**
 * The number that a value stands for, or null for a missing value. Everything that isn't a finite number counts as
 * missing (`statusOfValue` says why), such as `.`, `NA`, `null`, `-` or an empty text.
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

/**
 * Moves the decimal point to the right, or to the left for a negative power, in the text of the number, since
 * 149.21 / 100 in floating point is not 1.4921. What is no number stays as it is.
 */
export function timesTenTo(power: number, value: Json | undefined): Json | undefined {
  const read = number(value)
  if (power === 0 || read === null) return value
  const [digits, own = '0'] = String(read).split('e')
  return Number(`${digits}e${Number(own) + power}`)
}

/** The names of powers of ten, as in `millions of dollars`. */
export const POWERS: Readonly<Record<string, string>> = {
  1: 'tens',
  2: 'hundreds',
  3: 'thousands',
  4: 'tens of thousands',
  5: 'hundreds of thousands',
  6: 'millions',
  7: 'tens of millions',
  8: 'hundreds of millions',
  9: 'billions',
  12: 'trillions',
}

/** The objects of a list that an answer must contain; throws `not_understood` if it doesn't. */
export function required(body: JsonRecord, name: string): readonly JsonRecord[] {
  const found = body[name]
  if (typeof found !== 'object' || found === null) throw notUnderstood(`${name} is missing`)
  return records(found)
}
