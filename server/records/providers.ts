import {
  count,
  countOrNull,
  fields,
  flag,
  id,
  listOf,
  named,
  record,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './schema.ts'

const slug = { ...text, examples: ['fred'] } as const
const path = { ...text, examples: [''] } as const

export const USER_KEY = record(
  'UserKey',
  'A key that you have saved for a provider. The key itself is not shown.',
  {
    provider: { ...slug, description: 'Slug.' },
    keyHint: { ...text, description: 'The last characters of the key.', examples: ['…9f3c'] },
    updatedAt: time,
  },
)

export const PROVIDER = record('Provider', 'A source of economic series.', {
  slug: { ...slug, description: 'In lower case here; paths accept any case.' },
  name: { ...text, examples: ['FRED'] },
  description: { ...text, examples: ['Economic data of the Federal Reserve Bank of St. Louis'] },
  homepage: { ...text, examples: ['https://fred.stlouisfed.org'] },
  tier: { type: 'string', enum: ['free', 'paid'], description: 'The tier that applies to you.' },
  keyRequired: { ...flag, description: 'Whether the provider answers only with a key.' },
  takesKey: { ...flag, description: 'Whether you can save a key of your own for it.' },
  userKey: { ...flag, description: 'Whether you have saved a key of your own.' },
  limit: fields('The limit that restricts you most at the moment; null where the provider publishes none.', {
    requests: { type: ['integer', 'null'], examples: [120] },
    perSeconds: { type: ['number', 'null'], examples: [60] },
    remaining: { type: ['integer', 'null'], examples: [119] },
    resetsAt: {
      ...timeOrNull,
      description: 'When the oldest request that counts against the limit stops counting; null: none counts.',
    },
  }),
})

const seriesInfo = {
  series_id: { ...text, examples: ['GNPCA'] },
  name: { ...text, examples: ['Real Gross National Product'] },
  frequency: { ...textOrNull, examples: ['annual'] },
  unit: { ...textOrNull, examples: ['Billions of Chained 2017 Dollars'] },
  start: { ...textOrNull, examples: ['1929-01-01'] },
  end: { ...textOrNull, examples: ['2025-01-01'] },
} as const

export const SERIES_INFO = record('SeriesInfo', 'A series, described.', seriesInfo)

const category = {
  path: { ...text, description: 'Send it as `path` to browse further.', examples: ['13'] },
  name: { ...text, examples: ['U.S. Trade'] },
  description: { ...text, examples: [''] },
  series: { ...flag, description: 'Whether series are directly under it.' },
} as const

export const CATEGORY = record('Category', 'A category.', category)

export const CATEGORIES = record('CategoryList', 'Categories under a path.', {
  provider: slug,
  path,
  categories: listOf(CATEGORY),
})

const total = { ...countOrNull, description: 'null where it is not known.' } as const
const page = { limit: { ...count, examples: [200] }, offset: { ...count, examples: [0] } } as const

export const SERIES_LIST = record('SeriesList', 'Series under a path.', {
  provider: slug,
  path,
  total,
  ...page,
  series: listOf(SERIES_INFO),
})

export const OBSERVATION = named('Observation', {
  type: 'object',
  examples: [{ date: '2024-01-01', period: '2024', value: 23_360.1 }],
  required: ['date', 'value'],
  properties: {
    date: { ...text, description: 'The first day of the period.' },
    period: { ...text, description: 'The period, for example 2024-Q1, where the frequency is not daily.' },
    value: { type: ['number', 'null'] },
    status: {
      ...text,
      description: 'For example provisional, estimated or break; absent where the provider gives none.',
    },
    known_from: { ...text, description: 'With `vintages`: the day since which the value was given.' },
    known_to: {
      ...textOrNull,
      description: 'With `vintages`: the first day on which it was not any more; null while it is current.',
    },
  },
})

export const DIMENSION = record(
  'SeriesDimension',
  "A part of a series' key, for example `{id: 'FREQ', name: 'Frequency', code: 'M', label: 'Monthly'}`.",
  {
    id: text,
    name: textOrNull,
    code: text,
    label: textOrNull,
  },
)

export const SERIES = record('Series', 'A series with its values. What the provider does not say is null.', {
  provider: slug,
  ...seriesInfo,
  seasonalAdjustment: textOrNull,
  source: { ...textOrNull, description: 'Who produced the data, where the provider says so.' },
  notes: textOrNull,
  dimensions: {
    type: ['array', 'null'],
    description: 'The parts of the key, with their names.',
    examples: [null],
    items: DIMENSION,
  },
  start: { ...seriesInfo.start, description: 'The first date that the whole series covers.' },
  end: { ...seriesInfo.end, description: 'The last date that the whole series covers.' },
  lastUpdated: textOrNull,
  observations: { type: 'array', description: 'Oldest first.', items: OBSERVATION },
})

export const RELEASE = record('Release', 'A release that a provider has announced.', {
  name: { ...text, examples: ['Consumer Price Index'] },
  date: { ...text, examples: ['2026-08-18'] },
  time: {
    ...timeOrNull,
    description: 'In UTC; null if only the day is announced.',
    examples: ['2026-08-18T12:30:00Z'],
  },
  period: {
    ...textOrNull,
    description: 'What it is about, in the words of the provider; null if it does not say.',
    examples: ['July 2026'],
  },
})

export const RELEASES = record('ReleaseList', 'Releases, in the order of time.', {
  provider: slug,
  from: { ...text, examples: ['2026-08-01'] },
  to: { ...text, examples: ['2026-08-31'] },
  releases: listOf(RELEASE),
})

const found = {
  query: { ...text, examples: ['gross product'] },
  total: { ...total, description: 'Number of series; null where it is not known.' },
  ...page,
  series: listOf(record('FoundSeries', 'A series that was found.', { provider: slug, ...seriesInfo })),
  categories: listOf(
    record('FoundCategory', 'A category or dataflow that was found.', { provider: slug, ...category }),
  ),
} as const

/** The results of a search in one provider. */
export const SEARCH = record('FoundInProvider', 'What a search found.', found)

/** The results of a search in everything that the server knows. */
export const SEARCH_ALL = record('Found', 'What a search found.', {
  ...found,
  datasets: listOf(
    record('FoundDataset', 'A dataset that was found.', {
      id,
      name: { ...text, examples: ['weather'] },
      repositoryId: id,
      description: { ...text, examples: [''] },
    }),
  ),
  hint: {
    ...textOrNull,
    description: 'What would let a search find more; null if there is nothing to say.',
  },
})

/** Series that could not be fetched, with the reason. */
export const MISSING = record('MissingSeries', 'A series that could not be fetched.', {
  provider: text,
  series_id: text,
  code: text,
  error: text,
})

const cell = { type: ['string', 'number', 'null'] } as const

/** Several series as one table, in the columns that `shape` gives. */
export const SERIES_TABLE = fields('Several series as one table.', {
  missing: listOf(MISSING),
  rows: listOf({ type: 'object', additionalProperties: cell } as const),
})
