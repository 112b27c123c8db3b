import { notUnderstood } from '../../failures.ts'
import { type Json, type JsonRecord, record, text } from '../../read.ts'

export type { Json, JsonRecord }
export { record }

/** Throws `unreadable` for anything that is not JSON: HTML, a body that was cut off. */
export function parseJson(body: string): JsonRecord {
  try {
    return record(JSON.parse(body.charCodeAt(0) === 0xfeff ? body.slice(1) : body) as Json)
  } catch (cause) {
    throw notUnderstood('text that is not JSON, or JSON that is cut off', cause)
  }
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** A text as it is, a number or boolean as text, anything else as `''`. */
export function textOf(value: Json | undefined): string {
  return text(value) ?? ''
}

/**
 * A localised text: from `names: {en: …}` if there is one, else from `name`, which is either text or `{en: …}` itself.
 */
export function inEnglish(object: JsonRecord, property: 'name' | 'description'): string {
  const own = object[property]
  const languages = record(own !== null && typeof own === 'object' ? own : object[`${property}s`])
  const english = Object.keys(languages).find((language) => language.toLowerCase().startsWith('en'))
  if (english !== undefined) return textOf(languages[english])
  return textOf(own) || textOf(Object.values(languages)[0])
}
