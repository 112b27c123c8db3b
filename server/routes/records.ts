import type { Repository } from '../../engine/index.ts'
import type { RepositoryAccess } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import type { PlanLimits } from '../config/config.ts'
import type { JsonSchema } from '../openapi/describe.ts'

/** A schema of an object in which all fields are required. */
function record(description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    description,
    required: Object.keys(properties),
    additionalProperties: false,
    properties,
  }
}

const id: JsonSchema = { type: 'integer', minimum: 1, description: 'Never used again.' }
const time: JsonSchema = { type: 'string', format: 'date-time', description: 'ISO 8601, UTC.' }
const natural: JsonSchema = { type: 'integer', minimum: 0 }

const COLUMN_TYPE = {
  type: 'string',
  pattern:
    '^(boolean|integer|double|decimal\\(\\d{1,2},\\d{1,2}\\)|string|date|time|timestamp|timestamptz|uuid|binary|json)$',
  description:
    'boolean, integer, double, decimal(p,s), string, date, time, timestamp, timestamptz, uuid, binary or json.',
} as const satisfies JsonSchema

export const COLUMN = record('A column of a dataset.', {
  name: { type: 'string', description: 'Case-sensitive; may hold any character.' },
  type: COLUMN_TYPE,
  nullable: { type: 'boolean' },
  description: { type: 'string' },
})

/** The pattern for names of repositories and datasets. The engine checks names, and says what is wrong. */
export const NAME_PATTERN =
  '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$'

/** The schema of declared columns. The engine checks them, because it knows the types and can name the wrong column. */
export const DECLARED_COLUMNS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['name', 'type'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', documented: { minLength: 1, maxLength: 1_000 } },
      type: {
        type: 'string',
        description: COLUMN_TYPE.description,
        documented: { pattern: COLUMN_TYPE.pattern },
      },
      nullable: { type: 'boolean', description: 'true where it is not said.' },
      description: { type: 'string' },
    },
  },
} as const satisfies JsonSchema

export const REPOSITORY = record('A repository of datasets.', {
  id,
  name: { type: 'string' },
  description: { type: 'string' },
  private: { type: 'boolean', description: 'Whether only its owner and its members may read it.' },
  owner: { type: 'string', description: 'Name of an account.' },
  permission: { type: 'string', enum: ['Read', 'Write'], description: 'What you may do with it.' },
  createdAt: time,
  updatedAt: time,
})

export const DATASET = record('A table.', {
  id,
  name: { type: 'string', description: 'Unique in its repository.' },
  description: { type: 'string' },
  repositoryId: id,
  version: { ...natural, description: 'Grows with each change of rows or columns.' },
  rowCount: natural,
  bytes: { ...natural, description: 'On disk.' },
  columns: { type: 'array', items: COLUMN },
  createdAt: time,
  updatedAt: time,
})

/** A dataset in a list. */
export const DATASET_SUMMARY: JsonSchema = {
  ...DATASET,
  description: 'A table in a list. `columns` is missing where they are many.',
  required: [...(DATASET['required'] as string[]).filter((name) => name !== 'columns'), 'columnCount'],
  properties: { ...(DATASET['properties'] as object), columnCount: natural },
}

export const MEMBER = record('What an account may do with a repository.', {
  account: { type: 'string', description: 'Name of the account.' },
  permission: { type: 'string', enum: ['Read', 'Write'] },
})

const limit: JsonSchema = { type: ['integer', 'null'], minimum: 0, description: 'null: no limit.' }

export const ACCOUNT = record('Your account.', {
  id,
  name: { type: 'string' },
  plan: { type: 'string' },
  apiKeyHint: { type: 'string', description: 'The end of the API key.' },
  usage: record('What of the limits is used.', {
    privateRepositories: natural,
    exportedRows: { ...natural, description: 'Rows of datasets downloaded this month.' },
    month: { type: 'string', pattern: '^\\d{4}-\\d{2}$', description: 'The month, UTC.' },
  }),
  limits: record('What the plan allows.', {
    privateRepositories: limit,
    paidProviders: { type: 'boolean' },
    exportedRows: { ...limit, description: 'Rows of datasets a month; null: no limit.' },
    datasets: { ...limit, description: 'Datasets in your repositories; null: no limit.' },
    columns: { ...limit, description: 'Columns of one dataset; null: no limit.' },
    storedBytes: { ...limit, description: 'Bytes on disk of your datasets; null: no limit.' },
  }),
})

export const API_KEY = record('A new API key. It is shown this once.', { apiKey: { type: 'string' } })

const managedAccount = {
  id,
  name: { type: 'string' },
  plan: { type: 'string' },
  admin: { type: 'boolean', description: 'Whether it may do everything, everywhere.' },
  disabled: { type: 'boolean', description: 'Whether none of its keys is accepted.' },
  apiKeyHint: { type: 'string', description: 'The end of its first key.' },
  createdAt: time,
} as const

export const MANAGED_ACCOUNT = record('An account, as admins see it.', managedAccount)
export const NEW_ACCOUNT = record('A new account with its key, which is shown this once.', {
  ...managedAccount,
  apiKey: { type: 'string' },
})

const namedKey = {
  name: { type: 'string' },
  keyHint: { type: 'string', description: 'The end of the key.' },
  readOnly: { type: 'boolean' },
  expiresAt: { type: ['string', 'null'], description: 'null: it does not end by itself.' },
  createdAt: time,
} as const

export const NAMED_KEY = record('A further key of an account, without the key.', namedKey)
export const NEW_NAMED_KEY = record('A further key of an account. The key is shown this once.', {
  ...namedKey,
  apiKey: { type: 'string' },
})

export const LINK = record('An address that opens one export without a key.', {
  url: { type: 'string', description: 'Relative to this server.' },
  expiresAt: time,
})

export const USER_KEY = record('A key of yours for a provider, without the key.', {
  provider: { type: 'string', description: 'Slug.' },
  keyHint: { type: 'string', description: 'The end of the key.' },
  updatedAt: time,
})

export const PROVIDER = record('A source of economic series.', {
  slug: { type: 'string', description: 'In lower case; paths take it in any.' },
  name: { type: 'string' },
  description: { type: 'string' },
  homepage: { type: 'string' },
  tier: { type: 'string', enum: ['free', 'paid'], description: 'As it is for you.' },
  keyRequired: { type: 'boolean', description: 'Whether nothing can be had without a key.' },
  userKey: { type: 'boolean', description: 'Whether you have saved a key of your own.' },
  limit: record('The limit that binds; null where the provider names none.', {
    requests: { type: ['integer', 'null'] },
    perSeconds: { type: ['number', 'null'] },
    remaining: { type: ['integer', 'null'] },
    resetsAt: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the first request that was spent counts no more; null: none was.',
    },
  }),
})

const textOrNull: JsonSchema = { type: ['string', 'null'] }

export const CATEGORIES = record('Categories under a path.', {
  provider: { type: 'string' },
  path: { type: 'string' },
  categories: {
    type: 'array',
    items: record('A category.', {
      path: { type: 'string', description: 'Give it as `path` to go on.' },
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
    items: record('A series, described.', {
      series_id: { type: 'string' },
      name: { type: 'string' },
      frequency: textOrNull,
      unit: textOrNull,
      start: textOrNull,
      end: textOrNull,
    }),
  },
})

export const SERIES = record('A series with its values.', {
  provider: { type: 'string' },
  series_id: { type: 'string' },
  name: { type: 'string' },
  frequency: textOrNull,
  unit: textOrNull,
  seasonalAdjustment: textOrNull,
  source: { type: ['string', 'null'], description: 'Who made the numbers, where the provider says so.' },
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
        period: { type: ['string', 'null'], description: 'As 2024-Q1, where the frequency is not daily.' },
        value: { type: ['number', 'null'] },
        status: {
          type: ['string', 'null'],
          description: 'As provisional, estimated or break; absent where the provider says nothing.',
        },
      },
    },
  },
})

const FOUND_SERIES = record('A series that was found.', {
  provider: { type: 'string' },
  series_id: { type: 'string' },
  name: { type: 'string' },
  frequency: textOrNull,
  unit: textOrNull,
  start: textOrNull,
  end: textOrNull,
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
  total: { type: ['integer', 'null'], description: 'Of the series; null where it is not known.' },
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

const NOW = '2026-11-21T09:00:00.000Z'

/** One example of each record, for the documentation. */
export const EXAMPLES = {
  repository: {
    id: 1,
    name: 'weather',
    description: 'Observations of airports',
    private: false,
    owner: 'ada',
    permission: 'Write',
    createdAt: NOW,
    updatedAt: NOW,
  },
  dataset: {
    id: 1,
    name: 'seattle',
    description: '',
    repositoryId: 1,
    version: 1,
    rowCount: 1461,
    bytes: 20480,
    columns: [{ name: 'date', type: 'date', nullable: false, description: '' }],
    createdAt: NOW,
    updatedAt: NOW,
  },
  member: { account: 'grace', permission: 'Read' },
  managed: {
    id: 2,
    name: 'ada',
    plan: 'pro',
    admin: false,
    disabled: false,
    apiKeyHint: 'pq_…wxyz',
    createdAt: '2026-11-21T12:00:00.000Z',
  },
  namedKey: {
    name: 'nightly-job',
    keyHint: 'pq_…wxyz',
    readOnly: true,
    expiresAt: '2027-11-21T00:00:00.000Z',
    createdAt: '2026-11-21T12:00:00.000Z',
  },
  link: {
    url: '/datasets/3/data?$format=xlsx&ticket=2.1795200000.…',
    expiresAt: '2026-11-21T12:05:00.000Z',
  },
  account: {
    id: 2,
    name: 'ada',
    plan: 'free',
    apiKeyHint: 'pq_…k3Xa',
    usage: { privateRepositories: 1, exportedRows: 1200, month: '2026-11' },
    limits: {
      privateRepositories: 1,
      paidProviders: false,
      exportedRows: 1_000_000,
      datasets: 100,
      columns: 2_000,
      storedBytes: 10_737_418_240,
    },
  },
  userKey: { provider: 'fred', keyHint: '…9f3c', updatedAt: NOW },
  provider: {
    slug: 'fred',
    name: 'FRED',
    description: 'Economic data of the Federal Reserve Bank of St. Louis',
    homepage: 'https://fred.stlouisfed.org',
    tier: 'free',
    keyRequired: true,
    userKey: false,
    limit: { requests: 120, perSeconds: 60, remaining: 119, resetsAt: NOW },
  },
  series: {
    provider: 'fred',
    series_id: 'GNPCA',
    name: 'Real Gross National Product',
    frequency: 'annual',
    unit: 'Billions of Chained 2017 Dollars',
    seasonalAdjustment: 'Not Seasonally Adjusted',
    source: null,
    notes: null,
    dimensions: null,
    start: '1929-01-01',
    end: '2025-01-01',
    lastUpdated: '2026-03-26',
    observations: [{ date: '2024-01-01', period: '2024', value: 23_360.1 }],
  },
} as const

/** A repository as one account sees it. */
export function repositoryRecord(repository: Repository, access: RepositoryAccess) {
  const { id, name, description, createdAt, updatedAt } = repository
  const permission = access.right === 'Read' ? 'Read' : 'Write'
  return {
    id,
    name,
    description,
    private: access.private,
    owner: access.owner,
    permission,
    createdAt,
    updatedAt,
  }
}

export function accountRecord(
  account: Account,
  limits: PlanLimits,
  used: { month: string; exportedRows: number; privateRepositories: number },
) {
  const { id, name, plan, apiKeyHint } = account
  return {
    id,
    name,
    plan,
    apiKeyHint,
    usage: {
      privateRepositories: used.privateRepositories,
      exportedRows: used.exportedRows,
      month: used.month,
    },
    limits,
  }
}
