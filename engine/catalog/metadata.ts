import { invalidOption } from '../errors.ts'
import { isPlainText } from '../util/plain-text.ts'

/** What people have written down about a dataset, besides its name and description. */
export interface Metadata {
  readonly title?: string
  /** An SPDX id or expression, such as `CC-BY-4.0`, or a URL. */
  readonly license?: string
  readonly source?: string
  readonly creator?: string
  readonly keywords?: readonly string[]
  readonly citation?: string
}

/** Fields to change; null removes one. */
export type MetadataChanges = { readonly [Name in keyof Metadata]?: Metadata[Name] | null }

/** The most characters of each field; of `keywords`, those of each. */
export const LONGEST_METADATA = {
  title: 300,
  license: 1_000,
  source: 2_000,
  creator: 1_000,
  keywords: 100,
  citation: 5_000,
} as const satisfies Record<keyof Metadata, number>

const MOST_KEYWORDS = 50
const LICENSE = /^(https?:\/\/\S+|[A-Za-z0-9.+() -]+)$/

/**
 * The metadata with some fields changed.
 * @throws EngineError `invalid_option`
 */
export function changedMetadata(old: Metadata, changes: MetadataChanges): Metadata {
  const all: [string, unknown][] = Object.keys(LONGEST_METADATA).map((name) => {
    const value = changes[name as keyof Metadata]
    return [name, value === undefined ? old[name as keyof Metadata] : checked(name as keyof Metadata, value)]
  })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** Whether this is a value of the field, with one keyword or more. */
export function isMetadata(name: keyof Metadata, value: unknown): boolean {
  return problemOf(name, value) === undefined && !(Array.isArray(value) && value.length === 0)
}

function checked(name: keyof Metadata, value: unknown): unknown {
  if (value === null) return undefined
  const problem = problemOf(name, value)
  if (problem !== undefined) throw invalidOption(problem)
  return Array.isArray(value) && value.length === 0 ? undefined : value
}

/** Why this is no value of the field. */
function problemOf(name: keyof Metadata, value: unknown): string | undefined {
  const most = LONGEST_METADATA[name]
  const isText = (one: unknown) => isPlainText(one) && one.trim() !== '' && one.length <= most
  const expected = `text of 1 to ${most} characters that is not blank and has no control characters`
  if (name === 'keywords') {
    if (Array.isArray(value) && value.length <= MOST_KEYWORDS && value.every(isText)) return undefined
    return `keywords must be a list of at most ${MOST_KEYWORDS} keywords, each ${expected}.`
  }
  if (!isText(value)) return `${name} must be ${expected}.`
  if (name !== 'license' || LICENSE.test(value as string)) return undefined
  return 'license must be an SPDX id such as CC-BY-4.0, or a URL.'
}
