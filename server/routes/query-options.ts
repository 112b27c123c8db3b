import { checkEncoding, type EncodeOptions, type Format, type QueryOptions } from '../../engine/index.ts'
import { ALIASES, type ParameterSchema } from '../http/query.ts'
import { FORMAT_NAMES } from '../transfers/formats.ts'

/** The parameters for how a format is written. The engine checks which of them fit the format. */
const ENCODING_PARAMETERS = {
  $bom: {
    type: 'boolean',
    description: 'csv, tsv: starts the file with a byte order mark, by which Excel recognizes UTF-8.',
  },
  $delimiter: {
    type: 'string',
    description:
      'csv: what separates fields instead of a comma: `tab`, or one character that no number, date or uuid contains, ' +
      'for example `;` or `|`.',
    examples: [';'],
  },
  $decimal: {
    type: 'string',
    enum: ['.', ','],
    description:
      'csv, tsv: the decimal separator of doubles and decimals. A comma needs another `$delimiter`.',
  },
  $null: {
    type: 'string',
    description:
      'csv, tsv: how null is written, for example `NA`; without it null is an empty field. Text that looks the same ' +
      'is quoted.',
    examples: ['NA'],
  },
  $formulas: {
    type: 'string',
    enum: ['escape'],
    description:
      'csv, tsv: puts an apostrophe before text and names that begin with `=`, `+`, `-`, `@` (in half or full ' +
      'width), a tab or a carriage return, and quotes around them, so that no spreadsheet runs them as formulas. ' +
      'Numbers stay as they are. Without it, text is written as it was uploaded.',
  },
  $overlong: {
    type: 'string',
    enum: ['cut'],
    description:
      'xlsx: cuts text that is longer than the 32,767 characters of a cell and marks its end. Without it, such text ' +
      'is answered with 400.',
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
        'The format of the rows, by its short name or its media type. Without it, `Accept` decides if it names one ' +
        'of the formats.',
      examples: ['csv'],
    },
    $filter: {
      type: 'string',
      description:
        "An OData 4.01 expression over the columns, for example `delay gt 100 and origin eq 'LAX'`. Column names are " +
        'case-sensitive; a name that is not an identifier is written in double quotes, for example `"Unit price" gt ' +
        '5`.',
    },
    $select: {
      type: 'string',
      description: 'Columns, separated by commas, for example `origin,delay`; their order is kept.',
    },
    $orderby: {
      type: 'string',
      description:
        'Columns or expressions to sort by, each with `asc` or `desc`, for example `delay desc,length(origin)`. Rows ' +
        'that are equal in all of them keep the order of upload.',
    },
    $apply: {
      type: 'string',
      description:
        'Transformations of the table, one after the other, for example ' +
        '`filter(delay gt 0)/groupby((origin),aggregate(delay with average as mean,$count as flights))`. All other ' +
        'options apply to the result. Groups come in the order in which they first appear.',
    },
    $compute: {
      type: 'string',
      description:
        'Computed columns, for example `distance mul 1.609 as km`. `$filter`, `$orderby` and `$select` can use them ' +
        'too.',
    },
    $search: {
      type: 'string',
      description:
        'Words and "phrases" to find in the text columns, with `AND`, `OR`, `NOT` and parentheses; case and accents ' +
        'do not matter.',
    },
    $count: { type: 'boolean', description: 'With true, the response always has the header `Row-Count`.' },
    [ALIASES]: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        "Parameter aliases, for example `@p='LAX'` with `$filter=origin eq @p`. A list is written in parentheses.",
    },
    $top: {
      type: 'integer',
      minimum: 0,
      description: 'Return only the first n rows; not together with `$last`.',
      examples: [5],
    },
    $last: {
      type: 'integer',
      minimum: 0,
      description: 'Return only the last n rows; not together with `$top` or `$skip`.',
    },
    $skip: { type: 'integer', minimum: 0, description: 'Number of rows to skip at the start.' },
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
