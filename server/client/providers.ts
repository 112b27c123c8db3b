import { ONE_SERIES, SERIES_OPTIONS } from '../../connectors/transform/series-options.ts'
import { type OptionsOf, toHttp } from '../../engine/options.ts'
import type { Format } from '../../engine/types/index.ts'
import type {
  Categories,
  FoundInProvider,
  Provider,
  Releases,
  Series,
  SeriesInfo,
  SeriesPage,
  SeriesTable,
} from '../records/index.ts'
import { Download } from './download.ts'
import { requireKnown } from './errors.ts'
import { parameters, type QueryOptions, type WritingOptions } from './options.ts'
import { type CallOptions, Calls, type PageOptions } from './transport.ts'

/** Range and transformation of a series: the query parameters of the route, which checks them. */
export interface SeriesOptions extends OptionsOf<typeof SERIES_OPTIONS> {}

/** The same of one series, which may have vintages. */
export interface OneSeriesOptions extends OptionsOf<typeof ONE_SERIES> {}

/** First and last day wanted, as ISO 8601 dates. */
export type Range = Pick<SeriesOptions, 'start' | 'end'>

export interface TableOptions extends SeriesOptions, QueryOptions {
  /** Slug of the provider of all ids, which then don't contain it. */
  readonly provider?: string
  /** `long` (default): a row for each value; `wide`: a column for each series. */
  readonly shape?: 'long' | 'wide'
}

/** ISO dates, both included, at most a year apart; `series` leaves only the releases that change it. */
export interface ReleasesOptions {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly series?: string | undefined
}

/** Providers of economic series. Slugs ignore case. */
export class Providers extends Calls {
  list(options: CallOptions = {}): Promise<Provider[]> {
    return this.transport.json({ path: ['providers'], ...options })
  }

  get(slug: string, options: CallOptions = {}): Promise<Provider> {
    return this.transport.json({ path: ['providers', slug], ...options })
  }

  /** The categories below a path; without a path, those at the top. */
  browse(slug: string, path = '', options: CallOptions = {}): Promise<Categories> {
    return this.transport.json({
      path: ['providers', slug, 'browse'],
      query: { path: path || undefined },
      ...options,
    })
  }

  /** A page of the series directly in a category. `limit` is 200 by default and at most 1000. */
  seriesPage(
    slug: string,
    path: string,
    { limit, offset, ...options }: PageOptions = {},
  ): Promise<SeriesPage> {
    return this.transport.json({
      path: ['providers', slug, 'browse'],
      query: { path: path || undefined, series: true, limit, offset },
      ...options,
    })
  }

  /** Searches the series of a provider, best matches first. `limit` is 20 by default. */
  search(
    slug: string,
    text: string,
    { limit, offset, ...options }: PageOptions = {},
  ): Promise<FoundInProvider> {
    const path = ['providers', slug, 'search']
    return this.transport.json({ path, query: { q: text, limit, offset }, ...options })
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

  /** What a provider has announced for some days; by default for a month from today on. */
  releases(
    slug: string,
    { from, to, series, ...options }: ReleasesOptions & CallOptions = {},
  ): Promise<Releases> {
    return this.transport.json({
      path: ['providers', slug, 'releases'],
      query: { from, to, series },
      ...options,
    })
  }

  /** A series with its observations. */
  async series(slug: string, id: string, options: OneSeriesOptions & CallOptions = {}): Promise<Series> {
    requireKnown(options, { ...ONE_SERIES, signal: true })
    return this.transport.json({
      path: seriesPath(slug, id),
      query: toHttp(options, ONE_SERIES),
      signal: options.signal,
    })
  }

  /**
   * Reads several series as one table. Ids contain the slug of the provider, for example `fred/GDP`, unless `provider`
   * is given.
   */
  async table(ids: readonly string[], options: TableOptions = {}): Promise<SeriesTable> {
    const { path, query } = tableRequest(ids, options)
    return this.transport.json({
      path,
      query: { ...query, $format: 'json', envelope: true },
      signal: options.signal,
    })
  }

  /** Downloads several series as one table in a format, as a stream of bytes. */
  async downloadTable(
    ids: readonly string[],
    format: Format,
    options: TableOptions & WritingOptions = {},
  ): Promise<Download> {
    const { path, query } = tableRequest(ids, options)
    const request = { path, query: { ...query, $format: format }, signal: options.signal }
    return new Download(await this.transport.send(request), options.signal)
  }

  /** Downloads the observations of a series in a format, as a stream of bytes. */
  async download(
    slug: string,
    id: string,
    format: Format,
    options: OneSeriesOptions & QueryOptions & WritingOptions = {},
  ): Promise<Download> {
    const response = await this.transport.send({
      path: seriesPath(slug, id),
      query: { ...toHttp(options, ONE_SERIES), $format: format, ...parameters(options, ONE_SERIES) },
      signal: options.signal,
    })
    return new Download(response, options.signal)
  }
}

function tableRequest(ids: readonly string[], options: TableOptions) {
  const { provider, shape } = options
  const list = ids.map((id) => id.replaceAll(',', '%2C')).join(',')
  return {
    path: provider === undefined ? ['series'] : ['providers', provider, 'series'],
    query: {
      ids: list,
      shape,
      ...toHttp(options, SERIES_OPTIONS),
      ...parameters(options, { ...SERIES_OPTIONS, provider: true, shape: true }),
    },
  }
}

/** Ids may contain slashes, which are not encoded in the path. */
function seriesPath(slug: string, id: string): string[] {
  return ['providers', slug, 'series', ...id.split('/')]
}
