import { checkEncoding, type EncodeOptions, type Format, type QueryOptions } from '../../engine/index.ts'
import { ALIASES, type ParameterSchema } from '../http/query.ts'
import { FORMAT_NAMES } from '../transfers/formats.ts'

/** The parameters for how a format is written. The engine checks which of them fit the format. */
const ENCODING_PARAMETERS = {
  $bom: {
    type: 'boolean',
    description: 'csv, tsv: begins with a byte order mark, by which Excel knows UTF-8.',
  },
  $delimiter: {
    type: 'string',
    description:
      'csv: what stands between fields in place of the comma: one sign that no number, date or uuid has, as `;` or `|`, or `tab`.',
    examples: [';'],
  },
  $decimal: {
    type: 'string',
    enum: ['.', ','],
    description:
      'csv, tsv: what stands before the places of doubles and decimals. A comma needs another `$delimiter`.',
  },
  $null: {
    type: 'string',
    description:
      'csv, tsv: a text for null, as `NA`; null is an empty field otherwise. Values that look the same have quotes.',
    examples: ['NA'],
  },
  $formulas: {
    type: 'string',
    enum: ['escape'],
    description:
      'csv, tsv: puts an apostrophe before texts and names that begin with `=`, `+`, `-`, `@` (in half or full width), ' +
      'a tab or a carriage return, and quotes around them, so that no spreadsheet calculates them. Numbers stay as ' +
      'they are. Without it the texts are as they were uploaded.',
  },
  $overlong: {
    type: 'string',
    enum: ['cut'],
    description:
      'xlsx: texts of more than the 32,767 characters of a cell are cut, and say so at their end; otherwise they are 400.',
  },
} as const satisfies Readonly<Record<string, ParameterSchema>>

/** The parameters of every table of rows. As in OData, `$` may be left out of their names and case does not matter. */
export function rowParameters<const Default extends Format>(defaultFormat: Default) {
  return {
    $format: {
      type: 'string',
      enum: FORMAT_NAMES,
      default: defaultFormat,
      description:
        'The format of the rows, by its short name or its media type. Without it `Accept` decides, where it names one.',
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
    ...ENCODING_PARAMETERS,
  } as const satisfies Readonly<Record<string, ParameterSchema>>
}

/** The values of the parameters of `rowParameters`, without the format. */
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

/** The values of the parameters of `ENCODING_PARAMETERS`. */
export interface EncodingQuery {
  readonly $bom?: boolean | undefined
  readonly $delimiter?: string | undefined
  readonly $decimal?: string | undefined
  readonly $null?: string | undefined
  readonly $formulas?: string | undefined
  readonly $overlong?: string | undefined
}

/**
 * The options for writing the rows; undefined if none are given.
 * @throws EngineError `invalid_option` if they do not fit the format
 */
export function encodingOf(query: EncodingQuery, format: Format): EncodeOptions | undefined {
  const { $bom: bom, $decimal: decimal, $null: missing, $formulas: formulas } = query
  const delimiter = query.$delimiter === 'tab' ? '\t' : query.$delimiter
  const dialect = { bom, delimiter, decimal, null: missing, formulas }
  const given = Object.values(dialect).some((value) => value !== undefined)
  if (!given && query.$overlong === undefined) return undefined
  const options = { ...(given && { dialect }), overlong: query.$overlong } as EncodeOptions
  checkEncoding(format, options)
  return options
}
