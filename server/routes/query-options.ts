import { FORMATS, type Format, type QueryOptions } from '../../engine/index.ts'
import type { ParameterSchema } from '../http/query.ts'

/** The parameters that every table of rows takes. OData's rules for names: `$` may be left out, case does not matter. */
export function rowParameters<const Default extends Format>(defaultFormat: Default) {
  return {
    $format: {
      type: 'string',
      enum: FORMATS,
      default: defaultFormat,
      description: 'The format of the rows.',
      examples: ['csv'],
    },
    $filter: {
      type: 'string',
      description:
        "An OData 4.01 expression over the columns, as `delay gt 100 and origin eq 'LAX'`. Names of columns are " +
        'case-sensitive; those that are no identifier are written in double quotes, as `"Unit price" gt 5`.',
    },
    $select: {
      type: 'string',
      description: 'Columns, separated by commas, as `origin,delay`; their order is kept.',
    },
    $orderby: {
      type: 'string',
      description:
        'Columns to sort by, each with `asc` or `desc`, as `delay desc,origin`. Equals keep the order of upload.',
    },
    $top: {
      type: 'integer',
      minimum: 0,
      description: 'At most so many rows, from the start; not together with `$last`.',
      examples: [5],
    },
    $last: {
      type: 'integer',
      minimum: 0,
      description: 'At most so many rows, from the end; not together with `$top` or `$skip`.',
    },
    $skip: { type: 'integer', minimum: 0, description: 'Rows to pass over at the start.' },
  } as const satisfies Readonly<Record<string, ParameterSchema>>
}

/** What `rowParameters` describes, without the format. */
interface RowQuery {
  readonly $filter?: string | undefined
  readonly $select?: string
  readonly $orderby?: string
  readonly $top?: number
  readonly $last?: number
  readonly $skip?: number
}

/** The part of a query that the engine answers. */
export function queryOptions({ $filter, $select, $orderby, $top, $last, $skip }: RowQuery): QueryOptions {
  const given = { filter: $filter, select: $select, orderBy: $orderby, top: $top, last: $last, skip: $skip }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
