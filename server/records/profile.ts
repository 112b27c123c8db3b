import { COLUMN } from './datasets.ts'
import { count, fields, flag, listOf, named, record, text } from './schema.ts'

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
