import { ADDING, CHANGE, toHttp } from '../../engine/options.ts'
import type { Explanation } from '../../engine/reading/explanation.ts'
import type { Format } from '../../engine/types/index.ts'
import type {
  Column,
  Dataset,
  DatasetChanges,
  DatasetCopy,
  DatasetPatch,
  DatasetSummary,
  DeclaredColumn,
  EditedRows,
  LinkRecord,
  NewDataset,
  NewSource,
  Preview,
  Profile,
  Source,
  Version,
  WrittenDataset,
} from '../records/index.ts'
import { Download, eventsOf, jsonLines, type Link } from './download.ts'
import { errorIn, ParquetryError, requireKnown } from './errors.ts'
import {
  dataRequest,
  explainRequest,
  type FollowOptions,
  type ListOptions,
  type PreviewOptions,
  parameters,
  type QueryOptions,
  type RevisionsQuery,
  type RowsQuery,
  type StreamCommit,
  type Upload,
  uploadRequest,
  type VersionOptions,
  type WriteOptions,
  type WritingOptions,
} from './options.ts'
import { type CallOptions, Calls, type PageOptions, pause, type Request } from './transport.ts'

/** How long to wait before a stream of changes is opened again. */
const RECONNECT_SECONDS = 0.25

/** Datasets, which are tables with typed columns. */
export class Datasets extends Calls {
  /** Lists the datasets that the account may read. Wide tables come without their columns unless `columns` is true. */
  list(options: ListOptions = {}): Promise<DatasetSummary[]> {
    const { columns, limit, offset, ...call } = options
    const query = { ...(columns && { columns }), limit, offset }
    return this.transport.json({ path: ['datasets'], query, ...call })
  }

  get(id: number, options: CallOptions = {}): Promise<Dataset> {
    return this.transport.json({ path: ['datasets', id], ...options })
  }

  /** The record with its `etag`, which `ifMatch` of a write takes. */
  async tagged(id: number, options: CallOptions = {}): Promise<Dataset & { readonly etag: string }> {
    const response = await this.transport.send({ path: ['datasets', id], ...options })
    return { ...(await response.json()), etag: response.headers.get('etag') }
  }

  /** @param name `repository/dataset`, or `owner/repository/dataset` */
  named(name: string, options: CallOptions = {}): Promise<Dataset> {
    return this.transport.json({ path: ['d', ...name.split('/')], ...options })
  }

  create(fields: NewDataset, options: CallOptions = {}): Promise<Dataset> {
    return this.transport.json({ method: 'POST', path: ['datasets'], json: fields, ...options })
  }

  update(id: number, fields: DatasetChanges, options: CallOptions = {}): Promise<Dataset> {
    return this.transport.json({ method: 'PUT', path: ['datasets', id], json: fields, ...options })
  }

  /** Changes fields, and removes those that are null; another `repositoryId` moves the dataset. */
  patch(id: number, fields: DatasetPatch, options: CallOptions = {}): Promise<Dataset> {
    return this.transport.json({ method: 'PATCH', path: ['datasets', id], json: fields, ...options })
  }

  /** Creates a dataset with the same rows, without copying them. */
  copy(id: number, fields: DatasetCopy, options: CallOptions = {}): Promise<Dataset> {
    return this.transport.json({ method: 'POST', path: ['datasets', id, 'copy'], json: fields, ...options })
  }

  delete(id: number, options: CallOptions = {}): Promise<void> {
    return this.transport.json({ method: 'DELETE', path: ['datasets', id], ...options })
  }

  /** What the values of each column are like; undefined while the server finds that out: ask again. */
  async profile(id: number, options: CallOptions = {}): Promise<Profile | undefined> {
    const response = await this.transport.send({ path: ['datasets', id, 'profile'], ...options })
    return response.status === 202 ? undefined : ((await response.json()) as Profile)
  }

  columns(id: number, options: CallOptions & { readonly version?: number } = {}): Promise<Column[]> {
    const { version, ...call } = options
    const path = ['datasets', id, 'columns']
    return this.transport.json({ path, query: { $version: version }, ...call })
  }

  /** Declares the columns. An empty dataset takes any columns; one with rows only changes that lose no data. */
  declareColumns(
    id: number,
    columns: readonly DeclaredColumn[],
    options: CallOptions = {},
  ): Promise<Dataset> {
    const path = ['datasets', id, 'columns']
    return this.transport.json({ method: 'PUT', path, json: { columns }, ...options })
  }

  /** Replaces all rows by those of an upload. If the upload fails, the dataset is unchanged. */
  async replace(id: number, upload: Upload, options: WriteOptions = {}): Promise<WrittenDataset> {
    return this.#write('PUT', id, upload, options)
  }

  /**
   * Appends the rows of an upload. If the upload fails, the dataset is unchanged. Without an `idempotencyKey` sent again
   * only if the server says that it did not begin with the request, because a repeated append would duplicate rows.
   */
  async append(id: number, upload: Upload, options: WriteOptions = {}): Promise<WrittenDataset> {
    return this.#write('POST', id, upload, options)
  }

  /**
   * Replaces the rows with the same key as a row of the upload, and appends the others. Sent again as `append`.
   * @param on the columns by which rows are found, if the dataset has no key
   */
  async upsert(
    id: number,
    upload: Upload,
    { on, ...options }: WriteOptions & { readonly on?: readonly string[] } = {},
  ): Promise<WrittenDataset> {
    return this.#write('POST', id, upload, options, toHttp({ mode: 'upsert', on }, ADDING))
  }

  /**
   * Appends rows while they come, ndjson, csv or tsv, and yields each commit: at the latest after so many rows, or
   * seconds, as `'5s'`. `total` counts the rows of the call that were saved. Never sent again: go on behind `total`.
   */
  async *appendStream(
    id: number,
    upload: Upload,
    { commit, note, ...call }: WriteOptions & { readonly commit: number | string },
  ): AsyncGenerator<StreamCommit, void, undefined> {
    const { query, ...request } = uploadRequest(upload)
    const all = { ...query, commit, ...toHttp({ note }, CHANGE) }
    const path = ['datasets', id, 'data']
    const response = await this.transport.send({ method: 'POST', path, ...request, query: all, ...call })
    for await (const line of jsonLines<StreamCommit | object>(new Download(response, call.signal))) {
      if (!('version' in line)) throw errorIn(JSON.stringify(line))
      yield line
    }
  }

  async #write(
    method: 'PUT' | 'POST',
    id: number,
    upload: Upload,
    { note, ...call }: WriteOptions,
    more: Request['query'] = {},
  ): Promise<WrittenDataset> {
    const { query, ...request } = uploadRequest(upload)
    const path = ['datasets', id, 'data']
    const all = { ...query, ...more, ...toHttp({ note }, CHANGE) }
    return this.transport.json({ method, path, ...request, query: all, ...call })
  }

  /** Deletes the rows that match a filter, in one commit. */
  deleteRows(id: number, filter: string, { note, ...call }: WriteOptions = {}): Promise<EditedRows> {
    const query = { $filter: filter, ...toHttp({ note }, CHANGE) }
    return this.transport.json({ method: 'DELETE', path: ['datasets', id, 'data'], query, ...call })
  }

  /**
   * Sets columns of the rows that match a filter, in one commit. Text that begins with `=` is an expression. Sent again
   * as `append`.
   */
  editRows(
    id: number,
    filter: string,
    values: Readonly<Record<string, unknown>>,
    { note, ...call }: WriteOptions = {},
  ): Promise<EditedRows> {
    const query = { $filter: filter, ...toHttp({ note }, CHANGE) }
    // As numbers of JSON, those beyond 2^53 would be refused.
    const json = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
    )
    return this.transport.json({ method: 'PATCH', path: ['datasets', id, 'data'], query, json, ...call })
  }

  /**
   * Reads an upload without storing it: its columns, why columns are text, the first rows, and what is wrong with it.
   * @param into the dataset that the rows would be appended to, whose columns they must fit
   */
  async preview(upload: Upload, { into, beginning, ...call }: PreviewOptions = {}): Promise<Preview> {
    const { query, ...request } = uploadRequest(upload)
    return this.transport.json({
      method: 'POST',
      path: into === undefined ? ['preview'] : ['datasets', into, 'data'],
      ...request,
      query: { ...query, beginning, ...(into !== undefined && { dryRun: true }) },
      ...call,
    })
  }

  /** The versions that are kept, newest first; by default the newest 100. */
  versions(id: number, { limit, offset, ...call }: PageOptions = {}): Promise<Version[]> {
    return this.transport.json({ path: ['datasets', id, 'versions'], query: { limit, offset }, ...call })
  }

  version(id: number, number: number, options: CallOptions = {}): Promise<Version> {
    return this.transport.json({ path: ['datasets', id, 'versions', number], ...options })
  }

  /**
   * What versions after `since` changed, as rows with `_change` and `_version`, and the version from which to go on.
   * `version_gone` means that the whole table has to be read again.
   * With `follow`, it yields the rows up to each version `next` as they come, in order and none twice, none where no row
   * matches, and connects again when the connection was lost, until you leave the loop or abort the signal.
   */
  changes<Row = Record<string, unknown>>(
    id: number,
    since: number,
    query: FollowOptions,
  ): AsyncGenerator<{ readonly next: number; readonly rows: Row[] }, never, undefined>
  changes<Row = Record<string, unknown>>(
    id: number,
    since: number,
    query?: QueryOptions & { readonly until?: number },
  ): Promise<{ readonly next: number; readonly rows: AsyncGenerator<Row, void, undefined> }>
  changes(
    id: number,
    since: number,
    { follow, ...query }: QueryOptions & { readonly until?: number; readonly follow?: boolean } = {},
  ) {
    return follow ? this.#follow(id, since, query) : this.#changes(id, since, query)
  }

  async #changes(id: number, since: number, { until, ...query }: QueryOptions & { readonly until?: number }) {
    const response = await this.#sendPast(id, 'changes', { $format: 'ndjson', since, until }, query)
    const next = Number(response.headers.get('next-since'))
    return { next, rows: jsonLines(new Download(response, query.signal)) }
  }

  async *#follow(id: number, since: number, query: QueryOptions) {
    for (let [next, isFirst] = [since, true]; ; ) {
      try {
        const accept = { accept: 'text/event-stream' }
        const response = await this.#sendPast(id, 'changes', { since: next, follow: true }, query, accept)
        isFirst = false
        for await (const event of eventsOf(new Download(response, query.signal))) {
          const isNews = event.next > next || event.rows.length > 0
          next = event.next
          if (isNews) yield event
        }
      } catch (error) {
        // Status 0: no answer, or a cut connection.
        if (isFirst || !(error instanceof ParquetryError && [0, 429, 503].includes(error.status))) throw error
      }
      await pause(RECONNECT_SECONDS, query.signal)
    }
  }

  #sendPast(
    id: number,
    what: 'changes' | 'revisions',
    query: Request['query'],
    { signal, ...rows }: QueryOptions & WritingOptions,
    headers = {},
  ) {
    const path = ['datasets', id, what]
    return this.transport.send({ path, query: { ...query, ...parameters(rows) }, headers, signal })
  }

  /** Makes the rows and columns of an earlier version current again, as a new version. */
  restore(id: number, version: number, options: WriteOptions = {}): Promise<Dataset> {
    return this.#goBack(id, 'restore', version, options)
  }

  /** Takes back what one version changed, if the dataset has a key and later versions did not change the same rows. */
  undo(id: number, version: number, options: WriteOptions = {}): Promise<EditedRows> {
    return this.#goBack(id, 'undo', version, options)
  }

  #goBack<T>(id: number, how: string, version: number, { note, ...call }: WriteOptions): Promise<T> {
    const json = { version, note: note || undefined }
    return this.transport.json({ method: 'POST', path: ['datasets', id, how], json, ...call })
  }

  /** The series or the file that a dataset follows; undefined if it follows nothing. */
  async source(id: number, options: CallOptions = {}): Promise<Source | undefined> {
    try {
      return await this.transport.json<Source>({ path: ['datasets', id, 'source'], ...options })
    } catch (error) {
      if (error instanceof ParquetryError && error.code === 'not_followed') return undefined
      throw error
    }
  }

  /**
   * Makes a dataset follow series, or a file at an address. The server fetches them at once, and answers after ten
   * seconds even if that takes longer.
   */
  follow(id: number, fields: NewSource, options: CallOptions = {}): Promise<Source> {
    return this.transport.json({ method: 'PUT', path: ['datasets', id, 'source'], json: fields, ...options })
  }

  /** Stops following series or a file. The rows stay. */
  unfollow(id: number, options: CallOptions = {}): Promise<void> {
    return this.transport.json({ method: 'DELETE', path: ['datasets', id, 'source'], ...options })
  }

  /** Downloads rows in a format, as a stream of bytes. */
  async download(
    id: number,
    format: Format,
    query: RowsQuery & { readonly ifNoneMatch?: string | undefined } = {},
  ): Promise<Download> {
    const { ifNoneMatch, ...options } = query
    const response = await this.transport.send({
      ...dataRequest(id, format, options),
      ...(ifNoneMatch !== undefined && { headers: { 'if-none-match': ifNoneMatch } }),
      signal: query.signal,
    })
    return new Download(response, query.signal)
  }

  /** What was known when of followed series, in a format; without `series` of all of them. */
  async revisions(id: number, format: Format, { series, ...query }: RevisionsQuery = {}): Promise<Download> {
    const list = series?.map((one) => one.replaceAll(',', '%2C')).join(',')
    const response = await this.#sendPast(id, 'revisions', { $format: format, series: list }, query)
    return new Download(response, query.signal)
  }

  /** Runs a query without sending its rows, and tells what was read and what each step took. */
  explain(id: number, query: RowsQuery = {}): Promise<Explanation> {
    return this.transport.json(explainRequest(id, 'true', query))
  }

  /** The same question in SQL, for `client.sql`. */
  async asSql(id: number, query: RowsQuery = {}): Promise<string> {
    return (await this.transport.json<{ sql: string }>(explainRequest(id, 'sql', query))).sql
  }

  /** The URL that `download` requests, without the API key. */
  address(id: number, format: Format, query: RowsQuery = {}): URL {
    return this.transport.address(dataRequest(id, format, query))
  }

  /**
   * Creates a URL for this download that works without an API key, as in a browser, which can't send it with a download.
   * It ends after `expiresIn` seconds (five minutes unless given), or when it is deleted.
   */
  async link(
    id: number,
    format: Format,
    query: RowsQuery = {},
    fields: { readonly name?: string; readonly expiresIn?: number } = {},
  ): Promise<Link> {
    const request = dataRequest(id, format, query)
    const made = await this.transport.json<LinkRecord>({
      method: 'POST',
      path: ['links'],
      json: { path: this.transport.pathOf(request), ...fields },
      signal: query.signal,
    })
    // The server's own URL lacks the path that a proxy may have put before it, so only the ticket is taken from it.
    const ticket = made.url.slice(made.url.lastIndexOf('ticket='))
    const url = new URL(`${this.transport.address(request).href}&${ticket}`)
    return { id: made.id, url, expiresAt: made.expiresAt }
  }

  /**
   * Yields rows as objects while they arrive. Integers beyond 2^53 are bigints, decimals that a double can't hold
   * exactly are strings with all their digits; with `decimals: 'text'`, all decimals are. Dates and times are strings.
   */
  async *rows<Row = Record<string, unknown>>(
    id: number,
    query: QueryOptions & VersionOptions & Pick<WritingOptions, 'decimals'> = {},
  ): AsyncGenerator<Row, void, undefined> {
    yield* jsonLines<Row>(await this.download(id, 'ndjson', query))
  }

  /** A small file that opens the dataset's OData feed in Power BI (`pbids`) or Excel (`odc`), without the API key. */
  async connectionFile(id: number, kind: 'pbids' | 'odc', options: CallOptions = {}): Promise<string> {
    return (await this.transport.send({ path: ['datasets', id, `odata.${kind}`], ...options })).text()
  }

  /** Counts the rows that match a filter. */
  async count(id: number, query: Pick<QueryOptions, 'filter' | 'signal'> = {}): Promise<number> {
    requireKnown(query, { filter: true, signal: true })
    const download = await this.download(id, 'csv', { ...query, top: 0 })
    await download.cancel()
    return download.rowCount!
  }
}
