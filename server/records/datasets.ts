import { LONGEST_METADATA } from '../../engine/catalog/metadata.ts'
import { OPERATIONS } from '../../engine/catalog/records.ts'
import { type ColumnType, TYPE_PATTERN, TYPES_IN_WORDS } from '../../engine/types/index.ts'
import { description, name } from './repositories.ts'
import {
  count,
  countOrNull,
  fields,
  flag,
  id,
  listOf,
  named,
  object,
  orNull,
  orNulls,
  record,
  type SchemaOf,
  text,
  textOrNull,
  time,
} from './schema.ts'

const words = { ...text, examples: [''] } as const

const columnType = {
  type: 'string',
  pattern: TYPE_PATTERN,
  description: `One of ${TYPES_IN_WORDS}.`,
  examples: ['date'],
} as const

/** What people have written down about a column. */
const WORDS = {
  title: { ...text, description: 'What people call it.' },
  unit: { ...text, description: 'The unit of its values.' },
} as const

const column = {
  name: { ...text, description: 'Case-sensitive; may contain any character.', examples: ['date'] },
  type: columnType as unknown as SchemaOf<ColumnType>,
  nullable: flag,
  description: words,
} as const

export const COLUMN = record('Column', 'A column of a dataset.', column, WORDS)

/** What people have written down about a dataset. */
const METADATA = {
  title: { ...text, maxLength: LONGEST_METADATA.title },
  license: { ...text, maxLength: LONGEST_METADATA.license, description: 'An SPDX id, or a URL.' },
  source: { ...text, maxLength: LONGEST_METADATA.source, description: 'Where the data come from.' },
  creator: { ...text, maxLength: LONGEST_METADATA.creator, description: 'Who made the data.' },
  keywords: listOf(text),
  citation: { ...text, maxLength: LONGEST_METADATA.citation, description: 'How to cite the data.' },
} as const

/** A column to declare. The engine checks it, because it knows the types and can name the wrong column. */
export const DECLARED_COLUMNS = named('DeclaredColumns', {
  type: 'array',
  items: object(['name', 'type'], {
    name: { ...text, documented: { minLength: 1, maxLength: 1_000 } },
    type: {
      ...text,
      description: columnType.description,
      documented: { pattern: columnType.pattern },
    } as unknown as SchemaOf<ColumnType>,
    nullable: { ...flag, description: 'Default true.' },
    description: text,
    ...WORDS,
  }),
})

export const dataset = {
  id,
  name: { ...text, description: 'Unique in its repository.', examples: ['seattle'] },
  description: words,
  repositoryId: id,
  version: { ...count, description: 'Increases with each change of rows or columns.' },
  rowCount: {
    ...countOrNull,
    description: 'null for a saved query: its rows are counted when they are read.',
    examples: [1461],
  },
  bytes: { ...count, description: 'Bytes of the rows on disk.', examples: [20480] },
  createdAt: time,
  updatedAt: time,
} as const

/** Bounds are the engine's, which says what is wrong. */
const keep = {
  ...fields(
    'How long past versions stay: as long as they are among the newest `versions`, and were replaced less than `days` days ago.',
    { versions: { type: 'integer', examples: [10] }, days: { type: 'integer', examples: [30] } },
  ),
  component: 'Keep',
} as const

const key = {
  ...listOf(text),
  description: 'The columns of which no two rows have the same values. By them, an upsert finds rows.',
} as const

export const QUERY_DEFINITION = named('QueryDefinition', {
  type: 'object',
  description:
    'A query whose rows the dataset has: `{"sql"}`, or `{"dataset"}` with `filter`, `apply` and the other options of ' +
    'a query, without `$`. Responses show it only to those who may write in the repository.',
  // With names of its own, it is no map for generators, which some would send empty.
  properties: {
    sql: { type: 'string' },
    dataset: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    filter: { type: 'string' },
    apply: { type: 'string' },
  },
  additionalProperties: true,
  examples: [{ sql: 'SELECT origin, avg(delay) AS delay FROM flights GROUP BY origin' }],
} as const)

const uploadOptions = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description:
    'How the last upload was read, by the options that were given or chosen for it. A later upload that does not name ' +
    'one is read so, too, unless it names `dialect` or `columns=replace`.',
  examples: [{ delimiter: ';', decimal: ',', thousands: '.', dialect: 'auto' }],
} as const

const columns = listOf(COLUMN)

/** What a dataset has where it was set. */
export const WHERE_SET = { ...METADATA, key, keep, uploadOptions, query: QUERY_DEFINITION } as const

export const DATASET = record('Dataset', 'A table.', { ...dataset, columns }, WHERE_SET)

export const DATASET_SUMMARY = record(
  'DatasetSummary',
  'A table in a list. `columns` is left out where there are many.',
  { ...dataset, columnCount: count },
  { columns, ...WHERE_SET },
)

export const NEW_DATASET = object(['name', 'repositoryId'], {
  name: { ...name, examples: ['seattle'] },
  repositoryId: {
    type: 'integer',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    examples: [1],
  },
  description,
  columns: DECLARED_COLUMNS,
  key,
  query: QUERY_DEFINITION,
  materialize: {
    type: 'string',
    enum: ['on-change', 'hour', 'day'],
    description:
      'Stores the rows of the query as a version, again when they have changed, every hour or every day. Without ' +
      'it, the query is run at each read.',
  },
})

export const COPY = object(['name', 'repositoryId'], {
  name: NEW_DATASET.properties.name,
  repositoryId: NEW_DATASET.properties.repositoryId,
  version: { ...count, maximum: Number.MAX_SAFE_INTEGER, description: 'Default: the current one.' },
})

export const DATASET_CHANGES = {
  ...object([], {
    name: NEW_DATASET.properties.name,
    description,
    keep: {
      ...keep,
      type: ['object', 'null'],
      component: 'KeepOrDefault',
      description: 'null: as other datasets.',
    },
  }),
  minProperties: 1,
} as const

/** A JSON merge patch (RFC 7396). */
export const DATASET_PATCH = {
  ...DATASET_CHANGES,
  properties: {
    name: NEW_DATASET.properties.name,
    description: orNull(description),
    repositoryId: {
      ...NEW_DATASET.properties.repositoryId,
      description: 'Moves the dataset to another repository.',
    },
    key: {
      type: ['array', 'null'],
      items: text,
      description: `${key.description} Changed alone, because all rows are compared; null: no key.`,
    },
    keep: {
      type: ['object', 'null'],
      additionalProperties: false,
      properties: keep.properties,
      description: 'How long past versions stay; null: as those of other datasets.',
    },
    ...orNulls(METADATA),
    columns: {
      type: 'array',
      description: 'Changes the words about the named columns, and no others.',
      items: object(['name'], {
        name: text,
        ...orNulls(WORDS),
        description: orNull(text),
      }),
    },
  },
} as const

export const EDITED_ROWS = record('EditedRows', 'What a change of rows did.', {
  version: { ...count, description: 'The version that the dataset has now.', examples: [4] },
  matchedRows: { ...count, description: 'The rows that matched and were changed.', examples: [12] },
})

export const VERSION_RECORD = record(
  'Version',
  'What made a version of a dataset. What was not told is null, as in versions of an older program.',
  {
    number: count,
    createdAt: time,
    by: { ...textOrNull, description: 'The account that made it.', examples: ['ada'] },
    operation: { ...textOrNull, description: `One of ${OPERATIONS.join(', ')}.`, examples: ['append'] },
    note: { ...textOrNull, description: 'What was given as `note` with the change.', examples: ['November'] },
    rowCount: count,
    bytes: { ...count, description: 'Bytes of its rows on disk.' },
    ownBytes: { ...count, description: 'Those of them that no other version has.' },
    addedRows: countOrNull,
    removedRows: countOrNull,
  },
)

export const PARQUET_FILE = record('ParquetFile', 'A Parquet file of a dataset.', {
  url: {
    ...text,
    description: 'Identifies the file. It stays the same for as long as the version is kept.',
    examples: ['http://127.0.0.1:8080/datasets/3/parquet/1/3.parquet?ticket=1.0.1764086400.0.1yQ0x8mS'],
  },
  rows: count,
  bytes: count,
})

const number = { type: 'number' } as const
const value = { description: 'A number where the column has integers or doubles, else text.' } as const

const COLUMN_PROFILE = named('ColumnProfile', {
  type: 'object',
  required: ['name', 'type', 'nulls'],
  additionalProperties: false,
  examples: [
    { name: 'wind', type: 'double', nulls: 0, distinct: { value: 79, exact: true }, min: 0.4, max: 9.5 },
  ],
  properties: {
    name: text,
    type: COLUMN.properties.type,
    nulls: count,
    distinct: {
      ...fields('How many different values there are.', { value: count, exact: flag }),
      description:
        'How many different values there are; an estimate unless it is `exact`. Not for json and binary.',
    },
    min: value,
    max: value,
    mean: { ...number, description: 'Of the finite numbers.' },
    quantiles: {
      type: 'object',
      description: 'Estimates, by the share of the finite numbers that lie below.',
      additionalProperties: number,
    },
    histogram: listOf(fields('A range of numbers, dates or timestamps.', { from: value, to: value, count })),
    top: {
      ...listOf(fields('A frequent value.', { value: { description: 'Also true or false.' }, count })),
      description: 'The ten most frequent values, where there are at most a thousand different ones.',
    },
  },
})

export const PROFILE = record('Profile', 'What the values of each column of a version are like.', {
  version: count,
  rowCount: count,
  columns: listOf(COLUMN_PROFILE),
})
