import { Download } from './download.ts'
import { ParquetryError } from './errors.ts'
import { type Names, requireKnown } from './known-options.ts'
import { jsonLines } from './ndjson.ts'
import { parameters, type Question, type Writing } from './questions.ts'
import type {
  Column,
  Dataset,
  DatasetSummary,
  DeclaredColumn,
  Format,
  Interval,
  Link,
  Source,
} from './records.ts'
import type { CallOptions, Transport } from './transport.ts'
import { type Upload, uploadRequest } from './uploads.ts'

const COUNT: Names<Pick<Question, 'filter' | 'signal'>> = { filter: true, signal: true }

/** Datasets, which are tables with typed columns. */
export class Datasets {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Lists the datasets that the account may read. Wide tables come without their columns unless `columns` is true. */
  list(options: CallOptions & { readonly columns?: boolean } = {}): Promise<DatasetSummary[]> {
    const { columns, ...call } = options
    return this.#transport.json({
      path: ['datasets'],
      ...(columns && { query: { columns: 'true' } }),
      ...call,
    })
  }

  get(id: number, options: CallOptions = {}): Promise<Dataset> {
    return this.#transport.json({ path: ['datasets', id], ...options })
  }

  create(
    fields: {
      readonly name: string
      readonly repositoryId: number
      readonly description?: string
      readonly columns?: readonly DeclaredColumn[]
    },
    options: CallOptions = {},
  ): Promise<Dataset> {
    return this.#transport.json({ method: 'POST', path: ['datasets'], json: fields, ...options })
  }

  update(
    id: number,
    fields: { readonly name?: string; readonly description?: string },
    options: CallOptions = {},
  ): Promise<Dataset> {
    return this.#transport.json({ method: 'PUT', path: ['datasets', id], json: fields, ...options })
  }

  delete(id: number, options: CallOptions = {}): Promise<void> {
    return this.#transport.done({ method: 'DELETE', path: ['datasets', id], ...options })
  }

  columns(id: number, options: CallOptions = {}): Promise<Column[]> {
    return this.#transport.json({ path: ['datasets', id, 'columns'], ...options })
  }

  /** Declares the columns. An empty dataset takes any columns; one with rows only changes that lose no data. */
  declareColumns(
    id: number,
    columns: readonly DeclaredColumn[],
    options: CallOptions = {},
  ): Promise<Dataset> {
    const path = ['datasets', id, 'columns']
    return this.#transport.json({ method: 'PUT', path, json: { columns }, ...options })
  }

  /** Replaces all rows by those of an upload. If the upload fails, the dataset is unchanged. */
  async replace(id: number, upload: Upload, options: CallOptions = {}): Promise<Dataset> {
    const path = ['datasets', id, 'data']
    return this.#transport.json({ method: 'PUT', path, ...uploadRequest(upload), ...options })
  }

  /**
   * Appends the rows of an upload. If the upload fails, the dataset is unchanged. Sent again only if the server says
   * that it did not begin with the request, because a repeated append would duplicate rows.
   */
  async append(id: number, upload: Upload, options: CallOptions = {}): Promise<Dataset> {
    const path = ['datasets', id, 'data']
    return this.#transport.json({ method: 'POST', path, ...uploadRequest(upload), ...options })
  }

  /** The series that a dataset follows; undefined if it follows none. */
  async source(id: number, options: CallOptions = {}): Promise<Source | undefined> {
    try {
      return await this.#transport.json<Source>({ path: ['datasets', id, 'source'], ...options })
    } catch (error) {
      if (error instanceof ParquetryError && error.code === 'not_followed') return undefined
      throw error
    }
  }

  /**
   * Makes a dataset follow series. The server fetches them at once, and answers after ten seconds even if that takes
   * longer.
   */
  follow(
    id: number,
    fields: { readonly series: readonly string[]; readonly start?: string | null; readonly every?: Interval },
    options: CallOptions = {},
  ): Promise<Source> {
    return this.#transport.json({ method: 'PUT', path: ['datasets', id, 'source'], json: fields, ...options })
  }

  /** Stops following series. The rows stay. */
  unfollow(id: number, options: CallOptions = {}): Promise<void> {
    return this.#transport.done({ method: 'DELETE', path: ['datasets', id, 'source'], ...options })
  }

  /** Downloads rows in a format, as a stream of bytes. */
  async download(
    id: number,
    format: Format,
    question: Question & Writing & { readonly ifNoneMatch?: string | undefined } = {},
  ): Promise<Download> {
    const { ifNoneMatch, ...asked } = question
    const { signal } = asked
    const response = await this.#transport.send({
      ...dataRequest(id, format, asked),
      ...(ifNoneMatch !== undefined && { headers: { 'if-none-match': ifNoneMatch } }),
      ...(signal && { signal }),
    })
    return new Download(response, signal)
  }

  /** The URL that `download` requests, without the API key. */
  address(id: number, format: Format, question: Question & Writing = {}): URL {
    return this.#transport.address(dataRequest(id, format, question))
  }

  /**
   * Creates a URL for this download that works for some minutes without an API key: for a browser, which can't send the
   * key with a download, or for another program.
   */
  async link(id: number, format: Format, question: Question & Writing = {}): Promise<Link> {
    const request = dataRequest(id, format, question)
    const { signal } = question
    const { url, expiresAt } = await this.#transport.json<{ url: string; expiresAt: string }>({
      method: 'POST',
      path: ['links'],
      json: { path: this.#transport.pathOf(request) },
      ...(signal && { signal }),
    })
    // The server's own URL lacks the path that a proxy may have put before it, so only the ticket is taken from it.
    const ticket = url.slice(url.lastIndexOf('ticket='))
    return { url: new URL(`${this.#transport.address(request).href}&${ticket}`), expiresAt }
  }

  /**
   * Yields rows as objects while they arrive. Integers beyond 2^53 are bigints. Decimals are numbers, so digits that a
   * double can't hold are lost (csv, parquet and arrow keep them). Dates and times are strings.
   */
  async *rows<Row = Record<string, unknown>>(
    id: number,
    question: Question = {},
  ): AsyncGenerator<Row, void, undefined> {
    yield* jsonLines<Row>(await this.download(id, 'ndjson', question))
  }

  /** A small file that opens the dataset's OData feed in Power BI (`pbids`) or Excel (`odc`), without the API key. */
  async connectionFile(id: number, kind: 'pbids' | 'odc', options: CallOptions = {}): Promise<string> {
    const path = ['datasets', id, `odata.${kind}`]
    return (await this.#transport.send({ path, ...options })).text()
  }

  /** Counts the rows that match a filter. */
  async count(id: number, question: Pick<Question, 'filter' | 'signal'> = {}): Promise<number> {
    requireKnown(question, COUNT)
    const { filter, signal } = question
    const download = await this.download(id, 'csv', {
      top: 0,
      ...(filter !== undefined && { filter }),
      ...(signal && { signal }),
    })
    await download.cancel()
    return download.rowCount!
  }
}

function dataRequest(id: number, format: Format, question: Question & Writing) {
  return { path: ['datasets', id, 'data'], query: { $format: format, ...parameters(question) } }
}
