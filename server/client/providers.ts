import { Download } from './download.ts'
import { parameters, type Question } from './questions.ts'
import type { Categories, Format, Found, Provider, Series, SeriesInfo, SeriesPage } from './records.ts'
import type { CallOptions, Transport } from './transport.ts'

/** First and last day wanted, as ISO 8601 dates. */
export interface Range {
  readonly start?: string
  readonly end?: string
}

/** Providers of economic series. Slugs ignore case. */
export class Providers {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(options: CallOptions = {}): Promise<Provider[]> {
    return this.#transport.json({ path: ['providers'], ...options })
  }

  get(slug: string, options: CallOptions = {}): Promise<Provider> {
    return this.#transport.json({ path: ['providers', slug], ...options })
  }

  /** The categories below a path; without a path, those at the top. */
  browse(slug: string, path = '', options: CallOptions = {}): Promise<Categories> {
    return this.#transport.json({
      path: ['providers', slug, 'browse'],
      query: { path: path || undefined },
      ...options,
    })
  }

  /** A page of the series directly in a category. `limit` is 200 by default and at most 1000. */
  seriesPage(
    slug: string,
    path: string,
    { limit, offset, ...options }: CallOptions & { readonly limit?: number; readonly offset?: number } = {},
  ): Promise<SeriesPage> {
    return this.#transport.json({
      path: ['providers', slug, 'browse'],
      query: { path: path || undefined, series: true, limit, offset },
      ...options,
    })
  }

  /** Searches the series of a provider, best matches first. `limit` is 20 by default. */
  search(
    slug: string,
    words: string,
    { limit, offset, ...options }: CallOptions & { readonly limit?: number; readonly offset?: number } = {},
  ): Promise<Omit<Found, 'datasets'>> {
    const path = ['providers', slug, 'search']
    return this.#transport.json({ path, query: { q: words, limit, offset }, ...options })
  }

  /** Yields all series directly in a category, page by page. */
  async *allSeries(
    slug: string,
    path: string,
    options: CallOptions = {},
  ): AsyncGenerator<SeriesInfo, void, undefined> {
    const limit = 1000
    for (let offset = 0; ; offset += limit) {
      const { series } = await this.seriesPage(slug, path, { limit, offset, ...options })
      yield* series
      if (series.length < limit) return
    }
  }

  /** A series with its observations. */
  series(slug: string, id: string, { start, end, ...options }: Range & CallOptions = {}): Promise<Series> {
    return this.#transport.json({ path: seriesPath(slug, id), query: { start, end }, ...options })
  }

  /** Downloads the observations of a series in a format, as a stream of bytes. */
  async download(
    slug: string,
    id: string,
    format: Format,
    { start, end, ...question }: Range & Question = {},
  ): Promise<Download> {
    const { signal } = question
    const response = await this.#transport.send({
      path: seriesPath(slug, id),
      query: { start, end, $format: format, ...parameters(question) },
      ...(signal && { signal }),
    })
    return new Download(response, signal)
  }
}

/** Ids may contain slashes, which are not encoded in the path. */
function seriesPath(slug: string, id: string): string[] {
  return ['providers', slug, 'series', ...id.split('/')]
}
