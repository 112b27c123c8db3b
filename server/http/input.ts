import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { nearest } from '../../engine/index.ts'
import { failedAtNotFinite, NOT_FINITE } from '../../engine/ingest/text/errors.ts'
import { describe, type Option, type OptionTable } from '../../engine/options.ts'
import { isApiKey, withoutTicket } from './addresses.ts'
import { faultSentence, jsonFault } from './answer-errors.ts'
import { ServerError } from './errors.ts'

/** A parameter of a query string, as JSON Schema. The OpenAPI document shows the same schema. */
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

/** The parameters for a page of a list. @param limit its bounds; without a default, the page is the whole list */
export function pageOf(
  what: string,
  limit: { readonly minimum: number; readonly default?: number; readonly maximum?: number },
) {
  const all = limit.default === undefined ? '; all of them by default' : ''
  return {
    limit: { type: 'integer', ...limit, description: `The largest number of ${what} to return${all}.` },
    offset: { type: 'integer', minimum: 0, default: 0, description: `The number of ${what} to skip.` },
  } as const
}

/**
 * This name in a schema allows parameter aliases of any name, such as `@p=5` (OData 4.01 part 2, 5.3). The parameter
 * itself may hold them as a JSON object, because generated clients can't send parameters of any name.
 */
const ALIASES = 'aliases'

/** The parameter that authenticates, so it is allowed on every path. */
const API_KEY = 'apiKey'

/** The `apiKey` of a query string; undefined if there is none or more than one. */
export function apiKeyIn(query: string): string | undefined {
  try {
    const keys = pairs(query).filter(([name]) => isApiKey(name))
    return keys.length === 1 ? keys[0]![1] : undefined
  } catch {
    return undefined
  }
}

/**
 * The parameters of a query string, with the names and types of a schema. Names that begin with `$` are OData's:
 * clients may leave out the `$` and use upper or lower case (OData 4.01 part 2, 5).
 * @throws ServerError `invalid_query`, `invalid_url`
 */
export function readQuery(query: string, schema: QuerySchema | undefined): Record<string, unknown> {
  const known = schema?.properties ?? {}
  const values: Record<string, unknown> = {}
  const seen = new Set<string>()
  const aliases: [name: string, value: string][] = []
  for (const [given, text] of pairs(withoutTicket(query))) {
    const isAlias = given.startsWith('@') && Object.hasOwn(known, ALIASES)
    const name = isAlias ? given : isApiKey(given) ? API_KEY : parameterName(given, known)
    if (name === undefined) throw invalid(given, unknownParameter(given, Object.keys(known)))
    if (seen.has(name)) {
      throw invalid(
        name,
        `The query parameter ${name} is given twice${given === name ? '' : ` (as ${given})`}.`,
      )
    }
    seen.add(name)
    if (isAlias) aliases.push([given, text])
    else if (name === ALIASES) aliases.push(...aliasesIn(text, seen))
    else if (name !== API_KEY) values[name] = typed(name, text, known[name]!)
  }
  if (aliases.length > 0) values[ALIASES] = Object.fromEntries(aliases)
  return values
}

/** Names and values, split at `&` and at the first `=`, with `+` read as a blank, and percent-decoded once. */
function pairs(query: string): [name: string, value: string][] {
  try {
    // `URLSearchParams` would leave malformed encoding as it is.
    decodeURIComponent(query)
  } catch {
    throw new ServerError('invalid_url', 'The query string contains malformed percent-encoding.')
  }
  // It takes one question mark from the beginning.
  return [...new URLSearchParams(`?${query}`)]
}

function parameterName(given: string, known: QuerySchema['properties']): string | undefined {
  if (Object.hasOwn(known, given)) return given
  const option = `$${given.replace(/^\$/, '').toLowerCase()}`
  return Object.hasOwn(known, option) ? option : undefined
}

/** The aliases of a JSON object. Their names are added to those that were seen. */
function aliasesIn(text: string, seen: Set<string>): [name: string, value: string][] {
  const wrong = `${ALIASES} must be a JSON object whose names begin with @, as {"@p":"'LAX'"}.`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid(ALIASES, wrong)
  }
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (
    entries.length === 0 ||
    !entries.every(([name, one]) => name.startsWith('@') && typeof one === 'string')
  )
    throw invalid(ALIASES, wrong)
  for (const [name] of entries) {
    if (seen.has(name)) throw invalid(name, `The query parameter ${name} is given twice.`)
    seen.add(name)
  }
  return entries
}

/** What other services call our options. */
const ELSEWHERE: readonly (readonly [name: string, words: string])[] = [
  ['$top', 'limit take first rows n'],
  ['$last', 'tail'],
  ['$skip', 'offset'],
  ['$filter', 'where query'],
  ['$search', 'q'],
  ['$orderby', 'sort order sortby'],
  ['$select', 'columns fields'],
  ['$apply', 'group groupby aggregate'],
]

function unknownParameter(given: string, known: readonly string[]): string {
  if (given.startsWith('@'))
    return `Parameter aliases such as ${JSON.stringify(given)} are not supported here.`
  const names = [...known.filter((name) => name !== ALIASES), API_KEY]
  const plain = given.replace(/^\$/, '')
  const word = plain.toLowerCase().replaceAll('_', '')
  const [elsewhere = ''] = ELSEWHERE.find(([, names]) => names.split(' ').includes(word)) ?? []
  // Compared without the dollar sign, so that `tpo` is found to be near to `$top`.
  const byPlain = new Map(names.map((name) => [name.replace(/^\$/, ''), name]))
  const likely = names.includes(elsewhere)
    ? elsewhere
    : byPlain.get(nearest(plain, [...byPlain.keys()]) ?? '')
  const hint = likely === undefined ? '' : ` Did you mean ${likely}?`
  const list = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return `Unknown query parameter ${JSON.stringify(given)}.${hint} Valid parameters: ${list}.`
}

function typed(name: string, text: string, schema: ParameterSchema): unknown {
  switch (schema.type) {
    case 'string':
      return text
    case 'integer':
      if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
      throw invalid(name, `${name} must be a non-negative integer (got ${JSON.stringify(text)}).`)
    case 'boolean':
      if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
      throw invalid(name, `${name} must be true or false (got ${JSON.stringify(text)}).`)
    case 'object':
      throw new TypeError('only aliases are an object')
    default:
      throw schema.type satisfies never
  }
}

function invalid(option: string, message: string): ServerError {
  return new ServerError('invalid_query', message, { details: { option } })
}

/** Options as parameters of a query string. */
export type OptionParameters<Table extends OptionTable> = {
  readonly [Name in keyof Table as Table[Name]['http']]: (typeof SCHEMAS)[Table[Name]['kind']] &
    ParameterSchema
}

const SCHEMAS = {
  text: { type: 'string' },
  count: { type: 'integer' },
  flag: { type: 'boolean' },
  character: { type: 'string' },
  texts: { type: 'string' },
  columns: { type: 'string' },
  order: { type: 'string' },
  aliases: { type: 'object', additionalProperties: { type: 'string' } },
} as const satisfies Readonly<Record<Option['kind'], object>>

/** Generators of clients name the values of an `enum`, and some find no name for a sign. */
const SIGNS: Readonly<Record<string, string>> = {
  '.': 'Point',
  ',': 'Comma',
  ' ': 'Space',
  "'": 'Apostrophe',
  '"': 'QuotationMark',
  '\\': 'ReverseSolidus',
}

/** The parameters of a query string for options, as JSON Schema. */
export function parametersOf<Table extends OptionTable>(table: Table): OptionParameters<Table> {
  const all = Object.entries(table).map(([name, { http, kind, values, example }]) => [
    http,
    {
      ...SCHEMAS[kind],
      ...(kind === 'count' && { minimum: 0 }),
      ...(values && { enum: values }),
      ...(values?.some((value) => Object.hasOwn(SIGNS, value)) && {
        documented: { 'x-enum-varnames': values.map((value) => SIGNS[value] ?? value) },
      }),
      description: describe(name, table),
      ...(example !== undefined && { examples: [example] }),
    },
  ])
  return Object.fromEntries(all)
}

/** A JSON merge patch (RFC 7396): fields to change, and null for those to remove. */
const MERGE_PATCH = 'application/merge-patch+json'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** So many digits tell every double apart. */
const MOST_DIGITS = 17

/** Accepts only JSON bodies. An empty body counts as none, so that a DELETE may have a JSON `Content-Type`. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    ['application/json', MERGE_PATCH],
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      const { 'content-type': type, 'content-encoding': coding = 'identity' } = request.headers
      checkParameters(type)
      if (type?.toLowerCase().startsWith(MERGE_PATCH) && request.method !== 'PATCH') {
        throw new ServerError('unsupported_media_type', `${MERGE_PATCH} is for PATCH; send application/json.`)
      }
      if (coding.trim().toLowerCase() !== 'identity') {
        throw new ServerError('unsupported_media_type', 'The body must be sent without Content-Encoding.')
      }
      return parseJson(body)
    },
  )
}

/** Refuses numbers that JavaScript would read as others, because they may be values of rows. */
function requireExact(_key: string, value: unknown, { source = '' }: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value
  const digits = source.replace(/e.*/i, '').replace(/\D/g, '').replace(/^0+/, '')
  const isExact =
    Number.isFinite(value) &&
    (/^-?\d+$/.test(source) ? BigInt(source) === BigInt(value) : digits.length <= MOST_DIGITS)
  if (isExact) return value
  throw new ServerError(
    'invalid_body',
    `The number ${source} is too large or has too many digits to be read exactly; send it as text, in quotes.`,
  )
}

/**
 * Refuses parameters of a `Content-Type` that we would not obey: another charset than UTF-8, or, for csv, that there is
 * no header before the rows (RFC 4180, 3).
 * @throws ServerError `unsupported_media_type`
 */
export function checkParameters(type = ''): void {
  const isDelimited = /^text\/(csv|tab-separated-values)\b/i.test(type)
  for (const parameter of type.split(';').slice(1)) {
    const [name = '', value = ''] = parameter.split('=', 2).map((part) => part.trim().toLowerCase())
    const text = value.replace(/^"(.*)"$/, '$1')
    if (name === 'charset' && !/^(utf-?8|us-ascii)$/.test(text)) {
      const option = isDelimited
        ? ', or without a charset and with the option encoding=latin1 or encoding=utf-16 in the URL'
        : ''
      throw new ServerError(
        'unsupported_media_type',
        `The charset ${text} is not supported; send text as UTF-8${option}.`,
      )
    }
    if (name === 'header' && text === 'absent') {
      throw new ServerError(
        'unsupported_media_type',
        `The content type says header=absent, which is not supported there; ${
          isDelimited
            ? 'write it as an option in the URL: ?header=absent'
            : 'only csv and tsv can have a header'
        }.`,
      )
    }
  }
}

/** @throws ServerError `invalid_json`, `invalid_body` */
function parseJson(body: Uint8Array): unknown {
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    throw new ServerError('invalid_json', 'The body is not valid JSON: it is not UTF-8.')
  }
  try {
    // The types of TypeScript don't have the source text of numbers yet.
    const value = JSON.parse(text, requireExact as Parameters<typeof JSON.parse>[1])
    refuseRepeated(text)
    return value
  } catch (error) {
    if (error instanceof ServerError) throw error
    const fault = jsonFault(error)
    const help = failedAtNotFinite(fault) ? ` ${NOT_FINITE}.` : ''
    throw new ServerError('invalid_json', `The body is not valid JSON: ${fault}.${help}`)
  }
}

/** Refuses valid JSON in which an object has a name twice, of which JSON.parse would take the last. */
function refuseRepeated(json: string): void {
  const open: Set<string>[] = []
  const colon = /\s*:/y
  let quote = -1
  for (const { 0: token, index } of json.matchAll(/\\.|["{}]/g)) {
    if (token === '"' && quote < 0) quote = index
    else if (token === '"') {
      const name: string = JSON.parse(json.slice(quote, index + 1))
      quote = -1
      colon.lastIndex = index + 1
      if (!colon.test(json)) continue
      const names = open.at(-1)!
      if (names.has(name))
        throw new ServerError('invalid_json', `The body has ${JSON.stringify(name)} twice in one object.`)
      names.add(name)
    } else if (quote >= 0) continue
    else if (token === '{') open.push(new Set())
    else open.pop()
  }
}

/**
 * It stops at the first error, because the answer names only one; `verbose` gives the wrong value. Compiling the schema
 * of schemas would take as long as the routes' own, and Ajv refuses unknown and wrong keywords without it.
 */
const ajv = new Ajv({
  verbose: true,
  allowUnionTypes: true,
  keywords: ['documented', 'component'],
  meta: false,
  validateSchema: false,
})

const check: FastifySchemaCompiler<unknown> = ({ schema }) => compiledLate(schema as object)
// The schemas of answers are only for documentation: the routes build each answer field by field themselves.
const serialize = () => (data: unknown) => JSON.stringify(data)

/** For an application that has these from the beginning: Fastify then doesn't load those that it would use otherwise. */
export const COMPILERS = {
  // Fastify declares the type of its own compiler, which takes more kinds of schema than a route can have.
  buildValidator: () => check as (schema: unknown) => never,
  buildSerializer: () => serialize,
}

/** Makes an instance check bodies and query strings against the routes' schemas without changing any value. */
export function validateStrictly(app: FastifyInstance): void {
  app.setValidatorCompiler(check)
  app.setSerializerCompiler(serialize)
  app.setSchemaErrorFormatter((errors, part) => {
    const error = errors[0] as unknown as ErrorObject
    return part === 'querystring'
      ? invalid(error.instancePath.slice(1), faultSentence(error, ''))
      : new ServerError('invalid_body', faultSentence(error, 'The body'))
  })
}

/** Compiles a schema with its first value: a start would compile those of all routes, of which few are asked soon. */
function compiledLate(schema: object) {
  let check: ValidateFunction | undefined
  const validate = (value: unknown): boolean => {
    check ??= ajv.compile(schema)
    const isValid = check(value)
    validate.errors = check.errors
    return isValid
  }
  validate.errors = null as ValidateFunction['errors']
  return validate
}
