import { Download } from './download.ts'
import { ParquetryError } from './errors.ts'
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

/** Tables of data. */
export class Datasets {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** All that the account may read; `columns: true` asks for those of wide tables, too. */
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

  /** Declares the columns: before data as one likes, with data what loses nothing. */
  declareColumns(
    id: number,
    columns: readonly DeclaredColumn[],
    options: CallOptions = {},
  ): Promise<Dataset> {
    const path = ['datasets', id, 'columns']
    return this.#transport.json({ method: 'PUT', path, json: { columns }, ...options })
  }

  /** Puts the rows of an upload in place of all rows. All or nothing. */
  replace(id: number, upload: Upload, options: CallOptions = {}): Promise<Dataset> {
    const path = ['datasets', id, 'data']
    return this.#transport.json({ method: 'PUT', path, ...uploadRequest(upload), ...options })
  }

  /** Puts the rows of an upload behind those that are there. All or nothing; never sent twice. */
  append(id: number, upload: Upload, options: CallOptions = {}): Promise<Dataset> {
    const path = ['datasets', id, 'data']
    return this.#transport.json({ method: 'POST', path, ...uploadRequest(upload), ...options })
  }

  /** Which series a dataset follows; undefined where it follows none. */
  async source(id: number, options: CallOptions = {}): Promise<Source | undefined> {
    try {
      return await this.#transport.json<Source>({ path: ['datasets', id, 'source'], ...options })
    } catch (error) {
      if (error instanceof ParquetryError && error.code === 'not_followed') return undefined
      throw error
    }
  }

  /** Lets a dataset follow series, and fetches them at once; the answer waits some seconds for that. */
  follow(
    id: number,
    fields: { readonly series: readonly string[]; readonly start?: string | null; readonly every?: Interval },
    options: CallOptions = {},
  ): Promise<Source> {
    return this.#transport.json({ method: 'PUT', path: ['datasets', id, 'source'], json: fields, ...options })
  }

  /** Ends that a dataset follows series; its rows stay. */
  unfollow(id: number, options: CallOptions = {}): Promise<void> {
    return this.#transport.done({ method: 'DELETE', path: ['datasets', id, 'source'], ...options })
  }

  /** The rows in a format, as a stream of bytes. */
  async download(
    id: number,
    format: Format,
    question: Question & Writing & { readonly ifNoneMatch?: string } = {},
  ): Promise<Download> {
    const { signal, ifNoneMatch } = question
    const response = await this.#transport.send({
      ...dataRequest(id, format, question),
      ...(ifNoneMatch !== undefined && { headers: { 'if-none-match': ifNoneMatch } }),
      ...(signal && { signal }),
    })
    return new Download(response, signal)
  }

  /** Where `download` goes, to be shown or put into another program. The key is not in it. */
  address(id: number, format: Format, question: Question & Writing = {}): URL {
    return this.#transport.address(dataRequest(id, format, question))
  }

  /**
   * An address that opens this one download without a key, for some minutes: for a browser, which downloads by address
   * alone, or for another program.
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
    // Where a proxy puts a path before ours, the server doesn't know of it.
    const ticket = url.slice(url.lastIndexOf('ticket='))
    return { url: new URL(`${this.#transport.address(request).href}&${ticket}`), expiresAt }
  }

  /**
   * The rows as objects, as they come. Whole numbers beyond 2^53 are bigints; decimals are numbers as far as a double
   * holds them (csv, parquet and arrow have all digits); dates and times are text.
   */
  async *rows<Row = Record<string, unknown>>(
    id: number,
    question: Question = {},
  ): AsyncGenerator<Row, void, undefined> {
    yield* jsonLines<Row>(await this.download(id, 'ndjson', question))
  }

  /** A small file that opens Power BI (`pbids`) or Excel (`odc`) at the dataset's OData feed. The key is not in it. */
  async connectionFile(id: number, kind: 'pbids' | 'odc', options: CallOptions = {}): Promise<string> {
    const path = ['datasets', id, `odata.${kind}`]
    return (await this.#transport.send({ path, ...options })).text()
  }

  /** How many rows match a filter. */
  async count(id: number, { filter, signal }: Pick<Question, 'filter' | 'signal'> = {}): Promise<number> {
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
