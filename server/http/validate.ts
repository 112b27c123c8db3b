import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { faultSentence } from './answer-errors.ts'
import { ServerError } from './errors.ts'

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
