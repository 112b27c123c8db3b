import { ERROR_TABLE } from '../http/errors.ts'
import { type HeaderText, type JsonSchema, json } from './describe.ts'

const RETRY_AFTER: HeaderText = {
  description: 'Seconds after which to try again.',
  schema: { type: 'integer', minimum: 1 },
}

/** The shape of every error. `code` is stable; the sentence may change. */
export const ERROR: JsonSchema = {
  type: 'object',
  required: ['error', 'code'],
  additionalProperties: false,
  properties: {
    error: { type: 'string', description: 'A sentence for people.' },
    code: { type: 'string', description: 'A stable code for programs.' },
  },
}

const REASONS: Readonly<Record<number, { description: string; example: { error: string; code: string } }>> = {
  400: {
    description: 'The request is not valid; `error` says what is wrong and where.',
    example: {
      error: 'Filter contains invalid column(s): foo, Bar. Column names are case-sensitive.',
      code: 'invalid_columns',
    },
  },
  401: {
    description: 'The API key is missing or not valid.',
    example: {
      error: 'The API key is not valid. It may have been mistyped or replaced.',
      code: 'unauthorized',
    },
  },
  402: {
    description: "The account's plan does not allow it.",
    example: {
      error: 'The limit of private repositories is reached: the plan free of account ada allows 1.',
      code: 'plan_limit',
    },
  },
  403: {
    description: 'The account does not have the permission that this needs.',
    example: { error: 'You have Read permission on repository 7; this needs Write.', code: 'forbidden' },
  },
  404: {
    description: 'It does not exist.',
    example: { error: 'There is no dataset 42.', code: 'not_found' },
  },
  405: {
    description: 'The path does not support the method.',
    example: {
      error: 'PATCH is not supported here. Supported methods: GET, HEAD.',
      code: 'method_not_allowed',
    },
  },
  408: {
    description: 'The body stopped arriving; nothing was changed.',
    example: {
      error: 'No data of the body has arrived for 30 seconds. Nothing was changed.',
      code: 'request_timeout',
    },
  },
  409: {
    description: 'The request conflicts with existing data.',
    example: { error: 'The repository already has a dataset named "weather".', code: 'name_taken' },
  },
  410: {
    description: 'That version of the dataset is no longer kept.',
    example: {
      error: 'Version 3 of dataset 42 is no longer kept. Start again with the current one.',
      code: 'version_gone',
    },
  },
  412: {
    description: 'The record has changed since the `ETag` in `If-Match`; nothing was changed.',
    example: {
      error:
        'The record has changed since you read it: its ETag is not the one in If-Match. Nothing was changed.',
      code: 'changed_meanwhile',
    },
  },
  413: {
    description: 'The body is larger than the limit.',
    example: { error: 'The body of the request is larger than the limit.', code: 'body_too_large' },
  },
  414: {
    description: 'The path or the request line is longer than the limit.',
    example: {
      error: 'A part of the path is longer than the limit.',
      code: 'uri_too_long',
    },
  },
  415: {
    description: 'The Content-Type or the Content-Encoding is not supported here.',
    example: {
      error: 'The body must be JSON, sent with Content-Type: application/json.',
      code: 'unsupported_media_type',
    },
  },
  416: {
    description: 'None of the ranges lies in the file.',
    example: {
      error: 'The file has 9423 bytes; none of the ranges lies in it.',
      code: 'range_not_satisfiable',
    },
  },
  429: {
    description:
      "The provider's limit is reached (other providers are unaffected), or too many wrong API keys were sent, or " +
      'the account has sent more requests than it may.',
    example: {
      error: 'The request limit of Alpha Vantage is reached. Save a key of your own to raise it.',
      code: 'provider_limit',
    },
  },
  431: {
    description: 'The request line and the headers together are larger than the limit.',
    example: {
      error: 'The request line and the headers together are larger than the limit.',
      code: 'headers_too_large',
    },
  },
  500: {
    description: 'Something went wrong on our side. The request did not cause it.',
    example: { error: 'Something went wrong on our side. It has been recorded.', code: 'internal' },
  },
  503: {
    description: 'The service is overloaded or shutting down, or a provider is down: try again later.',
    example: { error: 'Too many downloads are running. Try again in a few seconds.', code: 'busy' },
  },
  504: {
    description: 'It took too long: narrow the request with `$top`, `$last`, `$filter` or a date range.',
    example: {
      error:
        'The first byte took longer than 30 seconds. Narrow the request with $top, $last, $filter or a date range.',
      code: 'timeout',
    },
  },
}

/** The error responses by status. The document contains each of them once; operations refer to them. */
export const ERROR_RESPONSES: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.keys(REASONS).map((status) => [status, errorResponse(Number(status))]),
)

/** The error responses of an operation, by status. */
export function errors(...statuses: readonly number[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    statuses.map((status) => {
      const response = ERROR_RESPONSES[status]
      if (!response) throw new Error(`status ${status} is not described`)
      return [status, response]
    }),
  )
}

function errorResponse(status: number) {
  const reason = REASONS[status]!
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
  return json(ERROR, `${reason.description}${codeList(status)}`, { example: reason.example, headers })
}

function codeList(status: number): string {
  const codes = [...ERROR_TABLE].filter(([, entry]) => entry.status === status).map(([code]) => `\`${code}\``)
  return codes.length === 0 ? '' : ` Codes: ${codes.join(', ')}.`
}
