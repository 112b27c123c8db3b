import type { Caller } from './calls.ts'
import type { Category, Page, SearchPage, SeriesInfo } from './connector.ts'
import type { Operations } from './operations.ts'
import type { ConnectorEvent } from './options.ts'
import type { Provider } from './pipeline/provider.ts'
import { checkedPage, checkLength } from './requests.ts'
import type { Found, SearchIndex } from './search/search-index.ts'
import { openSearchIndex } from './search/search-index.ts'

/** What can be searched: the index of what providers have listed so far, and the providers' own searches. */
export class Catalogue {
  readonly #index: SearchIndex
  readonly #operations: Operations
  readonly #log: (event: ConnectorEvent) => void

  /** @param file of the index; `:memory:` keeps it in memory */
  constructor(file: string, operations: Operations, log: (event: ConnectorEvent) => void) {
    this.#index = openSearchIndex(file, log)
    this.#operations = operations
    this.#log = log
  }

  rememberCategories({ info: { slug } }: Provider, categories: readonly Category[]): void {
    this.#remember(this.#index.addCategories(slug, categories), slug)
  }

  rememberSeries({ info: { slug } }: Provider, series: readonly SeriesInfo[]): void {
    this.#remember(this.#index.addSeries(slug, series), slug)
  }

  /** Uses the provider's own search if it has one, else the index with the provider's catalogue. */
  async search(
    provider: Provider,
    query: string,
    page: Page,
    caller: Caller,
  ): Promise<SearchPage & { provider: string }> {
    const { slug } = provider.info
    const within = checkedPage(page)
    checkLength(query)
    if (provider.connector.search === undefined) {
      if (!this.#index.isCatalogued(slug)) await this.#fetch(provider, caller)
      return { provider: slug, ...this.#index.search(query, within, slug) }
    }
    const { value } = await this.#operations.run(
      provider,
      caller,
      'search',
      [query, within],
      (connector, context) => connector.search!(query, within, context),
    )
    this.rememberSeries(provider, value.series)
    this.rememberCategories(provider, value.categories)
    return { provider: slug, ...value }
  }

  /** Searches the index of all providers; asks none of them. */
  searchAll(query: string, page: Page): Found {
    checkLength(query)
    return this.#index.search(query, checkedPage(page))
  }

  isFilled(slug: string): boolean {
    return this.#index.isCatalogued(slug)
  }

  /** Fills the index: the provider's catalogue, and its categories down to a depth. Returns how many entries it found. */
  async fill(
    provider: Provider,
    depth: number,
    onFound: ((count: number) => void) | undefined,
    caller: Caller,
  ): Promise<number> {
    let count = await this.#fetch(provider, caller)
    let level: readonly string[] = ['']
    for (let below = 0; below < depth; below++) {
      const next: Category[] = []
      for (const path of level) {
        onFound?.(count + next.length)
        const { value } = await this.#operations.run(
          provider,
          caller,
          'browse',
          [path],
          (connector, context) => connector.browse(path, context),
        )
        await this.#index.addCategories(provider.info.slug, value)
        next.push(...value)
      }
      count += next.length
      level = next.map(({ path }) => path)
    }
    return count
  }

  close(): void {
    this.#index.close()
  }

  /** Adds to the index what a few requests can fetch, and returns how many entries that is. */
  async #fetch(provider: Provider, caller: Caller): Promise<number> {
    const { slug } = provider.info
    const { value } = await this.#operations.run(
      provider,
      caller,
      'catalogue',
      [],
      async (connector, context) =>
        connector.catalogue === undefined
          ? { series: [], categories: await connector.browse('', context) }
          : connector.catalogue(context),
    )
    await this.#index.addCategories(slug, value.categories)
    await this.#index.addSeries(slug, value.series)
    this.#index.setCatalogued(slug)
    return value.categories.length + value.series.length
  }

  /** The index is only a convenience, so a failed write is reported but doesn't fail the call. */
  #remember(work: Promise<void>, slug: string): void {
    work.catch((error: unknown) => {
      const message = 'The index of the search could not be written.'
      this.#log({ level: 'warn', provider: slug, message, cause: String(error) })
    })
  }
}
