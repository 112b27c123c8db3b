import { ERROR_TABLE } from '../http/errors.ts'
import { listOf, named, text } from '../records/schema.ts'
import { FAULT } from '../records/uploads.ts'
import { type HeaderText, json } from './describe.ts'

const RETRY_AFTER: HeaderText = {
  description: 'Seconds after which to try again.',
  schema: { type: 'integer', minimum: 1 },
}

/** The shape of every error. `code` is stable; the sentence may change. */
const ERROR = named('Error', {
  type: 'object',
  description: 'Why the request failed.',
  required: ['error', 'code'],
  additionalProperties: false,
  properties: {
    error: { ...text, description: 'A sentence for people.' },
    code: { ...text, description: 'A stable code for programs.' },
    errors: {
      ...listOf(FAULT),
      description: 'What is wrong with an upload, at most twenty things; `error` is the first.',
    },
  },
})

/** The error responses by status. The document contains each of them once; operations refer to them. */
export const ERROR_RESPONSES: Readonly<Record<string, ReturnType<typeof errorResponse>>> = Object.fromEntries(
  [...new Set([...ERROR_TABLE.values()].map(({ status }) => status))].map((status) => [
    String(status),
    errorResponse(status),
  ]),
)

/** The error responses of an operation, by status. */
export function errors<const Status extends number>(...statuses: readonly Status[]) {
  const responses = statuses.map((status) => {
    const response = ERROR_RESPONSES[status]
    if (!response) throw new Error(`status ${status} is not described`)
    return [status, response] as const
  })
  return Object.fromEntries(responses) as { readonly [One in Status]: ReturnType<typeof errorResponse> }
}

/** A description with every code of a status, and the first of them as the example. */
function errorResponse(status: number) {
  const entries = [...ERROR_TABLE].filter(([, entry]) => entry.status === status)
  const [code, { when }] = entries[0]!
  const example = { error: `${when.charAt(0).toUpperCase()}${when.slice(1)}.`, code }
  const headers = {
    ...(status === 401 && {
      'WWW-Authenticate': {
        description: 'Asks for Basic authentication.',
        schema: { type: 'string', const: 'Basic realm="parquetry"' },
      },
    }),
    ...((status === 429 || status === 503) && { 'Retry-After': RETRY_AFTER }),
    ...(status === 416 && {
      'Content-Range': { description: 'The bytes of the file: `bytes */9423`.', schema: { type: 'string' } },
    }),
    ...(status === 405 && {
      Allow: { description: 'The methods that the path supports.', schema: { type: 'string' } },
    }),
  }
  const description = entries.map(([code, { when }]) => `- \`${code}\`: ${when}`).join('\n')
  return json(ERROR, description, { example, headers })
}
