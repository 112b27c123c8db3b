/** A JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

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

/** A JSON response in OpenAPI's form. */
export function json(
  schema: JsonSchema,
  description: string,
  more: { example?: unknown; headers?: Readonly<Record<string, HeaderText>> } = {},
) {
  const { example, headers } = more
  return {
    description,
    ...(headers && { headers }),
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  }
}

/** A response without a body. */
export function empty(description: string, headers?: Readonly<Record<string, HeaderText>>) {
  return { description, ...(headers && { headers }) }
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items }
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
