import { COLUMN, DECLARED_COLUMNS, dataset, WHERE_SET } from './datasets.ts'
import { count, listOf, named, record, text } from './schema.ts'

const row = { ...count, description: 'From 1, without the header.' } as const

export const BECAUSE = record(
  'TextReason',
  'Why a column is text: the first value that no narrower type of the column holds. Of days that were periods of ' +
    'pandas: their frequency, as `period[M]`.',
  { row, value: text },
  {
    above: {
      ...text,
      description:
        'The type of the values above it, unless they are text or missing. Then it may be in a row of totals.',
    },
    try: {
      ...text,
      description:
        'Options of the upload that may read the value as what it means: `decimal=,&thousands=.`. Of a column that is ' +
        'stored as text, `columns=replace` is among them.',
    },
    or: {
      ...text,
      description:
        'Other options that may: `2.500` is 2500 with `decimal=,&thousands=.` and 2.5 with `decimal=.`.',
    },
  },
)

/** A column as an upload has found it. */
const EXPLAINED_COLUMN = named('ExplainedColumn', {
  ...COLUMN,
  examples: [
    {
      name: 'price',
      type: 'string',
      nullable: true,
      description: '',
      because: { row: 3, value: '1.234,50', above: 'double', try: 'decimal=,&thousands=.' },
    },
  ],
  properties: { ...COLUMN.properties, because: BECAUSE },
})

const options = {
  type: 'object',
  description: 'The options of the upload with which the file was read.',
  additionalProperties: { type: 'string' },
  examples: [{ delimiter: ';' }],
} as const

/** An option that was chosen, and why. */
const WHY = listOf(
  record('ChosenOption', 'An option that `dialect=auto` has chosen, and the first value that shows it.', {
    option: text,
    row: {
      ...count,
      description: 'From 1, without the header; 0 above the rows, or where the row is not known.',
    },
    value: text,
  }),
)

/** What of a file was read. */
const READ = {
  sheet: { ...text, description: 'xlsx: the sheet that was read.' },
  table: { ...text, description: 'sqlite: the table that was read.' },
  entry: { ...text, description: 'zip: the file in the archive that was read.' },
} as const

/** The options that a sentence names, for those who word them in another way. */
export const HINTS = {
  ...listOf(text),
  description: 'The parts of `error` that are options, in their order, as in a query string: `decimal=,`.',
} as const

const WARNINGS = {
  ...listOf(text),
  description: 'What may be wrong with values that could be read, as sentences for people.',
  examples: [[]],
} as const

const OF_WARNINGS = {
  ...HINTS,
  description: 'The parts of `warnings` that are options, in their order, as in a query string: `footer=1`.',
  examples: [[]],
} as const

export const WRITTEN_DATASET = record(
  'WrittenDataset',
  'A table after an upload.',
  { ...dataset, columns: listOf(EXPLAINED_COLUMN) },
  {
    ...WHERE_SET,
    options: { ...options, description: 'The options that `dialect=auto` has chosen.' },
    why: WHY,
    ...READ,
    warnings: WARNINGS,
    hints: OF_WARNINGS,
  },
)

export const FAULT = record(
  'UploadFault',
  'One of the things that are wrong with an upload.',
  { error: { ...text, description: 'A sentence for people.' } },
  { row, column: text, value: text, hints: { ...HINTS, examples: [[]] } },
)

export const PREVIEW = record(
  'Preview',
  'What an upload would become. If it has errors, it has no columns and rows.',
  {
    columns: listOf(EXPLAINED_COLUMN),
    rows: {
      type: 'array',
      items: { type: 'object', additionalProperties: true, examples: [{ price: '1.234,50' }] },
      description: 'The first rows, as in the format json.',
    },
    rowCount: { ...count, description: 'Number of rows in the body.' },
    options,
    warnings: WARNINGS,
    errors: { ...listOf(FAULT), description: 'At most twenty.', examples: [[]] },
  },
  {
    why: WHY,
    hints: OF_WARNINGS,
    sheets: { ...listOf(text), description: 'xlsx: the names of the sheets.' },
    tables: { ...listOf(text), description: 'sqlite: the names of the tables.' },
    entries: { ...listOf(text), description: 'zip: the files in the archive that may be tables.' },
    ...READ,
  },
)

const rows = { columns: DECLARED_COLUMNS } as const

/** Rows as JSON. Two schemas, because generators of clients can't handle items of two types. */
const ROWS_AS_OBJECTS = named('RowsAsObjects', {
  type: 'object',
  title: 'Rows as objects',
  required: ['rows'],
  additionalProperties: false,
  properties: {
    ...rows,
    rows: {
      ...listOf({ type: 'object', additionalProperties: true } as const),
      description: 'Values by column name.',
    },
  },
})

const ROWS_AS_LISTS = named('RowsAsLists', {
  type: 'object',
  title: 'Rows as lists',
  required: ['rows'],
  additionalProperties: false,
  properties: {
    ...rows,
    rows: { ...listOf(listOf({})), description: 'Lists of values in the order of the columns.' },
  },
})

export const SERIES_TO_SAVE = named('SeriesToSave', {
  type: 'object',
  title: 'Series of a provider',
  required: ['provider', 'series'],
  additionalProperties: false,
  properties: {
    provider: { ...text, description: 'Slug of a provider.' },
    series: {
      type: 'array',
      items: text,
      minItems: 1,
      description:
        'Ids of the series to fetch. They are saved as rows with the columns provider, series_id, name, unit, ' +
        'frequency, date or time, period, value and status.',
    },
  },
} as const)

/** An upload as JSON. Not oneOf, because an empty list of rows matches two of them. */
export const JSON_UPLOAD = { anyOf: [ROWS_AS_OBJECTS, ROWS_AS_LISTS, SERIES_TO_SAVE] } as const
