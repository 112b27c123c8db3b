import type { FromSchema, JsonSchema } from '../records/schema.ts'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    /** A body that the handler reads itself. It is documented, but not validated by Fastify. */
    requestBody?: { readonly description: string; readonly content: Readonly<Record<string, unknown>> }
  }
}

/** A response header in OpenAPI's form. */
export interface HeaderText {
  readonly description: string
  readonly schema: JsonSchema
}

type Headers = Readonly<Record<string, HeaderText>>

/** A JSON response in OpenAPI's form. */
export function json<const Schema extends JsonSchema>(
  schema: Schema,
  description: string,
  { example, headers }: { example?: FromSchema<Schema>; headers?: Headers } = {},
) {
  return {
    description,
    ...(headers && { headers }),
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  }
}

/** The response with what a request has made. */
export function made<const Schema extends JsonSchema>(
  schema: Schema,
  description: string,
  example: FromSchema<Schema>,
) {
  return json(schema, description, { example, headers: { Location: LOCATION } })
}

/** A response without a body. */
export function empty(description: string, headers?: Headers) {
  return { description, ...(headers && { headers }) }
}

export const RECORD_TAG: HeaderText = {
  description:
    'Changes with the record. Send it as `If-Match` to make a change only if the record is still the one you have ' +
    'seen.',
  schema: { type: 'string' },
}

export const LOCATION: HeaderText = {
  description: 'Path of the new resource.',
  schema: { type: 'string' },
}
