import { flag, id, object, orNull, record, text, time } from './schema.ts'

/** Control characters, also those for the direction of text. */
const CONTROLS = '\\u0000-\\u001f\\u007f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
/** The pattern for names of repositories and datasets. The engine checks names, and says what is wrong. */
const NAME_PATTERN = `^[^${CONTROLS}]*[^\\s${CONTROLS}][^${CONTROLS}]*$`

export const name = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  documented: { pattern: NAME_PATTERN },
} as const
/** The pattern for text in which only tabs and line ends are control characters. */
const PLAIN_TEXT = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$'

export const description = {
  type: 'string',
  maxLength: 10_000,
  documented: { pattern: PLAIN_TEXT },
} as const

const permission = { type: 'string', enum: ['Read', 'Write'] } as const

export const REPOSITORY = record('Repository', 'A repository of datasets.', {
  id,
  name: { ...text, examples: ['weather'] },
  description: { ...text, examples: ['Observations of airports'] },
  private: { ...flag, description: 'Whether only its owner and its members may read it.' },
  owner: { ...text, description: 'Name of an account.', examples: ['ada'] },
  permission: { ...permission, description: 'What you may do with it.', examples: ['Write'] },
  createdAt: time,
  updatedAt: time,
})

/** What a client may set of a repository. */
const REPOSITORY_FIELDS = {
  name: { ...name, examples: ['weather'] },
  description,
  private: REPOSITORY.properties.private,
} as const

export const NEW_REPOSITORY = object(['name'], {
  ...REPOSITORY_FIELDS,
  private: { ...REPOSITORY_FIELDS.private, default: true },
})

export const REPOSITORY_CHANGES = { ...object([], REPOSITORY_FIELDS), minProperties: 1 } as const

/** A JSON merge patch (RFC 7396). */
export const REPOSITORY_PATCH = {
  ...REPOSITORY_CHANGES,
  properties: { ...REPOSITORY_FIELDS, description: orNull(description) },
} as const

export const MEMBER = record('Member', 'What an account may do with a repository.', {
  account: { ...text, description: 'Name of the account.', examples: ['grace'] },
  permission,
})

export const MEMBERSHIP = object(['permission'], { permission })
