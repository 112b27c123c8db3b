import type { Explanation } from '../../engine/reading/explanation.ts'
import type { Format } from '../../engine/types/index.ts'
import type { Found } from '../records/index.ts'
import { Accounts, ManagedAccounts, UserKeys } from './accounts.ts'
import { Datasets } from './datasets.ts'
import { Download, jsonLines } from './download.ts'
import { parameters, type QueryOptions, type WritingOptions } from './options.ts'
import { Providers } from './providers.ts'
import { Repositories } from './repositories.ts'
import { type CallOptions, type ClientOptions, type PageOptions, Transport } from './transport.ts'

export type { ColumnType, Format } from '../../engine/types/index.ts'
export type * from '../records/index.ts'
export type { Accounts, ManagedAccounts, UserKeys } from './accounts.ts'
export type { Datasets } from './datasets.ts'
export type { Download, Link } from './download.ts'
export { ParquetryError } from './errors.ts'
export type {
  FollowOptions,
  PreviewOptions,
  QueryOptions,
  RevisionsQuery,
  RowsQuery,
  StreamCommit,
  Upload,
  UploadOptions,
  VersionOptions,
  WriteOptions,
  WritingOptions,
} from './options.ts'
export type { Providers, Range, ReleasesOptions, SeriesOptions, TableOptions } from './providers.ts'
export type { Repositories } from './repositories.ts'
export type { CallOptions, ClientOptions, PageOptions, RetryOptions } from './transport.ts'

/** Values for `$1` and `?`, or for `$name`, and how the rows are written. */
export interface SqlOptions extends Pick<QueryOptions, 'top' | 'skip'>, WritingOptions, CallOptions {
  readonly parameters?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined
}

/**
 * A client for the HTTP API of a Parquetry server. It needs only `fetch`, so it runs in Node, in browsers and
 * elsewhere.
 *
 * Calls reject with a `ParquetryError` that has the server's error code. Requests that are safe to repeat are sent
 * again after 429, after 503 and when there was no answer.
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

  /** Runs one SELECT over datasets, and downloads its rows in a format. */
  async sql(
    text: string,
    format: Format,
    { parameters: values, ...options }: SqlOptions = {},
  ): Promise<Download> {
    const response = await this.#transport.send({
      method: 'POST',
      path: ['sql'],
      query: { $format: format, ...parameters(options) },
      json: { sql: text, parameters: values },
      signal: options.signal,
    })
    return new Download(response, options.signal)
  }

  /** Runs one SELECT without sending its rows, and tells what was read, and which columns the result has. */
  explainSql(text: string, { parameters: values, ...options }: SqlOptions = {}): Promise<Explanation> {
    return this.#transport.json({
      method: 'POST',
      path: ['sql'],
      query: { ...parameters(options), $explain: true },
      json: { sql: text, parameters: values },
      signal: options.signal,
    })
  }

  /** The rows of one SELECT over datasets, as objects. */
  async *sqlRows<Row = Record<string, unknown>>(
    text: string,
    options: SqlOptions = {},
  ): AsyncGenerator<Row, void, undefined> {
    yield* jsonLines<Row>(await this.sql(text, 'ndjson', options))
  }

  /** Searches datasets, and the series of all providers that the server knows already. No provider is asked. */
  search(text: string, { limit, offset, ...options }: PageOptions = {}): Promise<Found> {
    return this.#transport.json({ path: ['search'], query: { q: text, limit, offset }, ...options })
  }
}
