/** A schema as plain data, JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    /** Bodies that are read by the handler itself, so described but not checked by Fastify. */
    requestBody?: { readonly description: string; readonly content: Readonly<Record<string, unknown>> }
  }
}

/** A header of a response, described. */
export interface HeaderText {
  readonly description: string
  readonly schema: JsonSchema
}

/** A response of JSON, as OpenAPI writes it. */
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
    'Changes with the record. Send it as `If-Match` to change what you have seen and nothing newer.',
  schema: { type: 'string' },
}

export const LOCATION: HeaderText = {
  description: 'Path of what was created.',
  schema: { type: 'string' },
}
