import { type Repository, TYPE_PATTERN, TYPES_IN_WORDS } from '../../engine/index.ts'
import type { RepositoryAccess } from '../accounts/access.ts'
import type { Account } from '../accounts/accounts.ts'
import type { PlanLimits } from '../config/config.ts'
import type { JsonSchema } from '../openapi/describe.ts'

/** A schema of an object in which all fields are required. */
export function record(description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    description,
    required: Object.keys(properties),
    additionalProperties: false,
    properties,
  }
}

const id: JsonSchema = { type: 'integer', minimum: 1, description: 'Never used again.' }
export const time: JsonSchema = { type: 'string', format: 'date-time', description: 'ISO 8601, UTC.' }
export const natural: JsonSchema = { type: 'integer', minimum: 0 }

const COLUMN_TYPE = {
  type: 'string',
  pattern: TYPE_PATTERN,
  description: `One of ${TYPES_IN_WORDS}.`,
} as const satisfies JsonSchema

export const COLUMN = record('A column of a dataset.', {
  name: { type: 'string', description: 'Case-sensitive; may contain any character.' },
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
      nullable: { type: 'boolean', description: 'Default true.' },
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
  version: { ...natural, description: 'Increases with each change of rows or columns.' },
  rowCount: natural,
  bytes: { ...natural, description: 'Bytes of the rows on disk.' },
  columns: { type: 'array', items: COLUMN },
  createdAt: time,
  updatedAt: time,
})

/** A dataset in a list. */
export const DATASET_SUMMARY: JsonSchema = {
  ...DATASET,
  description: 'A table in a list. `columns` is left out where there are many.',
  required: [...(DATASET['required'] as string[]).filter((name) => name !== 'columns'), 'columnCount'],
  properties: { ...(DATASET['properties'] as object), columnCount: natural },
}

export const MEMBER = record('What an account may do with a repository.', {
  account: { type: 'string', description: 'Name of the account.' },
  permission: { type: 'string', enum: ['Read', 'Write'] },
})

const limit: JsonSchema = { type: ['integer', 'null'], minimum: 0, description: 'null: no limit.' }

const limits = {
  privateRepositories: limit,
  paidProviders: { type: 'boolean' },
  exportedRows: { ...limit, description: 'Rows of datasets a month; null: no limit.' },
  datasets: { ...limit, description: 'Datasets in your repositories; null: no limit.' },
  columns: { ...limit, description: 'Columns of one dataset; null: no limit.' },
  storedBytes: { ...limit, description: 'Bytes on disk of your datasets; null: no limit.' },
} as const

export const PLAN = record('A plan that accounts may have.', {
  name: { type: 'string' },
  limits: record('What the plan allows.', limits),
})

export const ACCOUNT = record('Your account.', {
  id,
  name: { type: 'string' },
  plan: { type: 'string' },
  apiKeyHint: { type: 'string', description: 'The last characters of the API key.' },
  usage: record('How much of the limits is used.', {
    privateRepositories: natural,
    exportedRows: { ...natural, description: 'Rows of datasets downloaded this month.' },
    month: { type: 'string', pattern: '^\\d{4}-\\d{2}$', description: 'The month, UTC.' },
  }),
  limits: record('What the plan allows.', limits),
})

export const API_KEY = record('A new API key. It is shown only once.', { apiKey: { type: 'string' } })

const managedAccount = {
  id,
  name: { type: 'string' },
  plan: { type: 'string' },
  admin: { type: 'boolean', description: 'Whether the account is an admin, who may do everything.' },
  disabled: { type: 'boolean', description: 'Whether none of its keys is accepted.' },
  apiKeyHint: { type: 'string', description: 'The last characters of its first key.' },
  createdAt: time,
} as const

export const MANAGED_ACCOUNT = record('An account, as admins see it.', managedAccount)
export const NEW_ACCOUNT = record('A new account with its key, which is shown only once.', {
  ...managedAccount,
  apiKey: { type: 'string' },
})

const namedKey = {
  name: { type: 'string' },
  keyHint: { type: 'string', description: 'The last characters of the key.' },
  readOnly: { type: 'boolean' },
  expiresAt: { type: ['string', 'null'], description: 'null: the key does not expire.' },
  createdAt: time,
} as const

export const NAMED_KEY = record('A named key of an account. The key itself is not shown.', namedKey)
export const NEW_NAMED_KEY = record('A named key of an account. The key itself is shown only once.', {
  ...namedKey,
  apiKey: { type: 'string' },
})

export const LINK = record('An address that opens one export without a key.', {
  url: { type: 'string', description: 'Relative to this server.' },
  expiresAt: time,
})

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
