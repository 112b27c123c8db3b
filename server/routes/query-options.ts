import { FORMATS, type Format, type QueryOptions } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { ALIASES, type ParameterSchema } from '../http/query.ts'
import { FORMAT_FACTS } from '../transfers/formats.ts'

function mediaType(format: Format): string {
  return FORMAT_FACTS[format].contentType.split(';')[0]!
}

/** What `$format` takes. */
const FORMAT_NAMES: readonly string[] = [...FORMATS, ...FORMATS.map(mediaType)]

/** The parameters that every table of rows takes. OData's rules for names: `$` may be left out, case does not matter. */
export function rowParameters<const Default extends Format>(defaultFormat: Default) {
  return {
    $format: {
      type: 'string',
      enum: FORMAT_NAMES,
      default: defaultFormat,
      description: 'The format of the rows, by its short name or its media type.',
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
        'Columns or expressions to sort by, each with `asc` or `desc`, as `delay desc,length(origin)`. Equals keep ' +
        'the order of upload.',
    },
    $apply: {
      type: 'string',
      description:
        'Transformations of the table, one after the other, as ' +
        '`filter(delay gt 0)/groupby((origin),aggregate(delay with average as mean,$count as flights))`. All other ' +
        'options speak of what comes out. Groups stand in the order in which they first appear.',
    },
    $compute: {
      type: 'string',
      description:
        'Further columns, as `distance mul 1.609 as km`, for `$filter`, `$orderby` and `$select`, too.',
    },
    $search: {
      type: 'string',
      description:
        'Words and "phrases" that the text columns hold, with `AND`, `OR`, `NOT` and parentheses; case and accents do ' +
        'not count.',
    },
    $count: { type: 'boolean', description: 'Whether the answer must have `Row-Count`.' },
    [ALIASES]: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        "Parameter aliases: `@p='LAX'` beside `$filter=origin eq @p`. A list stands in parentheses.",
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
  readonly $apply?: string
  readonly $compute?: string
  readonly $search?: string
  readonly [ALIASES]?: Readonly<Record<string, string>>
}

/** The part of a query that the engine answers. */
export function queryOptions(query: RowQuery): QueryOptions {
  const given = {
    filter: query.$filter,
    apply: query.$apply,
    compute: query.$compute,
    search: query.$search,
    aliases: query[ALIASES],
    select: query.$select,
    orderBy: query.$orderby,
    top: query.$top,
    last: query.$last,
    skip: query.$skip,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** The format that a name of `FORMAT_NAMES` means. @throws ServerError `invalid_query` */
export function formatOf(name: string): Format {
  const format = FORMATS.find((one) => one === name || mediaType(one) === name)
  if (format) return format
  throw new ServerError(
    'invalid_query',
    `$format is one of ${FORMATS.join(', ')}, or a media type of theirs.`,
  )
}
