import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { faultSentence, jsonFault } from './answer-errors.ts'
import { ServerError } from './errors.ts'

/** A JSON merge patch (RFC 7396): fields to change, and null for those to remove. */
export const MERGE_PATCH = 'application/merge-patch+json'

const utf8 = new TextDecoder('utf-8', { fatal: true })

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

/** @throws ServerError `invalid_json` */
export function parseJson(body: Uint8Array): unknown {
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    throw new ServerError('invalid_json', 'The body is not valid JSON: it is not UTF-8.')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ServerError('invalid_json', `The body is not valid JSON: ${jsonFault(error)}.`)
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
      ? new ServerError('invalid_query', faultSentence(error, ''))
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
