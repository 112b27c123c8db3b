/**
 * Every option of a query, of a file that is written and of a file that is read: one row each. The library's types and
 * checks, the parameters of HTTP and OData, the client, the commands, the tools for agents and the documentation are
 * made from these rows, by `option-values.ts`. Neither imports anything, so that browsers can load them.
 */

import type { OptionTable } from './types/option-values.ts'

export { READING, UPLOADING } from './ingest/options.ts'
export type * from './types/option-values.ts'
export {
  brief,
  describe,
  fromHttp,
  fromPlain,
  lowerFirst,
  type NameOf,
  type Names,
  optionTexts,
  pick,
  plainName,
  sortText,
  toHttp,
  unknownOption,
  wrongOption,
} from './types/option-values.ts'

/** Which rows and columns a query gives. */
export const QUERY = {
  filter: {
    http: '$filter',
    kind: 'text',
    about:
      "Keeps the rows that match an OData 4.01 expression, for example `delay gt 100 and origin eq 'LAX'`.",
    details:
      'Text is written in single quotes, dates as `2024-01-31`. Column names are case-sensitive; a name that is not ' +
      'an identifier is written in double quotes, for example `"Unit price" gt 5`.',
  },
  apply: {
    http: '$apply',
    kind: 'text',
    about:
      'Groups, aggregates and transforms the rows, for example ' +
      '`filter(delay gt 0)/groupby((origin),aggregate(delay with average as mean,$count as flights))`.',
    details:
      'All other options apply to the result. Groups come in the order in which they first appear in the table.',
  },
  compute: {
    http: '$compute',
    kind: 'text',
    about: 'Adds computed columns, for example `distance mul 1.609 as km`.',
    details: '`$filter`, `$orderby` and `$select` can use them too.',
  },
  search: {
    http: '$search',
    kind: 'text',
    about: 'Words and "phrases" to find in the text columns, with `AND`, `OR`, `NOT` and parentheses.',
    details: 'Case and accents do not matter.',
  },
  aliases: {
    http: 'aliases',
    kind: 'aliases',
    about:
      "Parameter aliases, each written as a parameter of its own: `@p='LAX'` with `$filter=origin eq @p`.",
    details:
      'A list is written in parentheses. Clients that can only send this parameter write them as a JSON object.',
  },
  select: {
    http: '$select',
    kind: 'columns',
    about: 'The columns to return, in this order, for example `origin,delay`.',
  },
  orderBy: {
    http: '$orderby',
    kind: 'order',
    about:
      'Columns or expressions to sort by, each with `asc` or `desc`, for example `delay desc,length(origin)`.',
    details: 'Rows that are equal in all of them keep the order of upload.',
  },
  top: {
    http: '$top',
    kind: 'count',
    excludes: ['last'],
    about: 'Returns at most this many rows, from the start.',
    example: 5,
  },
  skip: {
    http: '$skip',
    kind: 'count',
    excludes: ['last'],
    about: 'The number of rows to skip at the start.',
  },
  last: {
    http: '$last',
    kind: 'count',
    excludes: ['top', 'skip'],
    about: 'Returns at most this many rows, from the end, in the same order.',
  },
} as const satisfies OptionTable

/** Which version of a dataset is read; without them, the current one. */
export const VERSION = {
  version: {
    http: '$version',
    kind: 'count',
    excludes: ['asOf'],
    about: 'Reads an earlier version of the dataset, by its number.',
    details: '`GET /datasets/{id}/versions` lists those that are kept.',
  },
  asOf: {
    http: 'asOf',
    kind: 'text',
    excludes: ['version'],
    about:
      'Reads the version that was current at a moment, for example `2024-01-31` or `2024-01-31T12:00:00Z`.',
    details: 'A date means its end, in UTC.',
  },
} as const satisfies OptionTable

/** How the rows of an upload come to those that are there. */
export const ADDING = {
  mode: {
    http: 'mode',
    kind: 'text',
    values: ['append', 'upsert'],
    about: 'With `upsert`, rows take the place of those with the same key; the others are appended.',
    details:
      'A column that a row does not name keeps its value. New rows come after the rows that stay. ' +
      '`Prefer: resolution=merge-duplicates` means the same.',
  },
  on: {
    http: 'on',
    kind: 'texts',
    about: 'The columns by which an upsert finds rows if the dataset has no key, for example `date,series`.',
  },
} as const satisfies OptionTable

/** What is written down about a change of rows. */
export const CHANGE = {
  note: {
    http: 'note',
    kind: 'text',
    pattern: /^[^\0]{0,1000}$/,
    inProse: 'text of at most 1000 characters',
    about: 'Why the rows change, for the list of versions.',
  },
} as const satisfies OptionTable

const TEXT = ['csv', 'tsv'] as const

/** How csv and tsv are written. */
export const DIALECT = {
  bom: {
    http: '$bom',
    kind: 'flag',
    formats: TEXT,
    about: 'Starts the file with a byte order mark, by which Excel recognizes UTF-8.',
  },
  delimiter: {
    http: '$delimiter',
    kind: 'character',
    formats: ['csv'],
    // Characters that never occur in a number, date, time, uuid or base64, so that such values never need quotes.
    pattern: /^[\t !#$%&'()*,;<>?@[\\\]^_`{|}~]$/,
    inProse: 'one character that no number, date or uuid contains, such as , ; | or a tab',
    about: 'The character between fields, for example `;` or `|`; a comma by default.',
    details: 'No number, date or uuid may contain it. In addresses and commands, `tab` is a tab.',
    example: ';',
  },
  decimal: {
    http: '$decimal',
    kind: 'text',
    values: ['.', ','],
    formats: TEXT,
    about: 'The decimal separator of doubles and decimals.',
    details: 'A comma needs another `$delimiter`.',
  },
  null: {
    http: '$null',
    kind: 'text',
    formats: TEXT,
    about:
      'The text for null, for example `NA`; by default an empty field, or `""` where there is one column.',
    details: 'Values with the same text are quoted.',
    example: 'NA',
  },
  formulas: {
    http: '$formulas',
    kind: 'text',
    values: ['escape'],
    formats: TEXT,
    about: 'Puts an apostrophe before text that a spreadsheet would run as a formula.',
    details:
      'Such text, also in names of columns, begins with `=`, `+`, `-`, `@` (in half or full width), a tab or a ' +
      'carriage return. Numbers stay as they are. Without it, text is written as it was uploaded.',
  },
} as const satisfies OptionTable

/** How formats other than csv and tsv are written. */
export const OTHER_FORMATS = {
  overlong: {
    http: '$overlong',
    kind: 'text',
    values: ['cut'],
    formats: ['xlsx'],
    about: 'Cuts text that is longer than the 32,767 characters of a cell and marks its end.',
    details: 'Without it, such text is an error.',
  },
  decimals: {
    http: '$decimals',
    kind: 'text',
    values: ['text'],
    formats: ['json', 'ndjson'],
    about: 'Writes decimals as strings, which keep all digits in programs that read numbers as doubles.',
  },
  encoding: {
    http: '$encoding',
    kind: 'text',
    values: ['plain', 'compact'],
    formats: ['parquet', 'arrow', 'arrow-file'],
    about:
      '`plain` uses only what every reader of the format knows, such as Spark and fastparquet, or Perspective; `compact` makes smaller files of Parquet.',
    details:
      'With `plain`, uuid and time columns are text, in Arrow json ones as well, and in Parquet no values are encoded as differences or split into streams of ' +
      'bytes. Without it, stored values are copied as they are where that is possible.',
  },
} as const satisfies OptionTable

/** How a file is written. */
export const WRITING = { ...DIALECT, ...OTHER_FORMATS }
