import { Accounts, ManagedAccounts, UserKeys } from './accounts.ts'
import { Datasets } from './datasets.ts'
import { Providers } from './providers.ts'
import type { Found } from './records.ts'
import { Repositories } from './repositories.ts'
import { type CallOptions, type ClientOptions, Transport } from './transport.ts'

export type { Accounts, ManagedAccounts, UserKeys } from './accounts.ts'
export type { Datasets } from './datasets.ts'
export type { Download } from './download.ts'
export { ParquetryError } from './errors.ts'
export type { Providers, Range } from './providers.ts'
export type { Question, Writing } from './questions.ts'
export type * from './records.ts'
export type { Repositories } from './repositories.ts'
export type { RetryOptions } from './retry.ts'
export type { CallOptions, ClientOptions } from './transport.ts'
export type { Upload, UploadOptions } from './uploads.ts'

/**
 * The HTTP API of a Parquetry server, over `fetch`: in Node, in browsers and wherever else there is one.
 *
 * Every call rejects with a `ParquetryError` that has the server's code. Requests that may safely be repeated are,
 * after 503 and 429 and when no answer came.
 */
export class Client {
  readonly repositories: Repositories
  readonly datasets: Datasets
  readonly providers: Providers
  readonly userKeys: UserKeys
  readonly account: Accounts
  readonly accounts: ManagedAccounts
  readonly #transport: Transport

  constructor(options: ClientOptions) {
    const transport = new Transport(options)
    this.repositories = new Repositories(transport)
    this.datasets = new Datasets(transport)
    this.providers = new Providers(transport)
    this.userKeys = new UserKeys(transport)
    this.account = new Accounts(transport)
    this.accounts = new ManagedAccounts(transport)
    this.#transport = transport
  }

  /** Finds datasets, and series of all providers in what was seen of them before. No provider is asked. */
  search(
    words: string,
    { limit, offset, ...options }: CallOptions & { readonly limit?: number; readonly offset?: number } = {},
  ): Promise<Found> {
    return this.#transport.json({ path: ['search'], query: { q: words, limit, offset }, ...options })
  }
}
