import {
  count,
  countOrNull,
  fields,
  flag,
  id,
  object,
  record,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './schema.ts'

/** The pattern for names of accounts and of keys. */
export const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/

/** The pattern for the time at which a key expires. */
export const EXPIRY = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/

const limit = { ...countOrNull, maximum: Number.MAX_SAFE_INTEGER, examples: [null] } as const

export const LIMITS = fields('What the plan allows; null is "no limit".', {
  privateRepositories: limit,
  publicRepositories: { ...limit, description: 'Repositories that every account may read.' },
  paidProviders: flag,
  exportedRows: { ...limit, description: 'Rows of datasets downloaded in a calendar month, UTC.' },
  datasets: { ...limit, description: 'Datasets in the repositories of an account.' },
  columns: { ...limit, description: 'Columns of one dataset.' },
  storedBytes: { ...limit, description: 'Bytes on disk of all datasets in the repositories of an account.' },
  keptVersions: { ...limit, description: 'Versions that a dataset may keep.' },
  keptDays: { ...limit, description: 'Days for which it may keep them.' },
  refreshSeconds: {
    ...limit,
    description: 'Seconds of CPU time that one refresh of a stored query may take; null is 1800.',
  },
})

const name = { ...text, examples: ['ada'] } as const

/** The name of a plan. Which ones there are is configured. */
const plan = { ...text, description: 'Its plan.', examples: ['pro'] } as const

export const PLAN = record('Plan', 'A plan that accounts may have.', {
  name: { ...text, examples: ['pro'] },
  limits: LIMITS,
})

export const ACCOUNT = record('Account', 'Your account.', {
  id,
  name,
  plan,
  apiKeyHint: { ...text, description: 'The last characters of the API key.', examples: ['pq_…wxyz'] },
  usage: fields('How much of the limits is used.', {
    privateRepositories: count,
    publicRepositories: count,
    exportedRows: { ...count, description: 'Rows of datasets downloaded this month.', examples: [1200] },
    month: { ...text, pattern: '^\\d{4}-\\d{2}$', description: 'The month, UTC.', examples: ['2026-11'] },
  }),
  limits: LIMITS,
})

const apiKey = { ...text, examples: ['pq_…'] } as const

export const API_KEY = record('ApiKey', 'A new API key. It is shown only once.', { apiKey })

const managedAccount = {
  id,
  name,
  plan,
  admin: { ...flag, description: 'Whether the account is an admin, who may do everything.' },
  disabled: { ...flag, description: 'Whether none of its keys is accepted.' },
  apiKeyHint: { ...text, description: 'The last characters of its first key.', examples: ['pq_…wxyz'] },
  createdAt: time,
} as const

export const MANAGED_ACCOUNT = record('ManagedAccount', 'An account, as admins see it.', managedAccount)

// Not NewAccount: in Go, clients generated from the document call the constructor of Account so.
export const CREATED_ACCOUNT = record(
  'CreatedAccount',
  'A new account with its key, which is shown only once.',
  { ...managedAccount, apiKey },
)

export const NEW_ACCOUNT = object(['name'], {
  name: { ...name, documented: { pattern: ACCOUNT_NAME.source } },
  plan,
  admin: flag,
})

export const ACCOUNT_CHANGES = object([], { plan, disabled: flag })

const LAST_USED = {
  ...timeOrNull,
  description: 'When it was last used, to the minute; null: never.',
} as const

const namedKey = {
  name: { ...text, examples: ['nightly-job'] },
  keyHint: { ...text, description: 'The last characters of the key.', examples: ['pq_…wxyz'] },
  readOnly: flag,
  repositories: {
    type: ['array', 'null'],
    items: id,
    description: 'The only repositories that the key reaches; null: all that the account does.',
  },
  expiresAt: { ...textOrNull, description: 'null: the key does not expire.' },
  createdAt: time,
  lastUsedAt: LAST_USED,
} as const

export const NAMED_KEY = record(
  'NamedKey',
  'A named key of an account. The key itself is not shown.',
  namedKey,
)

export const CREATED_NAMED_KEY = record(
  'CreatedNamedKey',
  'A named key of an account. The key itself is shown only once.',
  { ...namedKey, apiKey },
)

export const NEW_NAMED_KEY = object(['name'], {
  name: {
    ...namedKey.name,
    description: 'What or whom the key is for.',
    documented: { pattern: ACCOUNT_NAME.source },
  },
  readOnly: { ...flag, description: 'Whether the key may only read.' },
  repositories: {
    type: 'array',
    items: id,
    minItems: 1,
    maxItems: 1_000,
    description:
      'The only repositories that the key reaches. Such a key can change neither the account nor others, even if ' +
      'the account is an admin.',
    examples: [[1]],
  },
  expiresAt: {
    ...textOrNull,
    description:
      'When the key expires: a time in the future, or a day, which means its beginning in UTC. null: never.',
    examples: ['2099-12-31T00:00:00Z'],
    documented: { pattern: EXPIRY.source },
  },
})

export const LINK = record(
  'Link',
  'An address that opens one export without a key.',
  {
    id,
    url: {
      ...text,
      description: 'Relative to this server.',
      examples: ['/datasets/3/data?$format=xlsx&ticket=2.0.1795200000.7.…'],
    },
    path: { ...text, description: 'What the link opens.', examples: ['/datasets/3/data?$format=xlsx'] },
    name: textOrNull,
    createdAt: time,
    expiresAt: time,
    lastUsedAt: LAST_USED,
  },
  {
    fileUrl: {
      ...text,
      description:
        'The same as an address that ends in the name of a file, for programs that know a format by its ending. Only for all rows of a dataset in one format.',
      examples: ['/d/ticket=2.0.1795200000.7.…/3/data.xlsx'],
    },
  },
)
