import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** A rule of the specification, and the test that holds it: file below `test/` and the test's name. */
type Rule = readonly [rule: string, file: string, test: string]

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  'What the service does': [
    [
      'answers are JSON, but for downloads in another format',
      'server/openapi.test.ts',
      'never gives 500, and answers as documented',
    ],
    [
      'downloads in other formats have their own type',
      'server/data.test.ts',
      '%s is sent as %s, under a name of its own',
    ],
    ['POST and PUT carry JSON with its Content-Type', 'server/errors.test.ts', 'Content-Type %s is 415'],
    ['slugs of providers ignore case', 'server/providers.test.ts', 'takes a slug in any case'],
    [
      'slugs of user keys ignore case',
      'server/user-keys.test.ts',
      'are saved, listed and deleted, slugs in any case, the key never shown',
    ],
    [
      'ids of series may hold slashes',
      'server/providers.test.ts',
      'takes an id with slashes, as they are and percent-encoded, decoded once',
    ],
    [
      'repositories and datasets are listed whole, without pages, as far as the key may read',
      'server/repositories.test.ts',
      'give everything that the key may read, without pages, and nothing else',
    ],
    ['providers are listed whole', 'server/providers.test.ts', 'lists all of them'],
    [
      'listings take no paging parameters',
      'server/errors.test.ts',
      'query parameters that a path does not know are 400',
    ],
    ['PUT and DELETE are idempotent', 'server/repositories.test.ts', 'may be repeated'],
    ['PUT of data is idempotent', 'server/uploads.test.ts', 'PUT replaces, however often; POST appends'],
    [
      'POST creates anew each time, and Idempotency-Key is ignored',
      'server/repositories.test.ts',
      'creates a new one with each call, also with the same Idempotency-Key',
    ],
  ],
  'Resources and their fields': [
    [
      'a repository has a numeric id',
      'server/repositories.test.ts',
      'creates a public repository of the caller and says where it is',
    ],
    ['a dataset has id, name and repositoryId', 'server/datasets.test.ts', 'creates a dataset without rows'],
    ['a column has a case-sensitive name', 'server/datasets.test.ts', 'takes columns'],
    ['a provider has a slug', 'server/providers.test.ts', 'lists all of them'],
    ['a series has series_id', 'server/providers.test.ts', 'gives json with the observations'],
    [
      'categories are paths under a provider',
      'server/providers.test.ts',
      'gives the categories under a path',
    ],
    [
      'a user key belongs to a provider',
      'server/user-keys.test.ts',
      'are saved, listed and deleted, slugs in any case, the key never shown',
    ],
    ['repositoryId is required', 'server/datasets.test.ts', 'needs repositoryId'],
    [
      'names of datasets are unique in a repository',
      'server/datasets.test.ts',
      'refuses a name that the repository already has, case-sensitively',
    ],
    [
      'names of columns are those of $filter, case-sensitive',
      'server/data.test.ts',
      'invalid columns are listed, all of them',
    ],
    [
      'Read and Write are permissions of a repository; writing and deleting need Write',
      'server/repositories.test.ts',
      'Read lets a member read, Write lets it write and delete',
    ],
    [
      'private repositories depend on the plan',
      'server/plans.test.ts',
      'work up to the limit and are 402 past it, with nothing half-made',
    ],
    [
      'paid providers depend on the plan',
      'server/providers.test.ts',
      'a paid provider is 402 on a plan without paid providers',
    ],
    [
      'the monthly export quota depends on the plan',
      'server/plans.test.ts',
      'work up to the limit and are 402 past it, before the first byte',
    ],
  ],
  Endpoints: [
    [
      'every operation is there, with the statuses of each who asks',
      'server/matrix.test.ts',
      'every operation is in the table, and the table has no other',
    ],
    [
      'POST /repositories gives the created repository',
      'server/repositories.test.ts',
      'creates a public repository of the caller and says where it is',
    ],
    ['POST /datasets gives the created dataset', 'server/datasets.test.ts', 'creates a dataset without rows'],
    ['$format is csv, json, xlsx or tsv; csv when omitted', 'server/data.test.ts', 'csv is the default'],
    ['tsv is separated by tabs', 'server/providers.test.ts', 'gives the observations in the other formats'],
    ['other formats are refused', 'server/data.test.ts', 'others are 400'],
    [
      '$top and $last truncate, and Row-Count is the number before that',
      'server/data.test.ts',
      '$top and $last truncate; Row-Count is the number before truncation',
    ],
    ['$filter filters rows', 'server/data.test.ts', 'names are taken without $ and in any case'],
    [
      'invalid columns of $filter are 400 and listed',
      'server/data.test.ts',
      'invalid columns are listed, all of them',
    ],
    ['the columns of a dataset are listed', 'server/datasets.test.ts', 'takes columns'],
    ['browse lists categories', 'server/providers.test.ts', 'gives the categories under a path'],
    [
      'browse with series=true lists series; limit is 200 unless said, offset pages',
      'server/providers.test.ts',
      'with series=true gives series, 200 of them unless it is said otherwise',
    ],
    ['limit is at most 1000', 'server/providers.test.ts', '%s is 400'],
    [
      'PUT /user-keys/{slug} saves a key and confirms',
      'server/user-keys.test.ts',
      'are saved, listed and deleted, slugs in any case, the key never shown',
    ],
  ],
  Authentication: [
    ['every request carries the key', 'server/authentication.test.ts', 'without a key'],
    [
      'also where nothing is',
      'server/authentication.test.ts',
      'on paths that do not exist and with methods that are not known',
    ],
    [
      'Basic: the key is the user name, the password is empty',
      'server/authentication.test.ts',
      'with the key as the user name of Basic authentication',
    ],
    ['apiKey in the query', 'server/authentication.test.ts', 'with the key as the query parameter apiKey'],
    ['an unknown key is 401', 'server/authentication.test.ts', 'with an unknown key'],
    [
      'the key in the password field is 401',
      'server/authentication.test.ts',
      'with the key in the password field',
    ],
    [
      'a regenerated key ends the previous one at once',
      'server/authentication.test.ts',
      'is dead at once, and the new one works',
    ],
    [
      'valid credentials without permission are 403',
      'server/repositories.test.ts',
      'of a private repository: 403 to strangers, with its datasets',
    ],
    [
      'Read does not allow writing',
      'server/repositories.test.ts',
      'Read lets a member read, Write lets it write and delete',
    ],
  ],
  Errors: [
    [
      'errors are {"error"}',
      'server/errors.test.ts',
      'every error of engine, connectors and server becomes an answer with its status and code',
    ],
    ['400: a required field is missing', 'server/datasets.test.ts', 'needs repositoryId'],
    ['400: malformed JSON', 'server/errors.test.ts', 'the body %j is 400'],
    [
      '400: invalid columns in $filter, by the sentence of the specification',
      'server/data.test.ts',
      'invalid columns are listed, all of them',
    ],
    ['401: missing', 'server/authentication.test.ts', 'without a key'],
    [
      '401: revoked or regenerated',
      'server/authentication.test.ts',
      'is dead at once, and the new one works',
    ],
    [
      '402: a private repository beyond the limit',
      'server/plans.test.ts',
      'work up to the limit and are 402 past it, with nothing half-made',
    ],
    [
      '402: a paid provider on a free plan',
      'server/providers.test.ts',
      'a paid provider is 402 on a plan without paid providers',
    ],
    [
      '402: a download beyond the quota',
      'server/plans.test.ts',
      'work up to the limit and are 402 past it, before the first byte',
    ],
    [
      '403: writing or deleting with Read alone',
      'server/repositories.test.ts',
      'Read lets a member read, Write lets it write and delete',
    ],
    [
      "403: another account's private resource",
      'server/repositories.test.ts',
      'of a private repository: 403 to strangers, with its datasets',
    ],
    ['404: a wrong id', 'server/datasets.test.ts', '%s is 404'],
    ['404: a deleted one', 'server/datasets.test.ts', 'of deleted datasets are 404'],
    [
      '409: the name of a dataset exists',
      'server/datasets.test.ts',
      'refuses a name that the repository already has, case-sensitively',
    ],
    [
      '409: the manifest conflicts with the types of columns',
      'server/datasets.test.ts',
      'is 409 when it conflicts with the types that are there',
    ],
    [
      '409: the same saved key is changed at the same time',
      'server/user-keys.test.ts',
      'two changes at the same time: one wins, the other is 409',
    ],
    [
      "429: the provider's limit, by its name",
      'server/serve.test.ts',
      "a day's limit of a provider survives a restart",
    ],
    [
      '429: others are unaffected',
      'connectors/limits.test.ts',
      'leaves other providers, users with a key of their own, and cached answers alone',
    ],
    [
      '500 is never the fault of input',
      'server/openapi.test.ts',
      'never gives 500, and answers as documented',
    ],
    [
      '500 says nothing of addresses, tokens and stacks',
      'server/errors.test.ts',
      'is a 500 that says nothing, with the cause in the log, blotted',
    ],
    [
      "providers' messages are sanitised",
      'server/providers.test.ts',
      "the service's key, the upstream's address and saved keys are in no answer and no line of the log",
    ],
    [
      '503: overloaded',
      'server/errors.test.ts',
      'an overloaded server is 503 with Retry-After, but says that it lives',
    ],
    [
      '503: too many downloads',
      'server/streaming.test.ts',
      'wait for a short time, then are 503 with Retry-After',
    ],
    [
      '503: a deploy in progress',
      'server/serve.test.ts',
      'lets a running download end, refuses new work with 503 and Retry-After meanwhile',
    ],
    [
      '504: too long, with the advice to narrow',
      'server/errors.test.ts',
      'a first byte that is late is 504 with advice',
    ],
  ],
  Limits: [
    [
      "providers' limits are honoured, a day's also over a restart",
      'server/serve.test.ts',
      "a day's limit of a provider survives a restart",
    ],
    [
      'limit of browse: 200, at most 1000',
      'server/providers.test.ts',
      'with series=true gives series, 200 of them unless it is said otherwise',
    ],
    ['plan limits are 402', 'server/plans.test.ts', 'can not be passed by many requests at once'],
    [
      "a saved key of one's own is used, and raises the limit",
      'connectors/limits.test.ts',
      'leaves other providers, users with a key of their own, and cached answers alone',
    ],
    ["nobody else is served by somebody's key", 'server/user-keys.test.ts', 'never serve another user'],
  ],
}

describe.each(Object.entries(RULES))('%s', (_section, rules) => {
  it.each(rules)('%s', (_rule, file, test) => {
    const source = readFileSync(join(import.meta.dirname, '..', file), 'utf8')
    const quoted = [`'${test}'`, `"${test}"`, `'${test.replaceAll("'", "\\'")}'`]
    expect(
      quoted.some((name) => source.includes(name)),
      `${file} has no test ${JSON.stringify(test)}`,
    ).toBe(true)
  })
})
