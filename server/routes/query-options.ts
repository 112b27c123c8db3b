import type { FastifyRequest } from 'fastify'
import { checkEncoding, type EncodeOptions, type Format, type QueryOptions } from '../../engine/index.ts'
import { fromHttp, QUERY, WRITING } from '../../engine/options.ts'
import type { ParameterSchema } from '../http/query.ts'
import { parametersOf } from '../http/query.ts'
import { chooseFormat, encodingOf, FORMAT_NAMES } from '../transfers/formats.ts'

/** The parameters of every table of rows. As in OData, `$` may be left out of their names and case does not matter. */
export function rowParameters<const Default extends Format>(defaultFormat: Default) {
  return {
    $format: {
      type: 'string',
      enum: FORMAT_NAMES,
      default: defaultFormat,
      description:
        'The format of the rows, by its short name or its media type. Without it, `Accept` decides if it names one ' +
        'of the formats.',
      examples: ['csv'],
    },
    ...parametersOf(QUERY),
    $count: { type: 'boolean', description: 'With true, the response always has the header `Row-Count`.' },
    ...parametersOf(WRITING),
  } as const satisfies Readonly<Record<string, ParameterSchema>>
}

/** Asks what a statement does, in place of its rows. */
export const EXPLAIN = {
  $explain: {
    type: 'boolean',
    description: 'With true, the answer is no rows but JSON: what was read, and what each step took.',
  },
} as const satisfies Readonly<Record<string, ParameterSchema>>

/** Asks what a query does, or what it is called in SQL, in place of its rows. */
export const EXPLAIN_DATA = {
  $explain: {
    type: 'string',
    enum: ['true', 'false', 'sql'],
    description:
      'With `true`, the answer is no rows but JSON: what was read, and what each step took. With `sql`, it is the same ' +
      'question as a statement for `/sql`, and no rows are read.',
  },
} as const satisfies Readonly<Record<string, ParameterSchema>>

/**
 * What a request asks for: the options of the query, which the engine answers, and how its rows are written.
 * @throws ServerError `invalid_query`; EngineError `invalid_option` if options for writing do not fit the format
 */
export function rowsAsked(
  { headers }: FastifyRequest,
  query: { readonly $format?: string | undefined; readonly $count?: boolean | undefined },
  usual: Format,
) {
  const window: QueryOptions = fromHttp(query, QUERY)
  const format = chooseFormat(query.$format, headers.accept, usual)
  const encoding: EncodeOptions = encodingOf(fromHttp(query, WRITING))
  const isPlain = Object.keys(encoding).length === 0
  if (!isPlain) checkEncoding(format, encoding)
  return { window, format, ...(!isPlain && { encoding }), counted: query.$count === true }
}
