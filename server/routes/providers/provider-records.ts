import type { JsonSchema } from '../../openapi/describe.ts'
import { natural, record, time } from '../records.ts'

export const USER_KEY = record('A key that you have saved for a provider. The key itself is not shown.', {
  provider: { type: 'string', description: 'Slug.' },
  keyHint: { type: 'string', description: 'The last characters of the key.' },
  updatedAt: time,
})

export const PROVIDER = record('A source of economic series.', {
  slug: { type: 'string', description: 'In lower case here; paths accept any case.' },
  name: { type: 'string' },
  description: { type: 'string' },
  homepage: { type: 'string' },
  tier: { type: 'string', enum: ['free', 'paid'], description: 'The tier that applies to you.' },
  keyRequired: { type: 'boolean', description: 'Whether the provider answers only with a key.' },
  userKey: { type: 'boolean', description: 'Whether you have saved a key of your own.' },
  limit: record('The limit that restricts you most at the moment; null where the provider publishes none.', {
    requests: { type: ['integer', 'null'] },
    perSeconds: { type: ['number', 'null'] },
    remaining: { type: ['integer', 'null'] },
    resetsAt: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the oldest request that counts against the limit stops counting; null: none counts.',
    },
  }),
})

const textOrNull: JsonSchema = { type: ['string', 'null'] }

/** What a list of series says of each. */
const seriesInfo = {
  series_id: { type: 'string' },
  name: { type: 'string' },
  frequency: textOrNull,
  unit: textOrNull,
  start: textOrNull,
  end: textOrNull,
} as const

export const CATEGORIES = record('Categories under a path.', {
  provider: { type: 'string' },
  path: { type: 'string' },
  categories: {
    type: 'array',
    items: record('A category.', {
      path: { type: 'string', description: 'Send it as `path` to browse further.' },
      name: { type: 'string' },
      description: { type: 'string' },
      series: { type: 'boolean', description: 'Whether series are directly under it.' },
    }),
  },
})

export const SERIES_LIST = record('Series under a path.', {
  provider: { type: 'string' },
  path: { type: 'string' },
  total: { type: ['integer', 'null'], description: 'null where the provider does not say.' },
  limit: natural,
  offset: natural,
  series: {
    type: 'array',
    items: record('A series, described.', seriesInfo),
  },
})

export const SERIES = record('A series with its values.', {
  provider: { type: 'string' },
  series_id: { type: 'string' },
  name: { type: 'string' },
  frequency: textOrNull,
  unit: textOrNull,
  seasonalAdjustment: textOrNull,
  source: { type: ['string', 'null'], description: 'Who produced the data, where the provider says so.' },
  notes: textOrNull,
  dimensions: {
    type: ['array', 'null'],
    description: 'The parts of the key, with their names.',
    items: {
      type: 'object',
      properties: { id: { type: 'string' }, name: textOrNull, code: { type: 'string' }, label: textOrNull },
    },
  },
  start: { type: ['string', 'null'], description: 'The first date that the whole series covers.' },
  end: { type: ['string', 'null'], description: 'The last date that the whole series covers.' },
  lastUpdated: textOrNull,
  observations: {
    type: 'array',
    description: 'Oldest first.',
    items: {
      type: 'object',
      properties: {
        date: { type: 'string', description: 'The first day of the period.' },
        period: {
          type: ['string', 'null'],
          description: 'The period, for example 2024-Q1, where the frequency is not daily.',
        },
        value: { type: ['number', 'null'] },
        status: {
          type: ['string', 'null'],
          description: 'For example provisional, estimated or break; absent where the provider gives none.',
        },
      },
    },
  },
})

const FOUND_SERIES = record('A series that was found.', {
  provider: { type: 'string' },
  ...seriesInfo,
})

const FOUND_CATEGORY = record('A category or dataflow that was found.', {
  provider: { type: 'string' },
  path: { type: 'string' },
  name: { type: 'string' },
  description: { type: 'string' },
  series: { type: 'boolean' },
})

const FOUND_DATASET = record('A dataset that was found.', {
  id: { type: 'integer' },
  name: { type: 'string' },
  repositoryId: { type: 'integer' },
  description: { type: 'string' },
})

const FOUND = {
  query: { type: 'string' },
  total: { type: ['integer', 'null'], description: 'Number of series; null where it is not known.' },
  limit: { type: 'integer' },
  offset: { type: 'integer' },
  series: { type: 'array', items: FOUND_SERIES },
  categories: { type: 'array', items: FOUND_CATEGORY },
} as const

/** The results of a search in one provider. */
export const SEARCH = record('What a search found.', FOUND)

/** The results of a search in everything. */
export const SEARCH_ALL = record('What a search found.', {
  ...FOUND,
  datasets: { type: 'array', items: FOUND_DATASET },
})
