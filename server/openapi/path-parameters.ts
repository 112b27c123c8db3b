import { ACCOUNT_NAME } from '../records/accounts.ts'
import type { JsonSchema } from '../records/schema.ts'

/** Path parameters, by their name in the routes. */
const PATH_PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  id: { type: 'integer', minimum: 1, description: 'The id.', examples: [1] },
  version: {
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description: 'A version of the dataset.',
    examples: [1],
  },
  file: {
    type: 'string',
    description: 'Name of a file, from the list of files.',
    examples: ['17.parquet'],
  },
  account: {
    type: 'string',
    pattern: ACCOUNT_NAME.source,
    description: 'Name of an account.',
    examples: ['grace'],
  },
  name: { type: 'string', description: 'Name of a key.', examples: ['nightly-job'] },
  slug: { type: 'string', description: 'Slug of a provider, case-insensitive.', examples: ['fred'] },
  '*': {
    type: 'string',
    description: 'Id of a series. It may contain slashes, plain or percent-encoded.',
    examples: ['GNPCA'],
  },
}

/** The path parameters of a route, for the document only: the routes parse them as text. */
export function pathParameters(url: string) {
  const names = url
    .split('/')
    .flatMap((part) => (part === '*' ? [part] : part.startsWith(':') ? [part.slice(1)] : []))
  const properties = names.map((name) => {
    const parameter = PATH_PARAMETERS[name]
    if (!parameter) throw new Error(`path parameter ${name} of ${url} is not described`)
    return [name === '*' ? 'series_id' : name, parameter] as const
  })
  return {
    type: 'object',
    required: properties.map(([name]) => name),
    properties: Object.fromEntries(properties),
  }
}
