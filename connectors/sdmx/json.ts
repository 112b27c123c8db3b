import { notUnderstood } from './failures.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Throws `not_understood` for anything that is not JSON: HTML, a body that was cut off. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw notUnderstood('text that is not JSON, or JSON that is cut off', cause)
  }
}

/** The object, or an empty one: what an answer leaves out reads like what it leaves empty. */
export function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Text as it is, a number or boolean as text, anything else `''`. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** A localised text: `names: {en: …}` where there is one, else `name`, which is either text or `{en: …}` itself. */
export function inEnglish(object: JsonObject, property: 'name' | 'description' | 'label'): string {
  const own = object[property]
  const languages = typeof own === 'object' ? asObject(own) : asObject(object[`${property}s`])
  const english = Object.keys(languages).find((language) => language.toLowerCase().startsWith('en'))
  if (english !== undefined) return asText(languages[english]).trim()
  return (asText(own) || asText(Object.values(languages)[0])).trim()
}
