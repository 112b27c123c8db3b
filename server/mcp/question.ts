/** The arguments of the tools that query the rows of a dataset. */
export const QUESTION = {
  dataset: { type: 'integer', minimum: 1, description: 'Id of the dataset, from find_datasets.' },
  filter: {
    type: 'string',
    description:
      "OData 4.01 $filter, for example: temp_max gt 30 and weather eq 'sun'. Write text in single quotes, dates as " +
      '2024-01-31, and names that are not identifiers in double quotes: "Body Mass (g)" gt 5000. Functions: contains, ' +
      'startswith, year, month, round …',
  },
  select: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    description: 'Names of the columns wanted, in this order.',
  },
  orderby: {
    type: 'string',
    description: 'Columns to sort by, for example: wind desc, date. Quote names as in filter.',
  },
  apply: {
    type: 'string',
    description:
      'OData $apply to group and aggregate, for example: ' +
      'groupby((weather),aggregate(wind with average as mean,$count as days)) or ' +
      'filter(temp_max gt 20)/aggregate(precipitation with sum as total). The other options then apply to its result.',
  },
} as const

export interface AskedRows {
  readonly dataset: number
  readonly filter?: string
  readonly select?: readonly string[]
  readonly orderby?: string
  readonly apply?: string
}

/** The arguments as options of the client. */
export function questionOf({ filter, select, orderby, apply }: AskedRows) {
  return { filter, select, orderBy: orderby, apply }
}
