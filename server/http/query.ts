import { nearest } from '../../engine/index.ts'
import { ServerError } from './errors.ts'

/** A parameter of a query string, as JSON Schema; the same that the OpenAPI document shows. */
export interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'object'
  readonly description: string
  readonly [keyword: string]: unknown
}

/** The parameters that a route takes, as JSON Schema. */
export interface QuerySchema {
  readonly type: 'object'
  readonly additionalProperties: false
  readonly properties: Readonly<Record<string, ParameterSchema>>
}

/** The schema of a query string with these parameters and no others. */
export function parameters<const Properties extends QuerySchema['properties']>(properties: Properties) {
  return { type: 'object', additionalProperties: false, properties } as const
}

/** Stands in a schema for parameter aliases, `@p=5`, under any names (OData 4.01 part 2, 5.3). */
export const ALIASES = '@'

/** Authenticates, so it may stand on every path. */
const API_KEY = 'apiKey'

/** In any case: some clients write all parameters in small letters. */
const isApiKey = (name: string): boolean => name.toLowerCase() === 'apikey'

/** What makes an address a link of ours; it always stands last. */
const TICKET = /(?:^|&)ticket=[^&]*$/

/** Whether an address says that it is a link of ours, which opens without a key. */
export function isLink(url: string): boolean {
  return TICKET.test(rawQuery(url))
}

/** The query string of a request's URL, without the question mark. */
export function rawQuery(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** The `apiKey` of a query string; undefined where there is none, or more than one. */
export function apiKeyIn(query: string): string | undefined {
  try {
    const keys = pairs(query).filter(([name]) => isApiKey(name))
    return keys.length === 1 ? keys[0]![1] : undefined
  } catch {
    return undefined
  }
}

/**
 * The parameters of a query string under the names and with the types of a schema. The names that begin with `$` are
 * OData's: they may come without it and in any case (OData 4.01 part 2, 5).
 * @throws ServerError `invalid_query`, `invalid_url`
 */
export function readQuery(query: string, schema: QuerySchema | undefined): Record<string, unknown> {
  const known = schema?.properties ?? {}
  const values: Record<string, unknown> = {}
  const seen = new Set<string>()
  const aliases: Record<string, string> = {}
  for (const [given, text] of pairs(query.replace(TICKET, ''))) {
    const isAlias = given.startsWith('@') && Object.hasOwn(known, ALIASES)
    const name = isAlias ? given : isApiKey(given) ? API_KEY : parameterName(given, known)
    if (name === undefined) throw invalid(unknownParameter(given, Object.keys(known)))
    if (seen.has(name)) {
      throw invalid(`The query parameter ${name} is given twice${given === name ? '' : ` (as ${given})`}.`)
    }
    seen.add(name)
    if (isAlias) aliases[given] = text
    else if (name !== API_KEY) values[name] = typed(name, text, known[name]!)
  }
  if (Object.keys(aliases).length > 0) values[ALIASES] = aliases
  return values
}

/** Names and values, split at `&` and at the first `=`, `+` read as a blank, and percent-decoded once. */
function pairs(query: string): [name: string, value: string][] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=')
      return equals < 0
        ? [decoded(part), '']
        : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))]
    })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ServerError('invalid_url', 'The query string holds malformed percent-encoding.')
  }
}

function parameterName(given: string, known: QuerySchema['properties']): string | undefined {
  if (Object.hasOwn(known, given) && given !== ALIASES) return given
  const option = `$${given.replace(/^\$/, '').toLowerCase()}`
  return Object.hasOwn(known, option) ? option : undefined
}

function unknownParameter(given: string, known: readonly string[]): string {
  if (given.startsWith('@')) return `Parameter aliases, as ${JSON.stringify(given)}, are not supported here.`
  const names = [...known.filter((name) => name !== ALIASES), API_KEY]
  // `tpo` is nearer to `$top` than its missing dollar sign lets it seem.
  const meant = nearest(
    given.replace(/^\$/, ''),
    names.map((name) => name.replace(/^\$/, '')),
  )
  const likely = names.find((name) => name.replace(/^\$/, '') === meant)
  const hint = likely === undefined ? '' : ` Did you mean ${likely}?`
  const list = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return `Unknown query parameter ${JSON.stringify(given)}.${hint} Known here ${names.length === 1 ? 'is' : 'are'} ${list}.`
}

function typed(name: string, text: string, schema: ParameterSchema): unknown {
  switch (schema.type) {
    case 'string':
      return text
    case 'integer':
      if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
      throw invalid(`${name} must be a whole number that is not negative; it is ${JSON.stringify(text)}.`)
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true'
      throw invalid(`${name} must be true or false; it is ${JSON.stringify(text)}.`)
    case 'object':
      throw new TypeError('only aliases are an object')
    default:
      throw schema.type satisfies never
  }
}

function invalid(message: string): ServerError {
  return new ServerError('invalid_query', message)
}
